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
            max_warmups: 8,
            min_repeats: 5,
            max_repeats: 15,
            rel_error: 0.005,
        }
    }
}
