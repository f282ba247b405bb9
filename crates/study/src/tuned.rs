//! The result of a tuning run.

use crate::result::record;
use crate::tradeoff::Tradeoff;
use greenup_calibrate::Record;
use greenup_calibrate::suite::HIGHER;
use greenup_gemm::{Comparison, GemmError, Size};
use greenup_meter::Summary;
use greenup_model::{Machine, Op, Work};
use greenup_space::{Stop, Value};
use greenup_tune::TuneError;
use greenup_tune::strategy::StrategyError;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Name of the default config in a comparison.
pub(crate) const DEFAULT_CONFIG: &str = "default config";

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
    /// Parameters of the best config: of the default one, where no difference to it was found.
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

    /// Time of the default config over that of the fastest one that was tried; `None` where they are one, or there is no
    /// default.
    fn default_over_tuned(&self) -> Option<&Summary> {
        let default = (self.comparison.entries.iter()).find(|e| e.name == DEFAULT_CONFIG)?;
        default.ratio.as_ref()
    }

    /// Whether a config was found that is faster than the default one by more than the rounds differ; true where there is no
    /// default to compare with.
    pub fn found_faster(&self) -> bool {
        let same = self
            .comparison
            .entries
            .first()
            .is_some_and(|e| e.name == DEFAULT_CONFIG);
        !same && self.default_over_tuned().is_none_or(|r| r.lo > 1.0)
    }

    /// Records of the peak and of kernels whose rate is clearly above the machine's: its roof is at least as high.
    pub fn above_roof(&self, machine: &Machine) -> Vec<Record> {
        let Ok(tau) = machine.time_of(Op::F64) else {
            return Vec::new();
        };
        let flops = self.size.flops();
        let peak = self.comparison.peak_flops_per_s.as_ref().map(|p| Summary {
            median: flops / p.median,
            lo: flops / p.hi,
            hi: flops / p.lo,
            ..*p
        });
        let kernels = (self.comparison.entries.iter()).map(|e| (e.name.as_str(), e.time_s));
        (kernels.chain(peak.map(|p| ("f64 peak next to kernels", p))))
            .filter(|(_, t)| t.median * HIGHER < flops * tau)
            .filter_map(|(name, t)| {
                let work = Work::new().with(Op::F64, flops).ok()?;
                Some(record(&format!("DGEMM: {name}"), work, &t))
            })
            .collect()
    }

    /// The results in a sentence.
    pub fn describe(&self) -> String {
        let tried = format!("{} of {} configs tried", self.trials, self.points);
        let mut text = match (self.found_faster(), self.default_over_tuned()) {
            (true, _) => format!("{tried} in the time given"),
            (false, Some(r)) if r.hi < 1.0 => {
                format!("none is faster than the default config; {tried}")
            }
            (false, _) => format!("no difference found to the default config; {tried}"),
        };
        if let Some(s) = self.share_of_peak() {
            text.push_str(&format!(
                "; the best reaches {:.0} % of the peak",
                100.0 * s
            ));
        }
        for e in self.comparison.entries.iter().skip(1) {
            let Some(r) = &e.ratio else { continue };
            let interval = format!("{:.2} [{:.2} … {:.2}]", r.median, r.lo, r.hi);
            text.push_str(&if r.lo <= 1.0 && r.hi >= 1.0 {
                format!("; no difference to {} (×{interval})", e.name)
            } else {
                format!("; {} takes {interval} times as long", e.name)
            });
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

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_gemm::comparison::Entry;
    use greenup_meter::stats::ratio_of_medians;

    fn tuning(times: &[(&str, &[f64])]) -> Tuning {
        let first = times[0].1;
        let entries = (times.iter().enumerate())
            .map(|(i, (name, t))| Entry {
                name: (*name).to_owned(),
                time_s: Summary::of(t).unwrap(),
                times_s: t.to_vec(),
                error: 0.0,
                ratio: (i > 0).then(|| ratio_of_medians(t, first)).flatten(),
            })
            .collect();
        Tuning {
            size: Size { m: 8, n: 8, k: 8 },
            points: 374_880,
            trials: 10,
            failed: 0,
            config: Vec::new(),
            comparison: Comparison {
                entries,
                peak_flops_per_s: None,
            },
            tradeoff: None,
        }
    }

    #[test]
    fn a_tie_is_no_winner() {
        let noisy: &[f64] = &[1.0, 1.4, 0.9, 2.0];
        let tie = tuning(&[
            ("tuned kernel", noisy),
            (DEFAULT_CONFIG, &[1.0, 1.1, 0.9, 1.9]),
        ]);
        assert!(!tie.found_faster());
        let text = tie.describe();
        assert!(
            text.starts_with(
                "no difference found to the default config; 10 of 374880 configs tried"
            ),
            "{text}"
        );
        let quick: &[f64] = &[1.0, 1.01, 0.99, 1.0];
        let won = tuning(&[
            ("tuned kernel", quick),
            (DEFAULT_CONFIG, &[1.2, 1.2, 1.21, 1.2]),
        ]);
        assert!(won.found_faster() && won.describe().contains("default config takes 1.20"));
        let lost = tuning(&[
            ("tuned kernel", quick),
            (DEFAULT_CONFIG, &[0.8, 0.81, 0.8, 0.8]),
        ]);
        assert!(!lost.found_faster());
        assert!(
            lost.describe()
                .starts_with("none is faster than the default config")
        );
        // The search came back to the default.
        assert!(!tuning(&[(DEFAULT_CONFIG, quick), ("faer", quick)]).found_faster());
        // The roof is at least as high as what a kernel or the peak next to it reached.
        let machine = |tau: f64| {
            let text =
                format!("name = 'm'\ntitle = 'm'\n[cost.f64]\ntime_s = {{ value = {tau:e} }}\n");
            Machine::from_toml(&text).unwrap()
        };
        let mut fast = tuning(&[("tuned kernel", quick), ("faer", noisy)]);
        fast.comparison.peak_flops_per_s = Summary::of(&[2048.0]);
        let found = fast.above_roof(&machine(1.2 / 1024.0));
        let names: Vec<_> = found.iter().map(|r| r.benchmark.as_str()).collect();
        assert_eq!(
            names,
            ["DGEMM: tuned kernel", "DGEMM: f64 peak next to kernels"]
        );
        assert_eq!((found[1].time_s, found[1].occupancy), (0.5, 1.0));
        assert!(fast.above_roof(&machine(0.4 / 1024.0)).is_empty());
        // A GPU's kernel has a library alone beside it.
        assert!(tuning(&[("tuned kernel", quick), ("cuBLAS", noisy)]).found_faster());
    }
}
