//! The input file of a fit: data, free parameters, noise.

use super::target::{Free, Noise};
use super::{Target, data};
use crate::GisaxsError;
use crate::image::Cut;
use crate::sample::Sample;
use crate::table::fail;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The input file of a fit. Relative paths start at its folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitInput {
    /// The sample's input file.
    pub sample: PathBuf,
    /// The measured image, a csv, npy or tif file with the lowest row first; or, with `cut`, a CSV file with columns
    /// position, intensity of the detector's pixels along it.
    pub data: PathBuf,
    /// The cut through the image that was measured, such as `alpha=0.3`; `None`: the whole image.
    pub cut: Option<String>,
    /// An image of the same size: pixels that are not 0 in it are left out.
    pub mask: Option<PathBuf>,
    /// Noise of the data.
    #[serde(default)]
    pub noise: Noise,
    /// The free parameters.
    pub parameters: Vec<Free>,
    /// Particles of the swarm, 4 or more; 0: no swarm.
    #[serde(default = "swarm")]
    pub swarm: usize,
    /// Steps of the swarm.
    #[serde(default = "steps")]
    pub steps: u64,
    /// Number of starting points; the best fit is kept.
    #[serde(default = "one")]
    pub starts: usize,
    /// Seed of the random numbers.
    #[serde(default = "seed")]
    pub seed: u64,
    /// The text of the file, as it was read.
    #[serde(skip)]
    pub source: String,
}

/// Maximum number of models of a fit: months of the fastest.
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

impl FitInput {
    /// Reads an input file.
    ///
    /// # Errors
    /// The file cannot be read, has an unknown or missing key, or invalid bounds or numbers.
    pub fn read(path: &Path) -> Result<Self, GisaxsError> {
        let text = greenup_files::read_text(path)?;
        let mut out: Self =
            toml::from_str(&text).map_err(|e| fail(path, e.to_string().trim_end()))?;
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
        let paths =
            || (out.parameters.iter()).flat_map(|p| std::iter::once(&p.path).chain(&p.same));
        let mut seen = BTreeSet::new();
        if let Some(twice) = paths().find(|p| !seen.insert(plain(p))) {
            let message = format!("{twice} is a free parameter twice: remove one, also from same");
            return Err(fail(path, message));
        }
        if out.starts == 0 || (out.swarm > 0 && out.swarm < 4) {
            return Err(fail(
                path,
                "starts must be at least 1, and a swarm has 4 or more",
            ));
        }
        // The models of the swarm alone; each takes milliseconds to minutes.
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
        out.source = text;
        Ok(out)
    }

    /// Reads the sample and the data; relative paths start at `dir`.
    ///
    /// # Errors
    /// A file cannot be read, a parameter does not exist, or the data do not have the size of the sample's detector.
    pub fn target(&self, dir: &Path) -> Result<Target, GisaxsError> {
        let at = dir.join(&self.sample);
        let sample = Sample::read(&at)?;
        let beside = at.parent().unwrap_or(Path::new(".")).to_owned();
        for p in &self.parameters {
            for path in std::iter::once(&p.path).chain(&p.same) {
                // A number that the input file leaves at its default may be set too.
                if path.contains('.') {
                    sample.with(&[(path.clone(), p.from)])?;
                }
            }
        }
        let scene = sample.scene(&beside)?;
        let detector = &scene.detector;
        let path = dir.join(&self.data);
        let mask = self.mask.as_ref().map(|m| dir.join(m));
        let cut: Option<Cut> = self.cut.as_deref().map(str::parse).transpose()?;
        let cut = cut.map(|c| c.of_beam(&scene));
        let (mut values, mut left_out) = match (cut, &mask) {
            (None, mask) => data::image(&path, mask.as_deref(), detector, &at)?,
            (Some(cut), None) => data::cut(&path, cut, detector)?,
            (Some(_), Some(mask)) => {
                return Err(fail(mask, "a mask goes with an image, not with a cut"));
            }
        };
        if self.noise == Noise::Relative {
            left_out.zeros(&mut values);
        }
        let averaged = match cut {
            None => 1.0,
            Some(cut) => cut.inside(detector)?.len() as f64,
        };
        // Dead pixels are negative or NaN in most formats.
        if !values.iter().any(|v| *v >= 0.0) {
            let text = left_out.text(values.len()).unwrap_or_default();
            return Err(fail(
                &path,
                format!("has no pixel with an intensity: {text}"),
            ));
        }
        Ok(Target {
            sample,
            dir: beside,
            values,
            left_out,
            cut,
            averaged,
            noise: self.noise,
            free: self.parameters.clone(),
            on: None,
            outside: std::sync::Mutex::default(),
        })
    }
}

/// A path without leading zeros of its indices.
fn plain(path: &str) -> String {
    let key = |k: &str| {
        k.parse::<usize>()
            .map_or_else(|_| k.to_owned(), |n| n.to_string())
    };
    path.split('.').map(key).collect::<Vec<_>>().join(".")
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
            let said = FitInput::read(&at).unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
        }
        std::fs::write(&at, page).unwrap();
        FitInput::read(&at).unwrap();
    }

    #[test]
    fn a_number_is_free_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("fit.toml");
        let free = |path: &str, same: &str| {
            format!("[[parameters]]\npath = '{path}'\nsame = [{same}]\nfrom = 0.0\nto = 1.0\n")
        };
        let read = |all: &[String]| {
            let page = format!("sample = 's.toml'\ndata = 'd.csv'\n{}", all.concat());
            std::fs::write(&at, page).unwrap();
            FitInput::read(&at).map(drop).map_err(|e| e.to_string())
        };
        let first = free("a.0.b", "'a.1.b'");
        assert_eq!(read(&[first.clone(), free("a.2.b", "'a.3.b'")]), Ok(()));
        for other in [
            free("a.0.b", ""),
            free("a.1.b", ""),
            free("a.00.b", ""),
            free("c", "'a.0.b'"),
            free("c", "'c'"),
        ] {
            let said = read(&[first.clone(), other]).unwrap_err();
            assert!(said.contains("is a free parameter twice"), "{said}");
        }
    }
}
