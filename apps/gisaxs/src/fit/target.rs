//! Free parameters, noise, and residuals of a model.

use super::data::LeftOut;

use crate::GisaxsError;
use crate::image::Cut;
use crate::mesh_form_factor::{Accelerator, Settings, Watch};
use crate::sample::Sample;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The data, and the sample with its free parameters.
pub struct Target {
    /// The sample at the values of its input file.
    pub sample: Sample,
    /// Folder at which relative paths of the sample start.
    pub dir: PathBuf,
    /// Measured intensities of the pixels or of the cut; negative values and NaN are left out.
    pub values: Vec<f64>,
    /// How many are left out, and why.
    pub left_out: LeftOut,
    /// The cut that was measured; `None`: the whole image.
    pub cut: Option<Cut>,
    /// Rows or columns of which each datum is the mean; 1 of an image.
    pub averaged: f64,
    /// Noise of the data.
    pub noise: Noise,
    /// The free parameters.
    pub free: Vec<Free>,
    /// Device that computes form factors of meshes; `None`: this CPU.
    pub on: Option<Arc<dyn Accelerator>>,
    /// Why there was no sample at the last position without one.
    pub outside: Mutex<Option<String>>,
}

impl Target {
    /// The sample at these values of the free parameters.
    ///
    /// # Errors
    /// A value is invalid.
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

    /// The model of the data at these values of the free parameters; `None` if stopped, or if an intensity overflows.
    ///
    /// # Errors
    /// A value is invalid, or the image cannot be computed.
    pub fn model(&self, numbers: &[f64], watch: &Watch) -> Result<Option<Vec<f64>>, GisaxsError> {
        self.model_on(numbers, self.on.as_ref(), watch)
    }

    /// The same, with form factors of meshes on another device.
    ///
    /// # Errors
    /// As [`Self::model`].
    pub fn model_on(
        &self,
        numbers: &[f64],
        on: Option<&Arc<dyn Accelerator>>,
        watch: &Watch,
    ) -> Result<Option<Vec<f64>>, GisaxsError> {
        let mut scene = match self.sample(numbers)?.scene(&self.dir) {
            // Bounds of a core and its shell may overlap.
            Err(GisaxsError::Outside(why)) => {
                *self.outside.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                return Ok(None);
            }
            scene => scene?,
        };
        scene.numeric = Settings {
            accuracy: 1e-7,
            on: on.cloned(),
            ..Settings::default()
        };
        let quiet = |_: u64| {};
        let inner = Watch {
            progress: &quiet,
            stop: watch.stop,
        };
        let image = match scene.image(&inner) {
            Ok(Some(image)) => image,
            // Values within the bounds at which the model overflows.
            Ok(None) | Err(GisaxsError::Intensity(_)) => return Ok(None),
            Err(e) => return Err(e),
        };
        match self.cut {
            None => Ok(Some(image)),
            Some(cut) => cut
                .of(&image, &scene.detector)
                .map(|c| Some(c.points.into_iter().map(|p| p.1).collect())),
        }
    }

    /// Why there was no sample at the last position without one, as the end of a sentence.
    pub fn why_outside(&self) -> String {
        let why = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        why.as_ref()
            .map_or_else(String::new, |why| format!(": {why}"))
    }

    /// Number of data that are not left out.
    pub fn used(&self) -> usize {
        self.values.iter().filter(|v| **v >= 0.0).count()
    }

    /// Degrees of freedom: data less parameters, at least 1.
    pub fn freedom(&self) -> f64 {
        self.used().saturating_sub(self.free.len()).max(1) as f64
    }

    /// χ² per degree of freedom of a model.
    pub fn chi2(&self, model: &[f64]) -> f64 {
        let least = self.least();
        let squares = self
            .pairs(model)
            .map(|(m, d)| self.residual(m, d, least).powi(2));
        squares.sum::<f64>() / self.freedom()
    }

    /// The intensity that stands for zero where logarithms are taken.
    fn least(&self) -> f64 {
        1e-12 * self.values.iter().copied().fold(0.0, f64::max)
    }

    /// How far a model lies above a datum, in units of the error of the data if it is known.
    fn residual(&self, m: f64, d: f64, least: f64) -> f64 {
        match self.noise {
            // The deviance of a sum of counts.
            Noise::Poisson => deviance(m.max(least), d) * self.averaged.sqrt(),
            Noise::Relative => (m.max(least) / d.max(least)).ln(),
            Noise::Uniform => m - d,
        }
    }

    /// Residuals of a model, in units of the error of the data if it is known.
    pub fn residuals(&self, model: &[f64]) -> Vec<f64> {
        let least = self.least();
        self.pairs(model)
            .map(|(m, d)| self.residual(m, d, least))
            .collect()
    }

    /// How far each datum lies above a model in standard deviations; NaN where it is left out. `scale` is
    /// [`super::Fitted::noise_scale`]. The sum of squares is χ² times the degrees of freedom, over the square of `scale`.
    pub fn deviations(&self, model: &[f64], scale: f64) -> Vec<f64> {
        let least = self.least();
        model
            .iter()
            .zip(&self.values)
            .map(|(m, d)| {
                if *d >= 0.0 {
                    -self.residual(*m, *d, least) / scale
                } else {
                    f64::NAN
                }
            })
            .collect()
    }

    /// The standard deviation of each datum, in its unit; NaN where it is left out. That of counts is the square root,
    /// at least 1; that of a mean of counts, of their sum over their number. `scale` is [`super::Fitted::noise_scale`].
    pub fn sigmas(&self, scale: f64) -> Vec<f64> {
        self.values
            .iter()
            .map(|d| match self.noise {
                _ if d.is_nan() || *d < 0.0 => f64::NAN,
                Noise::Poisson => (d * self.averaged).sqrt().max(1.0) / self.averaged,
                Noise::Relative => d * scale,
                Noise::Uniform => scale,
            })
            .collect()
    }

    /// Residuals that grow slowly far from the data, for the first iterations: of counts, differences of square roots.
    pub fn rough(&self, model: &[f64]) -> Vec<f64> {
        match self.noise {
            Noise::Poisson => {
                let root = |v: f64| (v * self.averaged + 0.375).sqrt();
                let pairs = self.pairs(model);
                pairs.map(|(m, d)| 2.0 * (root(m) - root(d))).collect()
            }
            Noise::Relative | Noise::Uniform => self.residuals(model),
        }
    }

    /// The model, transformed so that all data have the same error: its gradients give the Fisher information.
    pub fn scaled(&self, model: &[f64]) -> Vec<f64> {
        let top = self.values.iter().copied().fold(0.0, f64::max);
        self.pairs(model)
            .map(|(m, _)| match self.noise {
                Noise::Poisson => 2.0 * (m.max(1e-12 * top) * self.averaged).sqrt(),
                Noise::Relative => m.max(1e-12 * top).ln(),
                Noise::Uniform => m,
            })
            .collect()
    }

    /// Sum of squared differences of logarithms: it has a gradient far from the data, where residuals hardly change.
    pub fn distance(&self, model: &[f64]) -> f64 {
        let top = self.values.iter().copied().fold(0.0, f64::max);
        let floor = match self.noise {
            Noise::Poisson => 1.0 / self.averaged,
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

/// Signed square root of the Poisson deviance of a count. The sum of squares is the deviance of all data, whose minimum
/// has no bias at low counts.
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

/// Noise of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Noise {
    /// Poisson noise of photon counts.
    #[default]
    Poisson,
    /// Standard deviation proportional to the intensity.
    Relative,
    /// The same standard deviation everywhere.
    Uniform,
}

/// A free parameter: a number of the sample that is fitted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Free {
    /// Path in the sample's input file, such as `particles.0.form.radius`.
    pub path: String,
    /// Lower bound.
    pub from: f64,
    /// Upper bound.
    pub to: f64,
    /// Initial value of the first start; a swarm ignores it unless all parameters have one. `None`: random.
    pub start: Option<f64>,
    /// Paths of other numbers that always have the same value.
    #[serde(default)]
    pub same: Vec<String>,
    /// Whether the search runs in the logarithm, e.g. of a density.
    #[serde(default)]
    pub log: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(noise: Noise) -> Target {
        let text = "[beam]\nwavelength = 0.1\n";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.toml");
        std::fs::write(&path, text).unwrap();
        Target {
            sample: Sample::read(&path).unwrap(),
            dir: PathBuf::new(),
            values: vec![4.0, f64::NAN, 0.0, 100.0, -1.0],
            left_out: LeftOut::default(),
            cut: None,
            averaged: 1.0,
            noise,
            free: Vec::new(),
            on: None,
            outside: Mutex::default(),
        }
    }

    #[test]
    fn deviations_are_the_residuals_with_the_sign_of_the_data() {
        let model = [5.0, 1.0, 0.5, 90.0, 7.0];
        for noise in [Noise::Poisson, Noise::Relative, Noise::Uniform] {
            let t = target(noise);
            let scale = t.noise_scale(t.chi2(&model));
            let found = t.deviations(&model, scale);
            assert!(found[0] < 0.0 && found[3] > 0.0, "{found:?}");
            assert!(found[1].is_nan() && found[4].is_nan());
            let squares: f64 = found.iter().filter(|r| !r.is_nan()).map(|r| r * r).sum();
            let want = t.chi2(&model) * t.freedom() / (scale * scale);
            assert!((squares / want - 1.0).abs() < 1e-12, "{noise:?}");
            let sum: f64 = t.residuals(&model).iter().map(|r| r * r).sum();
            assert!((sum / t.freedom() / t.chi2(&model) - 1.0).abs() < 1e-12);
        }
        let sigmas = target(Noise::Poisson).sigmas(1.0);
        assert_eq!((sigmas[0], sigmas[2], sigmas[3]), (2.0, 1.0, 10.0));
        assert!(sigmas[1].is_nan());
        assert_eq!(target(Noise::Relative).sigmas(0.1)[3], 10.0);
        assert_eq!(target(Noise::Uniform).sigmas(0.1)[3], 0.1);
    }

    /// Means of ten counts have the information of their sums.
    #[test]
    fn means_of_counts_have_the_errors_of_their_sums() {
        let (counts, model) = ([40.0, 7.0, 0.0, 1000.0], [50.0, 10.0, 5.0, 900.0]);
        let of = |by: f64| {
            let t = Target {
                values: counts.map(|v| v / by).to_vec(),
                averaged: by,
                ..target(Noise::Poisson)
            };
            let model = model.map(|v| v / by);
            let sigmas: Vec<f64> = t.sigmas(1.0).iter().map(|s| s * by).collect();
            let mut all = vec![t.chi2(&model), t.distance(&model)];
            all.extend(t.residuals(&model));
            all.extend(t.rough(&model));
            all.extend(t.scaled(&model));
            all.extend(sigmas);
            all
        };
        for (a, b) in of(1.0).iter().zip(of(10.0)) {
            assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} {b}");
        }
    }
}
