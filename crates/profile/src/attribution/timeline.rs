//! When each group of kernels ran.

use crate::groups::Device;
use crate::kind::Kind;
use crate::names;
use std::collections::BTreeMap;

/// Most intervals of a timeline.
const MOST: usize = 120;

/// Shares of the time by group of kernels, in equal intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Start of the first interval, s after that of the program.
    pub from_s: f64,
    /// End of the last work, and so of the last interval, which may be shorter than the others.
    pub to_s: f64,
    /// Length of one, s.
    pub step_s: f64,
    /// Of each group that ran, its share of each interval.
    pub shares: BTreeMap<Kind, Vec<f64>>,
}

impl Timeline {
    /// Of a device that worked from `from_s` to `to_s`.
    pub(super) fn of(device: &Device, (from_s, to_s): (f64, f64)) -> Self {
        let last = (device.groups.iter())
            .filter_map(|g| Some(g.steps.last()?.0))
            .max();
        let Some(last) = last else {
            return Self::default();
        };
        let steps = last as usize + 1;
        let merged = steps.div_ceil(MOST);
        let mut out = Self {
            from_s,
            to_s,
            step_s: merged as f64 * device.step_s,
            shares: BTreeMap::new(),
        };
        for group in &device.groups {
            let full = names::full(group.key.name().unwrap_or_default());
            let all = (out.shares.entry(Kind::of(&group.key, &full)))
                .or_insert_with(|| vec![0.0; steps.div_ceil(merged)]);
            for (n, s) in &group.steps {
                all[*n as usize / merged] += s;
            }
        }
        for all in out.shares.values_mut() {
            for (k, s) in all.iter_mut().enumerate() {
                let length = (to_s - from_s - out.step_s * k as f64).min(out.step_s);
                *s = if length > 0.0 { *s / length } else { 0.0 };
            }
        }
        out
    }

    /// Start of interval `k` and end of the one before, s after the start of the program.
    pub fn edge(&self, k: usize) -> f64 {
        (self.from_s + self.step_s * k as f64).min(self.to_s)
    }
}
