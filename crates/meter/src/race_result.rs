//! What a race gives: each command's times and energies, and the others against the first.

use crate::command::{CommandLine, CommandRun};
use crate::stats::{Summary, median, outliers, ratio_of_medians};
use serde::Serialize;

/// What was measured of one command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RaceResult {
    pub command: String,
    pub time_s: Summary,
    pub user_s: f64,
    pub system_s: f64,
    pub max_rss_bytes: u64,
    /// Energy of one run.
    pub energy_j: Option<Summary>,
    pub power_w: Option<Summary>,
    pub times_s: Vec<f64>,
    /// Energy of one run, a value for each block of runs.
    pub energies_j: Vec<f64>,
    pub failures: usize,
    pub warnings: Vec<String>,
}

/// The second command against the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RaceComparison {
    pub baseline: String,
    pub command: String,
    /// T₁/T₂ with its interval.
    pub speedup: Summary,
    /// P₁/P₂.
    pub powerup: Option<Summary>,
    /// E₁/E₂.
    pub greenup: Option<Summary>,
}

/// Everything that a race measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Race {
    pub results: Vec<RaceResult>,
    pub comparisons: Vec<RaceComparison>,
    pub sensor: Option<String>,
    pub interrupted: bool,
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

pub(crate) fn summarise(command: &CommandLine, log: &Log, warmed: bool) -> Option<RaceResult> {
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
    Some(RaceResult {
        command: command.display(),
        time_s,
        user_s: middle(|r| r.user_s),
        system_s: middle(|r| r.system_s),
        max_rss_bytes: log.runs.iter().map(|r| r.max_rss_bytes).max().unwrap_or(0),
        energy_j: Summary::of(&energies_j),
        power_w: Summary::of(&powers),
        times_s,
        energies_j,
        failures: log.failures,
        warnings,
    })
}

pub(crate) fn compare(results: &[RaceResult], logs: &[Log]) -> Vec<RaceComparison> {
    let Some((base, others)) = results.split_first() else {
        return Vec::new();
    };
    let powers = |i: usize| -> Vec<f64> { logs[i].blocks.iter().map(|b| b.0 / b.1).collect() };
    others
        .iter()
        .enumerate()
        .filter_map(|(i, other)| {
            Some(RaceComparison {
                baseline: base.command.clone(),
                command: other.command.clone(),
                speedup: ratio_of_medians(&base.times_s, &other.times_s)?,
                powerup: ratio_of_medians(&powers(0), &powers(i + 1)),
                greenup: ratio_of_medians(&base.energies_j, &other.energies_j),
            })
        })
        .collect()
}
