//! One config with its measurement or its failure, and all of them together.

use super::default::DefaultConfig;
use super::disturbance::Disturbance;
use super::rounds::Rounds;
use crate::command::Goal;
use crate::objective::{Cost, Energies};
use crate::points::Table;
use greenup_space::Value;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// Numbers by the name of their counter.
pub type Counters = BTreeMap<String, f64>;
/// Counters by kernel, all of its launches together.
pub type Kernels = BTreeMap<String, Counters>;

/// Counters of one run of a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Values of the parameters.
    pub config: Vec<Value>,
    /// By our name, or the profiler's for metrics asked for beside ours.
    pub counters: Counters,
    /// Where there are several.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernels: Kernels,
}

/// Why a trial has no measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The config is against a constraint.
    Invalid,
    /// The kernel does not compile.
    Compile,
    /// It compiled, but cannot be loaded or launched.
    Launch,
    /// A signal ended it.
    Crash,
    /// It ran past the time limit.
    Timeout,
    /// Its results are not those of the reference.
    Wrong,
    /// Anything else while it ran.
    Runtime,
    /// The worker that measured it was lost, which says nothing about the config.
    Lost,
}

impl Failure {
    /// Name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Compile => "compile",
            Self::Launch => "launch",
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::Wrong => "wrong",
            Self::Runtime => "runtime",
            Self::Lost => "lost",
        }
    }
}

/// Result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Verified and measured.
    Measured {
        /// Seconds of one run, a value a window.
        times_s: Vec<f64>,
        /// Median of them; NaN in files of other tuners that only have metrics.
        time_s: f64,
        /// Energy of one run, J; `None` if it was not measured.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        energy_j: Option<f64>,
        /// Half width of the 95 % interval over the median.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        time_error: Option<f64>,
    },
    /// Failed.
    Failed {
        /// The kind of failure.
        failure: Failure,
        /// In words, with the compiler's or the run's own message.
        message: String,
    },
}

impl Outcome {
    pub(crate) fn failed(failure: Failure, message: String) -> Self {
        Self::Failed { failure, message }
    }
}

/// Names of metrics that the tuner itself reads.
const DRIFT: &str = "drift";
const GFLOPS: &str = "gflops";
/// Name of the flag of a stopped trial in files of T4.
pub(crate) const STOPPED: &str = "stopped";

/// One config of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Values of the parameters, in the sweep's order.
    pub config: Vec<Value>,
    /// Result of the trial.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Other numbers measured or derived, by name.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "finite",
        default
    )]
    pub metrics: BTreeMap<String, f64>,
    /// Hardware counters of each kernel, where there are several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub kernels: Kernels,
    /// Share of a full measurement.
    #[serde(skip_serializing_if = "is_one", default = "one")]
    pub effort: f64,
    /// Whether the measurement was stopped after a few batches: it is slower than the best so far by more than noise.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub stopped: bool,
    /// Seconds that building, verifying and measuring took.
    #[serde(default)]
    pub build_s: f64,
    /// Time of the verification, s.
    #[serde(default)]
    pub verify_s: f64,
    /// Time of the measurement, s.
    #[serde(default)]
    pub measure_s: f64,
    /// Doubts about the measurement, in words.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub flags: Vec<String>,
    /// Seconds since 1970 when it ended.
    #[serde(default)]
    pub at: f64,
    /// Where it was measured, if recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub device: Option<TrialDevice>,
    /// What the study of an application tells of the case in its own table, as JSON.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub row: Option<serde_json::Value>,
}

/// Where a trial was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialDevice {
    /// Name of the host.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<String>,
    /// Number of the GPU on its host, as CUDA counts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu: Option<i32>,
    /// Identifier of the GPU.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uuid: Option<String>,
    /// Version of greenup on a host that a launcher reached.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub greenup: Option<String>,
    /// Number of the worker, from 0, in a search with several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worker: Option<usize>,
}

/// Reads numbers by name without those that are null, as NaN is written.
fn finite<'de, D: Deserializer<'de>>(from: D) -> Result<Counters, D::Error> {
    let read = BTreeMap::<String, Option<f64>>::deserialize(from)?;
    Ok((read.into_iter())
        .filter_map(|(k, v)| Some((k, v?)))
        .collect())
}

/// Seconds since 1970.
pub(crate) fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |d| d.as_secs_f64())
}

fn one() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref)] // serde's form
fn is_one(x: &f64) -> bool {
    *x == 1.0
}

impl Trial {
    /// A full trial of which nothing else is known.
    pub fn of(config: Vec<Value>, outcome: Outcome) -> Self {
        Self {
            config,
            outcome,
            metrics: BTreeMap::new(),
            kernels: Kernels::new(),
            effort: 1.0,
            stopped: false,
            build_s: 0.0,
            verify_s: 0.0,
            measure_s: 0.0,
            flags: Vec::new(),
            at: 0.0,
            device: None,
            row: None,
        }
    }

    /// A config whose workers were lost, with the last one's fault.
    pub fn lost(config: Vec<Value>, effort: f64, message: String) -> Self {
        Self {
            effort,
            at: now(),
            ..Self::of(config, Outcome::failed(Failure::Lost, message))
        }
    }

    /// The same as a failed trial.
    pub(crate) fn failed(mut self, failure: Failure, message: String) -> Self {
        self.outcome = Outcome::failed(failure, message);
        self.stopped = false;
        self
    }

    /// The time of the baseline around it over the baseline's first, where one was measured: how much the machine drifted.
    pub(crate) fn drift(&self) -> Option<f64> {
        self.metrics.get(DRIFT).copied()
    }

    /// Records the drift.
    pub(crate) fn set_drift(&mut self, drift: f64) {
        self.metrics.insert(DRIFT.to_owned(), drift);
    }

    /// Records the rates of a run of so many flops.
    pub(crate) fn set_flops(&mut self, flops: f64, cost: Cost) {
        self.metrics
            .insert(GFLOPS.to_owned(), flops / cost.time_s * 1e-9);
        if let Some(e) = cost.energy_j {
            self.metrics
                .insert("gflops_per_w".to_owned(), flops / e * 1e-9);
        }
    }

    /// Flops of one run, where the work is known.
    pub(crate) fn flops(&self) -> Option<f64> {
        Some(self.metrics.get(GFLOPS)? * 1e9 * self.cost()?.time_s)
    }

    /// Time and energy; `None` if it failed.
    pub fn cost(&self) -> Option<Cost> {
        match &self.outcome {
            Outcome::Measured {
                time_s, energy_j, ..
            } => Some(Cost {
                time_s: *time_s,
                energy_j: *energy_j,
                metric: self.metrics.get(OBJECTIVE).copied(),
            }),
            Outcome::Failed { .. } => None,
        }
    }

    /// The failure and its message; `None` if it was measured.
    pub fn failure(&self) -> Option<(Failure, &str)> {
        match &self.outcome {
            Outcome::Measured { .. } => None,
            Outcome::Failed { failure, message } => Some((*failure, message)),
        }
    }
}

impl SweepFacts {
    /// The constants of the problem with the values that were measured, as texts; none of other tuners.
    pub fn constants(&self) -> Vec<(String, String)> {
        let text = self.more.get("constants").map_or("", String::as_str);
        let pairs = shell_words::split(text).unwrap_or_default();
        let pairs = pairs.iter().filter_map(|pair| pair.split_once('='));
        pairs.map(|(n, v)| (n.to_owned(), v.to_owned())).collect()
    }
}

/// What makes a sweep reproducible.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepFacts {
    /// Name of the problem.
    pub name: String,
    /// Device that measured it.
    pub device: String,
    /// Names of the parameters, in the order of every config.
    pub parameters: Vec<String>,
    /// Flops of one run, where the problem says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub flops: Option<f64>,
    /// The first objective.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub objective: Option<String>,
    /// What is better, where the objective is a metric.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub goal: Option<Goal>,
    /// Of which configs energies were measured; `None` of other tuners.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub energy: Option<Energies>,
    /// Whether results were compared with a reference.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verified: Option<bool>,
    /// Every part that decides a trial, by name: its value, or a hash of it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub fingerprint: BTreeMap<String, String>,
    /// How much the workers disturb each other, in a search with several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub disturbance: Option<Disturbance>,
    /// The baseline, where the problem has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub baseline: Option<BaselineFacts>,
    /// The config before tuning, with which the best one is compared.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub default: Option<DefaultConfig>,
    /// Anything else: versions, sensors, seeds, the command.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub more: BTreeMap<String, String>,
}

impl Sweep {
    /// Of which configs energies were measured; sweeps that do not say measured all where there was a sensor.
    pub(crate) fn energies(&self) -> Energies {
        let known = |t: &Trial| t.cost().is_some_and(|c| c.energy_j.is_some());
        let all = || match self.trials.iter().any(known) {
            true => Energies::All,
            false => Energies::None,
        };
        self.facts.energy.unwrap_or_else(all)
    }

    /// How many trials were stopped early, in words; `None` for none.
    pub fn stopped_in_words(&self) -> Option<String> {
        match self.trials.iter().filter(|t| t.stopped).count() {
            0 => None,
            1 => Some("1 trial was stopped early, as it could not win".into()),
            n => Some(format!(
                "{n} trials were stopped early, as they could not win"
            )),
        }
    }
}

/// A recorded sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// Facts of the run.
    pub facts: SweepFacts,
    /// Trials in the order of their measurement.
    pub trials: Vec<Trial>,
    /// The best measured again, where they were.
    pub finals: Option<Rounds>,
    /// What was left out when it was read, and why.
    pub warnings: Vec<String>,
}

impl Sweep {
    /// The configs as points for a strategy; point i is trial i.
    pub fn table(&self) -> Table {
        let rows: Vec<Vec<Value>> = self.trials.iter().map(|t| t.config.clone()).collect();
        Table::new(self.facts.parameters.clone(), &rows)
    }

    /// The measured trials.
    pub fn measured(&self) -> impl Iterator<Item = (&Trial, Cost)> {
        self.trials.iter().filter_map(|t| Some((t, t.cost()?)))
    }

    /// Flops of a run: the sweep's own word, or that of its trials where they agree.
    pub fn flops(&self) -> Option<f64> {
        let told = || {
            let mut each = self.trials.iter().filter_map(Trial::flops);
            let first = each.next()?;
            each.all(|f| (f / first - 1.0).abs() < 1e-6)
                .then_some(first.round())
        };
        self.facts.flops.or_else(told)
    }

    /// Whether any trial has an energy.
    pub fn has_energy(&self) -> bool {
        self.measured().any(|(_, c)| c.energy_j.is_some())
    }
}

/// Metric in which the value to minimise is recorded where the objective is a metric.
pub const OBJECTIVE: &str = "objective";

/// The baseline in `sweep.json`: before the search, then with what the final rounds gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineFacts {
    /// Time of one run, s.
    pub time_s: f64,
    /// Energy of one run, J.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub energy_j: Option<f64>,
    /// The metric that is the objective.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metric: Option<f64>,
    /// Whether that metric is better the larger it is.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub maximize: bool,
    /// The baseline's time over the best config's, in the final rounds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub speedup: Option<f64>,
    /// The same of the energies.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub greenup: Option<f64>,
    /// The best config's metric over the baseline's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metric_ratio: Option<f64>,
}
