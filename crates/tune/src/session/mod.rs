//! A tuning session: from a problem and its options to a recorded sweep.
//!
//! [`Session::new`] resolves the options and indexes the space, [`Session::prepare`] adds the devices that the command
//! layer chose ([`Setup`]), and [`Run::execute`] searches. Nothing here prints or reads signals: progress and
//! cancellation go through [`Observer`].

pub mod device_facts;
mod disturbance;
mod error;
mod schedule;
mod steering;
mod tuner;

pub use error::SessionError;
pub use tuner::{FailureExample, SearchResult, WorkerTrials, tune};

use crate::build::opencl;
use crate::error::{TuneError, named_in_text};
use crate::objective::Objective;
use crate::plan::{Plan, SessionOptions, Setup};
use crate::points::{Indexed, Points as _};
use crate::problem::Problem;
use crate::shard::{SHARD, Shard, Sharded};
use crate::strategy::{First, Strategy, strategy};
use crate::sweep::{Folder, FolderError, Sweep, write_exports};
use crate::worker::policy::beside_the_host;
use greenup_meter::Observer;
use greenup_space::{Index, Limits};
use std::path::Path;

/// A problem with its indexed space and resolved objectives.
pub struct Session {
    problem: Problem,
    index: Index,
    shard: Shard,
    options: SessionOptions,
}

impl Session {
    /// Indexes the space of a problem and resolves the objectives.
    ///
    /// # Errors
    /// The space is invalid, empty or too large, or the observer cancelled.
    pub fn new(
        problem: Problem,
        mut options: SessionOptions,
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
        if options.objectives.is_empty() {
            options.objectives = vec![problem.objective];
        }
        for objective in &options.objectives {
            problem.knows(*objective)?;
        }
        // A trial has one number for a metric.
        let metrics = options
            .objectives
            .iter()
            .filter(|o| matches!(o, Objective::Metric(_)));
        if metrics.count() > 0 && options.objectives.len() > 1 {
            return Err(SessionError::MetricAlone);
        }
        Ok(Self {
            problem,
            index,
            shard,
            options,
        })
    }

    /// What is tuned.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Number of points that are searched: those of the space after its filters, or of the shard.
    pub fn points(&self) -> u64 {
        self.shard.len(self.index.len())
    }

    /// The objective that finalists are ranked by.
    pub fn objective(&self) -> Objective {
        self.options.objectives[0]
    }

    /// Joins the session with the devices and sensors it is measured on; the sweep goes to `out`.
    ///
    /// # Errors
    /// An objective needs energy and there is no sensor, the folder holds a sweep, or the strategy cannot be made.
    pub fn prepare(self, setup: Setup, out: &Path) -> Result<Run, SessionError> {
        let (problem, mut options) = (self.problem, self.options);
        if setup.sensor.is_none()
            && let Some(o) = options.objectives.iter().find(|o| o.needs_energy())
        {
            return Err(SessionError::NoEnergy {
                objective: *o,
                reason: setup.missing.unwrap_or_else(|| "no sensor".to_owned()),
            });
        }
        named_in_text(out)?;
        named_in_text(&problem.dir)?;
        if !options.resume && Folder::has_successes(out) {
            return Err(TuneError::from(FolderError::Exists(out.to_owned())).into());
        }
        let objective = options.objectives[0];
        let steering = match &options.machine {
            Some(m) => steering::steering(m, &problem, &self.index, objective)?,
            None => None,
        };
        let shard = self.shard;
        let steering = steering
            .map(|of| -> crate::strategy::Steering { Box::new(move |p| of(shard.global(p))) });
        let mut strategy = strategy(&options.strategy, steering)?;
        let all = Indexed::new(&self.index);
        let points = Sharded::new(&all, shard);
        let first: Vec<u64> = (options.first.iter())
            .filter_map(|config| points.position(config))
            .collect();
        if !first.is_empty() {
            strategy = Box::new(First::new(first, strategy));
        }
        let facts = &mut options.facts;
        facts.insert("points".into(), self.index.len().to_string());
        if let Some(shard) = options.shard {
            facts.insert(SHARD.into(), shard.to_string());
        }
        let on_opencl = problem.opencl.as_ref().map(opencl::target);
        let beside = setup.gpu.is_some() || on_opencl.is_some_and(|o| !o.on_host);
        let period_s = (setup.sensor.as_ref().and(setup.sensor_period_s)).filter(|_| beside);
        let plan = Plan::new(&problem, options, setup, out.to_owned());
        Ok(Run {
            problem,
            index: self.index,
            shard,
            strategy,
            plan,
            period_s,
        })
    }
}

/// A session that is ready to search.
pub struct Run {
    problem: Problem,
    index: Index,
    shard: Shard,
    strategy: Box<dyn Strategy>,
    plan: Plan,
    /// Of the energy sensor, where its windows are longer than those of the problem.
    period_s: Option<f64>,
}

/// How long a session takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Most trials of the search; `None` if only time limits it.
    pub trials: Option<usize>,
    /// Seconds of the search: its time budget, else those that its trials measure. Builds and verification add to the latter.
    pub search_s: f64,
    /// Seconds that a trial measures.
    pub trial_s: f64,
    /// Seconds in which the best configs are measured again.
    pub finals_s: f64,
}

impl Run {
    /// How long [`Run::execute`] takes.
    pub fn estimate(&self) -> Estimate {
        let points = self.shard.len(self.index.len());
        let (options, setup) = (&self.plan.options, &self.plan.setup);
        let (trials, seconds) = options.budget.limits(points);
        let points = usize::try_from(points).unwrap_or(usize::MAX);
        let workers = setup.workers.len().max(1) as f64;
        let measure = &self.problem.measure;
        let (rounds, final_s) = measure.final_rounds(setup.gpu.is_some());
        let with_sensor = |seconds: f64| {
            let policy = beside_the_host(seconds);
            self.period_s.map_or(0.0, |p| policy.typical_s(Some(p)))
        };
        let trial_s = measure.trial_s().max(with_sensor(measure.seconds));
        let final_s = final_s.max(with_sensor(final_s));
        let rounds = options.rounds.unwrap_or(rounds);
        let kernels = options.finalists + usize::from(self.problem.has_baseline());
        let trials = seconds.is_infinite().then_some(trials.min(points));
        Estimate {
            trials,
            // A small space is through before its time.
            search_s: trials.map_or(seconds, |n| n as f64 * trial_s / workers),
            trial_s,
            finals_s: (rounds * kernels) as f64 * final_s,
        }
    }

    /// Searches, measures and records the sweep, then writes its exports (`results-t4.json`, `trials.csv`).
    ///
    /// # Errors
    /// As [`tune`], or the exports cannot be written.
    pub fn execute(mut self, observer: &dyn Observer) -> Result<SessionResult, TuneError> {
        let all = Indexed::new(&self.index);
        let points = Sharded::new(&all, self.shard);
        let (found, sweep) = tune(
            &self.problem,
            &points,
            self.strategy.as_mut(),
            &self.plan,
            observer,
        )?;
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
