//! One command measured, or several in random order and compared.

use crate::command::{CommandError, CommandLine, CommandRun, Executor, Exit, Script};
use crate::comparison::{Block, CommandResult, InterleavedResult, Log, summarise, times};
use crate::energy::{MIN_TICKS, between, watched};
use crate::observe::Observer;
use crate::sampler::Trace;
use crate::sensor::{Quantity, Sensor};
use crate::stats::Summary;

/// How often to run.
#[derive(Clone, Debug, PartialEq)]
pub struct InterleavedPlan {
    /// Runs of each command before the measured ones.
    pub warmup: usize,
    /// When to stop.
    pub stop: Stop,
    /// Ends of a run that do not end the measurement.
    pub accepted: Accepted,
}

/// Ends of a run that are accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Accepted {
    /// Exit code 0 alone.
    #[default]
    Success,
    /// 0 and these codes, none of which is a failure.
    Codes(Vec<i32>),
    /// All; those other than 0 are counted as failures.
    All,
}

impl Accepted {
    /// Whether an end is a failure of the run.
    fn is_failure(&self, exit: Exit) -> bool {
        let listed = match (self, exit) {
            (Self::Codes(codes), Exit::Code(code)) => codes.contains(&code),
            _ => false,
        };
        !exit.success() && !listed
    }
}

/// When to stop repeating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// At least this number of runs and about 3 s a command, and at most that number.
    Between(usize, usize),
    /// This number of runs of each command.
    Runs(usize),
    /// When the half interval of the median time (and energy) is below this share of it.
    RelError(f64),
}

impl Stop {
    /// Least and largest number of runs where the user gives none.
    pub const RUNS: (usize, usize) = (10, 1000);
    /// Between these numbers.
    pub const DEFAULT: Self = Self::Between(Self::RUNS.0, Self::RUNS.1);
}

const MAX_RUNS: usize = 2000;
/// Runs of a block at most.
const MOST_IN_BLOCK: usize = 1000;

/// Runs the commands in rounds of random order until the plan is fulfilled.
///
/// Energy comes from the first sensor. Runs shorter than ten of its ticks (`period_s`) are put
/// together in blocks, and the energy of a block is divided by its runs.
///
/// A command that fails ends the measurement: the result has the runs before, and names the failure.
///
/// # Errors
/// When a command cannot be started, or fails and failures are not ignored, before the first run has ended.
pub fn run_interleaved(
    commands: &[CommandLine],
    plan: &InterleavedPlan,
    executor: &mut dyn Executor,
    sensors: &mut [Box<dyn Sensor>],
    period_s: f64,
    observer: &dyn Observer,
) -> Result<InterleavedResult, CommandError> {
    let mut logs: Vec<Log> = commands.iter().map(|_| Log::default()).collect();
    let (mut interrupted, mut failure) = (false, None);
    observer.stage("warm-up", plan.warmup * commands.len());
    for command in commands {
        for n in 1..=plan.warmup {
            if observer.cancelled() {
                break;
            }
            prepare(command, executor, observer)?;
            let run = executor.run(command)?;
            if killed(&run, observer) {
                break;
            }
            check(command, run.exit, plan, observer, || {
                format!("warm-up run {n}")
            })?;
            observer.step(&command.label());
        }
    }

    observer.stage("measuring", 0);
    let mut rng = fastrand::Rng::with_seed(0x7261_6365);
    let mut order: Vec<usize> = (0..commands.len()).collect();
    'rounds: loop {
        rng.shuffle(&mut order);
        for &i in &order {
            if observer.cancelled() {
                interrupted = true;
                break 'rounds;
            }
            let log = &mut logs[i];
            let done = block(
                &commands[i],
                plan,
                executor,
                sensors,
                period_s,
                log,
                observer,
            );
            if let Err(e) = done {
                log.failures += 1;
                log.cut = true;
                failure = Some(e);
                break 'rounds;
            }
        }
        if logs.iter().all(|log| enough(log, plan.stop)) {
            break;
        }
    }

    let sensor = sensors.first().map(|s| s.info().id.clone());
    let done: Vec<CommandResult> = commands
        .iter()
        .zip(&logs)
        .filter_map(|(c, log)| summarise(c, log, plan.warmup > 0))
        .collect();
    // What was measured before a failure is kept, if there is any.
    if done.is_empty()
        && let Some(e) = failure
    {
        return Err(e);
    }
    let mut result = InterleavedResult::new(sensor, done, interrupted);
    result.failure = failure;
    result.warnings = sensors.first().map_or_else(Vec::new, |s| s.notes());
    Ok(result)
}

/// Runs what the user wants to run before a measurement, such as clearing a cache.
fn prepare(
    command: &CommandLine,
    executor: &mut dyn Executor,
    observer: &dyn Observer,
) -> Result<(), CommandError> {
    let Some(script) = &command.prepare else {
        return Ok(());
    };
    match executor.script(script, Script::Prepare) {
        // It was cut by the user's own Ctrl-C.
        Err(_) if observer.cancelled() => Ok(()),
        done => done,
    }
}

/// One run, or with a sensor the number of runs that its update period requires. A command that is prepared runs once: the
/// preparation between two runs would take energy too.
fn block(
    command: &CommandLine,
    plan: &InterleavedPlan,
    executor: &mut dyn Executor,
    sensors: &mut [Box<dyn Sensor>],
    period_s: f64,
    log: &mut Log,
    observer: &dyn Observer,
) -> Result<(), CommandError> {
    let alone = sensors.is_empty() || command.prepare.is_some();
    let failures = |done: &[CommandRun]| {
        let failed = |r: &&CommandRun| plan.accepted.is_failure(r.exit);
        done.iter().filter(failed).count()
    };
    prepare(command, executor, observer)?;
    let before = log.runs.len();
    // The runs of the block, and the failure that ended it.
    let mut once = || {
        let mut done: Vec<CommandRun> = Vec::new();
        let mut one = |done: &mut Vec<CommandRun>| {
            let run = executor.run(command)?;
            // Its time says nothing.
            if killed(&run, observer) {
                return Ok(true);
            }
            check(command, run.exit, plan, observer, || {
                format!("run {}", before + done.len() + 1)
            })?;
            done.push(run);
            observer.step(&command.label());
            let long = run.end_s - done[0].start_s >= MIN_TICKS * period_s;
            Ok(alone || long || done.len() >= MOST_IN_BLOCK || observer.cancelled())
        };
        let ended = loop {
            match one(&mut done) {
                Ok(false) => {}
                Ok(true) => break Ok(()),
                Err(e) => break Err(e),
            }
        };
        (done, ended)
    };
    if sensors.is_empty() {
        let (done, ended) = once();
        log.failures += failures(&done);
        log.runs.extend(done);
        return ended;
    }
    let quantity = sensors[0].info().quantity;
    let ((done, ended), trace) = watched(sensors, period_s, once);
    if let (Some(first), Some(last)) = (done.first(), done.last()) {
        let span = (first.start_s, last.end_s);
        log.blocks
            .push(measured(quantity, &trace, span, done.len(), period_s));
    }
    log.failures += failures(&done);
    log.runs.extend(done);
    ended
}

/// The energy of a block of runs, out of what the sensor read meanwhile.
pub(crate) fn measured(
    quantity: Quantity,
    trace: &Trace,
    (from, to): (f64, f64),
    runs: usize,
    period_s: f64,
) -> Block {
    let n = runs as f64;
    let energy_j = between(quantity, trace, (from, to), period_s).map(|e| e / n);
    Block {
        runs,
        time_s: (to - from) / n,
        energy_j,
        edge: (period_s / (to - from)).min(1.0),
    }
}

/// Whether an interrupt cut the run short.
fn killed(run: &CommandRun, observer: &dyn Observer) -> bool {
    observer.cancelled() && !run.exit.success()
}

fn check(
    command: &CommandLine,
    exit: Exit,
    plan: &InterleavedPlan,
    observer: &dyn Observer,
    which: impl FnOnce() -> String,
) -> Result<(), CommandError> {
    // A run cut by the user's own Ctrl-C is no failure of the command.
    let ended = plan.accepted.is_failure(exit) && plan.accepted != Accepted::All;
    if !ended || observer.cancelled() {
        return Ok(());
    }
    Err(CommandError::Failed {
        command: command.display(),
        how: format!("{} in {}", exit.describe(), which()),
    })
}

fn enough(log: &Log, stop: Stop) -> bool {
    let t = times(log);
    let total_s: f64 = t.iter().sum();
    match stop {
        _ if t.len() >= MAX_RUNS => true,
        Stop::Runs(n) => t.len() >= n,
        Stop::Between(least, most) => t.len() >= least && total_s >= 3.0 || t.len() >= most,
        Stop::RelError(target) => {
            // The bootstrap is costly: look again only after a twentieth more runs.
            let due = t.len() < 30 || t.len().is_multiple_of(t.len() / 20);
            let energies: Vec<f64> = log.energies().map(|b| b.0).collect();
            let reached = |v: &[f64]| {
                Summary::of(v).is_some_and(|s| s.n >= 5 && s.relative_error() <= target)
            };
            due && reached(&t) && (energies.is_empty() || reached(&energies))
        }
    }
}

#[cfg(test)]
mod tests;
