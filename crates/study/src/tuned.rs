//! The result of a tuning run.

use crate::tradeoff::Tradeoff;
use greenup_gemm::{Comparison, GemmError, Size};
use greenup_space::{Stop, Value};
use greenup_tune::TuneError;
use greenup_tune::strategy::StrategyError;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Results of the tuning run.
#[derive(Clone, Debug, Serialize)]
pub struct Tuning {
    /// Size of the matrix product.
    pub size: Size,
    /// Number of configs in the search space that satisfy its constraints.
    pub points: u64,
    /// Number of configs tried.
    pub trials: usize,
    /// Number of configs that failed.
    pub failed: usize,
    /// Parameters of the best config.
    pub config: Vec<(String, Value)>,
    /// Interleaved comparison of the fastest config with others.
    pub comparison: Comparison,
    /// The kernels of least time and of least energy; `None` without energies.
    pub tradeoff: Option<Tradeoff>,
}

impl Tuning {
    /// Fraction of peak of the best config, with the peak measured in the same rounds; `None` without a peak.
    pub fn share_of_peak(&self) -> Option<f64> {
        let peak = self.comparison.peak_flops_per_s.as_ref()?.median;
        let best = self.comparison.entries.first()?.time_s.median;
        Some(self.size.flops() / best / peak)
    }

    /// The results in a sentence.
    pub fn describe(&self) -> String {
        let mut text = format!(
            "{} of {} kernels tried in the time given",
            self.trials, self.points
        );
        if let Some(s) = self.share_of_peak() {
            text.push_str(&format!(
                "; the best reaches {:.0} % of the peak",
                100.0 * s
            ));
        }
        for e in self.comparison.entries.iter().skip(1) {
            if let Some(r) = &e.ratio {
                text.push_str(&format!(
                    "; {} takes {:.2} times as long [{:.2} … {:.2}]",
                    e.name, r.median, r.lo, r.hi
                ));
            }
        }
        text.push('.');
        text
    }
}

/// The folder, or the first of `NAME-2`, `NAME-3`, … without a sweep: measurements are never overwritten.
pub(crate) fn unused(dir: &Path) -> PathBuf {
    let numbered = |n: u32| {
        let mut name = dir.file_name().unwrap_or_default().to_owned();
        name.push(format!("-{n}"));
        dir.with_file_name(name)
    };
    let mut all = std::iter::once(dir.to_owned()).chain((2..).map(numbered));
    all.find(|d| !d.join("sweep.json").exists())
        .unwrap_or_else(|| dir.to_owned())
}

/// Why DGEMM could not be tuned.
#[derive(Debug, thiserror::Error)]
pub enum TuningError {
    /// A kernel does not compile, a library is missing, or a result is wrong.
    #[error(transparent)]
    Gemm(#[from] GemmError),
    /// The search space cannot be enumerated.
    #[error(transparent)]
    Space(#[from] Stop),
    /// The search strategy is unknown.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
    /// The sweep failed.
    #[error(transparent)]
    Sweep(#[from] TuneError),
    /// The space has no config for this device.
    #[error("this GPU can run no kernel of the family")]
    Empty,
    /// The folder of the run cannot be written.
    #[error(transparent)]
    File(#[from] greenup_files::FileError),
    /// The search was stopped before its end.
    #[error("stopped before the end")]
    Interrupted,
}

/// Names and values of the parameters of a config.
pub(crate) fn named(parameters: &[String], config: &[Value]) -> Vec<(String, Value)> {
    (parameters.iter().cloned())
        .zip(config.iter().cloned())
        .collect()
}
