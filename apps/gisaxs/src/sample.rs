//! The page that describes beam, detector, layers and particles.

use crate::GisaxsError;
use crate::detector::{Axis, Detector};
use crate::dwba::{Mode, Particles, Scene};
use crate::form::Shape;
use crate::lattice::Lattice;
use crate::stack::Layer;
use serde::Deserialize;
use std::f64::consts::PI;
use std::path::Path;

/// λ E, nm eV.
const HC: f64 = 1_239.841_984;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    pub beam: Beam,
    pub detector: Option<DetectorText>,
    /// From the top; the first is what the beam comes through, the last the substrate.
    pub layers: Vec<LayerText>,
    #[serde(default)]
    pub particles: Vec<ParticlesText>,
    #[serde(default)]
    pub mode: ModeText,
    #[serde(default)]
    pub background: f64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModeText {
    #[default]
    Dwba,
    Born,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beam {
    /// nm; or `energy`.
    pub wavelength: Option<f64>,
    /// eV.
    pub energy: Option<f64>,
    /// Glancing angle, degrees; not needed for a reflectivity.
    pub angle: Option<f64>,
    #[serde(default = "one")]
    pub intensity: f64,
}

fn one() -> f64 {
    1.0
}

/// Pixels of equal steps in azimuth and height above the horizon, degrees.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetectorText {
    pub phi: Range,
    pub alpha: Range,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    pub from: f64,
    pub to: f64,
    pub n: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerText {
    pub name: Option<String>,
    #[serde(default)]
    pub delta: f64,
    #[serde(default)]
    pub beta: f64,
    pub thickness: Option<f64>,
    #[serde(default)]
    pub roughness: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParticlesText {
    pub form: Shape,
    pub delta: f64,
    #[serde(default)]
    pub beta: f64,
    /// On a nm²; of a lattice where it is not given: one a cell.
    pub density: Option<f64>,
    pub lattice: Option<LatticeText>,
    /// Number of the layer, from 0.
    #[serde(default)]
    pub layer: usize,
    /// Height of the base above the layer's lower interface, nm; in the substrate above its upper
    /// one, so negative.
    #[serde(default)]
    pub height: f64,
    /// About z, degrees.
    #[serde(default)]
    pub rotation: f64,
}

/// A finite lattice along the surface; cells scatter coherently.
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
    /// Cells along both sides.
    pub cells: [u32; 2],
}

impl LatticeText {
    fn lattice(&self) -> Result<Lattice, String> {
        if !(self.a > 0.0 && self.b > 0.0 && self.angle > 0.0 && self.angle < 180.0) {
            return Err("its lattice needs a, b above 0 and an angle between 0 and 180".into());
        }
        if self.cells.contains(&0) {
            return Err("its lattice has no cells".into());
        }
        let side = |length: f64, angle: f64| {
            let (sine, cosine) = (self.rotation + angle).to_radians().sin_cos();
            [length * cosine, length * sine]
        };
        Ok(Lattice {
            sides: [side(self.a, 0.0), side(self.b, self.angle)],
            cells: self.cells,
        })
    }
}

impl Sample {
    /// Reads a page.
    ///
    /// # Errors
    /// What is wrong in it, with the line.
    pub fn read(path: &Path) -> Result<Self, GisaxsError> {
        let fail = |message: String| GisaxsError::File {
            path: path.display().to_string(),
            message,
        };
        let text =
            std::fs::read_to_string(path).map_err(|e| fail(format!("cannot be read: {e}")))?;
        toml::from_str(&text).map_err(|e| fail(e.to_string().trim_end().to_owned()))
    }

    /// Wave number in vacuum, 1/nm.
    ///
    /// # Errors
    /// Not one of wavelength and energy.
    pub fn wave_number(&self) -> Result<f64, GisaxsError> {
        let wavelength = match (self.beam.wavelength, self.beam.energy) {
            (Some(w), None) => w,
            (None, Some(e)) => HC / e,
            _ => {
                return Err(GisaxsError::Sample(
                    "[beam] needs either wavelength (nm) or energy (eV)".into(),
                ));
            }
        };
        if wavelength > 0.0 && wavelength.is_finite() {
            Ok(2.0 * PI / wavelength)
        } else {
            Err(GisaxsError::Sample(format!(
                "[beam] has a wavelength of {wavelength} nm"
            )))
        }
    }

    /// The layers, checked.
    ///
    /// # Errors
    /// A thickness that is none, an index that gains.
    pub fn stack(&self) -> Result<Vec<Layer>, GisaxsError> {
        let last = self.layers.len().saturating_sub(1);
        if last == 0 {
            return Err(GisaxsError::Sample(
                "[[layers]] needs at least two: what the beam comes through, and the substrate"
                    .into(),
            ));
        }
        self.layers
            .iter()
            .enumerate()
            .map(|(i, l)| {
                let name = l.name.clone().unwrap_or_else(|| format!("number {i}"));
                let wrong = |m: String| GisaxsError::Sample(format!("layer {name}: {m}"));
                let inner = i > 0 && i < last;
                let thickness = l.thickness.filter(|_| inner).unwrap_or(0.0);
                if inner && !(thickness > 0.0 && thickness.is_finite()) {
                    return Err(wrong("give a thickness above 0".into()));
                }
                if !(l.delta.is_finite() && l.delta < 1.0 && l.beta >= 0.0 && l.beta.is_finite()) {
                    return Err(wrong(format!(
                        "delta {} and beta {} are no index",
                        l.delta, l.beta
                    )));
                }
                if !(l.roughness >= 0.0 && l.roughness.is_finite()) {
                    return Err(wrong(format!("a roughness of {}", l.roughness)));
                }
                Ok(Layer {
                    delta: l.delta,
                    beta: l.beta,
                    thickness,
                    roughness: l.roughness,
                })
            })
            .collect()
    }

    /// All that an image depends on; meshes are looked for beside `dir`.
    ///
    /// # Errors
    /// What is missing or contradicts itself.
    pub fn scene(&self, dir: &Path) -> Result<Scene, GisaxsError> {
        let wrong = |m: String| Err(GisaxsError::Sample(m));
        let layers = self.stack()?;
        let Some(angle) = self.beam.angle else {
            return wrong("[beam] needs an angle (degrees above the horizon)".into());
        };
        if !(angle > 0.0 && angle <= 90.0) {
            return wrong(format!(
                "[beam] angle = {angle}: it must be above the horizon, at most 90"
            ));
        }
        if !(self.beam.intensity > 0.0 && self.beam.intensity.is_finite()) {
            return wrong(format!("[beam] intensity = {}", self.beam.intensity));
        }
        if !(self.background >= 0.0 && self.background.is_finite()) {
            return wrong(format!("background = {}", self.background));
        }
        if self.particles.is_empty() {
            return wrong("there are no [[particles]] to scatter".into());
        }
        let mut particles = Vec::new();
        for (n, p) in self.particles.iter().enumerate() {
            let fail = |m: String| GisaxsError::Sample(format!("particles number {n}: {m}"));
            if p.layer >= layers.len() {
                return Err(fail(format!(
                    "layer = {}, but there are {}",
                    p.layer,
                    layers.len()
                )));
            }
            let lattice = p
                .lattice
                .as_ref()
                .map(LatticeText::lattice)
                .transpose()
                .map_err(fail)?;
            let Some(density) = p.density.or(lattice.as_ref().map(|l| 1.0 / l.cell())) else {
                return Err(fail("give a density (on a nm²) or a lattice".into()));
            };
            if !(density > 0.0 && density.is_finite()) {
                return Err(fail(format!("density = {density}: it must be above 0")));
            }
            if ![p.delta, p.beta, p.height, p.rotation]
                .iter()
                .all(|x| x.is_finite())
            {
                return Err(fail("a number is not finite".into()));
            }
            // The substrate has no lower interface, and no thickness here.
            let above: f64 = layers
                .iter()
                .skip(1)
                .take(p.layer)
                .map(|l| l.thickness)
                .sum();
            particles.push(Particles {
                form: p.form.form_factor(dir).map_err(|e| fail(e.to_string()))?,
                delta: p.delta,
                beta: p.beta,
                density,
                lattice,
                layer: p.layer,
                height: p.height - above,
                rotation: p.rotation.to_radians(),
            });
        }
        Ok(Scene {
            k0: self.wave_number()?,
            incidence: angle.to_radians(),
            intensity: self.beam.intensity,
            layers,
            particles,
            detector: self.pixels()?,
            mode: match self.mode {
                ModeText::Dwba => Mode::Distorted,
                ModeText::Born => Mode::Born,
            },
            background: self.background,
        })
    }

    fn pixels(&self) -> Result<Detector, GisaxsError> {
        let wrong = |m: &str| Err(GisaxsError::Sample(format!("[detector] {m}")));
        let Some(d) = &self.detector else {
            return wrong("is missing: give phi and alpha, each with from, to and n");
        };
        if !(d.phi.from < d.phi.to && d.alpha.from < d.alpha.to) {
            return wrong("needs from < to");
        }
        let axis = |r: &Range| Axis::even(r.from.to_radians(), r.to.to_radians(), r.n);
        let detector = Detector {
            phi: axis(&d.phi),
            alpha: axis(&d.alpha),
        };
        let n = detector.phi.centres.len() * detector.alpha.centres.len();
        if n == 0 || n > 1 << 28 {
            return wrong("has no pixels, or more than 268 million");
        }
        Ok(detector)
    }
}
