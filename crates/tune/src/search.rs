//! The ask/tell loop with a strategy, and its budget.

use crate::points::Points;
use crate::strategy::{Ask, History, Proposal, Strategy};
use std::collections::HashSet;

/// A search under way.
pub struct Search<'a> {
    strategy: &'a mut dyn Strategy,
    points: &'a dyn Points,
    /// The trials so far.
    pub history: History,
    /// Source of random numbers.
    pub rng: fastrand::Rng,
    /// Full measurements at most.
    most: usize,
    /// Full measurements done; a short one counts as its part.
    spent: f64,
    /// Asked so often without anything new.
    idle: usize,
}

impl<'a> Search<'a> {
    /// A search of at most `most` full measurements, and no more than there are points.
    pub fn new(
        strategy: &'a mut dyn Strategy,
        points: &'a dyn Points,
        most: usize,
        seed: u64,
    ) -> Self {
        Self {
            strategy,
            points,
            history: History::default(),
            rng: fastrand::Rng::with_seed(seed),
            most: most.min(usize::try_from(points.len()).unwrap_or(usize::MAX)),
            spent: 0.0,
            idle: 0,
        }
    }

    /// Maximum number of full measurements.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Whether the budget is spent.
    pub fn over(&self) -> bool {
        self.spent >= self.most as f64 - 1e-9
    }

    fn left(&self) -> usize {
        (self.most as f64 - self.spent).ceil() as usize
    }

    /// The next points to measure, none of them known or twice in the list; may be empty when the
    /// strategy repeats itself, then ask again. A strategy at its end is carried on by random
    /// points. `None` when the budget is used or everything is known.
    pub fn ask(&mut self) -> Option<Vec<Proposal>> {
        if self.over() {
            return None;
        }
        let ask = Ask {
            points: self.points,
            history: &self.history,
            left: self.left(),
            budget: self.most,
        };
        let mut proposals = self.strategy.ask(&ask, &mut self.rng);
        if proposals.is_empty() || self.idle > 50 {
            proposals = vec![self.unknown()?.into()];
        }
        let mut seen = HashSet::new();
        proposals.retain(|p| {
            !self.history.knows(p.point, p.effort) && seen.insert((p.point, p.effort.to_bits()))
        });
        self.idle += 1;
        Some(proposals)
    }

    /// What a proposal gave: its costs, or `None` when it failed.
    pub fn tell(&mut self, point: u64, costs: Option<Vec<f64>>, effort: f64) {
        self.history.add(point, costs, effort);
        self.spent += effort;
        self.idle = 0;
    }

    /// A random point that is not known; in a large space found by trying.
    fn unknown(&mut self) -> Option<u64> {
        let n = self.points.len();
        for _ in 0..1000 {
            let p = self.rng.u64(..n);
            if !self.history.knows(p, 1.0) {
                return Some(p);
            }
        }
        (0..n).find(|&p| !self.history.knows(p, 1.0))
    }
}
