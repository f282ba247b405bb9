//! A sensor made of a function of time, for tests and demonstrations.

use crate::sensor::{Quantity, Reading, Sensor, SensorError, SensorInfo, now_s};

/// Answers `value(now)`.
pub struct Simulated<F> {
    info: SensorInfo,
    value: F,
}

impl<F: FnMut(f64) -> Result<f64, SensorError> + Send> Simulated<F> {
    /// A sensor whose value at time t (s, by [`now_s`]) is `value(t)`, J or W.
    pub fn new(id: &str, quantity: Quantity, value: F) -> Self {
        Self {
            info: SensorInfo {
                id: id.to_owned(),
                scope: "simulated".into(),
                quantity,
                average_s: None,
                gain_error: None,
                group: "simulated".into(),
            },
            value,
        }
    }
}

impl<F: FnMut(f64) -> Result<f64, SensorError> + Send> Sensor for Simulated<F> {
    fn info(&self) -> &SensorInfo {
        &self.info
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        let at_s = now_s();
        Ok(Reading {
            at_s,
            value: (self.value)(at_s)?,
        })
    }
}
