//! How trials are measured: `[measure]`.

use serde::{Deserialize, Serialize};

/// How trials are measured, as written.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureText {
    pub seconds: Option<f64>,
    pub timeout: Option<f64>,
    pub drift: Option<bool>,
    pub restore: Option<bool>,
}

impl MeasureText {
    /// With defaults: a program takes longer than a kernel.
    pub(super) fn measure(self, of_command: bool) -> Measure {
        let default = Measure::default();
        Measure {
            seconds: self.seconds.unwrap_or(default.seconds),
            timeout: self.timeout.unwrap_or(if of_command {
                COMMAND_TIMEOUT_S
            } else {
                default.timeout
            }),
            drift: self.drift.unwrap_or(default.drift),
            restore: self.restore.unwrap_or(default.restore),
        }
    }
}

/// How trials are measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measure {
    /// Seconds of measuring a config.
    pub seconds: f64,
    /// Seconds after which a run counts as hanging.
    pub timeout: f64,
    /// Whether the first config that works is measured around every later one, to see the machine's drift.
    pub drift: bool,
    /// Whether arrays that kernels read and change are restored between the windows of a measurement.
    pub restore: bool,
}

impl Measure {
    /// Seconds that a trial measures: its config, and the reference config before and after it.
    pub fn trial_s(&self) -> f64 {
        1.25 * self.seconds
    }

    /// The final rounds, as long as nobody asks for a number.
    pub fn final_rounds(&self, on_gpu: bool) -> FinalRounds {
        if on_gpu {
            // A window is as long as the sensor needs, and then some for the clock to settle.
            FinalRounds {
                least: 3,
                most: 20,
                seconds: self.seconds,
            }
        } else {
            FinalRounds {
                least: 5,
                most: 30,
                seconds: self.seconds / 2.0,
            }
        }
    }
}

/// How often, and how long, the best configs are measured again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FinalRounds {
    /// Rounds at least.
    pub least: usize,
    /// Rounds at most, where the order stays open.
    pub most: usize,
    /// Duration of a finalist in each, s.
    pub seconds: f64,
}

/// Seconds after which a run of a command counts as hanging, where the problem says nothing.
const COMMAND_TIMEOUT_S: f64 = 300.0;

impl Default for Measure {
    fn default() -> Self {
        Self {
            seconds: 0.2,
            timeout: 10.0,
            drift: true,
            restore: true,
        }
    }
}
