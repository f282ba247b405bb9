//! How long and how often to measure.

/// Windows, warm-up and repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Least length of one window, s.
    pub window_s: f64,
    /// Least ticks of the energy counter in one window.
    pub min_ticks: usize,
    /// Length of one warm-up chunk, s; 0 for none.
    pub warmup_s: f64,
    /// Least periods of the energy sensor in one; to compare the power of two chunks takes a few.
    pub warmup_ticks: usize,
    /// Chunks of warm-up at most, when no steady state is reached.
    pub max_warmups: usize,
    /// Minimum number of windows.
    pub min_repeats: usize,
    /// Maximum number of windows.
    pub max_repeats: usize,
    /// Stop repeating when time (and energy) are known this well: half interval over median.
    pub rel_error: f64,
}

impl Policy {
    /// Seconds a point: enough to sort kernels, not to publish.
    pub fn quick() -> Self {
        Self {
            window_s: 0.15,
            min_ticks: 15,
            warmup_s: 0.1,
            warmup_ticks: 3,
            max_warmups: 3,
            min_repeats: 3,
            max_repeats: 7,
            rel_error: 0.01,
        }
    }

    /// The full protocol: 50 ticks or 1 s a window, at least 5 repeats.
    pub fn thorough() -> Self {
        Self {
            window_s: 1.0,
            min_ticks: 50,
            warmup_s: 0.5,
            warmup_ticks: 3,
            max_warmups: 8,
            min_repeats: 5,
            max_repeats: 15,
            rel_error: 0.005,
        }
    }

    /// Length of one window, s; `period_s` is the time between two changes of the energy sensor, `None` without one.
    pub fn window_s(&self, period_s: Option<f64>) -> f64 {
        // One period more: the first tick inside only opens the window.
        let least = period_s.map_or(0.0, |p| p * (self.min_ticks + 1) as f64);
        self.window_s.max(least)
    }

    /// Length of one warm-up chunk, s.
    pub(crate) fn chunk_s(&self, period_s: f64) -> f64 {
        self.warmup_s.max(self.warmup_ticks as f64 * period_s)
    }

    /// Seconds that a measurement typically takes: two chunks of warm-up, and windows halfway between fewest and most.
    pub fn typical_s(&self, period_s: Option<f64>) -> f64 {
        let chunks = self.max_warmups.clamp(1, 2) as f64;
        let warm_up = if self.warmup_s > 0.0 {
            chunks * self.chunk_s(period_s.unwrap_or(0.0))
        } else {
            0.0
        };
        let windows = 0.5 * (self.min_repeats + self.max_repeats) as f64;
        warm_up + windows * self.window_s(period_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_sensor_makes_windows_and_warm_up_longer() {
        let p = Policy {
            window_s: 0.1,
            min_ticks: 4,
            warmup_s: 0.02,
            warmup_ticks: 3,
            max_warmups: 1,
            min_repeats: 1,
            max_repeats: 3,
            rel_error: 0.01,
        };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(p.window_s(None), 0.1) && near(p.window_s(Some(0.001)), 0.1));
        assert!(near(p.window_s(Some(0.1)), 0.5));
        assert!(near(p.typical_s(None), 0.02 + 2.0 * 0.1));
        assert!(near(p.typical_s(Some(0.1)), 0.3 + 2.0 * 0.5));
    }
}
