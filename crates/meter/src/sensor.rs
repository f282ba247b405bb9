//! What a sensor is.

use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::time::Instant;

/// Seconds since the first call in this process, on the monotonic clock.
pub fn now_s() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// What a sensor's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// Joules since some start, never falling.
    Energy,
    /// Watts now, or averaged over [`SensorInfo::average_s`].
    Power,
}

/// Facts of a sensor that do not change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SensorInfo {
    /// Name by which `--sensor` picks it, e.g. `nvml:0:energy`.
    pub id: String,
    /// What it covers, e.g. `CPU package 0`.
    pub scope: String,
    /// Energy counter or power.
    pub quantity: Quantity,
    /// Averaging time of a power sensor, s, where it is known.
    pub average_s: Option<f64>,
    /// Systematic gain error that the maker or the literature states, as a share.
    pub gain_error: Option<f64>,
    /// Sensors with one group watch one device, so their readings can be compared.
    pub group: String,
}

impl SensorInfo {
    /// Group of recorded traces.
    pub const RECORDED: &str = "recorded";

    /// Whether it is a recorded trace: data that no load moves.
    pub fn is_recorded(&self) -> bool {
        self.group == Self::RECORDED
    }
}

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// When the value held, by [`now_s`].
    pub at_s: f64,
    /// J or W.
    pub value: f64,
}

/// State of the device a sensor watches, as far as it can tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceState {
    /// Core clock, Hz.
    pub clock_hz: Option<f64>,
    /// Memory clock, Hz.
    pub mem_clock_hz: Option<f64>,
    /// Temperature, °C.
    pub temperature_c: Option<f64>,
    /// Power limit, W.
    pub power_limit_w: Option<f64>,
    /// Names of the active reasons for a lowered clock.
    pub throttle: Vec<String>,
}

/// Why a reading failed.
#[derive(Debug, thiserror::Error)]
pub enum SensorError {
    /// A counter fell without a wrap-around.
    #[error("sensor {id} went backwards, from {from} to {to} J")]
    Backwards {
        /// Id of the sensor.
        id: String,
        /// Old value, J.
        from: f64,
        /// New value, J.
        to: f64,
    },
    /// A device that answered before no longer does.
    #[error("sensor {id} is gone: {cause}")]
    Gone {
        /// Id of the sensor.
        id: String,
        /// The cause.
        cause: String,
    },
    /// It cannot be read.
    #[error("sensor {id}: {cause}")]
    Failed {
        /// Id of the sensor.
        id: String,
        /// The cause.
        cause: String,
    },
    /// It repeats its last value, though the values before it varied; it may go on later.
    #[error("sensor {id} repeats its last value: it is stuck")]
    Stuck {
        /// Id of the sensor.
        id: String,
    },
    /// A line of an external source that is not a reading.
    #[error("sensor {id}: {source_name}, line {line}: {cause}")]
    Malformed {
        /// Id of the sensor.
        id: String,
        /// File or command.
        source_name: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        cause: String,
    },
    /// An external source that has not written yet.
    #[error("sensor {id} has no reading yet")]
    NotYet {
        /// Id of the sensor.
        id: String,
    },
}

/// A source of joules or watts.
pub trait Sensor: Send {
    /// What the sensor is.
    fn info(&self) -> &SensorInfo;

    /// The value now. May block for as long as the device needs.
    ///
    /// # Errors
    /// When the device no longer answers or its value cannot be true.
    fn read(&mut self) -> Result<Reading, SensorError>;

    /// Adds the readings since the last call of this or [`Sensor::read`], of a device that keeps them; else the value now.
    ///
    /// # Errors
    /// As [`Sensor::read`]; what is added until then is right.
    fn read_since(&mut self, out: &mut Vec<Reading>) -> Result<(), SensorError> {
        out.push(self.read()?);
        Ok(())
    }

    /// Time between two readings of a device that gives them by itself, s.
    fn period_s(&self) -> Option<f64> {
        None
    }

    /// What was passed over until now, as sentences: bad samples, a clock that was set.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Clocks, temperature, throttle reasons.
    fn state(&mut self) -> DeviceState {
        DeviceState::default()
    }
}

/// A sensor that is not there or cannot be used, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Id the sensor would have.
    pub id: String,
    /// Whether the hardware or file exists at all.
    pub present: bool,
    /// Why it cannot be used.
    pub cause: String,
    /// Suggested fix.
    pub fix: String,
}

/// A sensor that opened, or why it did not.
pub type OpenedSensor = Result<Box<dyn Sensor>, Problem>;
