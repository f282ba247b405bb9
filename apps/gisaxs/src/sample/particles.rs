//! Particles as a page describes them.

use super::distribution::DistributionText;
use super::limits;
use super::optics::Materials;
use crate::GisaxsError;
use crate::form::{Shape, turned};
use crate::order::{Lattice, Order, Paracrystal, Radial};
use crate::particle::{Average, Part, Particle, Population};
use crate::rotation::Rotation;
use crate::stack::Layer;
use serde::Deserialize;
use std::path::Path;
use toml::Table;

/// Particles of one population, in all sizes and orientations.
const MOST_MEMBERS: usize = 100_000;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParticlesText {
    #[serde(flatten)]
    pub part: PartText,
    /// More solids whose waves add to those of the first: a unit cell.
    #[serde(default)]
    pub parts: Vec<PartText>,
    /// On a nm²; of a lattice where it is not given: one a cell.
    pub density: Option<f64>,
    pub lattice: Option<LatticeText>,
    pub paracrystal: Option<ParacrystalText>,
    pub radial: Option<RadialText>,
    /// Number of the layer, from 0.
    #[serde(default)]
    pub layer: usize,
    /// Height of the base above the layer's lower interface, nm; in the substrate above its upper
    /// one, so negative.
    #[serde(default)]
    pub height: f64,
    #[serde(default)]
    pub distributions: Vec<DistributionText>,
    #[serde(default)]
    pub average: Average,
}

/// A solid, perhaps with another one in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartText {
    pub form: Shape,
    pub material: Option<String>,
    pub delta: Option<f64>,
    pub beta: Option<f64>,
    /// Of the base's middle, nm.
    #[serde(default)]
    pub at: [f64; 3],
    /// About its own axis z, then about y, then about z, degrees.
    #[serde(default)]
    pub turn: f64,
    #[serde(default)]
    pub tilt: f64,
    #[serde(default)]
    pub rotation: f64,
    /// What is within, in place of this material; its `at` is from the base of this.
    pub core: Option<Box<PartText>>,
}

/// Two sides along the surface.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatticeText {
    /// Lengths of the cell's sides, nm, and the angle between them, degrees.
    pub a: f64,
    pub b: f64,
    pub angle: f64,
    /// Of the first side from x, degrees.
    #[serde(default)]
    pub rotation: f64,
    /// Cells along both sides; they scatter coherently.
    pub cells: [u32; 2],
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParacrystalText {
    pub a: f64,
    pub b: f64,
    pub angle: f64,
    #[serde(default)]
    pub rotation: f64,
    /// Standard deviations of the distances to the next neighbours, nm.
    pub spread: [f64; 2],
    /// Size of coherent domains, nm.
    pub domain: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RadialText {
    pub distance: f64,
    pub spread: f64,
    pub domain: Option<f64>,
}

fn sides(a: f64, b: f64, angle: f64, rotation: f64) -> Result<[[f64; 2]; 2], String> {
    if !(a > 0.0 && b > 0.0 && angle > 0.0 && angle < 180.0 && rotation.is_finite()) {
        return Err("a lattice needs a, b above 0 and an angle between 0 and 180".into());
    }
    let side = |length: f64, angle: f64| {
        let (sine, cosine) = (rotation + angle).to_radians().sin_cos();
        [length * cosine, length * sine]
    };
    Ok([side(a, 0.0), side(b, angle)])
}

fn domain(size: Option<f64>) -> Result<f64, String> {
    match size {
        None => Ok(f64::INFINITY),
        Some(d) if d > 0.0 => Ok(d),
        Some(d) => Err(format!("domain = {d}: it must be above 0")),
    }
}

impl ParticlesText {
    fn order(&self) -> Result<Order, String> {
        let spread = |s: f64| {
            (s >= 0.0 && s.is_finite())
                .then_some(s)
                .ok_or_else(|| format!("spread = {s}: it must not be below 0"))
        };
        match (&self.lattice, &self.paracrystal, &self.radial) {
            (None, None, None) => Ok(Order::Dilute),
            (Some(l), None, None) => {
                if l.cells.contains(&0) {
                    return Err("its lattice has no cells".into());
                }
                Ok(Order::Lattice(Lattice {
                    sides: sides(l.a, l.b, l.angle, l.rotation)?,
                    cells: l.cells,
                }))
            }
            (None, Some(p), None) => Ok(Order::Paracrystal(Paracrystal {
                sides: sides(p.a, p.b, p.angle, p.rotation)?,
                spread: [spread(p.spread[0])?, spread(p.spread[1])?],
                domain: domain(p.domain)?,
            })),
            (None, None, Some(r)) => {
                if !(r.distance > 0.0 && r.distance.is_finite()) {
                    return Err(format!("distance = {}: it must be above 0", r.distance));
                }
                Ok(Order::Radial(Radial {
                    distance: r.distance,
                    spread: spread(r.spread)?,
                    domain: domain(r.domain)?,
                }))
            }
            _ => Err("give one of lattice, paracrystal and radial".into()),
        }
    }

    /// The population; `raw` is the same description with nothing filled in.
    pub(super) fn population(
        &self,
        raw: &Table,
        layers: &[Layer],
        materials: &Materials,
        dir: &Path,
    ) -> Result<Population, String> {
        if self.layer >= layers.len() {
            return Err(format!(
                "layer = {}, but there are {}",
                self.layer,
                layers.len()
            ));
        }
        let order = self.order()?;
        let Some(density) = self.density.or(order.density()) else {
            return Err("give a density (on a nm²), a lattice or a paracrystal".into());
        };
        if !(density > 0.0 && density.is_finite()) {
            return Err(format!("density = {density}: it must be above 0"));
        }
        if !self.height.is_finite() {
            return Err("height is not finite".into());
        }
        // The substrate has no lower interface, and no thickness here.
        let above: f64 = layers
            .iter()
            .skip(1)
            .take(self.layer)
            .map(|l| l.thickness)
            .sum();
        let mut variants = vec![(1.0, raw.clone())];
        for d in &self.distributions {
            let count = variants.len().saturating_mul(d.count());
            if count > MOST_MEMBERS {
                return Err(format!(
                    "its distributions make {count} particles, more than {MOST_MEMBERS}: take fewer samples"
                ));
            }
            let mut next = Vec::new();
            for (weight, table) in &variants {
                for (w, t) in d.spread(table)? {
                    next.push((weight * w, t));
                }
            }
            variants = next;
        }
        let members = variants
            .into_iter()
            .map(|(weight, table)| {
                limits::check(&table)?;
                let one: Self = table
                    .try_into()
                    .map_err(|e: toml::de::Error| e.message().to_owned())?;
                let mut parts = Vec::new();
                for p in std::iter::once(&one.part).chain(&one.parts) {
                    p.add_to(&mut parts, materials, dir)?;
                }
                Ok((
                    weight,
                    Particle {
                        parts,
                        height: one.height - above,
                    },
                ))
            })
            .collect::<Result<_, String>>()?;
        Ok(Population {
            density,
            layer: self.layer,
            order,
            members,
            average: self.average,
        })
    }
}

impl PartText {
    fn add_to(
        &self,
        parts: &mut Vec<Part>,
        materials: &Materials,
        dir: &Path,
    ) -> Result<(), String> {
        let by = self.orientation()?;
        self.add_turned(parts, materials, dir, &by, self.at, None)
    }

    fn orientation(&self) -> Result<Rotation, String> {
        let angles = [self.turn, self.tilt, self.rotation];
        if angles.iter().chain(&self.at).any(|x| !x.is_finite()) {
            return Err("a number is not finite".into());
        }
        let [turn, tilt, rotation] = angles.map(f64::to_radians);
        Ok(Rotation::new(turn, tilt, rotation))
    }

    fn add_turned(
        &self,
        parts: &mut Vec<Part>,
        materials: &Materials,
        dir: &Path,
        by: &Rotation,
        at: [f64; 3],
        around: Option<(f64, f64)>,
    ) -> Result<(), String> {
        let index = materials.index(self.material.as_deref(), self.delta, self.beta)?;
        if self.material.is_none() && self.delta.is_none() {
            return Err("give a material, or delta and beta".into());
        }
        let form = self
            .form
            .form_factor(dir)
            .map_err(|e: GisaxsError| e.to_string())?;
        parts.push(Part {
            form: turned(form, by),
            index,
            around,
            at,
        });
        if let Some(core) = &self.core {
            if !core.orientation()?.is_none() {
                return Err("a core turns with what is around it: give it no angles".into());
            }
            let shift = by.forward(core.at);
            let at = std::array::from_fn(|k| at[k] + shift[k]);
            core.add_turned(parts, materials, dir, by, at, Some(index))?;
        }
        Ok(())
    }
}
