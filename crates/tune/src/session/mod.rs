//! A tuning session: from a problem and its options to a recorded sweep.
//!
//! [`Session::new`] resolves the options, indexes the space and checks the devices that the command layer chose ([`Setup`]);
//! [`Session::execute`] searches. Nothing here prints or reads signals: progress and cancellation go through [`Observer`].

mod default;
pub mod device_facts;
mod disturbance;
mod early;
mod error;
mod schedule;
mod steering;
mod tuner;

pub use error::SessionError;
pub use tuner::{FailureExample, SearchResult, WorkerTrials, tune};

use crate::build::opencl;
use crate::error::{TuneError, named_in_text};
use crate::objective::{Energies, Objective};
use crate::plan::{Plan, SessionOptions, Setup};
use crate::points::{Indexed, Points as _};
use crate::problem::Problem;
use crate::shard::{SHARD, Shard, Sharded};
use crate::strategy::{First, RequestFault, Requested, Steering, Strategy, strategy};
use crate::sweep::{DefaultOrigin, Folder, FolderError, Sweep, write_exports};
use crate::trial::race::energies;
use crate::worker::policy::beside_the_host;
use greenup_meter::Observer;
use greenup_space::{Index, Limits};
use std::io::BufRead;
use std::path::Path;

/// How long a session takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Most trials of the search; `None` if only time limits it.
    pub trials: Option<usize>,
    /// Seconds of the search: its time budget, else those that its trials measure. Builds and verification add to the latter.
    pub search_s: f64,
    /// Seconds that a trial measures.
    pub trial_s: f64,
    /// Whether those that cannot win are stopped.
    pub stops: bool,
    /// Seconds in which the best configs are measured again, at least.
    pub finals_s: f64,
}

/// Share of the configs that are measured in full where the others are stopped, about the median of the recorded sweeps, and seconds that a
/// stopped one takes.
const IN_FULL: f64 = 0.3;
const STOPPED_S: f64 = 0.02;

/// A problem that is ready to be searched: with the index of its space, the strategy, and where it is measured.
pub struct Session {
    problem: Problem,
    index: Index,
    shard: Shard,
    strategy: Box<dyn Strategy>,
    requests: Option<RequestFault>,
    plan: Plan,
}

impl Session {
    /// Indexes the space of a problem, and makes the strategy; the sweep goes to `out`.
    ///
    /// # Errors
    /// The space is invalid, empty or too large, the observer cancelled, an objective is unknown or needs energy and there is no
    /// sensor, the folder holds a sweep, or the strategy cannot be made.
    pub fn new(
        problem: Problem,
        mut options: SessionOptions,
        setup: Setup,
        out: &Path,
        observer: &dyn Observer,
    ) -> Result<Self, SessionError> {
        let limits = Limits {
            cancelled: &|| observer.cancelled(),
            ..Limits::default()
        };
        let index = Index::build(&problem.space, &limits)?;
        if index.is_empty() {
            return Err(SessionError::Empty);
        }
        let shard = options.shard.unwrap_or_default();
        if shard.len(index.len()) == 0 {
            return Err(SessionError::EmptyShard {
                shard,
                points: index.len(),
            });
        }
        options
            .facts
            .insert("points".into(), index.len().to_string());
        if let Some(shard) = options.shard {
            options.facts.insert(SHARD.into(), shard.to_string());
        }
        let mut plan = Plan::new(&problem, options, setup, out.to_owned());
        let Plan { options, setup, .. } = &plan;
        for objective in &options.objectives {
            problem.knows(*objective)?;
        }
        // A trial has one number for a metric.
        let is_metric = |o: &Objective| matches!(o, Objective::Metric(_));
        if options.objectives.len() > 1 && options.objectives.iter().any(is_metric) {
            return Err(SessionError::MetricAlone);
        }
        if setup.sensor.is_none()
            && let Some(o) = options.objectives.iter().find(|o| o.needs_energy())
        {
            let reason = setup.missing.clone();
            return Err(SessionError::NoEnergy {
                objective: *o,
                reason: reason.unwrap_or_else(|| "no sensor".to_owned()),
            });
        }
        named_in_text(out)?;
        named_in_text(&problem.dir)?;
        if !options.resume && !options.overwrite && Folder::has_successes(out) {
            return Err(TuneError::from(FolderError::Exists(out.to_owned())).into());
        }
        let steering = match &options.machine {
            Some(m) => steering::steering(m, &problem, &index, plan.objective())?,
            None => None,
        };
        let steering = steering.map(|of| -> Steering { Box::new(move |p| of(shard.global(p))) });
        let mut strategy = strategy(&options.strategy, steering)?;
        let all = Indexed::new(&index);
        let points = Sharded::new(&all, shard);
        let default = default::before_tuning(&problem, options, &points, observer);
        let (most, _) = options.budget.limits(points.len());
        // One trial alone is for what is searched, unless the problem says with what that is compared.
        if most > 1 || default.origin != DefaultOrigin::First {
            plan.options.first.insert(0, default.config.clone());
        }
        plan.default = Some(default);
        let first = plan.options.first.iter();
        let first: Vec<u64> = first.filter_map(|c| points.position(c)).collect();
        if !first.is_empty() {
            strategy = Box::new(First::new(first, strategy));
        }
        Ok(Self {
            problem,
            index,
            shard,
            strategy,
            requests: None,
            plan,
        })
    }

    /// Measures the configs that an input requests in place of a strategy's: see [`Requested`].
    pub fn take_requests(&mut self, input: Box<dyn BufRead + Send>) {
        let requested = Requested::new(input);
        self.requests = Some(requested.fault());
        self.strategy = Box::new(requested);
    }

    /// What is tuned.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Name of the device.
    pub fn device(&self) -> &str {
        &self.plan.setup.device
    }

    /// Number of points that are searched: those of the space after its filters, or of the shard.
    pub fn points(&self) -> u64 {
        self.shard.len(self.index.len())
    }

    /// The objective that finalists are ranked by.
    pub fn objective(&self) -> Objective {
        self.plan.objective()
    }

    /// Update period of the energy sensor, where its windows are longer than those of the problem.
    fn period_s(&self) -> Option<f64> {
        let setup = &self.plan.setup;
        let on_opencl = self.problem.opencl.as_ref().map(opencl::target);
        let beside = setup.gpu.is_some() || on_opencl.is_some_and(|o| !o.on_host);
        (setup.sensor.as_ref().and(setup.sensor_period_s)).filter(|_| beside)
    }

    /// How long [`Session::execute`] takes.
    pub fn estimate(&self) -> Estimate {
        let points = self.points();
        let (options, setup) = (&self.plan.options, &self.plan.setup);
        let (trials, seconds) = options.budget.limits(points);
        let recorded = || {
            let sweep = options.resume.then(|| Folder::read(&self.plan.out).ok());
            sweep.flatten().map_or(0, |s| s.trials.len())
        };
        let points = usize::try_from(points).unwrap_or(usize::MAX);
        let workers = setup.workers.len().max(1) as f64;
        let measure = &self.problem.measure;
        let finals = measure.final_rounds(setup.gpu.is_some());
        let period_s = self.period_s();
        let with_sensor = |seconds: f64| {
            let policy = beside_the_host(seconds);
            period_s.map_or(0.0, |p| policy.typical_s(Some(p)))
        };
        let trial_s = measure.trial_s().max(with_sensor(measure.seconds));
        let final_s = finals.seconds.max(with_sensor(finals.seconds));
        let rounds = options.rounds.unwrap_or(finals.least);
        // The finalists, the config before tuning, and the baseline.
        let before = usize::from(options.finalists > 0);
        let kernels = options.finalists.max(1) + before + usize::from(self.problem.has_baseline());
        let trials = (seconds.is_infinite()).then(|| trials.min(points).saturating_sub(recorded()));
        // A small space is through before its time; what is stopped early takes less.
        let stops = energies(&self.problem, &self.plan) != Energies::All;
        let usual_s = match stops {
            true => IN_FULL * trial_s + (1.0 - IN_FULL) * STOPPED_S.min(trial_s),
            false => trial_s,
        };
        Estimate {
            trials,
            search_s: trials.map_or(seconds, |n| n as f64 * usual_s / workers),
            trial_s,
            stops,
            finals_s: (rounds * kernels) as f64 * final_s,
        }
    }

    /// Searches, measures and records the sweep, then writes its exports (`results-t4.json`, `trials.csv`).
    ///
    /// # Errors
    /// As [`tune`], a request is wrong, or the exports cannot be written.
    pub fn execute(mut self, observer: &dyn Observer) -> Result<SessionResult, TuneError> {
        let all = Indexed::new(&self.index);
        let points = Sharded::new(&all, self.shard);
        let tuned = tune(
            &self.problem,
            &points,
            self.strategy.as_mut(),
            &self.plan,
            observer,
        );
        if let Some(fault) = self.requests.as_ref().and_then(RequestFault::get) {
            return Err(TuneError::Request(fault));
        }
        let (found, sweep) = tuned?;
        write_exports(&sweep, &self.plan.out)?;
        Ok(SessionResult {
            found,
            sweep,
            points: points.len(),
            objective: self.plan.objective(),
            problem: self.problem,
        })
    }
}

/// What a session found and recorded.
pub struct SessionResult {
    /// The finalists and failures.
    pub found: SearchResult,
    /// All trials with the facts of the run.
    pub sweep: Sweep,
    /// Number of points that were searched: those of the space after its filters, or of the shard.
    pub points: u64,
    /// The objective that finalists are ranked by.
    pub objective: Objective,
    /// The problem.
    pub problem: Problem,
}
