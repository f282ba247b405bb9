//! Results of an interleaved comparison: times and energies of each command, and ratios to the first.

use crate::command::{CommandLine, CommandRun};
use crate::stats::{Summary, median, outliers, ratio_of_medians};
use serde::{Serialize, Serializer};

/// What was measured of one command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandResult {
    /// The command as typed, with the values of its parameters.
    pub command: String,
    /// What the user calls it.
    pub name: Option<String>,
    /// Values of its parameters.
    #[serde(serialize_with = "as_map")]
    pub parameters: Vec<(String, String)>,
    /// Wall-clock time of one run, s.
    pub time_s: Summary,
    /// Median user CPU time, s.
    pub user_s: f64,
    /// Median system CPU time, s.
    pub system_s: f64,
    /// Largest resident set, bytes.
    pub max_rss_bytes: u64,
    /// Energy of one run.
    pub energy_j: Option<Summary>,
    /// Mean power, W.
    pub power_w: Option<Summary>,
    /// Wall-clock time of each run, s.
    pub times_s: Vec<f64>,
    /// Energy of one run, a value for each block of runs.
    pub energies_j: Vec<f64>,
    /// Mean time of a run in each of these blocks, s.
    #[serde(skip)]
    pub block_times_s: Vec<f64>,
    /// Runs that failed.
    pub failures: usize,
    /// Doubts about the measurement.
    pub warnings: Vec<String>,
}

impl CommandResult {
    /// Its name, else the command.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.command)
    }

    /// Mean power, W, a value for each block of runs.
    fn powers_w(&self) -> Vec<f64> {
        let pairs = self.energies_j.iter().zip(&self.block_times_s);
        pairs.map(|(e, t)| e / t).collect()
    }
}

fn as_map<S: Serializer>(pairs: &[(String, String)], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(pairs.iter().map(|(n, v)| (n, v)))
}

/// The second command against the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandComparison {
    /// The first command.
    pub baseline: String,
    /// The second command.
    pub command: String,
    /// T₁/T₂ with its interval.
    pub speedup: Summary,
    /// P₁/P₂.
    pub powerup: Option<Summary>,
    /// E₁/E₂.
    pub greenup: Option<Summary>,
}

/// Results of an interleaved comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InterleavedResult {
    /// One result for each command.
    pub results: Vec<CommandResult>,
    /// Each further command against the first.
    pub comparisons: Vec<CommandComparison>,
    /// Indices of the results from the fastest to the slowest, by their median times.
    pub ranking: Vec<usize>,
    /// Id of the sensor, if energy was measured.
    pub sensor: Option<String>,
    /// Stopped before the last run.
    pub interrupted: bool,
}

impl InterleavedResult {
    /// Compares and ranks results; the first is the baseline.
    pub(crate) fn new(
        sensor: Option<String>,
        results: Vec<CommandResult>,
        interrupted: bool,
    ) -> Self {
        let comparisons = match results.split_first() {
            Some((base, others)) => others.iter().filter_map(|o| compare(base, o)).collect(),
            None => Vec::new(),
        };
        let mut ranking: Vec<usize> = (0..results.len()).collect();
        ranking.sort_by(|&a, &b| {
            let time = |i: usize| results[i].time_s.median;
            time(a).total_cmp(&time(b))
        });
        Self {
            sensor,
            results,
            comparisons,
            ranking,
            interrupted,
        }
    }

    /// A result against the baseline; `None` for the baseline itself.
    pub fn against_baseline(&self, result: usize) -> Option<&CommandComparison> {
        // There is one for every further result, as each has runs.
        self.comparisons.get(result.checked_sub(1)?)
    }
}

/// Runs of one command so far.
#[derive(Default)]
pub(crate) struct Log {
    pub runs: Vec<CommandRun>,
    /// (energy, time) of one run, a value a block.
    pub blocks: Vec<(f64, f64)>,
    pub failures: usize,
}

pub(crate) fn times(log: &Log) -> Vec<f64> {
    log.runs.iter().map(|r| r.end_s - r.start_s).collect()
}

pub(crate) fn summarise(command: &CommandLine, log: &Log, warmed: bool) -> Option<CommandResult> {
    let times_s = times(log);
    let time_s = Summary::of(&times_s)?;
    let middle = |f: fn(&CommandRun) -> f64| median(&log.runs.iter().map(f).collect::<Vec<_>>());
    let energies_j: Vec<f64> = log.blocks.iter().map(|b| b.0).collect();
    let powers: Vec<f64> = log.blocks.iter().map(|b| b.0 / b.1).collect();
    let mut warnings = Vec::new();
    let odd = outliers(&times_s);
    if odd.first() == Some(&0) && !warmed {
        warnings.push(
            "the first run was far slower than the rest: use --warmup to fill the caches first"
                .to_owned(),
        );
    } else if !odd.is_empty() {
        warnings.push(format!(
            "{} of {} runs are outliers: another program may have interfered; use a quieter system or more runs",
            odd.len(),
            times_s.len()
        ));
    }
    if time_s.median < 5e-3 {
        warnings
            .push("runs shorter than 5 ms are dominated by the start of the process".to_owned());
    }
    if log.failures > 0 {
        warnings.push(format!(
            "{} of {} runs failed; they are counted all the same",
            log.failures,
            times_s.len()
        ));
    }
    Some(CommandResult {
        command: command.display(),
        name: command.name.clone(),
        parameters: command.parameters.clone(),
        time_s,
        user_s: middle(|r| r.user_s),
        system_s: middle(|r| r.system_s),
        max_rss_bytes: log.runs.iter().map(|r| r.max_rss_bytes).max().unwrap_or(0),
        energy_j: Summary::of(&energies_j),
        power_w: Summary::of(&powers),
        times_s,
        energies_j,
        block_times_s: log.blocks.iter().map(|b| b.1).collect(),
        failures: log.failures,
        warnings,
    })
}

/// A result against the baseline.
fn compare(base: &CommandResult, other: &CommandResult) -> Option<CommandComparison> {
    Some(CommandComparison {
        baseline: base.command.clone(),
        command: other.command.clone(),
        speedup: ratio_of_medians(&base.times_s, &other.times_s)?,
        powerup: ratio_of_medians(&base.powers_w(), &other.powers_w()),
        greenup: ratio_of_medians(&base.energies_j, &other.energies_j),
    })
}
