//! The page that describes beam, detector, layers and particles.

pub mod distribution;
pub(crate) mod limits;
mod optics;
mod particles;
mod pixels;

pub use particles::ParticlesText;
pub use pixels::DetectorText;

use crate::dwba::{Mode, Scene};
use crate::numeric::Settings;
use crate::smear::Smearing;
use crate::stack::Layer;
use crate::{GisaxsError, memory, table};
use optics::{MaterialText, Materials};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::path::Path;
use toml::{Table, Value};

/// λ E, nm eV.
const HC: f64 = 1_239.841_984;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    pub beam: Beam,
    pub detector: Option<DetectorText>,
    #[serde(default)]
    pub materials: BTreeMap<String, MaterialText>,
    /// From the top; the first is what the beam comes through, the last the substrate.
    #[serde(default)]
    pub layers: Vec<LayerText>,
    #[serde(default)]
    pub particles: Vec<ParticlesText>,
    #[serde(default)]
    pub mode: ModeText,
    #[serde(default)]
    pub background: f64,
    pub resolution: Option<ResolutionText>,
    /// The page as it was written.
    #[serde(skip)]
    raw: Table,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModeText {
    #[default]
    Dwba,
    Born,
    Saxs,
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

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerText {
    pub name: Option<String>,
    pub material: Option<String>,
    pub delta: Option<f64>,
    pub beta: Option<f64>,
    pub thickness: Option<f64>,
    #[serde(default)]
    pub roughness: f64,
}

/// Standard deviations of the instrument's resolution, in the detector's unit: degrees, or mm.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolutionText {
    pub across: f64,
    pub up: f64,
}

impl Sample {
    /// Reads a page.
    ///
    /// # Errors
    /// What is wrong in it, with the line.
    pub fn read(path: &Path) -> Result<Self, GisaxsError> {
        let text =
            greenup_files::read_text(path).map_err(|e| GisaxsError::Sample(e.to_string()))?;
        let wrong = |e: toml::de::Error| table::fail(path, e.to_string().trim_end());
        let mut out: Self = toml::from_str(&text).map_err(wrong)?;
        out.raw = toml::from_str(&text).map_err(wrong)?;
        limits::check(&out.raw).map_err(|m| table::fail(path, m))?;
        Ok(out)
    }

    /// The page with other numbers at some paths, such as `particles.0.form.radius`.
    ///
    /// # Errors
    /// There is no such place, or the number does not fit there.
    pub fn with(&self, numbers: &[(String, f64)]) -> Result<Self, GisaxsError> {
        let mut raw = self.raw.clone();
        for (path, value) in numbers {
            distribution::set(&mut raw, path, *value).map_err(GisaxsError::Sample)?;
        }
        limits::check(&raw).map_err(GisaxsError::Sample)?;
        let mut out: Self = raw
            .clone()
            .try_into()
            .map_err(|e: toml::de::Error| GisaxsError::Sample(e.message().to_owned()))?;
        out.raw = raw;
        Ok(out)
    }

    /// The number at a path.
    ///
    /// # Errors
    /// There is none.
    pub fn number(&self, path: &str) -> Result<f64, GisaxsError> {
        distribution::number(&self.raw, path).map_err(GisaxsError::Sample)
    }

    fn wavelength(&self) -> Result<f64, GisaxsError> {
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
            Ok(wavelength)
        } else {
            Err(GisaxsError::Sample(format!(
                "[beam] has a wavelength of {wavelength} nm"
            )))
        }
    }

    /// Wave number in vacuum, 1/nm.
    ///
    /// # Errors
    /// Not one of wavelength and energy.
    pub fn wave_number(&self) -> Result<f64, GisaxsError> {
        Ok(2.0 * PI / self.wavelength()?)
    }

    fn materials(&self, dir: &Path) -> Result<Materials, GisaxsError> {
        Materials::new(&self.materials, HC / self.wavelength()?, dir)
    }

    /// The layers, checked; tables of materials are looked for beside `dir`.
    ///
    /// # Errors
    /// A thickness that is none, an index that gains.
    pub fn stack(&self, dir: &Path) -> Result<Vec<Layer>, GisaxsError> {
        let last = self.layers.len().saturating_sub(1);
        if self.mode == ModeText::Saxs && self.layers.is_empty() {
            return Ok(vec![Layer::smooth(0.0, 0.0, 0.0)]);
        }
        if last == 0 && self.mode != ModeText::Saxs {
            return Err(GisaxsError::Sample(
                "[[layers]] needs at least two: what the beam comes through, and the substrate"
                    .into(),
            ));
        }
        let materials = self.materials(dir)?;
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
                let (delta, beta) = materials
                    .index(l.material.as_deref(), l.delta, l.beta)
                    .map_err(wrong)?;
                if !(l.roughness >= 0.0 && l.roughness.is_finite()) {
                    return Err(wrong(format!("a roughness of {}", l.roughness)));
                }
                Ok(Layer {
                    delta,
                    beta,
                    thickness,
                    roughness: l.roughness,
                })
            })
            .collect()
    }

    /// All that an image depends on; meshes and tables are looked for beside `dir`.
    ///
    /// # Errors
    /// What is missing or contradicts itself.
    pub fn scene(&self, dir: &Path) -> Result<Scene, GisaxsError> {
        let wrong = |m: String| Err(GisaxsError::Sample(m));
        let layers = self.stack(dir)?;
        let flat = self.mode == ModeText::Saxs;
        let Some(angle) = self.beam.angle.or(flat.then_some(0.0)) else {
            return wrong("[beam] needs an angle (degrees above the horizon)".into());
        };
        if !((angle > 0.0 || flat && angle == 0.0) && angle <= 90.0) {
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
        let materials = self.materials(dir)?;
        let none = Vec::new();
        let raw = match self.raw.get("particles") {
            Some(Value::Array(a)) => a,
            _ => &none,
        };
        let populations = self
            .particles
            .iter()
            .zip(raw)
            .enumerate()
            .map(|(n, (p, raw))| {
                let fail = |m| GisaxsError::Sample(format!("particles number {n}: {m}"));
                let Value::Table(raw) = raw else {
                    return Err(fail("are no table".into()));
                };
                p.population(raw, &layers, &materials, dir).map_err(fail)
            })
            .collect::<Result<_, _>>()?;
        let incidence = angle.to_radians();
        let Some(text) = &self.detector else {
            return wrong("[detector] is missing: give phi and alpha, or flat".into());
        };
        let detector = text.detector(incidence)?;
        let pixels = (detector.rows() * detector.columns()) as u64;
        // Places, amplitudes, their means and the image; waves of each layer where the pixels of a row differ.
        let waves = if detector.level() {
            0
        } else {
            48 * layers.len() as u64 + 24
        };
        let what = format!(
            "[detector] {} × {} pixels",
            detector.columns(),
            detector.rows()
        );
        memory::check(&what, pixels * (80 + waves)).map_err(GisaxsError::Sample)?;
        let smearing = match &self.resolution {
            None => None,
            Some(r) => {
                let [(_, a, b), (_, c, d)] = detector.axes();
                let pixels = |sigma: f64, span: f64, n: usize| sigma * n as f64 / span;
                if !(r.across >= 0.0 && r.up >= 0.0 && r.across < b - a && r.up < d - c) {
                    return wrong(
                        "[resolution] across and up must lie between 0 and the detector's size"
                            .into(),
                    );
                }
                Some(Smearing {
                    across: pixels(r.across, b - a, detector.columns()),
                    up: pixels(r.up, d - c, detector.rows()),
                })
            }
        };
        Ok(Scene {
            k0: self.wave_number()?,
            incidence,
            intensity: self.beam.intensity,
            layers,
            populations,
            detector,
            mode: match self.mode {
                ModeText::Dwba => Mode::Distorted,
                ModeText::Born => Mode::Born,
                ModeText::Saxs => Mode::Transmission,
            },
            background: self.background,
            smearing,
            numeric: Settings::default(),
        })
    }
}
