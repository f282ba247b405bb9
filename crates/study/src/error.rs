//! Why a study failed.

use greenup_calibrate::FitError;
use greenup_files::FileError;
use greenup_model::MachineError;

/// Why a study failed.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A journal cannot be written.
    #[error("{0}")]
    File(#[from] FileError),
    /// The result of a kernel cannot be written as JSON.
    #[error("a kernel's result cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// The machine model cannot be fitted to the calibration.
    #[error("the calibration does not determine a machine: {0}")]
    Fit(#[from] FitError),
    /// The calibrated machine lacks a cost.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The user interrupted the study before the first measurement.
    #[error("interrupted before anything was calibrated")]
    Nothing,
    /// No device could be studied.
    #[error("no device could be studied: {0}")]
    NoDevice(String),
    /// A GPU, its driver or its compiler failed.
    #[error("{0}")]
    Gpu(String),
    /// A kernel computes a wrong result.
    #[error(
        "kernel `{name}` is wrong: its error {error:e} exceeds {bound:e}; its time does not count"
    )]
    Wrong {
        /// Name of the kernel.
        name: String,
        /// Largest relative error.
        error: f64,
        /// Bound of the error.
        bound: f64,
    },
}
