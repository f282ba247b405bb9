//! One kernel's result.

use greenup_meter::Measurement;
use greenup_model::{Prediction, Work};
use serde::Serialize;

/// One kernel, measured and predicted.
#[derive(Clone, Debug, Serialize)]
pub struct KernelResult {
    pub name: String,
    pub about: String,
    #[serde(skip)]
    pub work: Work,
    pub flops: f64,
    pub bytes: f64,
    pub intensity: f64,
    /// Largest error against the reference, and its bound; a kernel beyond it is not measured.
    pub verification: (f64, f64),
    pub measured: Option<Measurement>,
    pub predicted: Prediction,
    /// Predicted time over measured: 1 is the roof, above 1 is faster than the model allows.
    pub share_of_roof: Option<f64>,
    /// The binding roof beside the kernel over the calibrated one (mean of before and after).
    pub roof_then: Option<f64>,
    /// (predicted − measured)/measured.
    pub time_error: Option<f64>,
    pub energy_error: Option<f64>,
    /// On the assumed machine; never mixed with the measured side.
    pub assumed: Option<Prediction>,
    pub advice: Vec<String>,
}

impl KernelResult {
    /// Share of the roof as it stood beside the kernel.
    pub fn share_then(&self) -> Option<f64> {
        Some(self.share_of_roof? / self.roof_then.unwrap_or(1.0))
    }

    /// Whether the machine had changed so much that the calibrated prediction says little.
    pub fn roof_moved(&self) -> bool {
        self.roof_then.is_some_and(|r| (r - 1.0).abs() > 0.1)
    }
}
