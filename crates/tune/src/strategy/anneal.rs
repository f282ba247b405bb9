//! Simulated annealing: worse neighbours are taken with a chance that falls with the budget.

use super::{Ask, Proposal, Strategy, fresh};

#[derive(Default)]
pub struct Anneal {
    at: Option<u64>,
    tried: Option<u64>,
    stuck: usize,
}

/// Relative worsening taken with chance 1/e, at the start and at the end.
const HOT: f64 = 0.3;
const COLD: f64 = 0.003;

/// Where a walk is after it tried a point: there if that is better, or by chance.
pub(super) fn step(ask: &Ask, here: u64, tried: Option<u64>, rng: &mut fastrand::Rng) -> u64 {
    let Some(p) = tried else {
        return here;
    };
    let done = 1.0 - ask.left as f64 / ask.budget.max(1) as f64;
    let heat = HOT * (COLD / HOT).powf(done);
    let (old, new) = (ask.history.cost(here), ask.history.cost(p));
    let worse = if old.is_finite() {
        new / old - 1.0
    } else {
        -1.0
    };
    let taken = worse <= 0.0 || rng.f64() < (-worse / heat).exp();
    if taken { p } else { here }
}

impl Strategy for Anneal {
    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        let Some(here) = self.at else {
            let p = fresh(ask, rng);
            self.at = Some(p);
            return vec![p.into()];
        };
        let mut here = step(ask, here, self.tried.take(), rng);
        let near = ask.points.neighbours(here);
        let unknown: Vec<u64> = near
            .iter()
            .copied()
            .filter(|&p| !ask.history.knows(p, 1.0))
            .collect();
        self.stuck = if unknown.is_empty() {
            self.stuck + 1
        } else {
            0
        };
        let next = if self.stuck > 20 || near.is_empty() {
            self.stuck = 0;
            here = fresh(ask, rng);
            here
        } else if unknown.is_empty() {
            near[rng.usize(..near.len())]
        } else {
            unknown[rng.usize(..unknown.len())]
        };
        self.at = Some(here);
        self.tried = Some(next);
        vec![next.into()]
    }
}
