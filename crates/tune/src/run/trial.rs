//! One config: built, verified, measured, with another measured around it to see drift.

use super::child::{Job, Said, Task};
use super::compile::{CompileError, Unit};
use super::parent::Answer;
use super::plan::{DATA_SEED, Plan, TuneError};
use crate::objective::Cost;
use crate::points::Points;
use crate::problem::Problem;
use crate::strategy::Proposal;
use crate::sweep::{Failure, Outcome, Trial};
use greenup_meter::stats::median;
use greenup_space::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A library or why there is none, and the seconds it took.
pub(super) type Built = (Result<PathBuf, CompileError>, f64);

/// Where configs of one sweep are tried.
pub(super) struct Bench<'a> {
    pub(super) problem: &'a Problem,
    pub(super) plan: &'a Plan<'a>,
    pub(super) libraries: PathBuf,
    setup: Option<PathBuf>,
    reference: Option<PathBuf>,
    baseline: Option<PathBuf>,
    first_baseline_s: Option<f64>,
    /// Least and most of the baseline's time over its first.
    pub(super) drift: Option<(f64, f64)>,
}

fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |d| d.as_secs_f64())
}

impl<'a> Bench<'a> {
    /// Builds the setup and the reference, and runs the latter once: its results are kept for all
    /// trials.
    pub(super) fn new(
        problem: &'a Problem,
        plan: &'a Plan<'a>,
        libraries: PathBuf,
    ) -> Result<Self, TuneError> {
        let mut bench = Self {
            problem,
            plan,
            libraries,
            setup: None,
            reference: None,
            baseline: None,
            first_baseline_s: None,
            drift: None,
        };
        if let Some(unit) = Unit::of_setup(problem) {
            bench.setup = Some(unit.compile(&bench.libraries).map_err(|e| {
                TuneError::Reference(format!("the setup does not compile:\n{}", e.0))
            })?);
        }
        bench.prepare_reference()?;
        Ok(bench)
    }

    /// The objectives as the search shall see them.
    pub(super) fn costs(&self, t: &Trial) -> Option<Vec<f64>> {
        let cost = t.cost()?;
        // What it would have taken while the machine was as at first. Energies are not scaled, so
        // objectives that join both see the time that belongs to them.
        let steady = Cost {
            time_s: cost.time_s / t.metrics.get("drift").unwrap_or(&1.0),
            ..cost
        };
        let flops = self
            .problem
            .work(&t.config)
            .ok()
            .map(|w| w.flops())
            .filter(|f| *f > 0.0);
        self.plan
            .objectives
            .iter()
            .map(|o| o.value(if o.needs_energy() { cost } else { steady }, flops))
            .collect()
    }

    fn job(&self, task: Task, limit_s: f64) -> Job {
        Job {
            limit_s,
            data: self.problem.data.clone(),
            seed: DATA_SEED,
            setup: self.setup.clone(),
            dir: std::path::absolute(&self.problem.dir)
                .unwrap_or_else(|_| self.problem.dir.clone()),
            task,
        }
    }

    pub(super) fn run(&self, task: Task, limit_s: f64) -> Option<Answer> {
        self.plan
            .launcher
            .run(&self.job(task, limit_s), limit_s, &|| {
                self.plan.observer.cancelled()
            })
    }

    fn prepare_reference(&mut self) -> Result<(), TuneError> {
        let Some(unit) = Unit::of_reference(self.problem) else {
            return Ok(());
        };
        let library = unit.compile(&self.libraries).map_err(|e| {
            TuneError::Reference(format!("the reference does not compile:\n{}", e.0))
        })?;
        let outputs = self.libraries.join("reference.bin");
        let task = Task::Reference {
            library,
            outputs: outputs.clone(),
        };
        let limit = self.problem.measure.timeout * 30.0;
        let Some(answer) = self.run(task, limit) else {
            return Ok(());
        };
        if let Some((f, m)) = answer.failure {
            return Err(TuneError::Reference(format!(
                "the reference failed ({}): {m}",
                f.name()
            )));
        }
        self.reference = Some(outputs);
        Ok(())
    }

    /// Builds configs on all cores, before any of them is measured: a compiler beside a
    /// measurement would spoil it.
    pub(super) fn build(&self, proposals: &[Proposal], points: &dyn Points) -> Vec<Built> {
        let next = std::sync::atomic::AtomicUsize::new(0);
        let configs: Vec<Vec<Value>> = proposals.iter().map(|p| points.config(p.point)).collect();
        let results: Vec<std::sync::Mutex<Option<Built>>> = configs
            .iter()
            .map(|_| std::sync::Mutex::new(None))
            .collect();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(configs.len()) {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(config) = configs.get(i) else { return };
                        if self.plan.observer.cancelled() {
                            return;
                        }
                        let start = Instant::now();
                        let built = Unit::of_config(self.problem, config)
                            .and_then(|u| u.compile(&self.libraries));
                        if let Ok(mut slot) = results[i].lock() {
                            *slot = Some((built, start.elapsed().as_secs_f64()));
                        }
                    }
                });
            }
        });
        results
            .into_iter()
            .map(|r| {
                r.into_inner()
                    .ok()
                    .flatten()
                    .unwrap_or((Err(CompileError("stopped".into())), 0.0))
            })
            .collect()
    }

    /// One trial; `None` when the user stopped it.
    pub(super) fn trial(
        &mut self,
        config: Vec<Value>,
        effort: f64,
        (built, build_s): Built,
    ) -> Option<Trial> {
        let mut trial = Trial {
            config,
            outcome: Outcome::Failed {
                failure: Failure::Compile,
                message: String::new(),
            },
            metrics: BTreeMap::new(),
            effort,
            build_s,
            verify_s: 0.0,
            measure_s: 0.0,
            flags: Vec::new(),
            at: now(),
        };
        let library = match built {
            Ok(l) => l,
            Err(CompileError(message)) => {
                trial.outcome = Outcome::Failed {
                    failure: Failure::Compile,
                    message,
                };
                return Some(trial);
            }
        };
        let m = self.problem.measure;
        let start = Instant::now();
        let task = Task::Trial {
            library: library.clone(),
            reference: self.reference.clone(),
            tolerance: self.problem.reference.as_ref().map_or(0.0, |r| r.tolerance),
            seconds: m.seconds * effort,
            baseline: self.baseline.clone(),
        };
        let answer = self.run(task, m.timeout + 4.0 * m.seconds)?;
        let total = start.elapsed().as_secs_f64();
        for said in &answer.said {
            match said {
                Said::Verified { error, seconds } => {
                    trial.verify_s = *seconds;
                    trial.metrics.insert("error".into(), *error);
                }
                Said::Measured {
                    times_s,
                    energy_j,
                    time_error,
                    flags,
                    baseline_s,
                } => {
                    trial.flags.clone_from(flags);
                    self.watch_drift(baseline_s, &mut trial);
                    trial.outcome = Outcome::Measured {
                        time_s: median(times_s),
                        times_s: times_s.clone(),
                        energy_j: *energy_j,
                        time_error: Some(*time_error).filter(|e| e.is_finite()),
                    };
                }
                _ => {}
            }
        }
        trial.measure_s = total - trial.verify_s;
        if let Some((failure, message)) = answer.failure {
            trial.outcome = Outcome::Failed { failure, message };
        }
        let flops = self.problem.work(&trial.config).ok().map(|w| w.flops());
        if let (Some(f), Some(c)) = (flops.filter(|f| *f > 0.0), trial.cost()) {
            trial.metrics.insert("gflops".into(), f / c.time_s * 1e-9);
            if let Some(e) = c.energy_j {
                trial.metrics.insert("gflops_per_w".into(), f / e * 1e-9);
            }
        }
        trial.at = now();
        // The first that works is the baseline of the drift.
        if self.baseline.is_none() && trial.cost().is_some() {
            let kept = self.libraries.join("baseline.so");
            if std::fs::copy(&library, &kept).is_ok() {
                self.baseline = Some(kept);
            }
        }
        let _ = std::fs::remove_file(&library);
        Some(trial)
    }

    fn watch_drift(&mut self, baseline_s: &[f64], trial: &mut Trial) {
        if baseline_s.is_empty() {
            return;
        }
        let own = baseline_s.iter().sum::<f64>() / baseline_s.len() as f64;
        let first = *self.first_baseline_s.get_or_insert(own);
        let drift = own / first;
        trial.metrics.insert("drift".into(), drift);
        let (lo, hi) = self.drift.unwrap_or((drift, drift));
        self.drift = Some((lo.min(drift), hi.max(drift)));
        if (drift - 1.0).abs() > 0.05 {
            trial.flags.push(format!(
                "the machine drifted by {:+.0} %",
                100.0 * (drift - 1.0)
            ));
        }
    }
}
