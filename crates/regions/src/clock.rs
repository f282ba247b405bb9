//! The clock of regions: nanoseconds of `CLOCK_MONOTONIC`, which Linux reads without a system call.

use greenup_meter::sensor::now_s;

/// Nanoseconds now.
#[inline]
pub fn now() -> u64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a valid place for the answer; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Seconds between two times.
pub fn seconds(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64 * 1e-9
}

/// Turns the times of sensors' readings into times of this clock.
#[derive(Clone, Copy)]
pub struct MeterClock {
    /// Time of this clock, ns, at the start of the meter's.
    zero: f64,
}

impl MeterClock {
    /// Compares the two clocks, which run at the same rate.
    pub fn new() -> Self {
        let mut best = (u64::MAX, 0.0);
        for _ in 0..8 {
            let before = now();
            let meter = now_s();
            let after = now();
            if after - before < best.0 {
                let middle = before as f64 + 0.5 * (after - before) as f64;
                best = (after - before, middle - meter * 1e9);
            }
        }
        Self { zero: best.1 }
    }

    /// Time of this clock at a reading's `at_s`.
    pub fn at(self, at_s: f64) -> u64 {
        (self.zero + at_s * 1e9).max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_clocks_agree() {
        let clock = MeterClock::new();
        let (before, reading, after) = (now(), now_s(), now());
        let at = clock.at(reading);
        assert!(
            before < at + 100_000 && at < after + 100_000,
            "{before} {at} {after}"
        );
    }
}
