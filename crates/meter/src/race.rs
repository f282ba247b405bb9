//! One command measured, or several in random order and compared.

use crate::command::{CommandError, CommandLine, CommandRun, Executor, Exit};
use crate::observe::Observer;
use crate::race_result::{Log, Race, RaceResult, compare, summarise, times};
use crate::sampler::sample;
use crate::sensor::Sensor;
use crate::stats::Summary;
use crate::window::energy_between;

/// How often to run.
#[derive(Clone, Debug, PartialEq)]
pub struct RacePlan {
    pub warmup: usize,
    pub stop: Stop,
    /// Keep going when a command exits with a code other than 0.
    pub ignore_failure: bool,
}

/// When to stop repeating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// At least 10 runs and about 3 s a command.
    Default,
    Runs(usize),
    /// When the half interval of the median time (and energy) is below this share of it.
    RelError(f64),
}

const MAX_RUNS: usize = 2000;
/// Ticks a block of runs must span before its energy counts.
const MIN_TICKS: f64 = 10.0;

/// Runs the commands in rounds of random order until the plan is fulfilled.
///
/// Energy comes from the first sensor. Runs shorter than ten of its ticks (`period_s`) are put
/// together in blocks, and the energy of a block is divided by its runs.
///
/// # Errors
/// When a command cannot be started, or fails and failures are not ignored.
pub fn race(
    commands: &[CommandLine],
    plan: &RacePlan,
    executor: &mut dyn Executor,
    sensors: &mut [Box<dyn Sensor>],
    period_s: f64,
    observer: &dyn Observer,
) -> Result<Race, CommandError> {
    let mut logs: Vec<Log> = commands.iter().map(|_| Log::default()).collect();
    let mut interrupted = false;
    observer.stage("warm-up", plan.warmup * commands.len());
    for command in commands {
        for _ in 0..plan.warmup {
            if observer.cancelled() {
                break;
            }
            let run = executor.run(command)?;
            if killed(&run, observer) {
                break;
            }
            check(command, run.exit, plan, observer)?;
            observer.step(&command.display());
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
            block(
                &commands[i],
                plan,
                executor,
                sensors,
                period_s,
                &mut logs[i],
                observer,
            )?;
        }
        if logs.iter().all(|log| enough(log, plan.stop)) {
            break;
        }
    }

    let results: Vec<RaceResult> = commands
        .iter()
        .zip(&logs)
        .filter_map(|(c, log)| summarise(c, log, plan.warmup > 0))
        .collect();
    let comparisons = compare(&results, &logs);
    Ok(Race {
        sensor: sensors.first().map(|s| s.info().id.clone()),
        results,
        comparisons,
        interrupted,
    })
}

/// One run, or with a sensor as many as its ticks demand.
fn block(
    command: &CommandLine,
    plan: &RacePlan,
    executor: &mut dyn Executor,
    sensors: &mut [Box<dyn Sensor>],
    period_s: f64,
    log: &mut Log,
    observer: &dyn Observer,
) -> Result<(), CommandError> {
    let runs = if sensors.is_empty() {
        1
    } else {
        let typical = log
            .runs
            .last()
            .map_or(f64::INFINITY, |r| r.end_s - r.start_s);
        ((MIN_TICKS * period_s / typical).ceil() as usize).clamp(1, 1000)
    };
    let mut once = || -> Result<Vec<CommandRun>, CommandError> {
        let mut done = Vec::with_capacity(runs);
        for _ in 0..runs {
            let run = executor.run(command)?;
            check(command, run.exit, plan, observer)?;
            done.push(run);
            observer.step(&command.display());
            if observer.cancelled() {
                break;
            }
        }
        Ok(done)
    };
    if sensors.is_empty() {
        let done = once()?;
        log.failures += done.iter().filter(|r| !r.exit.success()).count();
        log.runs.extend(done);
        return Ok(());
    }
    let interval = (period_s / 8.0).clamp(0.001, 0.02);
    let (done, traces, _) = sample(sensors, interval, || {
        let done = once();
        // The counter's next tick closes the last run's interval.
        std::thread::sleep(std::time::Duration::from_secs_f64(1.5 * period_s));
        done
    });
    let done = done?;
    if let (Some(first), Some(last)) = (done.first(), done.last()) {
        let energy = energy_between(
            sensors[0].info().quantity,
            &traces[0].readings,
            first.start_s,
            last.end_s,
        );
        let long_enough = last.end_s - first.start_s >= 0.9 * MIN_TICKS * period_s;
        if let Some(e) = energy.filter(|&e| e > 0.0 && long_enough && traces[0].error.is_none()) {
            let n = done.len() as f64;
            log.blocks.push((e / n, (last.end_s - first.start_s) / n));
        }
    }
    log.failures += done.iter().filter(|r| !r.exit.success()).count();
    log.runs.extend(done);
    Ok(())
}

/// Whether an interrupt cut the run short.
fn killed(run: &CommandRun, observer: &dyn Observer) -> bool {
    observer.cancelled() && !run.exit.success()
}

fn check(
    command: &CommandLine,
    exit: Exit,
    plan: &RacePlan,
    observer: &dyn Observer,
) -> Result<(), CommandError> {
    // A run cut by the user's own Ctrl-C is no failure of the command.
    if exit.success() || plan.ignore_failure || observer.cancelled() {
        return Ok(());
    }
    Err(CommandError::Failed {
        command: command.display(),
        how: exit.describe(),
    })
}

fn enough(log: &Log, stop: Stop) -> bool {
    let t = times(log);
    let spent: f64 = t.iter().sum();
    match stop {
        _ if t.len() >= MAX_RUNS => true,
        Stop::Runs(n) => t.len() >= n,
        Stop::Default => t.len() >= 10 && spent >= 3.0 || t.len() >= 1000,
        Stop::RelError(target) => {
            // The bootstrap is costly: look again only after a tenth more runs.
            let due = t.len() < 30 || t.len().is_multiple_of(t.len() / 20);
            let energies: Vec<f64> = log.blocks.iter().map(|b| b.0).collect();
            let reached = |v: &[f64]| {
                Summary::of(v).is_some_and(|s| s.n >= 5 && s.relative_error() <= target)
            };
            due && reached(&t) && (energies.is_empty() || reached(&energies))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;
    use crate::sensor::{Quantity, now_s};
    use crate::sensors::simulated::Simulated;

    /// Runs nothing: pretends that a command took as many ms as its first argument says.
    struct Mock {
        clock: f64,
        rng: fastrand::Rng,
        exit: Exit,
    }

    impl Executor for Mock {
        fn run(&mut self, command: &CommandLine) -> Result<CommandRun, CommandError> {
            let ms: f64 = command.args[0].parse().unwrap();
            let start_s = self.clock;
            self.clock += ms * 1e-3 * (1.0 + 0.02 * (self.rng.f64() - 0.5));
            Ok(CommandRun {
                start_s,
                end_s: self.clock,
                user_s: 0.0,
                system_s: 0.0,
                max_rss_bytes: 1,
                exit: self.exit,
            })
        }
    }

    fn mock() -> Mock {
        Mock {
            clock: 0.0,
            rng: fastrand::Rng::with_seed(1),
            exit: Exit::Code(0),
        }
    }

    fn plan(stop: Stop) -> RacePlan {
        RacePlan {
            warmup: 1,
            stop,
            ignore_failure: false,
        }
    }

    fn commands(list: &[&str]) -> Vec<CommandLine> {
        list.iter()
            .map(|c| CommandLine::parse(c).unwrap())
            .collect()
    }

    #[test]
    fn runs_and_speedup() {
        let r = race(
            &commands(&["a 300", "b 100"]),
            &plan(Stop::Runs(20)),
            &mut mock(),
            &mut [],
            0.0,
            &Silent,
        )
        .unwrap();
        assert_eq!(r.results[0].time_s.n, 20);
        let s = r.comparisons[0].speedup;
        assert!(s.lo < 3.0 && 3.0 < s.hi && s.hi - s.lo < 0.1, "{s:?}");
        assert!(r.comparisons[0].greenup.is_none());
    }

    #[test]
    fn the_requested_error_is_reached() {
        let c = commands(&["a 320"]);
        let r = race(
            &c,
            &plan(Stop::RelError(0.002)),
            &mut mock(),
            &mut [],
            0.0,
            &Silent,
        )
        .unwrap();
        assert!(r.results[0].time_s.relative_error() <= 0.002);
        let r = race(&c, &plan(Stop::Default), &mut mock(), &mut [], 0.0, &Silent).unwrap();
        assert_eq!(r.results[0].time_s.n, 10);
    }

    #[test]
    fn failures_stop_unless_ignored() {
        let mut failing = mock();
        failing.exit = Exit::Code(3);
        let c = commands(&["a 300"]);
        let mut p = plan(Stop::Runs(5));
        let e = race(&c, &p, &mut failing, &mut [], 0.0, &Silent).unwrap_err();
        assert!(e.to_string().contains("exited with code 3"));
        p.ignore_failure = true;
        let r = race(&c, &p, &mut failing, &mut [], 0.0, &Silent).unwrap();
        assert_eq!(r.results[0].failures, 5);
    }

    #[test]
    fn short_runs_share_a_block_of_ticks() {
        // Real time here: a 30 W machine, counter ticks of 2 ms, runs of about 1 ms.
        struct Spin;
        impl Executor for Spin {
            fn run(&mut self, _: &CommandLine) -> Result<CommandRun, CommandError> {
                let start_s = now_s();
                crate::probe::spin(1e-3);
                Ok(CommandRun {
                    start_s,
                    end_s: now_s(),
                    user_s: 0.0,
                    system_s: 0.0,
                    max_rss_bytes: 0,
                    exit: Exit::Code(0),
                })
            }
        }
        let counter = Simulated::new("sim", Quantity::Energy, |t| {
            Ok(30.0 * (t / 0.002).floor() * 0.002)
        });
        let mut sensors: Vec<Box<dyn Sensor>> = vec![Box::new(counter)];
        let r = race(
            &commands(&["spin 1"]),
            &plan(Stop::Runs(150)),
            &mut Spin,
            &mut sensors,
            0.002,
            &Silent,
        )
        .unwrap();
        let e = r.results[0].energy_j.unwrap();
        // A busy machine makes the runs longer, and so dearer.
        let want = 30.0 * r.results[0].time_s.mean;
        assert!((e.mean / want - 1.0).abs() < 0.15, "{e:?}, not {want}");
        let p = r.results[0].power_w.unwrap();
        assert!((p.median / 30.0 - 1.0).abs() < 0.15, "{p:?}");
    }
}
