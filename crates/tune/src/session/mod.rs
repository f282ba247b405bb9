//! A tuning session: from a problem and its options to a recorded sweep.
//!
//! [`Session::new`] resolves the options and indexes the space, [`Session::prepare`] adds the devices that the command
//! layer chose ([`Setup`]), and [`Run::execute`] searches. Nothing here prints or reads signals: progress and
//! cancellation go through [`Observer`].

pub mod device_facts;
mod disturbance;
mod error;
mod schedule;
mod setup;
mod steering;
mod tuner;

pub use error::SessionError;
pub use setup::Setup;
pub use tuner::{FailureExample, Found, WorkerTrials, tune, tune_with};

use crate::build::opencl;
use crate::error::{TuneError, named_in_text};
use crate::objective::Objective;
use crate::plan::{NEAR_TIES, Plan, WorkerSetup};
use crate::points::{Indexed, Points as _};
use crate::problem::Problem;
use crate::shard::{SHARD, Shard, Sharded};
use crate::strategy::{DEFAULT, First, Strategy, strategy};
use crate::sweep::{Folder, FolderError, Sweep, write_exports};
use crate::worker::policy::beside_the_host;
use greenup_meter::Observer;
use greenup_model::Machine;
use greenup_space::{Index, Limits, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// When a search ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// Number of full measurements.
    Evaluations(usize),
    /// Wall-clock time, s.
    Seconds(f64),
    /// Fraction of the points of the space, 0 to 1.
    Share(f64),
}

impl Budget {
    /// Most full measurements and most seconds for a space of `points` points.
    fn limits(self, points: u64) -> (usize, f64) {
        match self {
            Self::Evaluations(n) => (n, f64::INFINITY),
            Self::Seconds(s) => (usize::MAX, s),
            Self::Share(x) => (((points as f64 * x).round() as usize).max(1), f64::INFINITY),
        }
    }
}

/// What a user may choose about a session.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Objectives to minimise; empty for the problem's own.
    pub objectives: Vec<Objective>,
    /// Name of the strategy, one of [`crate::STRATEGIES`].
    pub strategy: String,
    /// When the search ends.
    pub budget: Budget,
    /// Seed of the strategy.
    pub seed: u64,
    /// Number of best configs measured again at the end, interleaved.
    pub finalists: usize,
    /// Number of these final measurements of each; `None` for 10 on a GPU and 9 on a host.
    pub rounds: Option<usize>,
    /// Most configs that are measured there too, as noise cannot tell them from the last finalist.
    pub near_ties: usize,
    /// Continue the sweep in the folder.
    pub resume: bool,
    /// Parts of the fingerprint that may differ from the sweep that is continued; `all` for any.
    pub accept: Vec<String>,
    /// Machine model for the strategy `steered`.
    pub machine: Option<Machine>,
    /// Additional facts to record with the sweep.
    pub facts: BTreeMap<String, String>,
    /// Part of the space that is searched; `None` for all of it.
    pub shard: Option<Shard>,
    /// Configs that are measured first, if they are points of the space, before those of the strategy.
    pub first: Vec<Vec<Value>>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            objectives: Vec::new(),
            strategy: DEFAULT.to_owned(),
            budget: Budget::Seconds(60.0),
            seed: 1,
            finalists: 5,
            rounds: None,
            near_ties: NEAR_TIES,
            resume: false,
            accept: Vec::new(),
            machine: None,
            facts: BTreeMap::new(),
            shard: None,
            first: Vec::new(),
        }
    }
}

/// A problem with its indexed space and resolved objectives.
pub struct Session<'a> {
    problem: &'a Problem,
    index: Index,
    shard: Shard,
    options: SessionOptions,
}

impl<'a> Session<'a> {
    /// Indexes the space of a problem and resolves the objectives.
    ///
    /// # Errors
    /// The space is invalid, empty or too large, or the observer cancelled.
    pub fn new(
        problem: &'a Problem,
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
    pub fn prepare(self, setup: Setup, out: &Path) -> Result<Run<'a>, SessionError> {
        let options = self.options;
        if setup.sensor.is_none()
            && let Some(o) = options.objectives.iter().find(|o| o.needs_energy())
        {
            return Err(SessionError::NoEnergy {
                objective: *o,
                reason: setup.missing.unwrap_or_else(|| "no sensor".to_owned()),
            });
        }
        named_in_text(out)?;
        named_in_text(&self.problem.dir)?;
        if !options.resume && Folder::has_successes(out) {
            return Err(TuneError::from(FolderError::Exists(out.to_owned())).into());
        }
        let objective = options.objectives[0];
        let steering = match &options.machine {
            Some(m) => steering::steering(m, self.problem, &self.index, objective)?,
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
        let (trials, seconds) = options.budget.limits(shard.len(self.index.len()));
        let mut facts = options.facts;
        facts.insert("points".into(), self.index.len().to_string());
        if let Some(shard) = options.shard {
            facts.insert(SHARD.into(), shard.to_string());
        }
        let plan = Plan {
            objectives: options.objectives,
            trials,
            seconds,
            seed: options.seed,
            out: out.to_owned(),
            resume: options.resume,
            accept: options.accept,
            launcher: setup.launcher,
            finalists: options.finalists,
            rounds: options.rounds,
            near_ties: options.near_ties,
            first: options.first,
            facts,
            device: setup.device,
            gpu: setup.gpu,
            control: setup.control,
        };
        let on_opencl = self.problem.opencl.as_ref().map(opencl::target);
        let beside = plan.gpu.is_some() || on_opencl.is_some_and(|o| !o.on_host);
        let period_s = setup.sensor.and(setup.sensor_period_s).filter(|_| beside);
        Ok(Run {
            problem: self.problem,
            index: self.index,
            shard,
            strategy,
            plan,
            workers: setup.workers,
            period_s,
        })
    }
}

/// A session that is ready to search.
pub struct Run<'a> {
    problem: &'a Problem,
    index: Index,
    shard: Shard,
    strategy: Box<dyn Strategy>,
    plan: Plan,
    workers: Vec<WorkerSetup>,
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

impl Run<'_> {
    /// How long [`Run::execute`] takes.
    pub fn estimate(&self) -> Estimate {
        let points = self.shard.len(self.index.len());
        let points = usize::try_from(points).unwrap_or(usize::MAX);
        let workers = self.workers.len().max(1) as f64;
        let measure = &self.problem.measure;
        let (rounds, final_s) = measure.final_rounds(self.plan.gpu.is_some());
        let with_sensor = |seconds: f64| {
            let policy = beside_the_host(seconds);
            self.period_s.map_or(0.0, |p| policy.typical_s(Some(p)))
        };
        let trial_s = measure.trial_s().max(with_sensor(measure.seconds));
        let final_s = final_s.max(with_sensor(final_s));
        let rounds = self.plan.rounds.unwrap_or(rounds);
        let kernels = self.plan.finalists + usize::from(self.problem.has_baseline());
        let most = self.plan.trials.min(points);
        let trials = self.plan.seconds.is_infinite().then_some(most);
        Estimate {
            trials,
            // A small space is through before its time.
            search_s: trials.map_or(self.plan.seconds, |n| n as f64 * trial_s / workers),
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
        let (found, sweep) = tune_with(
            self.problem,
            &points,
            self.strategy.as_mut(),
            &self.plan,
            &self.workers,
            observer,
        )?;
        write_exports(&sweep, &self.plan.out)?;
        Ok(SessionResult {
            found,
            sweep,
            points: points.len(),
            objective: self.plan.objectives[0],
        })
    }
}

/// What a session found and recorded.
#[derive(Debug)]
pub struct SessionResult {
    /// The finalists and failures.
    pub found: Found,
    /// All trials with the facts of the run.
    pub sweep: Sweep,
    /// Number of points that were searched: those of the space after its filters, or of the shard.
    pub points: u64,
    /// The objective that finalists are ranked by.
    pub objective: Objective,
}
