//! Speedup, powerup, greenup.

use serde::Serialize;

/// How much better the new variant (2) is than the baseline (1); above 1 is better for speedup
/// and greenup, and powerup above 1 means the new one draws less power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// T₁/T₂.
    pub speedup: f64,
    /// P₁/P₂.
    pub powerup: f64,
    /// E₁/E₂ = powerup × speedup.
    pub greenup: f64,
}

impl Comparison {
    /// Compares baseline (time, energy) with new (time, energy), in s and J.
    pub fn new(baseline: (f64, f64), new: (f64, f64)) -> Self {
        let speedup = baseline.0 / new.0;
        let greenup = baseline.1 / new.1;
        Self {
            speedup,
            powerup: greenup / speedup,
            greenup,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn greenup_is_powerup_times_speedup() {
        let c = super::Comparison::new((4.0, 400.0), (2.0, 100.0));
        assert_eq!((c.speedup, c.powerup, c.greenup), (2.0, 2.0, 4.0));
    }
}
