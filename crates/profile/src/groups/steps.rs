//! When the launches of a group ran, in steps of about the time in which a GPU's clock settles.

use crate::activity::Event;
use std::collections::BTreeMap;

/// Shortest step, s.
const STEP_S: f64 = 0.1;
/// Most steps of a run.
const STEPS: f64 = 1000.0;

/// Equal steps from the first start on a device.
pub(super) struct Steps {
    first_ns: u64,
    /// Length of one, s.
    pub step_s: f64,
}

impl Steps {
    /// The steps between the first start and the last end.
    pub fn of(first_ns: u64, last_ns: u64) -> Self {
        let all_s = last_ns.saturating_sub(first_ns) as f64 * 1e-9;
        Self {
            first_ns,
            step_s: STEP_S.max(all_s / STEPS),
        }
    }

    /// Time of these launches in each step in which there is any, s: the share of each is spread evenly over its steps.
    pub fn of_launches<'a>(
        &self,
        launches: impl Iterator<Item = (&'a Event, f64)>,
    ) -> Vec<(u32, f64)> {
        let mut out: BTreeMap<u32, f64> = BTreeMap::new();
        let at = |ns: u64| ns.saturating_sub(self.first_ns) as f64 * 1e-9 / self.step_s;
        for (event, share_s) in launches {
            let (from, to) = (at(event.start_ns), at(event.end_ns));
            let (first, last) = (from as u32, to as u32);
            if first >= last {
                *out.entry(first).or_default() += share_s;
                continue;
            }
            for n in first..=last {
                let part = to.min(f64::from(n) + 1.0) - from.max(f64::from(n));
                *out.entry(n).or_default() += share_s * part / (to - from);
            }
        }
        out.into_iter().filter(|s| s.1 > 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::What;

    #[test]
    fn long_launches_are_spread_over_their_steps() {
        let event = |start_ms: u64, end_ms: u64| Event {
            start_ns: 1_000_000 * (7 + start_ms),
            end_ns: 1_000_000 * (7 + end_ms),
            device: 0,
            stream: 1,
            bytes: 0,
            what: What::Set,
        };
        let (short, long) = (event(10, 20), event(150, 350));
        let steps = Steps::of(7_000_000, 407_000_000);
        let got = steps.of_launches([(&short, 0.01), (&long, 0.1)].into_iter());
        let expected = [(0, 0.01), (1, 0.025), (2, 0.05), (3, 0.025)];
        assert_eq!(got.len(), 4, "{got:?}");
        for (a, b) in got.iter().zip(expected) {
            assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-12, "{got:?}");
        }
        // A long run has longer steps.
        assert!((Steps::of(0, 1_000_000_000_000).step_s - 1.0).abs() < 1e-12);
    }
}
