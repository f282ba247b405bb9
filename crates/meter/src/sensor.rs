//! What a sensor is.

use serde::Serialize;
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
    /// What it covers, in words.
    pub scope: String,
    pub quantity: Quantity,
    /// Averaging time of a power sensor, s, where it is known.
    pub average_s: Option<f64>,
    /// Systematic gain error that the maker or the literature states, as a share.
    pub gain_error: Option<f64>,
    /// Sensors with one group watch one device, so they can be held against each other.
    pub group: String,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceState {
    pub clock_hz: Option<f64>,
    pub mem_clock_hz: Option<f64>,
    pub temperature_c: Option<f64>,
    pub power_limit_w: Option<f64>,
    /// Names of the active reasons for a lowered clock.
    pub throttle: Vec<String>,
}

/// Why a reading failed.
#[derive(Debug, thiserror::Error)]
pub enum SensorError {
    #[error("sensor {id} went backwards, from {from} to {to} J")]
    Backwards { id: String, from: f64, to: f64 },
    #[error("sensor {id} is gone: {cause}")]
    Gone { id: String, cause: String },
    #[error("sensor {id}: {source_name}, line {line}: {cause}")]
    Malformed {
        id: String,
        source_name: String,
        line: usize,
        cause: String,
    },
    #[error("sensor {id} has no reading yet")]
    NotYet { id: String },
}

/// A source of joules or watts.
pub trait Sensor: Send {
    fn info(&self) -> &SensorInfo;

    /// The value now. May block for as long as the device needs.
    ///
    /// # Errors
    /// When the device no longer answers or its value cannot be true.
    fn read(&mut self) -> Result<Reading, SensorError>;

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
    pub cause: String,
    pub cure: String,
}
