//! What a strategy is asked, what it sees, and what it proposes.

use crate::points::Points;
use std::collections::HashMap;

/// A point to evaluate, and with how much of the usual measuring time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proposal {
    /// Number of the point.
    pub point: u64,
    /// In (0, 1]; 1 is a full measurement.
    pub effort: f64,
}

impl From<u64> for Proposal {
    fn from(point: u64) -> Self {
        Self { point, effort: 1.0 }
    }
}

/// What evaluations found.
#[derive(Default)]
pub struct History {
    /// Point, values to minimise (`None` when the trial failed), effort; in order.
    entries: Vec<(u64, Option<Vec<f64>>, f64)>,
    at: HashMap<u64, usize>,
    fully: usize,
}

impl History {
    /// Records a result; a later one with at least the effort replaces an earlier one.
    pub fn add(&mut self, point: u64, costs: Option<Vec<f64>>, effort: f64) {
        match self.at.get(&point) {
            Some(&i) => {
                if effort >= self.entries[i].2 {
                    self.fully += usize::from(effort >= 1.0 && self.entries[i].2 < 1.0);
                    self.entries[i] = (point, costs, effort);
                }
            }
            None => {
                self.at.insert(point, self.entries.len());
                self.fully += usize::from(effort >= 1.0);
                self.entries.push((point, costs, effort));
            }
        }
    }

    /// Number of evaluated points.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no point was evaluated.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether the point was evaluated with at least this effort; a failure is final.
    pub fn knows(&self, point: u64, effort: f64) -> bool {
        self.at
            .get(&point)
            .is_some_and(|&i| self.entries[i].2 >= effort || self.entries[i].1.is_none())
    }

    /// Number of objectives; 1 before the first success.
    pub fn objectives(&self) -> usize {
        let first = self.entries.iter().find_map(|e| e.1.as_ref());
        first.map_or(1, |c| c.len().max(1))
    }

    /// The same history with one objective alone.
    pub fn of_objective(&self, i: usize) -> Self {
        let mut out = Self::default();
        for (p, costs, effort) in &self.entries {
            let cost = costs.as_ref().and_then(|c| c.get(i));
            out.add(*p, cost.map(|c| vec![*c]), *effort);
        }
        out
    }

    /// The first objective; infinite for a failure or an unknown point.
    pub fn cost(&self, point: u64) -> f64 {
        self.costs(point).map_or(f64::INFINITY, |c| c[0])
    }

    /// The order of two points by the first objective.
    pub(super) fn compare(&self, a: u64, b: u64) -> std::cmp::Ordering {
        self.cost(a).total_cmp(&self.cost(b))
    }

    /// Values of the objectives at a point; `None` if it failed or was not evaluated.
    pub fn costs(&self, point: u64) -> Option<&[f64]> {
        self.at
            .get(&point)
            .and_then(|&i| self.entries[i].1.as_deref())
    }

    /// Points and their first objective, `None` for failures.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Option<f64>)> + '_ {
        self.entries
            .iter()
            .map(|(p, c, _)| (*p, c.as_ref().map(|c| c[0])))
    }

    /// How many points were known when the best was found.
    pub fn best_at(&self) -> usize {
        let best = self.best().map(|b| b.0);
        self.entries
            .iter()
            .position(|e| Some(e.0) == best)
            .map_or(0, |i| i + 1)
    }

    /// The best point so far.
    pub fn best(&self) -> Option<(u64, f64)> {
        self.iter()
            .filter_map(|(p, c)| Some((p, c?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// What a strategy may look at when asked.
pub struct Ask<'a> {
    /// The space.
    pub points: &'a dyn Points,
    /// The trials so far.
    pub history: &'a History,
    /// Evaluations left in the budget.
    pub left: usize,
    /// Evaluations of the whole budget.
    pub budget: usize,
}

impl Ask<'_> {
    /// Number of values of each parameter.
    pub(super) fn sizes(&self) -> Vec<u32> {
        self.points
            .values()
            .iter()
            .map(|v| v.len() as u32)
            .collect()
    }
}

/// Which results a strategy must know before it is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// None: its points do not depend on results, nor on the order in which they come.
    None,
    /// Some of its last points may still be measured; it learns from those that were.
    Partial,
    /// Those of all points it proposed.
    Complete,
}

/// A search method. Asked for points, it looks at what the earlier ones gave.
pub trait Strategy: Send {
    /// Which results it must know before it is asked again.
    fn feedback(&self) -> Feedback {
        Feedback::Complete
    }

    /// Whether random points follow at its end, while the budget lasts.
    fn carried_on(&self) -> bool {
        true
    }

    /// The next points, best first; they may be built together and are measured in order. Points
    /// already known cost nothing. None: the strategy is at its end.
    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal>;
}

impl<T: Strategy + ?Sized> Strategy for &mut T {
    fn feedback(&self) -> Feedback {
        (**self).feedback()
    }

    fn carried_on(&self) -> bool {
        (**self).carried_on()
    }

    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        (**self).ask(ask, rng)
    }
}

/// A random point not yet known; any random point when nearly all are.
pub(super) fn fresh(ask: &Ask, rng: &mut fastrand::Rng) -> u64 {
    let n = ask.points.len();
    for _ in 0..200 {
        let p = rng.u64(..n);
        if !ask.history.knows(p, 1.0) {
            return p;
        }
    }
    rng.u64(..n)
}

/// A child of two points: each coordinate of one of them, or with the chance `mutation` any.
pub(super) fn child(ask: &Ask, (a, b): (u64, u64), mutation: f64, rng: &mut fastrand::Rng) -> u64 {
    let (a, b) = (ask.points.coordinates(a), ask.points.coordinates(b));
    let wished: Vec<u32> = (ask.sizes().iter().zip(a.iter().zip(&b)))
        .map(|(&n, (&x, &y))| {
            if rng.f64() < mutation {
                rng.u32(..n)
            } else if rng.bool() {
                x
            } else {
                y
            }
        })
        .collect();
    nearest(ask, &wished, rng)
}

/// The valid point nearest to wished coordinates: they themselves, else a neighbour in one or two
/// coordinates, else a random one.
pub(super) fn nearest(ask: &Ask, wished: &[u32], rng: &mut fastrand::Rng) -> u64 {
    if let Some(p) = ask.points.find(wished) {
        return p;
    }
    let sizes = ask.sizes();
    let mut c = wished.to_vec();
    let mut order: Vec<usize> = (0..c.len()).collect();
    rng.shuffle(&mut order);
    for reach in 1..4 {
        for &p in &order {
            let own = c[p];
            for v in [own.saturating_sub(reach), (own + reach).min(sizes[p] - 1)] {
                c[p] = v;
                if let Some(found) = ask.points.find(&c) {
                    return found;
                }
            }
            c[p] = own;
        }
    }
    for _ in 0..60 {
        let mut c = wished.to_vec();
        for _ in 0..2 {
            let p = rng.usize(..c.len());
            c[p] = rng.u32(..sizes[p]);
        }
        if let Some(found) = ask.points.find(&c) {
            return found;
        }
    }
    fresh(ask, rng)
}
