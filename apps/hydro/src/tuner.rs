//! Choices made inside a run: one candidate for each period of steps, then the best of all. BLAST's tuner works the
//! same way, with periods of forty steps (§3.2.1 of the paper).

/// What is known of the candidates.
#[derive(Clone, Debug)]
pub struct Tuner {
    names: Vec<String>,
    period: usize,
    /// Seconds of the steps of the period under way.
    steps: Vec<f64>,
    /// Medians of the candidates so far.
    medians: Vec<f64>,
    done: bool,
}

/// What a run shall do after a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Go on.
    Same,
    /// Try the next candidate.
    Try(usize),
    /// Stay with the best, which this line describes.
    Keep(usize, String),
}

fn median(x: &mut [f64]) -> f64 {
    x.sort_by(f64::total_cmp);
    x.get(x.len() / 2).copied().unwrap_or(f64::INFINITY)
}

impl Tuner {
    /// The first candidate is in use.
    pub fn new(names: Vec<String>, period: usize) -> Self {
        Self {
            done: names.len() < 2,
            names,
            period: period.max(1),
            steps: Vec::new(),
            medians: Vec::new(),
        }
    }

    /// After a step that took so long.
    pub fn seen(&mut self, seconds: f64) -> Next {
        if self.done {
            return Next::Same;
        }
        self.steps.push(seconds);
        if self.steps.len() < self.period {
            return Next::Same;
        }
        self.medians.push(median(&mut self.steps));
        self.steps.clear();
        if self.medians.len() < self.names.len() {
            return Next::Try(self.medians.len());
        }
        self.done = true;
        let best = (0..self.medians.len())
            .min_by(|a, b| self.medians[*a].total_cmp(&self.medians[*b]))
            .unwrap_or(0);
        let words = format!(
            "tuned: {} at {:.3} ms a step, the first choice {:.3} ms",
            self.names[best],
            1e3 * self.medians[best],
            1e3 * self.medians[0]
        );
        Next::Keep(best, words)
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
            match t.seen(cost[now] + noise) {
                Next::Same => {}
                Next::Try(n) => now = n,
                Next::Keep(n, words) => kept = Some((n, words)),
            }
            steps += 1;
        }
        let (n, words) = kept.unwrap();
        assert_eq!((n, steps), (1, 120));
        assert!(words.contains("tuned: b"), "{words}");
        assert_eq!(t.seen(1.0), Next::Same);
        assert_eq!(Tuner::new(vec!["a".into()], 1).seen(1.0), Next::Same);
    }
}
