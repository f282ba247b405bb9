//! Chooses one thread or all threads for a solve by measured times: on a busy host, one thread is often faster.

use std::time::Duration;

/// Number of solves after which the slower choice is measured again.
const AGAIN: u32 = 128;

/// Weight of a new time in the moving average.
const WEIGHT: f64 = 0.25;

/// Times of an iteration with one thread and with all threads, s.
#[derive(Default)]
pub struct ThreadChoice {
    alone: Option<f64>,
    together: Option<f64>,
    since: u32,
}

impl ThreadChoice {
    /// Whether the next solve should use one thread.
    pub fn alone(&mut self) -> bool {
        self.since += 1;
        let (Some(alone), Some(together)) = (self.alone, self.together) else {
            return self.together.is_some();
        };
        let faster = alone < together;
        if self.since < AGAIN {
            return faster;
        }
        self.since = 0;
        !faster
    }

    /// Records the time of a solve.
    pub fn took(&mut self, alone: bool, time: Duration, iterations: f64) {
        if iterations < 1.0 {
            return;
        }
        let seconds = time.as_secs_f64() / iterations;
        let known = if alone {
            &mut self.alone
        } else {
            &mut self.together
        };
        *known = Some(known.map_or(seconds, |k| k + WEIGHT * (seconds - k)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Share of solves that one thread did, given what an iteration takes each kind.
    fn share(pace: &mut ThreadChoice, alone_us: u64, together_us: u64) -> f64 {
        let n = 2000;
        let mut count = 0;
        for _ in 0..n {
            let alone = pace.alone();
            let us = if alone { alone_us } else { together_us };
            pace.took(alone, Duration::from_micros(10 * us), 10.0);
            count += u32::from(alone);
        }
        f64::from(count) / f64::from(n)
    }

    #[test]
    fn the_faster_kind_is_chosen_and_the_other_tried_now_and_then() {
        let mut pace = ThreadChoice::default();
        let few = share(&mut pace, 200, 100);
        assert!(few > 0.0 && few < 0.02, "{few}");
        // The host gets busy, and quiet again.
        assert!(share(&mut pace, 300, 1000) > 0.97);
        assert!(share(&mut pace, 200, 100) < 0.6);
        assert!(share(&mut pace, 200, 100) < 0.02);
    }
}
