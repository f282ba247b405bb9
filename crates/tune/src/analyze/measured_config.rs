//! A measured config as the analysis sees it.

use serde::Serialize;

/// A measured config as the analysis sees it.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredConfig {
    /// Trial of the sweep.
    pub trial: usize,
    /// Time, s.
    pub time_s: f64,
    /// Energy, J; `None` if it was not measured.
    pub energy_j: Option<f64>,
    /// Flops a second where the work is known, else runs a second.
    pub performance: f64,
    /// Flops a joule, else runs a joule.
    pub efficiency: Option<f64>,
}
