//! Results of a measurement: time, energy, power, state of the device, and flags for doubts.

use crate::sensor::DeviceState;
use crate::stats::Summary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A doubt about a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "flag", content = "detail")]
pub enum Flag {
    /// No usable energy sensor: time only.
    NoEnergy,
    /// Fewer ticks of the sensor than a trustworthy window needs.
    TooFewTicks(usize),
    /// Reasons for which the device lowered its clock.
    Throttled(Vec<String>),
    /// Relative difference of two sensors on one device.
    SensorsDisagree(f64),
    /// The steady state was not reached in the allowed warm-up.
    NotSteady(f64),
    /// The requested relative error was not reached.
    Noisy(f64),
    /// A sensor failed midway.
    SensorFailed(String),
    /// What a sensor passed over: bad samples, a clock that was set.
    SensorNoted(String),
    /// The user stopped the measurement; it rests on fewer repeats.
    Interrupted,
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flag::NoEnergy => write!(f, "no energy sensor"),
            Flag::TooFewTicks(n) => write!(f, "only {n} sensor ticks in a window"),
            Flag::Throttled(why) => write!(f, "throttled: {}", why.join(", ")),
            Flag::SensorsDisagree(x) => write!(f, "two sensors disagree by {:.1} %", 100.0 * x),
            Flag::NotSteady(x) => write!(f, "not steady: still drifting by {:.1} %", 100.0 * x),
            Flag::Noisy(x) => write!(f, "noisy: ±{:.1} %", 100.0 * x),
            Flag::SensorFailed(e) | Flag::SensorNoted(e) => write!(f, "{e}"),
            Flag::Interrupted => write!(f, "interrupted"),
        }
    }
}

/// Time, energy and power of one iteration of some work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Time of one iteration, s.
    pub time_s: Summary,
    /// The same in each window, s; not in JSON.
    #[serde(skip)]
    pub times_s: Vec<f64>,
    /// Energy of one iteration, J.
    pub energy_j: Option<Summary>,
    /// Mean power, W.
    pub power_w: Option<Summary>,
    /// Windows that were measured.
    pub runs: usize,
    /// Those whose energy is known; fewer than all give no energy.
    pub energy_runs: usize,
    /// The sensor behind energy and power.
    pub sensor: Option<String>,
    /// Its systematic gain error, which repeats do not reduce.
    pub gain_error: Option<f64>,
    /// Power by another sensor of the same device over that of the main one: the median of the
    /// windows.
    pub other_over_main: Option<f64>,
    /// State of the device during the measurement.
    pub state: DeviceState,
    /// Doubts about the measurement.
    pub flags: Vec<Flag>,
}

impl Measurement {
    /// Power and the device's state by name, as sweeps record them.
    pub fn state_by_name(&self) -> BTreeMap<String, f64> {
        [
            ("power_w", self.power_w.as_ref().map(|p| p.median)),
            ("clock_mhz", self.state.clock_hz.map(|hz| hz * 1e-6)),
            (
                "memory_clock_mhz",
                self.state.mem_clock_hz.map(|hz| hz * 1e-6),
            ),
            ("temperature_c", self.state.temperature_c),
        ]
        .into_iter()
        .filter_map(|(name, v)| Some((name.to_owned(), v?)))
        .collect()
    }
}
