//! A kernel, a kind of copy, or the time between, with its share of the energy.

use crate::kind::Kind;
use greenup_model::Op;
use serde::Serialize;
use std::collections::BTreeMap;

/// What an energy rests on before it is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Counted operations and bytes times their energies, and constant power times time.
    Counters,
    /// Bytes of the copy times their energy, and constant power times time.
    Bytes,
    /// Time times the power of its class of kernels: an estimate.
    PowerClass,
    /// Constant power times time.
    ConstantPower,
    /// Power of a device that waits, times time.
    IdlePower,
    /// Time alone: there is no machine model.
    Time,
    /// The meter.
    Measured,
}

impl Basis {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counters => "counters",
            Self::Bytes => "bytes",
            Self::PowerClass => "power class",
            Self::ConstantPower => "constant power",
            Self::IdlePower => "idle power",
            Self::Time => "time",
            Self::Measured => "measured",
        }
    }
}

/// One line of a profile.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name for tables.
    pub name: String,
    /// The whole name.
    pub full_name: String,
    /// Name as the compiler wrote it.
    pub symbol: Option<String>,
    /// Blocks of the grid.
    pub grid: Option<[i32; 3]>,
    /// Threads of a block.
    pub block: Option<[i32; 3]>,
    /// Its group.
    pub kind: Kind,
    /// How often it ran.
    pub launches: u64,
    /// Sum of its durations, s.
    pub time_s: f64,
    /// Its share of the GPU's time, s.
    pub share_s: f64,
    /// Median of its durations, s.
    pub median_s: f64,
    /// Shortest, s.
    pub least_s: f64,
    /// Longest, s.
    pub longest_s: f64,
    /// Median of its durations under the profiler, s.
    pub profiler_s: Option<f64>,
    /// Launches that the profiler counted.
    pub counted: usize,
    /// What its energy rests on.
    pub basis: Basis,
    /// Its class, where the energy rests on that.
    pub class: Option<String>,
    /// Energy by the model, J.
    pub model_j: Option<f64>,
    /// Energy scaled to the meter, J.
    pub joules: Option<f64>,
    /// Mean power while it ran, W.
    pub power_w: Option<f64>,
    /// Mean core clock in the tenths of a second in which it ran, Hz.
    pub clock_hz: Option<f64>,
    /// Operations and bytes of one launch.
    pub work: BTreeMap<Op, f64>,
    /// Marginal energy of one launch by class, J.
    pub energy_by_op_j: BTreeMap<Op, f64>,
    /// Bytes that it copied or set, all launches together.
    pub bytes: f64,
    /// Flops of one launch.
    pub flops: Option<f64>,
    /// Flop per byte of slow memory.
    pub intensity: Option<f64>,
    /// What binds at the roof.
    pub bound: Option<String>,
    /// Shortest time of one launch on this machine, s.
    pub roof_s: Option<f64>,
    /// Shortest time over the median.
    pub of_roof: Option<f64>,
    /// Shortest time by its busiest class alone, which no power cap lengthens, s.
    #[serde(skip)]
    pub busiest_s: Option<f64>,
    /// What to do.
    pub advice: String,
}

impl Row {
    /// A line without kernels.
    pub fn plain(name: &str, basis: Basis, time_s: f64) -> Self {
        Self {
            name: name.to_owned(),
            full_name: name.to_owned(),
            symbol: None,
            grid: None,
            block: None,
            kind: Kind::default(),
            launches: 0,
            time_s,
            share_s: time_s,
            median_s: 0.0,
            least_s: 0.0,
            longest_s: 0.0,
            profiler_s: None,
            counted: 0,
            basis,
            class: None,
            model_j: None,
            joules: None,
            power_w: None,
            clock_hz: None,
            work: BTreeMap::new(),
            energy_by_op_j: BTreeMap::new(),
            bytes: 0.0,
            flops: None,
            intensity: None,
            bound: None,
            roof_s: None,
            of_roof: None,
            busiest_s: None,
            advice: String::new(),
        }
    }
}
