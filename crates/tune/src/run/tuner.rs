//! The loop: ask the strategy, build ahead, measure one by one, record each before the next.

use super::child::{Job, Said, Task};
use super::compile::{CompileError, Unit, compiler_version};
use super::parent::{Answer, Launcher};
use crate::objective::Objective;
use crate::points::{Indexed, Points};
use crate::problem::Problem;
use crate::strategy::{Ask, History, Proposal, Strategy};
use crate::sweep::{Failure, Folder, FolderError, Outcome, Sweep, SweepFacts, Trial};
use greenup_meter::stats::{median, ratio_of_medians};
use greenup_meter::{Observer, Summary};
use greenup_space::{Index, Value};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// How a sweep is run.
pub struct Plan<'a> {
    pub objectives: Vec<Objective>,
    /// Full measurements at most.
    pub trials: usize,
    /// Seconds at most.
    pub seconds: f64,
    pub seed: u64,
    pub out: &'a Path,
    pub resume: bool,
    pub launcher: Launcher,
    /// Configs measured again at the end, in turns.
    pub finalists: usize,
    /// Facts to record beside the tuner's own.
    pub facts: BTreeMap<String, String>,
    pub device: String,
}

/// A config of the last round.
#[derive(Clone, Debug, Serialize)]
pub struct Finalist {
    pub config: Vec<Value>,
    pub time_s: Summary,
    pub energy_j: Option<Summary>,
    pub value: f64,
    /// Its objective over the winner's; 1 lies within the interval for a tie.
    pub ratio: Option<Summary>,
    pub tie: bool,
}

/// What a sweep found.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    pub trials: usize,
    pub failures: BTreeMap<&'static str, usize>,
    /// Best first.
    pub finalists: Vec<Finalist>,
    pub interrupted: bool,
    /// The baseline's time now over its first: how much the machine drifted, least and most.
    pub drift: Option<(f64, f64)>,
}

/// A sweep that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("{0}")]
    Reference(String),
    #[error("no trial succeeded: {0}")]
    Nothing(String),
}

/// A library or why there is none, and the seconds it took.
type Built = (Result<PathBuf, CompileError>, f64);

struct Tuner<'a> {
    problem: &'a Problem,
    plan: &'a Plan<'a>,
    observer: &'a dyn Observer,
    libraries: PathBuf,
    reference: Option<PathBuf>,
    baseline: Option<PathBuf>,
    first_baseline_s: Option<f64>,
    drift: Option<(f64, f64)>,
}

/// Runs a sweep over the points of an index.
///
/// # Errors
/// The folder, the reference, or that nothing at all worked.
pub fn tune(
    problem: &Problem,
    index: &Index,
    strategy: &mut dyn Strategy,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<(Found, Sweep), TuneError> {
    let facts = facts(problem, plan);
    let (mut folder, done) = if plan.resume && Folder::exists(plan.out) {
        Folder::resume(plan.out, &facts)?
    } else {
        (Folder::create(plan.out, &facts)?, Vec::new())
    };
    let libraries = plan.out.join("build");
    std::fs::create_dir_all(&libraries).map_err(|cause| FolderError::Io {
        path: libraries.clone(),
        cause,
    })?;
    let mut tuner = Tuner {
        problem,
        plan,
        observer,
        reference: None,
        baseline: None,
        first_baseline_s: None,
        drift: None,
        libraries: std::path::absolute(&libraries).unwrap_or(libraries),
    };
    tuner.prepare_reference()?;

    let points = Indexed::new(index);
    let mut trials = done;
    let mut history = History::default();
    for t in &trials {
        if let Some(p) = index.position(&t.config) {
            history.add(p, tuner.costs(t), t.effort);
        }
    }
    let mut spent: f64 = trials.iter().map(|t| t.effort).sum();
    let most = plan
        .trials
        .min(usize::try_from(points.len()).unwrap_or(usize::MAX));
    let start = Instant::now();
    let mut rng = fastrand::Rng::with_seed(plan.seed);
    observer.stage("tuning", most);
    for _ in 0..trials.len().min(most) {
        observer.step("recorded before");
    }
    let mut interrupted = false;
    let mut idle = 0;
    'search: while spent < most as f64 - 1e-9 && start.elapsed().as_secs_f64() < plan.seconds {
        let ask = Ask {
            points: &points,
            history: &history,
            left: (most as f64 - spent).ceil() as usize,
            budget: most,
        };
        let mut proposals = strategy.ask(&ask, &mut rng);
        if proposals.is_empty() || idle > 50 {
            match unknown(&points, &history, &mut rng) {
                Some(p) => proposals = vec![p.into()],
                None => break,
            }
        }
        proposals.retain(|p| !history.knows(p.point, p.effort));
        let mut seen = std::collections::HashSet::new();
        proposals.retain(|p| seen.insert(p.point));
        proposals.truncate((most as f64 - spent).ceil() as usize * 8);
        idle = if proposals.is_empty() { idle + 1 } else { 0 };
        let mut rest = &proposals[..];
        while !rest.is_empty() {
            // A few ahead of the measuring: more would be lost when time is up.
            let (now, later) = rest.split_at(rest.len().min(AHEAD));
            rest = later;
            let built = tuner.build(now, &points);
            for (p, built) in now.iter().zip(built) {
                if spent >= most as f64 - 1e-9 || start.elapsed().as_secs_f64() >= plan.seconds {
                    break 'search;
                }
                if observer.cancelled() {
                    interrupted = true;
                    break 'search;
                }
                let config = points.config(p.point);
                let Some(trial) = tuner.trial(config, p.effort, built) else {
                    interrupted = true;
                    break 'search;
                };
                folder.append(&trial)?;
                history.add(p.point, tuner.costs(&trial), p.effort);
                spent += p.effort;
                observer.step(&message(&trial, &history, plan.objectives[0]));
                trials.push(trial);
            }
        }
    }
    if observer.cancelled() {
        interrupted = true;
    }
    let mut failures = BTreeMap::new();
    for (f, _) in trials.iter().filter_map(Trial::failure) {
        *failures.entry(f.name()).or_insert(0) += 1;
    }
    let mut found = Found {
        trials: trials.len(),
        failures,
        finalists: Vec::new(),
        interrupted,
        drift: tuner.drift,
    };
    if !interrupted {
        found.finalists = tuner.finals(&trials)?;
        // Everything in it can be built again.
        let _ = std::fs::remove_dir_all(&tuner.libraries);
    }
    Ok((found, Sweep { facts, trials }))
}

/// Configs built together.
const AHEAD: usize = 8;

fn unknown(points: &dyn Points, history: &History, rng: &mut fastrand::Rng) -> Option<u64> {
    let n = points.len();
    for _ in 0..1000 {
        let p = rng.u64(..n);
        if !history.knows(p, 1.0) {
            return Some(p);
        }
    }
    (0..n).find(|&p| !history.knows(p, 1.0))
}

fn facts(problem: &Problem, plan: &Plan) -> SweepFacts {
    let mut more = plan.facts.clone();
    let sources = match Unit::of_reference(problem) {
        Some(u) => u.key(),
        None => String::new(),
    };
    let kernel = Unit {
        sources: problem
            .build
            .sources
            .iter()
            .map(|s| problem.dir.join(s))
            .collect(),
        entry: &problem.build.entry,
        build: &problem.build,
        defines: Vec::new(),
        data: &problem.data,
    };
    more.insert("sources".into(), format!("{} {sources}", kernel.key()));
    more.insert("compiler".into(), compiler_version(&problem.build));
    more.insert("flags".into(), problem.build.flags.join(" "));
    more.insert("seed of data".into(), DATA_SEED.to_string());
    let flops = plan_flops(problem);
    SweepFacts {
        name: problem.space.name.clone(),
        device: plan.device.clone(),
        parameters: problem.space.names().map(str::to_owned).collect(),
        flops,
        objective: plan.objectives.first().map(ToString::to_string),
        more,
    }
}

/// Flops of a run, where they do not depend on the config.
fn plan_flops(problem: &Problem) -> Option<f64> {
    if !problem.has_work() {
        return None;
    }
    problem
        .work(&[])
        .ok()
        .map(|w| w.flops())
        .filter(|f| *f > 0.0)
}

const DATA_SEED: u64 = 20_150_324;

fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |d| d.as_secs_f64())
}

fn message(t: &Trial, history: &History, objective: Objective) -> String {
    let best = history
        .best()
        .map_or_else(|| "none yet".into(), |(_, v)| format!("{v:.4e}"));
    match t.failure() {
        Some((f, _)) => format!("best {objective} {best} | last failed: {}", f.name()),
        None => format!("best {objective} {best}"),
    }
}

impl Tuner<'_> {
    fn costs(&self, t: &Trial) -> Option<Vec<f64>> {
        let cost = t.cost()?;
        let flops = self
            .problem
            .work(&t.config)
            .ok()
            .map(|w| w.flops())
            .filter(|f| *f > 0.0);
        self.plan
            .objectives
            .iter()
            .map(|o| o.value(cost, flops))
            .collect()
    }

    fn job(&self, task: Task, limit_s: f64) -> Job {
        Job {
            limit_s,
            data: self.problem.data.clone(),
            seed: DATA_SEED,
            dir: std::path::absolute(&self.problem.dir)
                .unwrap_or_else(|_| self.problem.dir.clone()),
            task,
        }
    }

    fn run(&self, task: Task, limit_s: f64) -> Option<Answer> {
        self.plan
            .launcher
            .run(&self.job(task, limit_s), limit_s, &|| {
                self.observer.cancelled()
            })
    }

    /// Builds and runs the reference once; its results are kept for all trials.
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
    fn build(&self, proposals: &[Proposal], points: &dyn Points) -> Vec<Built> {
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
                        if self.observer.cancelled() {
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
    fn trial(&mut self, config: Vec<Value>, effort: f64, (built, build_s): Built) -> Option<Trial> {
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

    /// Measures the best again, in turns and in random order, and names ties.
    fn finals(&self, trials: &[Trial]) -> Result<Vec<Finalist>, TuneError> {
        let objective = self.plan.objectives[0];
        let mut best: Vec<(f64, &Trial)> = trials
            .iter()
            .filter(|t| t.effort >= 1.0 || self.plan.finalists == 0)
            .filter_map(|t| Some((self.costs(t)?[0], t)))
            .filter(|(_, t)| t.cost().is_some_and(|c| objective.allowed(c)))
            .collect();
        best.sort_by(|a, b| a.0.total_cmp(&b.0));
        best.dedup_by(|a, b| a.1.config == b.1.config);
        if best.is_empty() {
            let reason = trials
                .iter()
                .find_map(|t| t.failure().map(|f| format!("{}: {}", f.0.name(), f.1)))
                .unwrap_or_else(|| format!("`{objective}` needs a measurement that no trial has"));
            return Err(TuneError::Nothing(reason));
        }
        best.truncate(self.plan.finalists.max(1));
        self.observer.stage("finalists", 0);
        let mut libraries = Vec::new();
        for (_, t) in &best {
            let library = Unit::of_config(self.problem, &t.config)
                .and_then(|u| u.compile(&self.libraries))
                .map_err(|e| {
                    TuneError::Nothing(format!("a finalist no longer compiles: {}", e.0))
                })?;
            libraries.push(library);
        }
        const ROUNDS: usize = 9;
        let seconds = self.problem.measure.seconds / 2.0;
        let task = Task::Race {
            libraries,
            rounds: ROUNDS,
            seconds,
        };
        let limit = self.problem.measure.timeout
            + (ROUNDS * best.len()) as f64 * (seconds * 4.0 + self.problem.measure.timeout / 10.0);
        let Some(answer) = self.run(task, limit) else {
            return Ok(Vec::new());
        };
        let Some(Said::Raced {
            times_s,
            energies_j,
        }) = answer
            .said
            .into_iter()
            .find(|s| matches!(s, Said::Raced { .. }))
        else {
            let why = answer.failure.map_or_else(String::new, |f| f.1);
            return Err(TuneError::Nothing(format!(
                "the finalists cannot be measured again: {why}"
            )));
        };
        let values: Vec<Vec<f64>> = times_s
            .iter()
            .zip(&energies_j)
            .zip(&best)
            .map(|((t, e), (_, trial))| {
                let flops = self.problem.work(&trial.config).ok().map(|w| w.flops());
                t.iter()
                    .enumerate()
                    .filter_map(|(i, &time_s)| {
                        let cost = crate::Cost {
                            time_s,
                            energy_j: e.get(i).copied(),
                        };
                        objective.value(cost, flops)
                    })
                    .collect()
            })
            .collect();
        let mut order: Vec<usize> = (0..best.len()).filter(|&i| !values[i].is_empty()).collect();
        order.sort_by(|&a, &b| median(&values[a]).total_cmp(&median(&values[b])));
        let Some(&winner) = order.first() else {
            return Ok(Vec::new());
        };
        Ok(order
            .into_iter()
            .filter_map(|i| {
                let ratio = ratio_of_medians(&values[i], &values[winner]);
                Some(Finalist {
                    config: best[i].1.config.clone(),
                    time_s: Summary::of(&times_s[i])?,
                    energy_j: Summary::of(&energies_j[i]),
                    value: median(&values[i]),
                    tie: i != winner && ratio.as_ref().is_some_and(|r| r.lo <= 1.0),
                    ratio: ratio.filter(|_| i != winner),
                })
            })
            .collect())
    }
}
