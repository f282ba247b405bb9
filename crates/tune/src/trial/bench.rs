//! One trial: a config is built, verified and measured, with a baseline measured around it to detect drift.

use super::numbers;
use super::race::Race;
use crate::build::builder::{Builder, Made};
use crate::build::compile::Unit;
use crate::command::{Runnable, shared};
use crate::error::{BuildError, EnvironmentFault, TuneError, named_in_text};
use crate::objective::Cost;
use crate::plan::{GpuTarget, Plan, WorkerSetup};
use crate::problem::{Language, Problem};
use crate::sweep::record::now;
use crate::sweep::{Failure, Outcome, Trial, TrialDevice};
use crate::worker::inputs::memory::refuse_too_large;
use crate::worker::launcher::{Launcher, Worker};
use crate::worker::protocol::{Built, Expected, Message, Task};
use greenup_meter::Observer;
use greenup_meter::control::Control;
use greenup_meter::stats::median;
use greenup_space::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Windows of a slow sensor on a GPU, of a kernel and its baseline, and again near the power limit, s.
const SENSOR_S: f64 = 3.0;
/// Trials between two measurements of the baseline's energy.
const BASELINE_ENERGY_EVERY: usize = 25;

/// Where configs of one sweep are tried.
pub(crate) struct Bench<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) plan: &'a Plan,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) builder: Builder<'a>,
    pub(super) launcher: &'a Launcher,
    pub(crate) gpu: Option<&'a GpuTarget>,
    pub(crate) control: Option<&'a Control>,
    /// Recorded with each trial.
    device: Option<TrialDevice>,
    pub(super) setup: Option<PathBuf>,
    pub(super) reference: Option<Expected>,
    pub(crate) baseline: Option<Built>,
    /// Worker process that is reused between trials on a GPU, where loading the inputs takes long.
    pub(super) worker: Mutex<Option<Worker>>,
    trials: usize,
    /// What decides whether a config is measured in full, by the trials here: other workers may be faster.
    pub(super) race: Race,
    pub(crate) first_baseline_s: Option<f64>,
    /// Least and most of the baseline's time over its first.
    pub(crate) drift: Option<(f64, f64)>,
}

fn of_gpu(on: &GpuTarget) -> TrialDevice {
    TrialDevice {
        gpu: Some(on.gpu.ordinal),
        uuid: Some(on.gpu.uuid.clone()).filter(|u| !u.is_empty()),
        ..TrialDevice::default()
    }
}

impl<'a> Bench<'a> {
    /// With the setup, without reference and baseline.
    pub(crate) fn plain(
        problem: &'a Problem,
        plan: &'a Plan,
        observer: &'a dyn Observer,
        libraries: PathBuf,
    ) -> Result<Self, TuneError> {
        named_in_text(&problem.dir)?;
        named_in_text(&libraries)?;
        refuse_too_large(&problem.data)?;
        if problem.build.language == Language::OpenCl && problem.opencl.is_none() {
            return Err(TuneError::NoDevice);
        }
        let setup = Unit::of_setup(problem)
            .map(|unit| unit.compile_for("setup", &libraries))
            .transpose()?;
        Ok(Self {
            problem,
            plan,
            observer,
            builder: Builder {
                problem,
                plan,
                observer,
                libraries,
                expectation: None,
                elsewhere: None,
                compilers: Arc::default(),
            },
            launcher: &plan.setup.launcher,
            gpu: plan.setup.gpu.as_ref(),
            control: plan.setup.control.as_ref(),
            device: plan.setup.gpu.as_ref().map(of_gpu),
            setup,
            reference: None,
            baseline: None,
            worker: Mutex::new(None),
            trials: 0,
            race: Race::of(problem, plan),
            first_baseline_s: None,
            drift: None,
        })
    }

    /// Builds the setup and the reference, and runs the latter once: its results are kept for all
    /// trials.
    pub(crate) fn new(
        problem: &'a Problem,
        plan: &'a Plan,
        observer: &'a dyn Observer,
        libraries: PathBuf,
    ) -> Result<Self, TuneError> {
        let mut bench = Self::plain(problem, plan, observer, libraries)?;
        if (plan.setup.workers.iter()).any(|w| w.launcher.remote.is_some()) {
            bench.builder.elsewhere = Some(Arc::new(shared::files(problem)?));
        }
        if let Some(unit) = Unit::of_baseline(problem) {
            let file = unit.compile_for("baseline", &bench.builder.libraries)?;
            bench.baseline = Some(Built::Library(file));
        }
        bench.prepare_reference()?;
        Ok(bench)
    }

    /// The same for another worker: number `number` of several.
    pub(crate) fn on(&self, worker: &'a WorkerSetup, number: usize) -> Self {
        let gpu = worker.gpu.as_ref();
        Self {
            launcher: &worker.launcher,
            gpu,
            control: worker.control.as_ref(),
            device: Some(TrialDevice {
                host: worker.host.clone(),
                greenup: worker.version.clone(),
                worker: Some(number),
                ..gpu.map(of_gpu).unwrap_or_default()
            }),
            ..self.another()
        }
    }

    /// The same with a worker process of its own.
    pub(crate) fn another(&self) -> Self {
        Self {
            problem: self.problem,
            plan: self.plan,
            observer: self.observer,
            builder: self.builder.clone(),
            launcher: self.launcher,
            gpu: self.gpu,
            control: self.control,
            device: self.device.clone(),
            setup: self.setup.clone(),
            reference: self.reference.clone(),
            baseline: self.baseline.clone(),
            worker: Mutex::new(None),
            trials: 0,
            race: Race::of(self.problem, self.plan),
            first_baseline_s: None,
            drift: None,
        }
    }

    /// Values of the objectives for the search, each in its own unit; for objectives without energy the time is corrected
    /// for the machine's drift. A trial that was stopped has the energy that those in `race` let expect.
    pub(crate) fn costs(&self, t: &Trial, race: &Race) -> Option<Vec<f64>> {
        let mut cost = t.cost()?;
        if t.stopped {
            cost.energy_j = race.expected_j(cost.time_s / self.drift_of(t));
        }
        // What it would have taken while the machine was as at first. Energies are not scaled, so
        // objectives that join both see the time that belongs to them.
        let steady = Cost {
            time_s: cost.time_s / self.drift_of(t),
            ..cost
        };
        let flops = self.problem.flops(&t.config);
        (self.plan.options.objectives.iter())
            .map(|o| o.value(if o.needs_energy() { cost } else { steady }, flops))
            .collect()
    }

    /// How much longer the config took than it would have at first. A GPU's clock follows what ran just before: there the baseline's
    /// time says nothing of the config's.
    pub(crate) fn drift_of(&self, t: &Trial) -> f64 {
        match self.gpu {
            None => t.drift().unwrap_or(1.0),
            Some(_) => 1.0,
        }
    }

    /// Takes recorded trials of the same worker into account, where times of before are those of now: not on a host, whose speed changes.
    pub(crate) fn recall(&mut self, trials: &[Trial]) {
        let number = |d: &Option<TrialDevice>| d.as_ref().and_then(|d| d.worker);
        let own = number(&self.device);
        if self.gpu.is_some() {
            for t in trials.iter().filter(|t| number(&t.device) == own) {
                self.race.take(t, 1.0);
            }
        }
    }

    /// The limit of the race, and the baseline's first time. On a host, whose speed changes, only with a baseline that shows it.
    fn beyond_s(&self) -> Option<(f64, Option<f64>)> {
        let beyond = self.race.beyond_s()?;
        match self.gpu {
            Some(_) => Some((beyond, None)),
            None => {
                let first = self.first_baseline_s.filter(|_| self.baseline.is_some());
                Some((beyond, Some(first?)))
            }
        }
    }

    /// One trial; `None` when the user stopped it.
    ///
    /// # Errors
    /// The environment failed: there is nothing to record.
    pub(crate) fn trial(
        &mut self,
        config: Vec<Value>,
        effort: f64,
        (made, build_s): &Made,
    ) -> Result<Option<Trial>, EnvironmentFault> {
        let nothing = Outcome::failed(Failure::Runtime, "its worker measured nothing".into());
        let mut trial = Trial {
            effort,
            build_s: *build_s,
            device: self.device.clone(),
            at: now(),
            ..Trial::of(config, nothing)
        };
        let ready = match made {
            Ok(r) => r,
            Err(BuildError::Environment(fault)) => return Err(fault.clone()),
            Err(BuildError::Compile(e)) => {
                return Ok(Some(trial.failed(Failure::Compile, e.to_string())));
            }
        };
        trial.metrics.clone_from(&ready.facts);
        if let Some(on) = self.gpu {
            trial
                .metrics
                .insert("gpu".into(), f64::from(on.gpu.ordinal));
        }
        if let Some((failure, message)) = ready.rejected.clone() {
            return Ok(Some(trial.failed(failure, message)));
        }
        if let Err(e) = self.set_clocks(&trial.config) {
            return Ok(Some(trial.failed(Failure::Launch, e.to_string())));
        }
        let built = &ready.built;
        let number = self.device.as_ref().and_then(|d| d.worker).unwrap_or(0);
        let outputs = self.builder.libraries.join(format!("outputs-{number}"));
        let check = match self.problem.checking(&trial.config, &outputs) {
            Ok(check) => check,
            Err(e) => return Ok(Some(trial.failed(Failure::Launch, e.to_string()))),
        };
        let check_s = check.as_ref().map_or(0.0, |c| c.timeout_s);
        let m = self.problem.measure;
        let (start, build_before) = (Instant::now(), trial.build_s);
        let baseline = self.problem.baseline.is_some();
        let beyond_s = self.beyond_s().filter(|_| effort >= 1.0);
        let task = Task::Trial {
            kernel: built.clone(),
            reference: self.reference.clone().map(Box::new),
            tolerance: self.problem.tolerance(),
            seconds: m.seconds * effort,
            baseline: self.baseline.clone(),
            baseline_energy: baseline && self.trials.is_multiple_of(BASELINE_ENERGY_EVERY),
            beyond_s,
            check: check.map(Box::new),
        };
        self.trials += 1;
        // A command is stopped by the worker, run by run.
        let runs = match &self.problem.command {
            Some(c) => 6.0 + 2.0 * c.repeats() as f64,
            None => 1.0,
        };
        let build_s = (self.problem.command.as_ref()).map_or(0.0, Runnable::build_timeout_s);
        // A few runs more decide whether it is measured in full.
        let more_s = beyond_s.map_or(0.0, |_| m.timeout);
        let sensor_s = self.gpu.map_or(0.0, |_| SENSOR_S);
        let limit_s = runs * m.timeout + more_s + 4.0 * m.seconds + sensor_s + check_s + build_s;
        let Some(answer) = self.run(task, limit_s)? else {
            return Ok(None);
        };
        let total = start.elapsed().as_secs_f64();
        for message in &answer.messages {
            match message {
                Message::BuiltCommand { seconds } => trial.build_s += *seconds,
                Message::Verified { error, seconds } => {
                    trial.verify_s += *seconds;
                    let worst = trial.metrics.entry("error".into()).or_insert(*error);
                    *worst = worst.max(*error);
                }
                Message::Measured {
                    times_s,
                    energy_j,
                    time_error,
                    flags,
                    state,
                    baseline_s,
                    baseline_j,
                    stopped,
                } => {
                    let unusable = numbers::measured(times_s)
                        .and_then(|()| numbers::each(baseline_s))
                        .and_then(|()| numbers::energy(*energy_j))
                        .and_then(|()| numbers::energy(*baseline_j));
                    if let Err(why) = unusable {
                        let message = format!("its worker measured {why}");
                        trial = trial.failed(Failure::Runtime, message);
                        break;
                    }
                    trial.flags.clone_from(flags);
                    trial.stopped = *stopped;
                    let finite = state.iter().filter(|(_, x)| x.is_finite());
                    (trial.metrics).extend(finite.map(|(name, x)| (name.clone(), *x)));
                    self.watch_drift(baseline_s, &mut trial);
                    if baseline {
                        record_baseline(baseline_s, *baseline_j, &mut trial);
                    }
                    trial.outcome = Outcome::Measured {
                        time_s: median(times_s),
                        times_s: times_s.clone(),
                        energy_j: *energy_j,
                        time_error: Some(*time_error).filter(|e| e.is_finite() && *e >= 0.0),
                    };
                }
                Message::Flagged { flag } => trial.flags.push(flag.clone()),
                _ => {}
            }
        }
        trial.measure_s = total - trial.verify_s - (trial.build_s - build_before);
        if let Some((failure, message)) = answer.failure {
            trial = trial.failed(failure, message);
        }
        if let (Some(flops), Some(cost)) = (self.problem.flops(&trial.config), trial.cost()) {
            trial.set_flops(flops, cost);
        }
        trial.at = now();
        self.race.take(&trial, self.drift_of(&trial));
        // Without a [baseline] in the problem, the first config that works is the drift reference.
        // A command is not run for that: it may take long.
        if self.baseline.is_none()
            && trial.cost().is_some()
            && !trial.stopped
            && m.drift
            && self.problem.command.is_none()
        {
            self.baseline = self.keep(built, "baseline");
        }
        // Every library is of one config; cubins are kept for other sweeps.
        if let Built::Library(file) = built {
            let _ = std::fs::remove_file(file);
        }
        Ok(Some(trial))
    }

    /// Keeps a copy of a built config for the whole sweep, by a name of its own.
    pub(crate) fn keep(&self, built: &Built, name: &str) -> Option<Built> {
        match built {
            Built::Library(file) => {
                let number = self.device.as_ref().and_then(|d| d.worker).unwrap_or(0);
                let kept = self.builder.libraries.join(format!("{name}-{number}.so"));
                std::fs::copy(file, &kept).ok()?;
                Some(Built::Library(kept))
            }
            other @ (Built::Cubin { .. } | Built::OpenCl { .. } | Built::Command(_)) => {
                Some(other.clone())
            }
        }
    }
}

/// Notes the time and the energy of the baseline's runs during this trial.
pub(crate) fn record_baseline(seconds: &[f64], joules: Option<f64>, trial: &mut Trial) {
    if seconds.is_empty() {
        return;
    }
    trial.metrics.insert("baseline_s".into(), median(seconds));
    if let Some(j) = joules {
        trial.metrics.insert("baseline_j".into(), j);
    }
}
