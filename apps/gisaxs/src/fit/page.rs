//! What is fitted to what.

use crate::image::{self, Cut};
use crate::sample::Sample;
use crate::table::{self, fail};
use crate::{GisaxsError, fit::Target};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A page `[sample, data, parameters]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitPage {
    /// The sample's page; its numbers are the start where a parameter gives none.
    pub sample: PathBuf,
    /// An image as csv, npy or tif, rows from the lowest; or with `cut` columns of a CSV: place, intensity.
    pub data: PathBuf,
    /// The cut of the image that the data are: `alpha=0.3`.
    pub cut: Option<String>,
    /// An image of the same size: pixels that are not 0 there count for nothing.
    pub mask: Option<PathBuf>,
    #[serde(default)]
    pub noise: Noise,
    pub parameters: Vec<Free>,
    /// Particles of the swarm that looks over the bounds first; 0 for none.
    #[serde(default = "swarm")]
    pub swarm: usize,
    /// Steps of the swarm.
    #[serde(default = "steps")]
    pub steps: u64,
    /// Fits from so many places; the best is kept.
    #[serde(default = "one")]
    pub starts: usize,
    #[serde(default = "seed")]
    pub seed: u64,
}

/// Most models of a fit: months of the fastest.
const MOST_MODELS: f64 = 1e9;

fn swarm() -> usize {
    40
}

fn steps() -> u64 {
    40
}

fn one() -> usize {
    1
}

fn seed() -> u64 {
    20_150_324
}

/// What errors the data have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Noise {
    /// Counted photons.
    #[default]
    Poisson,
    /// The same share of each intensity.
    Relative,
    /// The same everywhere.
    Uniform,
}

/// A number that is fitted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Free {
    /// Where it stands in the sample's page: `particles.0.form.radius`.
    pub path: String,
    pub from: f64,
    pub to: f64,
    pub start: Option<f64>,
    /// Numbers that are always the same as it.
    #[serde(default)]
    pub same: Vec<String>,
    /// Searched by its logarithm, such as a density.
    #[serde(default)]
    pub log: bool,
}

impl FitPage {
    /// Reads a page.
    ///
    /// # Errors
    /// What is wrong in it, with the line.
    pub fn read(path: &Path) -> Result<Self, GisaxsError> {
        let text =
            greenup_files::read_text(path).map_err(|e| GisaxsError::Sample(e.to_string()))?;
        let out: Self = toml::from_str(&text).map_err(|e| fail(path, e.to_string().trim_end()))?;
        if out.parameters.is_empty() {
            return Err(fail(path, "has no [[parameters]] to fit"));
        }
        for p in &out.parameters {
            let bad = |m: String| fail(path, format!("parameter {}: {m}", p.path));
            if !(p.from < p.to && p.from.is_finite() && p.to.is_finite()) {
                return Err(bad("needs from < to".into()));
            }
            if p.log && p.from <= 0.0 {
                return Err(bad("log needs bounds above 0".into()));
            }
            if let Some(s) = p.start.filter(|s| !(p.from..=p.to).contains(s)) {
                return Err(bad(format!("start = {s} lies outside its bounds")));
            }
        }
        if out.starts == 0 || (out.swarm > 0 && out.swarm < 4) {
            return Err(fail(
                path,
                "starts must be at least 1, and a swarm has 4 or more",
            ));
        }
        // The swarm's models alone; each takes milliseconds to minutes.
        let models = (out.starts as f64) * (1.0 + out.swarm as f64 * out.steps as f64);
        if models > MOST_MODELS {
            return Err(fail(
                path,
                format!(
                    "starts = {} × swarm = {} × steps = {} are {models:.1e} models, more than {MOST_MODELS:.0e}: \
                     lower one of them",
                    out.starts, out.swarm, out.steps
                ),
            ));
        }
        Ok(out)
    }

    /// Reads what it names, beside `dir`.
    ///
    /// # Errors
    /// A file that cannot be read, or data of another size than the sample's detector.
    pub fn target(&self, dir: &Path) -> Result<Target, GisaxsError> {
        let at = dir.join(&self.sample);
        let sample = Sample::read(&at)?;
        let beside = at.parent().unwrap_or(Path::new(".")).to_owned();
        for p in &self.parameters {
            for path in std::iter::once(&p.path).chain(&p.same) {
                // A number that the page leaves to its default may be set all the same.
                if path.contains('.') {
                    sample.with(&[(path.clone(), p.from)])?;
                }
            }
        }
        let detector = sample.scene(&beside)?.detector;
        let (rows, columns) = (detector.rows(), detector.columns());
        let data = dir.join(&self.data);
        let sized = |path: &Path| -> Result<Vec<f64>, GisaxsError> {
            let (pixels, wide) = image::read(path)?;
            let high = pixels.len() / wide.max(1);
            if (high, wide) != (rows, columns) {
                return Err(fail(
                    path,
                    format!(
                        "is an image of {wide} × {high} pixels; the detector of {} has {columns} × {rows}",
                        at.display()
                    ),
                ));
            }
            Ok(pixels)
        };
        let cut: Option<Cut> = self
            .cut
            .as_deref()
            .map(str::parse)
            .transpose()
            .map_err(GisaxsError::Sample)?;
        let mut values = match cut {
            None => sized(&data)?,
            Some(_) => table::numbers(&data, 2)?
                .into_iter()
                .map(|r| r.1[1])
                .collect(),
        };
        if let Some(cut) = cut {
            let n = if cut.across { columns } else { rows };
            if values.len() != n {
                return Err(fail(
                    &data,
                    format!("is a cut of {} points; the sample's has {n}", values.len()),
                ));
            }
        }
        if let Some(mask) = &self.mask {
            if cut.is_some() {
                return Err(fail(
                    &dir.join(mask),
                    "a mask goes with an image, not with a cut",
                ));
            }
            for (v, m) in values.iter_mut().zip(sized(&dir.join(mask))?) {
                if m != 0.0 {
                    *v = f64::NAN;
                }
            }
        }
        // Dead pixels are negative or none in most formats.
        if !values.iter().any(|v| *v >= 0.0) {
            return Err(fail(&data, "has no pixel with an intensity"));
        }
        Ok(Target {
            sample,
            dir: beside,
            values,
            cut,
            noise: self.noise,
            free: self.parameters.clone(),
            on: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_without_end_are_refused_with_their_number() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("fit.toml");
        let page = "sample = 's.toml'\ndata = 'd.csv'\n[[parameters]]\npath = 'a.b'\nfrom = 0.0\nto = 1.0\n";
        for (more, words) in [
            (
                "starts = 1000000000",
                "starts = 1000000000 × swarm = 40 × steps = 40 are 1.6e12 models",
            ),
            ("swarm = 1000000000", "swarm = 1000000000"),
            ("steps = 9223372036854775807", "steps = 9223372036854775807"),
        ] {
            std::fs::write(&at, format!("{more}\n{page}")).unwrap();
            let said = FitPage::read(&at).unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
        }
        std::fs::write(&at, page).unwrap();
        FitPage::read(&at).unwrap();
    }
}
