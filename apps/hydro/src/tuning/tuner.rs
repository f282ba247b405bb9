//! Online tuning of kernel parameters: one candidate per period of steps, then the fastest. BLAST's tuner works the
//! same way, with periods of 40 steps (§3.2.1 of the paper).

use greenup_meter::stats::median;
use greenup_report::si::si;

/// Measured times of the candidates.
#[derive(Clone, Debug)]
pub struct Tuner {
    names: Vec<String>,
    period: usize,
    /// Times of the steps of the current period, s.
    steps: Vec<f64>,
    /// Median time per step of the candidates so far, s.
    medians: Vec<f64>,
    done: bool,
}

/// What to do after a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Continue with the same candidate.
    Same,
    /// Try the next candidate.
    Try(usize),
    /// Keep the fastest candidate, which the message describes.
    Keep(usize, String),
}

impl Tuner {
    /// A tuner of these candidates with `period` steps each; the first is in use.
    pub fn new(names: Vec<String>, period: usize) -> Self {
        Self {
            done: names.len() < 2,
            names,
            period: period.max(1),
            steps: Vec::new(),
            medians: Vec::new(),
        }
    }

    /// Median time of a step of a candidate, s; `None` if it was not tried.
    pub fn median_s(&self, candidate: usize) -> Option<f64> {
        self.medians.get(candidate).copied()
    }

    /// The candidates.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Records the time of a step, s; returns what to do next.
    pub fn step(&mut self, seconds: f64) -> Next {
        if self.done {
            return Next::Same;
        }
        self.steps.push(seconds);
        if self.steps.len() < self.period {
            return Next::Same;
        }
        self.medians.push(median(&self.steps));
        self.steps.clear();
        if self.medians.len() < self.names.len() {
            return Next::Try(self.medians.len());
        }
        self.done = true;
        let best = (0..self.medians.len())
            .min_by(|a, b| self.medians[*a].total_cmp(&self.medians[*b]))
            .unwrap_or(0);
        let message = format!(
            "tuned: {} at {} per step, the default {}",
            self.names[best],
            si(self.medians[best], "s"),
            si(self.medians[0], "s")
        );
        Next::Keep(best, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_candidate_stays() {
        let cost = [3.0, 1.0, 2.0];
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let mut t = Tuner::new(names, 40);
        let (mut now, mut steps, mut kept) = (0, 0, None);
        while kept.is_none() {
            // Every tenth step is disturbed.
            let noise = if steps % 10 == 3 { 5.0 } else { 0.0 };
            match t.step(cost[now] + noise) {
                Next::Same => {}
                Next::Try(n) => now = n,
                Next::Keep(n, message) => kept = Some((n, message)),
            }
            steps += 1;
        }
        let (n, message) = kept.unwrap();
        assert_eq!((n, steps), (1, 120));
        assert_eq!((t.median_s(1), t.median_s(3)), (Some(1.0), None));
        assert!(message.contains("tuned: b"), "{message}");
        assert_eq!(t.step(1.0), Next::Same);
        assert_eq!(Tuner::new(vec!["a".into()], 1).step(1.0), Next::Same);
    }
}
