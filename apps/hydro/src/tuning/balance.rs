//! Load balance between two devices: the share of the zones follows the measured times (§3.3 and table 5 of the BLAST
//! paper).

/// Share of the zones on the first of two devices.
#[derive(Clone, Debug)]
pub struct Balance {
    /// Share of the first device, 0 to 1.
    share: f64,
    /// Smallest share of either device, so that its speed stays known.
    least: f64,
    settled: usize,
    /// Number of periods so far.
    pub periods: usize,
}

/// Change of the share below which it counts as settled.
const STILL: f64 = 0.002;
/// Imbalance above which a settled share adapts again.
const OFF: f64 = 0.15;

impl Balance {
    /// Starts with a share; each device keeps at least a few of the `zones`.
    pub fn new(share: f64, zones: usize) -> Self {
        Self {
            share,
            least: (8.0 / zones as f64).min(0.25),
            settled: 0,
            periods: 0,
        }
    }

    /// Share of the first device, 0 to 1.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// Whether the share has converged.
    pub fn settled(&self) -> bool {
        self.settled >= 2
    }

    /// Updates the share after a period in which the devices computed for `first` and `second` seconds in parallel, and
    /// the first waited `alone` seconds for copies to and from the second. Returns the new share if it changes.
    pub fn seen(&mut self, first: f64, second: f64, alone: f64) -> Option<f64> {
        self.periods += 1;
        if !(first > 0.0 && second > 0.0 && first.is_finite() && second.is_finite()) {
            return None;
        }
        let apart = (first - second).abs() / first.max(second);
        if self.settled() {
            // Rested: only a device that became slower or faster disturbs it.
            let floor = self.share >= 1.0 - self.least - STILL;
            if apart < OFF || (floor && first > 0.3 * second) {
                return None;
            }
            self.settled = 0;
        }
        let (fast, slow) = (self.share / first, (1.0 - self.share) / second);
        // Where the second's part costs the first more in waiting than in computing, less of it is always better.
        let wanted = if alone / (1.0 - self.share) > 1.0 / fast {
            1.0
        } else {
            fast / (fast + slow)
        }
        .clamp(self.least, 1.0 - self.least);
        // Fixed costs make speeds depend on shares: half the way more than once converges where the whole would swing.
        let next = self.share + 0.7 * (wanted - self.share);
        let change = (next - self.share).abs();
        self.settled = if change < STILL { self.settled + 1 } else { 0 };
        self.share = next;
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two devices with fixed costs and some noise, like a GPU and a CPU.
    fn took(share: f64, speeds: (f64, f64), noise: &mut u64) -> (f64, f64) {
        *noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let off = 1.0 + 0.005 * ((*noise >> 33) as f64 / f64::from(1_u32 << 30) - 1.0);
        (
            (0.02 + share / speeds.0) * off,
            (0.01 + (1.0 - share) / speeds.1) * (2.0 - off),
        )
    }

    #[test]
    fn shares_converge_within_fourteen_periods_and_follow_a_slower_device() {
        for speeds in [(3.0, 1.0), (40.0, 1.0), (0.5, 2.0)] {
            for start in [0.5, 0.05, 0.95] {
                let mut b = Balance::new(start, 100_000);
                let mut noise = 7;
                let step = |s: f64, speeds| {
                    let (a, c) = took(s, speeds, &mut 7);
                    a.max(c)
                };
                let best = |speeds| {
                    (1..10_000)
                        .map(|i| step(f64::from(i) * 1e-4, speeds))
                        .fold(f64::INFINITY, f64::min)
                };
                for _ in 0..14 {
                    let (a, c) = took(b.share(), speeds, &mut noise);
                    b.seen(a, c, 0.0);
                }
                let off = step(b.share(), speeds) / best(speeds);
                assert!(off < 1.02, "{speeds:?} {start}: {off} at {}", b.share());
                // The first slows down to half.
                let slower = (0.5 * speeds.0, speeds.1);
                for _ in 0..14 {
                    let (a, c) = took(b.share(), slower, &mut noise);
                    b.seen(a, c, 0.0);
                }
                let off = step(b.share(), slower) / best(slower);
                assert!(off < 1.1, "{slower:?} {start}: {off}");
            }
        }
    }

    #[test]
    fn a_device_that_must_be_waited_for_gets_the_least() {
        let mut b = Balance::new(0.9, 1000);
        for _ in 0..14 {
            let s = b.share();
            b.seen(s / 100.0, 0.001 + (1.0 - s), 0.5 * (1.0 - s));
        }
        assert!(b.share() > 0.99, "{}", b.share());
        assert!((1.0 - b.share()) * 1000.0 > 7.9);
    }
}
