//! The ask/tell loop with a strategy, and its budget.

use crate::points::Points;
use crate::strategy::{Ask, Feedback, History, Proposal, Strategy};
use greenup_space::Value;
use std::collections::{HashMap, HashSet};

/// When a search ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// Number of full measurements.
    Evaluations(usize),
    /// Wall-clock time, in a replay the recorded seconds of building, verifying and measuring.
    Seconds(f64),
    /// Fraction of the points of the space, 0 to 1.
    Share(f64),
}

impl Budget {
    /// Most full measurements and most seconds for a space of `points` points.
    pub(crate) fn limits(self, points: u64) -> (usize, f64) {
        match self {
            Self::Evaluations(n) => (n, f64::INFINITY),
            Self::Seconds(s) => (usize::MAX, s),
            Self::Share(x) => (((points as f64 * x).round() as usize).max(1), f64::INFINITY),
        }
    }
}

/// A search under way.
pub struct Search<'a> {
    strategy: Box<dyn Strategy + 'a>,
    points: Box<dyn Points + Send + Sync + 'a>,
    /// The trials so far.
    pub history: History,
    /// Source of random numbers.
    pub rng: fastrand::Rng,
    /// Full measurements at most.
    most: usize,
    /// Full measurements done; a short one counts as its part.
    spent: f64,
    /// Proposals without a result yet, and whether they are being measured.
    pending: HashMap<(u64, u64), bool>,
    /// Full measurements under way.
    begun: f64,
    /// Asked so often without anything new.
    idle: usize,
}

impl<'a> Search<'a> {
    /// A search of at most `most` full measurements, and no more than there are points.
    pub fn new(
        strategy: &'a mut dyn Strategy,
        points: &'a (dyn Points + Sync),
        most: usize,
        seed: u64,
    ) -> Self {
        Self::owning(Box::new(strategy), Box::new(points), most, seed)
    }

    /// The same, with a strategy and points of its own.
    pub fn owning(
        strategy: Box<dyn Strategy + 'a>,
        points: Box<dyn Points + Send + Sync + 'a>,
        most: usize,
        seed: u64,
    ) -> Self {
        Self {
            most: most.min(usize::try_from(points.len()).unwrap_or(usize::MAX)),
            strategy,
            points,
            history: History::default(),
            rng: fastrand::Rng::with_seed(seed),
            spent: 0.0,
            pending: HashMap::new(),
            begun: 0.0,
            idle: 0,
        }
    }

    /// Maximum number of full measurements.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Whether the budget is spent, with what is being measured.
    pub fn over(&self) -> bool {
        self.spent + self.begun >= self.most as f64 - 1e-9
    }

    /// Full measurements left, without those under way.
    pub fn left(&self) -> usize {
        (self.most as f64 - self.spent - self.begun).max(0.0).ceil() as usize
    }

    /// Which results the strategy must know before it is asked again.
    pub fn feedback(&self) -> Feedback {
        self.strategy.feedback()
    }

    /// Whether the strategy chooses points by itself, until all are known.
    pub(crate) fn chooses(&self) -> bool {
        self.strategy.carried_on()
    }

    /// The point with these values; `None` if it is not valid.
    pub fn position(&self, config: &[Value]) -> Option<u64> {
        self.points.position(config)
    }

    /// The next points to measure, none of them known, proposed before or twice in the list; may be empty when the
    /// strategy repeats itself or waits for results, then ask again. A strategy at its end is carried on by random
    /// points. `None` when the budget is used or everything is known.
    pub fn ask(&mut self) -> Option<Vec<Proposal>> {
        if self.over() {
            return None;
        }
        let ask = Ask {
            points: self.points.as_ref(),
            history: &self.history,
            left: self.left(),
            budget: self.most,
        };
        let mut proposals = self.strategy.ask(&ask, &mut self.rng);
        if !self.strategy.carried_on() {
            if proposals.is_empty() {
                return None;
            }
        } else if proposals.is_empty() || self.idle > 50 {
            match self.unknown() {
                Some(p) => proposals = vec![p.into()],
                None if self.pending.is_empty() => return None,
                None => proposals.clear(),
            }
        }
        let mut seen = HashSet::new();
        proposals.retain(|p| {
            !self.history.knows(p.point, p.effort)
                && !self.pending.contains_key(&key(p))
                && seen.insert(key(p))
        });
        self.pending.extend(seen.into_iter().map(|k| (k, false)));
        self.idle += 1;
        Some(proposals)
    }

    /// A proposal is being measured: from now on it counts.
    pub fn begin(&mut self, p: &Proposal) {
        if self.pending.insert(key(p), true) != Some(true) {
            self.begun += p.effort;
        }
    }

    /// What a proposal gave: its costs, or `None` when it failed.
    pub fn tell(&mut self, point: u64, costs: Option<Vec<f64>>, effort: f64) {
        if self.pending.remove(&key(&Proposal { point, effort })) == Some(true) {
            self.begun -= effort;
        }
        self.history.add(point, costs, effort);
        self.spent += effort;
        self.idle = 0;
    }

    /// A random point that is not known; in a large space found by trying.
    fn unknown(&mut self) -> Option<u64> {
        let n = self.points.len();
        for _ in 0..1000 {
            let p = self.rng.u64(..n);
            if self.is_new(p) {
                return Some(p);
            }
        }
        (0..n).find(|&p| self.is_new(p))
    }

    fn is_new(&self, p: u64) -> bool {
        !self.history.knows(p, 1.0) && !self.pending.contains_key(&key(&p.into()))
    }
}

fn key(p: &Proposal) -> (u64, u64) {
    (p.point, p.effort.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Table;
    use crate::strategy::strategy;
    use greenup_space::Value;

    #[test]
    fn proposals_without_a_result_are_not_proposed_again() {
        let rows: Vec<Vec<Value>> = (0..40).map(|x| vec![Value::Int(x)]).collect();
        let line = Table::new(vec!["x".to_owned()], &rows);
        for name in ["random", "forest", "gp", "portfolio"] {
            let mut s = strategy(name, None).unwrap();
            let mut search = Search::new(s.as_mut(), &line, 40, 3);
            let (mut open, mut all) = (Vec::new(), Vec::new());
            while let Some(more) = search.ask() {
                // Four are always under way; they end last come, first served.
                for p in more {
                    all.push(p.point);
                    search.begin(&p);
                    open.push(p);
                }
                while open.len() > 4 || search.over() && !open.is_empty() {
                    let p = open.pop().unwrap();
                    search.tell(p.point, Some(vec![1.0 + p.point as f64]), p.effort);
                }
            }
            all.sort_unstable();
            assert_eq!(all, (0..40).collect::<Vec<u64>>(), "{name}");
        }
    }

    #[test]
    fn measurements_under_way_count() {
        let rows: Vec<Vec<Value>> = (0..40).map(|x| vec![Value::Int(x)]).collect();
        let line = Table::new(vec!["x".to_owned()], &rows);
        let mut s = strategy("random", None).unwrap();
        let mut search = Search::new(s.as_mut(), &line, 3, 1);
        let all = search.ask().unwrap();
        for p in &all[..3] {
            assert!(!search.over());
            search.begin(p);
        }
        assert!(search.over() && search.left() == 0);
        assert_eq!(search.ask(), None);
        for p in &all[..3] {
            search.tell(p.point, None, p.effort);
            assert!(search.over());
        }
    }
}
