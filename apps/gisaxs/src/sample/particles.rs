//! Particles as the input file describes them.

use super::distribution::DistributionText;
use super::limits;
use super::placing::{Placing, short};
use crate::GisaxsError;
use crate::form::{FormFactor, Shape, bounds, contains, overlap, turned};
use crate::sample::rotation::Rotation;
use crate::scattering::order::{Lattice, Order, Paracrystal, Radial};
use crate::scattering::particle::{Average, Part, Particle, Population};
use serde::Deserialize;
use std::path::Path;
use toml::Table;

/// Maximum number of sizes and orientations of one population.
const MOST_MEMBERS: usize = 100_000;

/// Pairs of core and shell that are remembered: several solids of a particle may have cores.
const REMEMBERED: usize = 8;

/// Maximum number of solids of a particle that are searched for overlaps.
const MOST_COMPARED: usize = 50;

/// A population of particles. At most one of `lattice`, `paracrystal` and `radial` is given; without, the particles are
/// dilute.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParticlesText {
    /// The first solid of a particle.
    #[serde(flatten)]
    pub part: PartText,
    /// More solids, which add coherently to the first: a unit cell.
    #[serde(default)]
    pub parts: Vec<PartText>,
    /// Particles per nm²; by default one per cell of the lattice or paracrystal.
    pub density: Option<f64>,
    /// A finite lattice.
    pub lattice: Option<LatticeText>,
    /// A two-dimensional paracrystal.
    pub paracrystal: Option<ParacrystalText>,
    /// A radial paracrystal.
    pub radial: Option<RadialText>,
    /// Index of the layer, from 0.
    #[serde(default)]
    pub layer: usize,
    /// Height of the base above the lower interface of the layer, nm; in the substrate above its upper interface, so
    /// negative.
    #[serde(default)]
    pub height: f64,
    /// Distributions of sizes and orientations.
    #[serde(default)]
    pub distributions: Vec<DistributionText>,
    /// How the waves of particles of different sizes add.
    #[serde(default)]
    pub average: Average,
}

/// A solid of one material, optionally with a core. The material is given by name, or as `delta` and `beta`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartText {
    /// The shape.
    pub form: Shape,
    /// Name of the material.
    pub material: Option<String>,
    /// δ of the refractive index n = 1 − δ + iβ.
    pub delta: Option<f64>,
    /// β of the refractive index n = 1 − δ + iβ.
    pub beta: Option<f64>,
    /// Position of the centre of the base, nm.
    #[serde(default)]
    pub at: [f64; 3],
    /// First rotation, about z, degrees.
    #[serde(default)]
    pub turn: f64,
    /// Second rotation, about y, degrees.
    #[serde(default)]
    pub tilt: f64,
    /// Third rotation, about z, degrees.
    #[serde(default)]
    pub rotation: f64,
    /// A solid inside, which replaces this material; its `at` starts at the base of this solid.
    pub core: Option<Box<PartText>>,
}

/// A finite lattice along the surface.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatticeText {
    /// Length of the first lattice vector, nm.
    pub a: f64,
    /// Length of the second lattice vector, nm.
    pub b: f64,
    /// Angle between both, degrees.
    pub angle: f64,
    /// Angle of the first lattice vector from x, degrees.
    #[serde(default)]
    pub rotation: f64,
    /// Number of cells along both lattice vectors; they scatter coherently.
    pub cells: [u32; 2],
}

/// A two-dimensional paracrystal.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParacrystalText {
    /// Mean length of the first lattice vector, nm.
    pub a: f64,
    /// Mean length of the second lattice vector, nm.
    pub b: f64,
    /// Angle between both, degrees.
    pub angle: f64,
    /// Angle of the first lattice vector from x, degrees.
    #[serde(default)]
    pub rotation: f64,
    /// Standard deviation of the distance to the next neighbour along each lattice vector, nm.
    pub spread: [f64; 2],
    /// Size of coherent domains, nm; `None`: infinite.
    pub domain: Option<f64>,
}

/// A radial paracrystal: neighbours at a mean distance, in any direction.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RadialText {
    /// Mean distance to the next neighbour, nm.
    pub distance: f64,
    /// Standard deviation of that distance, nm.
    pub spread: f64,
    /// Size of coherent domains, nm; `None`: infinite.
    pub domain: Option<f64>,
}

/// The lattice vectors, nm.
fn sides(a: f64, b: f64, angle: f64, rotation: f64) -> Result<[[f64; 2]; 2], crate::GisaxsError> {
    if !(a > 0.0 && b > 0.0 && angle > 0.0 && angle < 180.0 && rotation.is_finite()) {
        return Err("a lattice needs a, b above 0 and an angle between 0 and 180".into());
    }
    let side = |length: f64, angle: f64| {
        let (sine, cosine) = (rotation + angle).to_radians().sin_cos();
        [length * cosine, length * sine]
    };
    Ok([side(a, 0.0), side(b, angle)])
}

fn domain(size: Option<f64>) -> Result<f64, crate::GisaxsError> {
    match size {
        None => Ok(f64::INFINITY),
        Some(d) if d > 0.0 => Ok(d),
        Some(d) => Err(format!("domain = {d}: it must be above 0").into()),
    }
}

/// Refuses peaks of zero width.
fn wide(path: &str, spread: f64, domain: f64) -> Result<(), crate::GisaxsError> {
    if spread == 0.0 && domain.is_infinite() {
        return Err(format!(
            "{path} = 0 without a domain: Bragg peaks of zero width, which no pixel samples; give a spread above 0 or a domain (nm)"
        )
        .into());
    }
    Ok(())
}

impl ParticlesText {
    fn order(&self) -> Result<Order, crate::GisaxsError> {
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
            (None, Some(p), None) => {
                let out = Paracrystal {
                    sides: sides(p.a, p.b, p.angle, p.rotation)?,
                    spread: [spread(p.spread[0])?, spread(p.spread[1])?],
                    domain: domain(p.domain)?,
                };
                for (n, s) in out.spread.iter().enumerate() {
                    wide(&format!("paracrystal.spread.{n}"), *s, out.domain)?;
                }
                Ok(Order::Paracrystal(out))
            }
            (None, None, Some(r)) => {
                if !(r.distance > 0.0 && r.distance.is_finite()) {
                    return Err(format!("distance = {}: it must be above 0", r.distance).into());
                }
                let out = Radial {
                    distance: r.distance,
                    spread: spread(r.spread)?,
                    domain: domain(r.domain)?,
                };
                wide("radial.spread", out.spread, out.domain)?;
                Ok(Order::Radial(out))
            }
            _ => Err("give one of lattice, paracrystal and radial".into()),
        }
    }

    /// The population, or several where a distribution changes both particles and their arrangement; `raw` is the same
    /// description before defaults are filled in.
    ///
    /// # Errors
    /// The description is incomplete, inconsistent or invalid, or has too many sizes and orientations.
    pub(super) fn populations(
        &self,
        raw: &Table,
        place: &mut Placing,
    ) -> Result<Vec<Population>, crate::GisaxsError> {
        let layers = place.layers;
        if self.layer >= layers.len() {
            return Err(format!("layer = {}, but there are {}", self.layer, layers.len()).into());
        }
        if !self.height.is_finite() {
            return Err("height is not finite".into());
        }
        self.check_distributions()?;
        let count = (self.distributions.iter()).fold(1, |n: usize, d| n.saturating_mul(d.count()));
        if count > MOST_MEMBERS {
            return Err(format!(
                "its distributions make {count} particles, more than {MOST_MEMBERS}: use fewer samples"
            )
            .into());
        }
        // Numbers of arrangements are independent of those of particles, unless one distribution changes both: then each of
        // its values is a population.
        let (arrangements, rest): (Vec<_>, Vec<_>) =
            (self.distributions.iter()).partition(|d| d.paths().all(of_arrangement));
        let (both, particles): (Vec<_>, Vec<_>) = rest
            .into_iter()
            .partition(|d| d.paths().any(of_arrangement));
        let mut populations = Vec::new();
        for (share, table) in all_values(&both, (1.0, raw.clone()))? {
            let mut orders = Vec::new();
            for (weight, table) in all_values(&arrangements, (share, table.clone()))? {
                let one = Self::of_table(table)?;
                orders.push((weight * one.density()?, one.order()?));
            }
            let mut members = Vec::new();
            for (weight, table) in all_values(&particles, (1.0, table))? {
                let one = Self::of_table(table)?;
                members.push((weight, one.particle(place)?));
            }
            populations.push(Population {
                orders,
                members,
                average: self.average,
            });
        }
        Ok(populations)
    }

    /// Over how many particles its distributions average, such as `19,008 particles: 11 values of form.radius × 1,728
    /// orientations (12 of each of three angles)`; `None` without a distribution.
    pub(super) fn counted(&self) -> Option<String> {
        let grouped = |n: usize| greenup_report::text::grouped(n as u128);
        let one = |d: &DistributionText| match d.of.as_str() {
            "orientation" => format!(
                "{} orientations ({} of each of three angles)",
                grouped(d.count()),
                d.samples
            ),
            path => format!("{} values of {path}", grouped(d.count())),
        };
        let each: Vec<String> = self.distributions.iter().map(one).collect();
        let count = (self.distributions.iter()).fold(1, |n: usize, d| n.saturating_mul(d.count()));
        (!each.is_empty()).then(|| format!("{} particles: {}", grouped(count), each.join(" × ")))
    }

    fn of_table(table: Table) -> Result<Self, crate::GisaxsError> {
        limits::check(&table)?;
        let read = |e: toml::de::Error| GisaxsError::from(e.message().to_owned());
        table.try_into().map_err(read)
    }

    /// Particles per nm².
    fn density(&self) -> Result<f64, crate::GisaxsError> {
        let Some(density) = self.density.or(self.order()?.density()) else {
            return Err("the particles have no positions: give a density (their number per nm²), a lattice or a paracrystal".into());
        };
        if !(density > 0.0 && density.is_finite()) {
            return Err(format!("density = {density}: it must be above 0").into());
        }
        Ok(density)
    }

    fn check_distributions(&self) -> Result<(), crate::GisaxsError> {
        for d in &self.distributions {
            let wrong = |m: &str| Err(format!("the distribution of \"{}\": {m}", d.of).into());
            let fixed = |path: &&str| {
                let first = path.split('.').next().unwrap_or_default();
                matches!(first, "density" | "layer" | "distributions" | "average")
            };
            match d.paths().find(fixed) {
                Some("density") => {
                    return wrong(
                        "the image is proportional to density: give its mean, without a distribution",
                    );
                }
                Some(path) => return wrong(&format!("\"{path}\" must be one value")),
                None => {}
            }
            if d.of == "orientation" {
                if !self.parts.is_empty() {
                    return wrong(
                        "it would turn the first solid alone, not its parts: use distributions of turn, tilt and rotation",
                    );
                }
                if [self.part.turn, self.part.tilt, self.part.rotation] != [0.0; 3] {
                    return wrong("it replaces turn, tilt and rotation: remove them");
                }
            }
        }
        Ok(())
    }

    /// What the user should know of solids side by side: those that overlap, whose common volume counts twice.
    ///
    /// # Errors
    /// Two are the same.
    pub(super) fn overlaps(&self, dir: &Path) -> Result<Option<String>, crate::GisaxsError> {
        let all: Vec<&PartText> = std::iter::once(&self.part).chain(&self.parts).collect();
        let name = |k: usize| match k {
            0 => "the first solid".to_owned(),
            _ => format!("parts.{}", k - 1),
        };
        let pairs = || (0..all.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        for (i, j) in pairs() {
            let same = all[i].at == all[j].at
                && all[i].form == all[j].form
                && all[i].orientation()? == all[j].orientation()?;
            if same {
                return Err(GisaxsError::Outside(format!(
                    "{} and {} are the same solid at the same place, which would count twice: remove one, or move it by at",
                    name(i),
                    name(j)
                )));
            }
        }
        // Of meshes it is not known, and of many solids it takes long.
        if all.len() > MOST_COMPARED {
            return Ok(None);
        }
        let mut solids = Vec::new();
        for p in &all {
            let convex = !matches!(p.form, Shape::Mesh { .. });
            solids.push(if convex {
                Some(turned(p.solid(dir)?, &p.orientation()?))
            } else {
                None
            });
        }
        let found = pairs().find(|(i, j)| match (&solids[*i], &solids[*j]) {
            (Some(a), Some(b)) => overlap((&**a, all[*i].at), (&**b, all[*j].at)),
            _ => false,
        });
        Ok(found.map(|(i, j)| {
            format!(
                "{} and {} overlap, and their common volume counts twice; give an inner solid as `core` of the outer one",
                name(i),
                name(j)
            )
        }))
    }

    /// One particle, each of its solids in its layer, or cut at the interfaces that it crosses.
    fn particle(&self, place: &mut Placing) -> Result<Particle, crate::GisaxsError> {
        let mut parts = Vec::new();
        for p in std::iter::once(&self.part).chain(&self.parts) {
            p.add_to(&mut parts, place)?;
        }
        // The substrate has no lower interface, and no thickness here.
        let height = self.height - place.below(self.layer);
        let parts = place.put(parts, (self.layer, height))?;
        Ok(Particle { parts, height })
    }
}

/// Whether the number at a path of a population is one of its arrangement, not of its particles.
fn of_arrangement(path: &str) -> bool {
    let first = path.split('.').next().unwrap_or_default();
    matches!(first, "lattice" | "paracrystal" | "radial")
}

/// A description at all values of some distributions.
fn all_values(
    distributions: &[&DistributionText],
    one: (f64, Table),
) -> Result<Vec<(f64, Table)>, crate::GisaxsError> {
    let mut all = vec![one];
    for d in distributions {
        let mut next = Vec::new();
        for (weight, table) in &all {
            for (w, t) in d.spread(table)? {
                next.push((weight * w, t));
            }
        }
        all = next;
    }
    Ok(all)
}

impl PartText {
    fn add_to(&self, parts: &mut Vec<Part>, place: &mut Placing) -> Result<(), crate::GisaxsError> {
        let by = self.orientation()?;
        let form = self.solid(place.dir)?;
        self.add_turned(parts, form, place, &by, self.at, None)
    }

    /// The form factor of its shape, not rotated.
    fn solid(&self, dir: &Path) -> Result<Box<dyn FormFactor>, crate::GisaxsError> {
        let form = self.form.form_factor(dir);
        form.map_err(|e: GisaxsError| GisaxsError::from(e.to_string()))
    }

    fn orientation(&self) -> Result<Rotation, crate::GisaxsError> {
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
        form: Box<dyn FormFactor>,
        place: &mut Placing,
        by: &Rotation,
        at: [f64; 3],
        around: Option<(f64, f64)>,
    ) -> Result<(), crate::GisaxsError> {
        let index = place
            .materials
            .index(self.material.as_deref(), self.delta, self.beta)?;
        if self.material.is_none() && self.delta.is_none() {
            return Err("give a material, or delta and beta".into());
        }
        let core = match &self.core {
            None => None,
            Some(core) => {
                if !core.orientation()?.is_none() {
                    return Err(
                        "a core rotates with its shell: remove its turn, tilt and rotation".into(),
                    );
                }
                let inner = core.solid(place.dir)?;
                let pair = (&self.form, &core.form, core.at);
                let known = place.within.iter().any(|(s, c, at)| (s, c, *at) == pair);
                if !known && !contains(&*form, &*inner, core.at) {
                    return Err(GisaxsError::Outside(format!(
                        "a core of {} is not inside of its shell of {}: where it is outside it replaces what is not there. \
                         Make it smaller, move it by core.at, or make it one of [[particles.parts]]",
                        extent(&*inner, core.at),
                        extent(&*form, [0.0; 3])
                    )));
                }
                if !known {
                    place.within.truncate(REMEMBERED - 1);
                    let pair = (self.form.clone(), core.form.clone(), core.at);
                    place.within.insert(0, pair);
                }
                Some((core, inner))
            }
        };
        parts.push(Part {
            form: turned(form, by),
            index,
            around,
            at,
            layer: 0,
        });
        if let Some((core, inner)) = core {
            let shift = by.forward(core.at);
            let at = std::array::from_fn(|k| at[k] + shift[k]);
            core.add_turned(parts, inner, place, by, at, Some(index))?;
        }
        Ok(())
    }
}

/// From where to where a solid reaches, from the base of its shell.
fn extent(form: &dyn FormFactor, at: [f64; 3]) -> String {
    let [x, y, z] = bounds(form, at).map(|[lo, hi]| format!("{} to {}", short(lo), short(hi)));
    format!("x {x}, y {y}, z {z} nm")
}
