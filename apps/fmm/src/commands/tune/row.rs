//! Measurement of one setting.

use crate::commands::time;
use crate::engine::PhaseTimes;
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
    /// Parts of the repetition that came closest to the median, s: they add up to its time.
    pub p2p_s: f64,
    pub m2l_s: f64,
    pub other_s: f64,
}

/// A repetition and its parts, without what `time_s` lacks: permutation, and copies to and from the device.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repetition {
    pub p2p_s: f64,
    pub m2l_s: f64,
    pub other_s: f64,
    time_s: f64,
}

impl Repetition {
    /// Of an evaluation that took `whole_s`.
    pub fn new(whole_s: f64, p: PhaseTimes) -> Self {
        let time_s = whole_s - p.permutation_s - p.transfers_s;
        Self {
            p2p_s: p.p2p_s,
            m2l_s: p.m2l_s(),
            other_s: (time_s - p.p2p_s - p.m2l_s()).max(0.0),
            time_s,
        }
    }

    /// That whose time is nearest to `time_s`.
    pub fn nearest(all: &[Self], time_s: f64) -> Self {
        let off = |r: &&Self| (r.time_s - time_s).abs();
        let near = all.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        near.copied().unwrap_or_default()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_time_of_the_nearest_repetition() {
        let phases = |p2p_s: f64| PhaseTimes {
            p2p_s,
            m2l_fft_s: 1.0,
            m2l_hadamard_s: 2.0,
            p2l_l2l_s: 0.25,
            permutation_s: 0.5,
            transfers_s: 0.25,
            ..PhaseTimes::default()
        };
        let all =
            [(9.0, 3.0), (8.25, 4.0), (12.0, 5.0)].map(|(s, p)| Repetition::new(s, phases(p)));
        // 7.5 s without permutation and copies.
        let near = Repetition::nearest(&all, 7.4);
        assert_eq!((near.p2p_s, near.m2l_s, near.other_s), (4.0, 3.0, 0.5));
        assert_eq!(near.p2p_s + near.m2l_s + near.other_s, near.time_s);
    }
}
