//! Successive halving: many points measured briefly, the better half again for twice as long.

use super::{Ask, Proposal, Strategy, fresh};

/// Shortest measurement, as a share of a full one.
const LEAST: f64 = 1.0 / 8.0;

/// Points of one bracket at most.
const BRACKET: usize = 64;

#[derive(Default)]
pub struct Halving {
    racing: Vec<u64>,
    effort: f64,
}

impl Strategy for Halving {
    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        if self.racing.len() <= 1 || self.effort >= 1.0 {
            let n = BRACKET.min(2 * ask.left.max(4));
            self.racing = (0..n).map(|_| fresh(ask, rng)).collect();
            // What earlier brackets found keeps racing.
            if let Some((best, _)) = ask.history.best() {
                let mut near = ask.points.neighbours(best);
                rng.shuffle(&mut near);
                near.retain(|&p| !ask.history.knows(p, LEAST));
                for (slot, p) in self.racing.iter_mut().zip(near.into_iter().take(n / 2)) {
                    *slot = p;
                }
            }
            self.effort = LEAST;
        } else {
            self.racing.sort_by(|&a, &b| ask.history.compare(a, b));
            self.racing.dedup();
            self.racing.truncate(self.racing.len().div_ceil(2));
            self.effort = (self.effort * 2.0).min(1.0);
        }
        self.racing
            .iter()
            .map(|&point| Proposal {
                point,
                effort: self.effort,
            })
            .collect()
    }
}
