//! Residuals of a model.

use super::page::{Free, Noise};
use crate::GisaxsError;
use crate::image::Cut;
use crate::numeric::{Accelerator, Settings, Watch};
use crate::sample::Sample;
use std::path::PathBuf;
use std::sync::Arc;

/// Data, and the sample whose numbers are free.
pub struct Target {
    pub sample: Sample,
    /// Where the sample's files are.
    pub dir: PathBuf,
    /// Pixels or points; those that are negative or no number are left out.
    pub values: Vec<f64>,
    pub cut: Option<Cut>,
    pub noise: Noise,
    pub free: Vec<Free>,
    /// Computes form factors of meshes, in place of this CPU.
    pub on: Option<Arc<dyn Accelerator>>,
}

impl Target {
    /// The sample with these numbers.
    ///
    /// # Errors
    /// A number that makes no sense there.
    pub fn sample(&self, numbers: &[f64]) -> Result<Sample, GisaxsError> {
        let set: Vec<(String, f64)> = self
            .free
            .iter()
            .zip(numbers)
            .flat_map(|(f, v)| {
                std::iter::once(&f.path)
                    .chain(&f.same)
                    .map(|p| (p.clone(), *v))
                    .collect::<Vec<_>>()
            })
            .collect();
        self.sample.with(&set)
    }

    /// What the model gives in place of the data; `None` when stopped, or where it is beyond the range of numbers.
    ///
    /// # Errors
    /// A number that makes no sense there.
    pub fn model(&self, numbers: &[f64], watch: &Watch) -> Result<Option<Vec<f64>>, GisaxsError> {
        let mut scene = self.sample(numbers)?.scene(&self.dir)?;
        scene.numeric = Settings {
            accuracy: 1e-7,
            on: self.on.clone(),
            ..Settings::default()
        };
        let quiet = |_: u64| {};
        let inner = Watch {
            progress: &quiet,
            stop: watch.stop,
        };
        let image = match scene.image(&inner) {
            Ok(Some(image)) => image,
            // Numbers between the bounds at which nothing can be computed.
            Ok(None) | Err(GisaxsError::Intensity(_)) => return Ok(None),
            Err(e) => return Err(e),
        };
        match self.cut {
            None => Ok(Some(image)),
            Some(cut) => cut
                .of(&image, &scene.detector)
                .map(|c| Some(c.points.into_iter().map(|p| p.1).collect()))
                .map_err(GisaxsError::Sample),
        }
    }

    /// Data that count.
    pub fn used(&self) -> usize {
        self.values.iter().filter(|v| **v >= 0.0).count()
    }

    /// Model less data, in units of the data's error where that is known.
    pub fn residuals(&self, model: &[f64]) -> Vec<f64> {
        let top = self.values.iter().copied().fold(0.0, f64::max);
        self.pairs(model)
            .map(|(m, d)| match self.noise {
                Noise::Poisson => deviance(m.max(1e-12 * top), d),
                Noise::Relative => (m.max(1e-12 * top) / d.max(1e-12 * top)).ln(),
                Noise::Uniform => m - d,
            })
            .collect()
    }

    /// Residuals that grow slowly far away, to come near by: of counts the difference of their roots.
    pub fn rough(&self, model: &[f64]) -> Vec<f64> {
        match self.noise {
            Noise::Poisson => self
                .pairs(model)
                .map(|(m, d)| 2.0 * ((m + 0.375).sqrt() - (d + 0.375).sqrt()))
                .collect(),
            Noise::Relative | Noise::Uniform => self.residuals(model),
        }
    }

    /// The model in units in which the data's error is the same all over: its slopes tell what the data
    /// know of the numbers (Fisher's information).
    pub fn scaled(&self, model: &[f64]) -> Vec<f64> {
        let top = self.values.iter().copied().fold(0.0, f64::max);
        self.pairs(model)
            .map(|(m, _)| match self.noise {
                Noise::Poisson => 2.0 * m.max(1e-12 * top).sqrt(),
                Noise::Relative => m.max(1e-12 * top).ln(),
                Noise::Uniform => m,
            })
            .collect()
    }

    /// How far the logarithms are apart: falls from far away, where residuals hardly change.
    pub fn distance(&self, model: &[f64]) -> f64 {
        let top = self.values.iter().copied().fold(0.0, f64::max);
        let floor = match self.noise {
            Noise::Poisson => 1.0,
            Noise::Relative | Noise::Uniform => 1e-8 * top,
        };
        self.pairs(model)
            .map(|(m, d)| ((m + floor) / (d + floor)).ln().powi(2))
            .sum()
    }

    fn pairs<'a>(&'a self, model: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
        model
            .iter()
            .zip(&self.values)
            .filter(|(_, d)| **d >= 0.0)
            .map(|(m, d)| (*m, *d))
    }
}

/// Root of twice what a mean's likelihood falls short of the count's own, by the sign of the difference: squares of
/// these add up to the likelihood of all, which has no bias at low counts.
fn deviance(mean: f64, count: f64) -> f64 {
    if count <= 0.0 {
        return (2.0 * mean).sqrt();
    }
    let x = mean / count - 1.0;
    let short = if x.abs() < 1e-3 {
        // x − ln(1 + x) would cancel.
        x * x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - 0.2 * x)))
    } else {
        x - x.ln_1p()
    };
    (2.0 * count * short).max(0.0).sqrt().copysign(x)
}
