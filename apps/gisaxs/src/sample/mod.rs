//! The input file: beam, detector, layers and particles.

pub mod distribution;
pub(crate) mod limits;
mod optical_table;
mod optics;
mod particles;
mod pixels;
mod placing;
pub mod rotation;

pub use particles::ParticlesText;
pub use pixels::DetectorText;
pub use toml::Value;

use crate::detector::resolution::{Blur, Resolution};
use crate::detector::{Axis, Detector};
use crate::mesh_form_factor::Settings;
use crate::scattering::dwba::{Mode, Scene};
use crate::scattering::layers::{self, Layer};
use crate::scattering::particle::{Population, missed};
use crate::{GisaxsError, table};
use optical_table::HC;
use optics::{MaterialText, Materials};
use placing::Placing;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::path::Path;
use toml::Table;

/// Energies of X-rays at which small-angle scattering is measured, eV.
const ENERGIES: std::ops::Range<f64> = 100.0..200_000.0;

/// A sample in an experiment, as the input file describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The incident beam.
    pub beam: Beam,
    /// The pixels of the image; not needed for a reflectivity.
    pub detector: Option<DetectorText>,
    /// Materials by name.
    #[serde(default)]
    pub materials: BTreeMap<String, MaterialText>,
    /// Layers from the top: the first is the medium above the sample, the last the substrate.
    #[serde(default)]
    pub layers: Vec<LayerText>,
    /// Populations of particles; they add incoherently.
    #[serde(default)]
    pub particles: Vec<ParticlesText>,
    /// Approximation of the waves.
    #[serde(default)]
    pub mode: ModeText,
    /// Counts added to each pixel.
    #[serde(default)]
    pub background: f64,
    /// Resolution of the instrument; `None`: perfect.
    pub resolution: Option<ResolutionText>,
    /// The input file as it was written.
    #[serde(skip)]
    raw: Table,
    /// Its text; empty without a file.
    #[serde(skip)]
    source: String,
}

/// The approximation of the waves, as the input file names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModeText {
    /// Distorted-wave Born approximation.
    #[default]
    Dwba,
    /// Born approximation: the incoming plane wave only.
    Born,
    /// Small-angle scattering in transmission, without a surface.
    Saxs,
}

/// The incident beam.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beam {
    /// Wavelength, nm; either this or `energy`.
    pub wavelength: Option<f64>,
    /// Photon energy, eV; either this or `wavelength`.
    pub energy: Option<f64>,
    /// Grazing angle, degrees; not needed for a reflectivity.
    pub angle: Option<f64>,
    /// Number of photons on the sample.
    #[serde(default = "one")]
    pub intensity: f64,
}

fn one() -> f64 {
    1.0
}

/// A layer of the sample. Its refractive index is that of a material, or `delta` and `beta`; vacuum if none is given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerText {
    /// Name of the layer, for error messages.
    pub name: Option<String>,
    /// Name of a material.
    pub material: Option<String>,
    /// δ of the refractive index n = 1 − δ + iβ.
    pub delta: Option<f64>,
    /// β of the refractive index n = 1 − δ + iβ.
    pub beta: Option<f64>,
    /// Thickness, nm; required of inner layers, refused of the first and the last, which have no end.
    pub thickness: Option<f64>,
    /// Root-mean-square roughness of the upper interface, nm.
    #[serde(default)]
    pub roughness: f64,
}

/// Standard deviations of the instrument's resolution, in the unit of the detector: degrees, or mm of a flat one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolutionText {
    /// Along the azimuth, or along the rows of a flat detector.
    pub across: f64,
    /// Along the exit angle, or along the columns of a flat detector.
    pub up: f64,
}

impl Sample {
    /// Reads an input file.
    ///
    /// # Errors
    /// The file cannot be read, has an unknown or missing key, or a number out of range; the error gives the line or
    /// the path.
    pub fn read(path: &Path) -> Result<Self, GisaxsError> {
        let text = greenup_files::read_text(path)?;
        Self::parse(&text).map_err(|e| table::fail(path, e.to_string().trim_end()))
    }

    /// Reads the text of an input file.
    ///
    /// # Errors
    /// As of [`Sample::read`], without the path.
    pub fn parse(text: &str) -> Result<Self, GisaxsError> {
        let wrong = |e: toml::de::Error| GisaxsError::Sample(e.to_string().trim_end().to_owned());
        let mut out: Self = toml::from_str(text).map_err(wrong)?;
        out.raw = toml::from_str(text).map_err(wrong)?;
        out.source = text.to_owned();
        limits::check(&out.raw)?;
        Ok(out)
    }

    /// Takes the contents of an input file as nested tables.
    ///
    /// # Errors
    /// As of [`Sample::read`], without a line.
    pub fn of_table(raw: Table) -> Result<Self, GisaxsError> {
        limits::check(&raw)?;
        let mut out: Self = raw
            .clone()
            .try_into()
            .map_err(|e: toml::de::Error| GisaxsError::Sample(e.message().to_owned()))?;
        out.raw = raw;
        Ok(out)
    }

    /// The sample with other numbers at some paths, such as `particles.0.form.radius`.
    ///
    /// # Errors
    /// A path does not exist, or a number is invalid there.
    pub fn with(&self, numbers: &[(String, f64)]) -> Result<Self, GisaxsError> {
        let values: Vec<(String, Value)> = (numbers.iter())
            .map(|(path, number)| (path.clone(), Value::Float(*number)))
            .collect();
        self.with_values(&values)
    }

    /// The sample with other values of any type at some paths; keys that the input file leaves at their default may be
    /// set.
    ///
    /// # Errors
    /// A path does not exist, or a value is invalid there.
    pub fn with_values(&self, values: &[(String, Value)]) -> Result<Self, GisaxsError> {
        let mut raw = self.raw.clone();
        for (path, value) in values {
            distribution::set(&mut raw, path, value.clone())?;
        }
        let mut out = Self::of_table(raw).map_err(|e| {
            let paths: Vec<&str> = values.iter().map(|v| v.0.as_str()).collect();
            // Other errors name the key.
            match e.to_string() {
                m if paths.iter().any(|p| m.contains(p)) => e,
                m if paths.is_empty() => GisaxsError::Sample(m),
                m => GisaxsError::Sample(format!("{}: {m}", paths.join(", "))),
            }
        })?;
        out.source.clone_from(&self.source);
        Ok(out)
    }

    /// The text of the input file, as it was read.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The input file with these numbers, as TOML without comments.
    pub fn text(&self) -> String {
        toml::to_string_pretty(&self.raw).unwrap_or_default()
    }

    /// The number at a path of the input file.
    ///
    /// # Errors
    /// The path does not lead to a number.
    pub fn number(&self, path: &str) -> Result<f64, GisaxsError> {
        distribution::number(&self.raw, path)
    }

    /// How many particles each population averages over, for those with distributions: they decide how long an image takes.
    pub fn particle_counts(&self) -> Vec<String> {
        let all = self.particles.iter().enumerate();
        all.filter_map(|(n, p)| Some(format!("particles number {n}: {}", p.counted()?)))
            .collect()
    }

    /// What is possible, but is perhaps not meant.
    pub fn warnings(&self) -> Vec<String> {
        let Ok(energy) = self.wavelength().map(|w| HC / w) else {
            return Vec::new();
        };
        let fix = match (self.beam.energy, self.beam.wavelength) {
            (Some(_), _) if energy < ENERGIES.start => {
                format!(
                    ": energy is in eV, not keV; {energy} keV are {}",
                    1e3 * energy
                )
            }
            (Some(_), _) => ": energy is in eV".to_owned(),
            _ => ": wavelength is in nm, not Å".to_owned(),
        };
        if ENERGIES.contains(&energy) {
            Vec::new()
        } else {
            vec![format!(
                "[beam] has photons of {energy:.4} eV, far from X-rays of {} to {:.0} eV{fix}",
                ENERGIES.start, ENERGIES.end
            )]
        }
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
    /// The beam has neither wavelength nor energy, or both, or an invalid one.
    pub fn wave_number(&self) -> Result<f64, GisaxsError> {
        Ok(2.0 * PI / self.wavelength()?)
    }

    fn materials(&self, dir: &Path) -> Result<Materials, GisaxsError> {
        Materials::new(&self.materials, HC / self.wavelength()?, dir)
    }

    /// The layers, checked; relative paths of tables of materials start at `dir`.
    ///
    /// # Errors
    /// There are fewer than two layers, or a material, refractive index, thickness or roughness is invalid.
    pub fn stack(&self, dir: &Path) -> Result<Vec<Layer>, GisaxsError> {
        let last = self.layers.len().saturating_sub(1);
        if self.mode == ModeText::Saxs && self.layers.is_empty() {
            return Ok(vec![Layer::smooth(0.0, 0.0, 0.0)]);
        }
        if last > 0 && self.mode == ModeText::Saxs {
            return Err(GisaxsError::Sample(format!(
                "mode = \"saxs\" is transmission through one medium: [[layers]] has {}",
                last + 1
            )));
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
                let wrong = |m: GisaxsError| GisaxsError::Sample(format!("layer {name}: {m}"));
                let inner = i > 0 && i < last;
                let thickness = l.thickness.filter(|_| inner).unwrap_or(0.0);
                if !inner && l.thickness.is_some_and(|t| t != 0.0) {
                    let which = if i == 0 { "first" } else { "last" };
                    return Err(wrong(
                        format!("the {which} layer has no end: remove its thickness").into(),
                    ));
                }
                if i == 0 && l.roughness != 0.0 {
                    return Err(wrong(
                        "roughness is that of the upper interface, and the first layer has none: give it to the next layer".into(),
                    ));
                }
                if inner && !(thickness > 0.0 && thickness.is_finite()) {
                    return Err(wrong("give a thickness above 0".into()));
                }
                let (delta, beta) = materials
                    .index(l.material.as_deref(), l.delta, l.beta)
                    .map_err(wrong)?;
                if !(l.roughness >= 0.0 && l.roughness.is_finite()) {
                    return Err(wrong(format!("a roughness of {}", l.roughness).into()));
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

    /// Everything that an image depends on; relative paths of meshes and tables start at `dir`.
    ///
    /// # Errors
    /// The description is incomplete, inconsistent or invalid, or the image does not fit into memory.
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
        let mut notes = layers::notes(&layers);
        let populations: Vec<Population> = self
            .particles
            .iter()
            .zip(raw)
            .enumerate()
            .map(|(n, (p, raw))| {
                let fail = |m: GisaxsError| {
                    let text = format!("particles number {n}: {m}");
                    match m {
                        GisaxsError::Outside(_) => GisaxsError::Outside(text),
                        _ => GisaxsError::Sample(text),
                    }
                };
                let Value::Table(raw) = raw else {
                    return Err(fail("must be a table".into()));
                };
                let mut placing = Placing {
                    layers: &layers,
                    materials: &materials,
                    dir,
                    inside: false,
                    within: Vec::new(),
                    note: None,
                };
                let out = p.populations(raw, &mut placing).map_err(fail)?;
                let overlap = p.overlaps(dir).map_err(fail)?;
                if !placing.inside {
                    return Err(fail(placing.outside(p.layer)));
                }
                let own = placing.note.into_iter().chain(overlap);
                notes.extend(own.map(|m| format!("particles number {n}: {m}")));
                Ok(out)
            })
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect();
        let incidence = angle.to_radians();
        let Some(text) = &self.detector else {
            return wrong("[detector] is missing: give phi and alpha, or flat".into());
        };
        let detector = text.detector(incidence)?;
        notes.extend(missed(
            &populations,
            &detector,
            layers::outside(&layers, self.wave_number()?),
        ));
        let pixels = (detector.rows() * detector.columns()) as u64;
        // Positions, amplitudes, their means and the image; waves in each layer if the pixels of a row differ.
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
        greenup_process::memory::check(&what, pixels * (80 + waves))?;
        let smearing = match &self.resolution {
            None => None,
            Some(r) => {
                let [(_, a, b), (_, c, d)] = detector.axes();
                if !(r.across >= 0.0 && r.up >= 0.0 && r.across < b - a && r.up < d - c) {
                    return wrong(
                        "[resolution] across and up must lie between 0 and the detector's size"
                            .into(),
                    );
                }
                let even = |sigma: f64, span: f64, n: usize| Blur::Even(sigma * n as f64 / span);
                let blur = |sigma: f64, span: f64, axis: &Axis| match Blur::new(
                    axis,
                    sigma.to_radians(),
                ) {
                    Blur::Even(_) => even(sigma, span, axis.centres.len()),
                    uneven => uneven,
                };
                Some(match &detector {
                    Detector::Angles { phi, alpha } => Resolution {
                        across: blur(r.across, b - a, phi),
                        up: blur(r.up, d - c, alpha),
                    },
                    Detector::Flat(f) => Resolution {
                        across: even(r.across, b - a, f.columns),
                        up: even(r.up, d - c, f.rows),
                    },
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
            notes,
        })
    }
}
