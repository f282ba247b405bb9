//! Measurement of one setting.

use crate::commands::time;
use crate::options::M2l;
use greenup_report::si::si;
use serde::Serialize;

/// Measurement of one setting.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredSetting {
    pub ncrit: usize,
    pub m2l: M2l,
    /// Median of the repetitions, s.
    pub time_s: f64,
    pub energy_j: Option<f64>,
    /// Parts of the repetition that came closest to the median, s.
    pub p2p_s: f64,
    pub m2l_s: f64,
    pub other_s: f64,
}

impl MeasuredSetting {
    pub fn method(&self) -> String {
        format!("{:?}", self.m2l).to_lowercase()
    }

    pub(super) fn text(&self) -> String {
        let energy = self.energy_j.map_or_else(|| "-".to_owned(), |j| si(j, "J"));
        format!(
            "{:<10} {:>5} {:>9} {energy:>9} {:>9} {:>9}",
            self.method(),
            self.ncrit,
            time(self.time_s),
            time(self.p2p_s),
            time(self.m2l_s)
        )
    }
}
