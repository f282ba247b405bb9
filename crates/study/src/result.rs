//! The result of one kernel.

use crate::energy::EnergySplit;
use greenup_meter::{Measurement, Summary};
use greenup_model::{Prediction, Work};
use serde::Serialize;

/// A library that computes the same, in the same rounds. Its result is not verified.
#[derive(Clone, Debug, Serialize)]
pub struct Library {
    /// Its name.
    pub name: String,
    /// Time of one run, s.
    pub time_s: Summary,
    /// Energy of one run, J; `None` if it was not measured.
    pub energy_j: Option<Summary>,
}

/// One kernel, measured and predicted.
#[derive(Clone, Debug, Serialize)]
pub struct KernelResult {
    /// Name of the kernel.
    pub name: String,
    /// Operation and problem size in a phrase.
    pub about: String,
    /// Work of one iteration.
    #[serde(skip)]
    pub work: Work,
    /// Operations of one iteration, flop.
    pub flops: f64,
    /// Minimum traffic of one iteration to main memory, bytes.
    pub bytes: f64,
    /// Arithmetic intensity, flop/B.
    pub intensity: f64,
    /// Largest error against the reference, and its bound.
    pub verification: (f64, f64),
    /// Time, power and energy of one iteration; `None` if the run was interrupted.
    pub measured: Option<Measurement>,
    /// Prediction of the calibrated machine model: at the roof.
    pub predicted: Prediction,
    /// The predicted energy for the measured time, split by its causes; `None` if the machine has no energies.
    pub explained: Option<EnergySplit>,
    /// A library measured next to it.
    pub library: Option<Library>,
    /// Doubts about the measurement, besides its flags.
    pub doubts: Vec<String>,
    /// Predicted time / measured time: 1 is the roof, above 1 is faster than the model allows.
    pub share_of_roof: Option<f64>,
    /// Re-measured binding roof / calibrated roof (mean of before and after the kernel); `None` without a reference.
    pub roof_then: Option<f64>,
    /// Relative error of the predicted time, (predicted − measured) / measured.
    pub time_error: Option<f64>,
    /// Relative error of the energy predicted for the measured time, (predicted − measured) / measured.
    pub energy_error: Option<f64>,
    /// Prediction of the assumed machine, kept separate from the measured results; `None` without one.
    pub assumed: Option<Prediction>,
    /// Findings and suggestions.
    pub advice: Vec<String>,
}

impl KernelResult {
    /// Fraction of the roof as re-measured next to the kernel; `None` if the kernel was not measured.
    pub fn share_then(&self) -> Option<f64> {
        Some(self.share_of_roof? / self.roof_then.unwrap_or(1.0))
    }

    /// Whether the re-measured roof differs from the calibrated one by more than 10 %.
    pub fn roof_moved(&self) -> bool {
        self.roof_then.is_some_and(|r| (r - 1.0).abs() > 0.1)
    }
}
