//! Fitted constants with their intervals, and errors of the model.

use serde::Serialize;

/// One fitted constant with its 95 % interval; ends that are NaN are not known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Constant {
    /// Best estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub lo: f64,
    /// Upper end of the interval.
    pub hi: f64,
}

impl Constant {
    /// The interval, where it is known.
    pub fn interval(&self) -> Option<(f64, f64)> {
        (self.lo.is_finite() && self.hi.is_finite()).then_some((self.lo, self.hi))
    }
}

/// Relative errors (model − measured)/measured over some records.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// Mean of the absolute relative errors.
    pub mean_abs: f64,
    /// Standard deviation of the absolute relative errors.
    pub sd: f64,
    /// Largest absolute relative error.
    pub max_abs: f64,
    /// Number of records.
    pub n: usize,
}

impl Errors {
    pub(crate) fn of(errors: &[f64]) -> Option<Self> {
        let n = errors.len();
        if n == 0 {
            return None;
        }
        let abs: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
        let mean_abs = abs.iter().sum::<f64>() / n as f64;
        let sd = (abs.iter().map(|e| (e - mean_abs).powi(2)).sum::<f64>() / n as f64).sqrt();
        Some(Self {
            mean_abs,
            sd,
            max_abs: abs.iter().copied().fold(0.0, f64::max),
            n,
        })
    }
}
