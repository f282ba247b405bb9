//! Results of an interleaved comparison: times and energies of each command, and ratios to the first.

use crate::command::{CommandError, CommandLine, CommandRun};
use crate::stats::{Summary, median, outliers, ratio_of_medians};
use greenup_setting::setting;
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
    /// User CPU time of each run, s.
    pub user_s: Vec<f64>,
    /// System CPU time of each run, s.
    pub system_s: Vec<f64>,
    /// Largest resident set of each run, bytes; none of a run that ended before it could be seen.
    pub peak_memory_bytes: Vec<Option<u64>>,
    /// Context switches of each run.
    pub context_switches: Vec<u64>,
    /// Time of each run that its threads, and those of processes below it, were ready to run and had no core, s; several that wait
    /// together count each.
    pub run_queue_s: Vec<Option<f64>>,
    /// Exit code of each run; of a run that a signal killed, the signal's number below 0.
    pub exit_codes: Vec<i32>,
    /// Energy of one run; none where too many runs lack theirs, as those that have one need not be like the others.
    pub energy_j: Option<Summary>,
    /// Mean power, W.
    pub power_w: Option<Summary>,
    /// Wall-clock time of each run, s.
    pub times_s: Vec<f64>,
    /// Energy of one run, a value for each block of runs whose energy is known.
    pub energies_j: Vec<f64>,
    /// Runs whose energy is known.
    pub energy_runs: usize,
    /// Runs.
    pub runs: usize,
    /// Mean time of a run in each of these blocks, s.
    #[serde(skip)]
    pub block_times_s: Vec<f64>,
    /// Runs that failed; such a command is not ranked.
    pub failures: usize,
    /// Doubts about the measurement.
    pub warnings: Vec<String>,
}

impl CommandResult {
    /// Its name, else the command.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.command)
    }

    /// Median user and system CPU time, s.
    pub fn cpu_s(&self) -> [f64; 2] {
        [&self.user_s, &self.system_s].map(|all| median(all))
    }

    /// The largest of all runs' resident sets, bytes; none where it is known of no run.
    pub fn peak_memory(&self) -> Option<u64> {
        self.peak_memory_bytes.iter().flatten().max().copied()
    }

    /// Median number of context switches.
    pub fn switches(&self) -> f64 {
        let all: Vec<f64> = self.context_switches.iter().map(|n| *n as f64).collect();
        median(&all)
    }

    /// Median time in run queues, s; none where the system does not count it.
    pub fn run_queue(&self) -> Option<f64> {
        let all: Vec<f64> = self.run_queue_s.iter().flatten().copied().collect();
        (!all.is_empty()).then(|| median(&all))
    }

    /// What a user must know where it was ready to run and had no core: then it did not wait for files, the network or a lock.
    fn waited_for_cores(&self) -> Option<String> {
        let share = self.run_queue()? / self.time_s.median;
        let [user, system] = self.cpu_s();
        let busy = (user + system) / self.time_s.median;
        (share >= 0.1 && self.time_s.median >= SHORT_S).then(|| {
            if share < 1.0 && busy < 1.2 {
                format!(
                    "ready to run but without a core for {:.0} % of the time, as other programs used the cores: use a quieter system",
                    100.0 * share
                )
            } else {
                format!(
                    "{share:.1} of its threads on average were ready to run but had no core: it has more threads than cores, or other \
                     programs use them"
                )
            }
        })
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

fn as_text<S: Serializer>(e: &Option<CommandError>, s: S) -> Result<S::Ok, S::Error> {
    e.as_ref().map(ToString::to_string).serialize(s)
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
    /// Whether the times differ beyond the noise: their intervals do not overlap, out of three runs each at least.
    pub differs: bool,
}

/// Runs below this time are mostly the start of a process, s.
const SHORT_S: f64 = 5e-3;

/// Runs below which two commands are not told apart.
pub const LEAST_TO_TELL: usize = 3;

/// Whether two medians differ beyond the noise: their intervals do not overlap.
pub fn differ(a: &Summary, b: &Summary) -> bool {
    a.n.min(b.n) >= LEAST_TO_TELL && (a.hi < b.lo || b.hi < a.lo)
}

/// Results of an interleaved comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InterleavedResult {
    /// One result for each command.
    pub results: Vec<CommandResult>,
    /// Each further command against the first.
    pub comparisons: Vec<CommandComparison>,
    /// Indices of the results from the fastest to the slowest, by their median times; without those that failed.
    pub ranking: Vec<usize>,
    /// The rank of each of them, from 1: the same for those whose times do not differ beyond the noise from the first of the
    /// rank's.
    pub ranks: Vec<usize>,
    /// Id of the sensor, if energy was measured.
    pub sensor: Option<String>,
    /// Doubts about the sensor.
    pub warnings: Vec<String>,
    /// Stopped before the last run.
    pub interrupted: bool,
    /// The failure that ended the measurement; the results are of the runs before it.
    #[serde(serialize_with = "as_text")]
    pub failure: Option<CommandError>,
}

impl InterleavedResult {
    /// Compares and ranks results; the first is the baseline.
    pub fn new(sensor: Option<String>, results: Vec<CommandResult>, interrupted: bool) -> Self {
        let comparisons = match results.split_first() {
            Some((base, others)) => others.iter().filter_map(|o| compare(base, o)).collect(),
            None => Vec::new(),
        };
        let whole = |i: &usize| results[*i].failures == 0;
        let mut ranking: Vec<usize> = (0..results.len()).filter(whole).collect();
        ranking.sort_by(|&a, &b| {
            let time = |i: usize| results[i].time_s.median;
            time(a).total_cmp(&time(b))
        });
        let ranks = ranks(&results, &ranking);
        Self {
            sensor,
            results,
            comparisons,
            ranking,
            ranks,
            warnings: Vec::new(),
            interrupted,
            failure: None,
        }
    }

    /// A result against the baseline; `None` for the baseline itself.
    pub fn against_baseline(&self, result: usize) -> Option<&CommandComparison> {
        // There is one for every further result, as each has runs.
        self.comparisons.get(result.checked_sub(1)?)
    }
}

fn ranks(results: &[CommandResult], ranking: &[usize]) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::with_capacity(ranking.len());
    for (place, &i) in ranking.iter().enumerate() {
        let same = out.last().copied().filter(|&rank| {
            let first = ranking[rank - 1];
            !differ(&results[first].time_s, &results[i].time_s)
        });
        out.push(same.unwrap_or(place + 1));
    }
    out
}

/// Runs of one command so far.
#[derive(Default)]
pub(crate) struct Log {
    pub runs: Vec<CommandRun>,
    /// Blocks of runs, where a sensor is read.
    pub blocks: Vec<Block>,
    pub failures: usize,
    /// Whether a failure ended the measurement.
    pub cut: bool,
}

/// Runs whose energy is measured together.
pub(crate) struct Block {
    pub runs: usize,
    /// Mean time of a run, s.
    pub time_s: f64,
    /// Mean energy of a run, J, or why it is not known.
    pub energy_j: Result<f64, String>,
    /// Share of the energy that the sensor's steps at the ends may be off.
    pub edge: f64,
}

impl Log {
    /// Energy and time of a run of each block whose energy is known.
    pub fn energies(&self) -> impl Iterator<Item = (f64, f64)> {
        let known = |b: &Block| Some((b.energy_j.as_ref().ok().copied()?, b.time_s));
        self.blocks.iter().filter_map(known)
    }

    /// Summary of values of the blocks; a few blocks show no spread, so that the steps of the sensor are added.
    fn summary(&self, values: &[f64]) -> Option<Summary> {
        let mut s = Summary::of(values)?;
        if s.n < 4 {
            let known = self.blocks.iter().filter(|b| b.energy_j.is_ok());
            let edge = known.map(|b| b.edge).fold(0.0, f64::max);
            (s.lo, s.hi) = (s.lo * (1.0 - edge), s.hi * (1.0 + edge));
        }
        Some(s)
    }

    /// Whether so many blocks lack their energy, or two in a row, that the others need not be like them.
    fn lacks_energies(&self) -> bool {
        let lacking = self.blocks.iter().filter(|b| b.energy_j.is_err()).count();
        let in_a_row = |w: &[Block]| w.iter().all(|b| b.energy_j.is_err());
        10 * lacking > self.blocks.len() || self.blocks.windows(2).any(in_a_row)
    }

    /// What a user must know where runs lack their energy.
    fn warning(&self) -> Option<String> {
        let lacking = || self.blocks.iter().filter(|b| b.energy_j.is_err());
        let first = lacking().find_map(|b| b.energy_j.as_ref().err())?;
        let of = |b: &Block| b.runs;
        let (without, all): (usize, usize) =
            (lacking().map(of).sum(), self.blocks.iter().map(of).sum());
        let others = if lacking().any(|b| b.energy_j.as_ref().err() != Some(first)) {
            ", and other causes"
        } else {
            ""
        };
        Some(format!(
            "energies of {} of {all} runs: {first}{others}{}",
            all - without,
            if self.lacks_energies() {
                "; no energy is given, as the other runs may differ"
            } else {
                ""
            }
        ))
    }
}

pub(crate) fn times(log: &Log) -> Vec<f64> {
    log.runs.iter().map(|r| r.end_s - r.start_s).collect()
}

pub(crate) fn summarise(command: &CommandLine, log: &Log, warmed: bool) -> Option<CommandResult> {
    let times_s = times(log);
    let time_s = Summary::of(&times_s)?;
    let energies_j: Vec<f64> = log.energies().map(|b| b.0).collect();
    let powers: Vec<f64> = log.energies().map(|b| b.0 / b.1).collect();
    let of = |b: &Block| b.energy_j.as_ref().map_or(0, |_| b.runs);
    let energy_runs = log.blocks.iter().map(of).sum();
    let known = !log.lacks_energies();
    let mut warnings: Vec<String> = log.warning().into_iter().collect();
    let odd = outliers(&times_s);
    if odd.first() == Some(&0) && !warmed {
        warnings.push(format!(
            "the first run was far slower than the rest: use {} to fill the caches first",
            setting("warmup")
        ));
    } else if !odd.is_empty() {
        warnings.push(format!(
            "{} of {} runs are outliers: another program may have interfered; use a quieter system or more runs",
            odd.len(),
            times_s.len()
        ));
    }
    if time_s.median < SHORT_S {
        warnings
            .push("runs shorter than 5 ms are dominated by the start of the process".to_owned());
    }
    if log.cut {
        warnings.push("a later run failed: these are the runs before it".to_owned());
    } else if log.failures > 0 {
        warnings.push(format!(
            "{} of {} runs failed; they are counted all the same, and the command is not ranked",
            log.failures,
            times_s.len()
        ));
    }
    let mut out = CommandResult {
        command: command.display(),
        name: command.name.clone(),
        parameters: command.parameters.clone(),
        time_s,
        user_s: log.runs.iter().map(|r| r.user_s).collect(),
        system_s: log.runs.iter().map(|r| r.system_s).collect(),
        peak_memory_bytes: log.runs.iter().map(|r| r.max_rss_bytes).collect(),
        context_switches: log.runs.iter().map(|r| r.context_switches).collect(),
        run_queue_s: log.runs.iter().map(|r| r.run_queue_s).collect(),
        exit_codes: log.runs.iter().map(|r| r.exit.number()).collect(),
        energy_j: log.summary(&energies_j).filter(|_| known),
        power_w: log.summary(&powers).filter(|_| known),
        runs: times_s.len(),
        energy_runs,
        times_s,
        energies_j,
        block_times_s: log.energies().map(|b| b.1).collect(),
        failures: log.failures,
        warnings,
    };
    out.warnings.extend(out.waited_for_cores());
    Some(out)
}

/// A result against the baseline.
fn compare(base: &CommandResult, other: &CommandResult) -> Option<CommandComparison> {
    let known = base.energy_j.is_some() && other.energy_j.is_some();
    Some(CommandComparison {
        baseline: base.command.clone(),
        command: other.command.clone(),
        differs: differ(&base.time_s, &other.time_s),
        speedup: ratio_of_medians(&base.times_s, &other.times_s)?,
        powerup: ratio_of_medians(&base.powers_w(), &other.powers_w()).filter(|_| known),
        greenup: ratio_of_medians(&base.energies_j, &other.energies_j).filter(|_| known),
    })
}
