//! A meter that repeats its last value.

/// Equal values in a row that no meter with noise gives, at least.
pub const EQUAL: usize = 20;
/// The same over the longest such row before.
const OVER_LONGEST: usize = 6;
/// The same where a meter shows three digits alone.
const EQUAL_COARSE: usize = 300;
/// Smallest step over value from which on a meter is coarse.
const COARSE: f64 = 2e-3;

/// Whether a value repeats itself for longer than it ever did.
#[derive(Default)]
pub struct Still {
    value: Option<f64>,
    row: usize,
    longest: usize,
    step: Option<f64>,
    /// Rows that were too long.
    pub times: usize,
}

impl Still {
    /// Counts a value; whether the meter repeats its last one.
    pub fn push(&mut self, value: f64) -> bool {
        match self.value.replace(value) {
            Some(before) if before == value => {
                self.row += 1;
                if self.is_stuck() && self.row == self.limit() {
                    self.times += 1;
                }
            }
            before => {
                if let Some(b) = before {
                    let step = (value - b).abs() / value.abs().max(b.abs());
                    self.step = Some(self.step.map_or(step, |s| s.min(step)));
                    self.longest = self.longest.max(self.row);
                }
                self.row = 1;
            }
        }
        self.is_stuck()
    }

    fn limit(&self) -> usize {
        let least = match self.step {
            Some(s) if s < COARSE => EQUAL,
            _ => EQUAL_COARSE,
        };
        least.max(OVER_LONGEST * self.longest)
    }

    /// A meter whose value never changed is a phantom, and found so elsewhere.
    pub fn is_stuck(&self) -> bool {
        self.step.is_some() && self.row >= self.limit()
    }
}
