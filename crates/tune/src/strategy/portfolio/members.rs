//! The members: each names a point from the trials of all.

use crate::strategy::anneal::step;
use crate::strategy::surrogate::Known;
use crate::strategy::{Ask, fresh};

/// Trials from which a tree tells neighbours apart.
const FEW: usize = 8;
/// Points whose neighbours local search looks at.
const ELITE: usize = 5;
/// One in so many trials is good enough to descend from.
const PROMISING: usize = 5;

/// A search method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// Thompson sampling on randomised trees, and children of the best.
    Forest,
    /// Expected improvement of a Gaussian process.
    Process,
    /// A random walk from the best that takes worse points with a falling chance.
    Anneal,
    /// Neighbours of the best, the most promising first.
    Local,
    /// Descents from random points.
    Restarts,
}

/// Where the walks are.
#[derive(Default)]
pub struct Walk {
    /// Annealing: its point, and the one it tried.
    anneal: Option<u64>,
    tried: Option<u64>,
    /// The descent's point.
    descent: Option<u64>,
}

impl Member {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Forest,
        Self::Process,
        Self::Anneal,
        Self::Local,
        Self::Restarts,
    ];

    /// What its first trials count as worth, which decides the turns when nobody finds anything: the models then go to
    /// what they know least.
    pub fn prior(self) -> f64 {
        match self {
            Self::Forest => 12.0,
            Self::Process => 3.0,
            Self::Anneal | Self::Local | Self::Restarts => 0.4,
        }
    }

    /// A new point; `None` when the member has none.
    pub fn propose(
        self,
        ask: &Ask,
        known: &mut Known,
        walk: &mut Walk,
        out: &[u64],
        rng: &mut fastrand::Rng,
    ) -> Option<u64> {
        match self {
            // As the strategy `forest`: one child beside the points of a question.
            Self::Forest if rng.usize(..1 + at_once(ask.budget)) == 0 => known.child(out, rng),
            Self::Forest => known.by_forest(1, rng).pop(),
            Self::Process => known.next_of_process(out, rng),
            Self::Anneal => walk.anneal(ask, known, out, rng),
            Self::Local => local(ask, known, out, rng),
            Self::Restarts => Some(walk.descend(ask, known, out, rng)),
        }
    }
}

/// The most promising unknown neighbour of the best point that has one.
fn local(ask: &Ask, known: &Known, out: &[u64], rng: &mut fastrand::Rng) -> Option<u64> {
    known.ranked.iter().take(ELITE).find_map(|&p| {
        let near = new_neighbours(ask, known, p, out);
        match near.len() {
            0 => None,
            n if known.ranked.len() < FEW => Some(near[rng.usize(..n)]),
            _ => known.best_of(&near, rng),
        }
    })
}

fn new_neighbours(ask: &Ask, known: &Known, p: u64, out: &[u64]) -> Vec<u64> {
    let mut near = ask.points.neighbours(p);
    near.retain(|&n| known.is_new(n, out));
    near
}

impl Walk {
    fn anneal(
        &mut self,
        ask: &Ask,
        known: &Known,
        out: &[u64],
        rng: &mut fastrand::Rng,
    ) -> Option<u64> {
        let here = self.anneal.unwrap_or(known.ranked[0]);
        let mut here = step(ask, here, self.tried.take(), rng);
        let mut near = new_neighbours(ask, known, here, out);
        if near.is_empty() {
            // Nothing new here: on from the best that has new neighbours.
            here = known.ranked[rng.usize(..known.ranked.len().min(ELITE))];
            near = new_neighbours(ask, known, here, out);
        }
        self.anneal = Some(here);
        if near.is_empty() {
            return None;
        }
        let next = near[rng.usize(..near.len())];
        self.tried = Some(next);
        Some(next)
    }

    /// First improvement: on to any better neighbour, known ones at no cost; at a minimum a random point.
    fn descend(&mut self, ask: &Ask, known: &Known, out: &[u64], rng: &mut fastrand::Rng) -> u64 {
        while let Some(here) = self.descent.filter(|&p| ask.history.cost(p).is_finite()) {
            let near = ask.points.neighbours(here);
            let best = near.into_iter().min_by(|a, b| ask.history.compare(*a, *b));
            let better = best.filter(|b| ask.history.compare(*b, here).is_lt());
            if better.is_some() {
                self.descent = better;
                continue;
            }
            let new = new_neighbours(ask, known, here, out);
            let rank = known.ranked.iter().position(|&p| p == here);
            if !new.is_empty() && rank.is_some_and(|r| r * PROMISING < known.ranked.len()) {
                return new[rng.usize(..new.len())];
            }
            break;
        }
        let start = fresh(ask, rng);
        self.descent = Some(start);
        start
    }
}

/// Proposals of a question.
pub(super) fn at_once(budget: usize) -> usize {
    (budget / PER_PROPOSAL).clamp(1, AT_ONCE)
}

/// Proposals of a question: one for each so many trials of the budget.
pub(super) const PER_PROPOSAL: usize = 110;
/// Proposals of a question at most.
pub(super) const AT_ONCE: usize = 8;
