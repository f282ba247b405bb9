//! The rate of a clock that seems to be set again and again.

use super::ClockError;

/// Steps in one direction, each soon after the one before, that are no steps.
const MOST_STEPS: usize = 3;
/// How soon, s, or in times of the lines' spacing where they are rare.
const SOON: (f64, f64) = (10.0, 1.5);
/// They last for so long at least, s: lines that had to wait somewhere come faster for a moment.
const LASTING_S: f64 = 1.0;

/// A time of the meter's clock, and when its line arrived, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    pub t: f64,
    pub arrival: f64,
}

impl Moment {
    /// Seconds of the meter in a second of the host until a later moment, whatever was taken for a step between them.
    pub fn rate(self, later: Self) -> f64 {
        (later.t - self.t) / (later.arrival - self.arrival)
    }
}

/// Steps of a clock in one direction.
#[derive(Default)]
pub struct Steps {
    /// From where, and when the last one came.
    since: Option<(Moment, f64)>,
    forward: bool,
    count: usize,
}

impl Steps {
    /// Counts a step between two samples; an error with the clock's rate where it is no step.
    pub fn push(&mut self, by_s: f64, from: Option<Moment>, to: Moment) -> Result<(), ClockError> {
        let forward = by_s > 0.0;
        // A time that falls is of no rate.
        let Some(from) = from.filter(|f| f.t < to.t) else {
            self.since = None;
            return Ok(());
        };
        let soon = SOON.0.max(SOON.1 * (to.arrival - from.arrival));
        let first = match self.since {
            Some((first, last)) if self.forward == forward && to.arrival - last <= soon => first,
            _ => {
                self.count = 0;
                from
            }
        };
        (self.since, self.forward) = (Some((first, to.arrival)), forward);
        self.count += 1;
        if self.count >= MOST_STEPS && to.arrival - first.arrival >= LASTING_S {
            return Err(ClockError::Rate(first.rate(to)));
        }
        Ok(())
    }
}
