//! A measured config as the analysis sees it.

use crate::sweep::Sweep;
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

impl MeasuredConfig {
    /// The config by the final rounds where it was measured again, which the flag says; else by its trial.
    pub fn as_known(&self, sweep: &Sweep) -> (Self, bool) {
        let Some((cost, true)) = sweep.best_known_cost(self.trial) else {
            return (self.clone(), false);
        };
        let energy_j = cost.energy_j.or(self.energy_j);
        let known = Self {
            trial: self.trial,
            time_s: cost.time_s,
            energy_j,
            performance: self.performance * self.time_s / cost.time_s,
            efficiency: (self.efficiency.zip(self.energy_j).zip(energy_j))
                .map(|((x, old), new)| x * old / new),
        };
        (known, true)
    }
}
