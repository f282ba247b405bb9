//! Bayesian search: a model learns from the trials and names the points to try next.
//!
//! The forest proposes by Thompson sampling: each proposal is the best point in the eyes of one
//! tree drawn at random, so that points are tried as often as they are likely to be the best.
//! Between them come children of the best points (as of a genetic algorithm), chosen among many by
//! a tree. The Gaussian process proposes by expected improvement; where the budget is small it does so
//! beside the forest too.

use super::{Ask, Feedback, Proposal, Strategy, fresh, nearest};
use crate::surrogate::{Features, Forest, ForestPlan, Process};
use std::collections::HashSet;

/// Points ranked at each step at most; larger spaces are sampled.
const RANKED: u64 = 20_000;
/// Points drawn from a larger space.
const DRAWN: usize = 5_000;
/// Parents of children, and children looked at for each that is proposed.
const PARENTS: usize = 16;
const BROOD: usize = 20;
/// Share of the budget without a better point after which random points are mixed in.
const STALE: usize = 4;
/// Trials without a better point that are never too many.
const PATIENCE: usize = 80;
const MUTATION: f64 = 0.15;
/// Trials that a Gaussian process learns from at most: its cost grows with the cube.
const PROCESS: usize = 200;

/// Budgets up to which a process proposes beside the forest: trees learn little from so few trials.
const FEW: usize = 200;

/// Steps of its likelihood; a search refits it often.
const STEPS: usize = 25;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Forest,
    Process,
}

pub struct Surrogate {
    kind: Kind,
    features: Option<Features>,
    /// All points with their features, where the space is small enough.
    all: Option<Vec<(u64, Vec<f64>)>>,
    /// The process that proposes beside the forest where the budget is small.
    beside: Option<Box<Surrogate>>,
    asked: usize,
}

impl Surrogate {
    pub fn forest() -> Self {
        Self::new(Kind::Forest)
    }

    pub fn gaussian_process() -> Self {
        Self::new(Kind::Process)
    }

    fn new(kind: Kind) -> Self {
        Self {
            kind,
            features: None,
            all: None,
            beside: None,
            asked: 0,
        }
    }
}

/// What the models learnt from the trials so far.
struct Known<'a> {
    ask: &'a Ask<'a>,
    features: &'a Features,
    /// Points from best to worst, features and logarithms of costs in the same order.
    ranked: Vec<u64>,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    /// Chance that a point fails, where some did.
    fails: Option<Forest>,
}

impl<'a> Known<'a> {
    fn new(
        ask: &'a Ask,
        features: &'a Features,
        good: &[(u64, f64)],
        rng: &mut fastrand::Rng,
    ) -> Self {
        let mut good = good.to_vec();
        good.sort_by(|a, b| a.1.total_cmp(&b.1));
        let of = |p: u64| features.of(&ask.points.coordinates(p));
        let x: Vec<Vec<f64>> = good.iter().map(|g| of(g.0)).collect();
        let failed: Vec<u64> = ask
            .history
            .iter()
            .filter(|(_, c)| c.is_none())
            .map(|(p, _)| p)
            .collect();
        let fails = (failed.len() > 2).then(|| {
            let mut fx = x.clone();
            let mut fy = vec![0.0; x.len()];
            fx.extend(failed.iter().map(|&p| of(p)));
            fy.resize(fx.len(), 1.0);
            let plan = ForestPlan {
                trees: 16,
                ..ForestPlan::default()
            };
            Forest::fit(&fx, &fy, plan, rng)
        });
        Self {
            ask,
            features,
            ranked: good.iter().map(|g| g.0).collect(),
            x,
            y: good.iter().map(|g| g.1.ln()).collect(),
            fails,
        }
    }

    /// Chance of failure: it weighs like a factor e on the cost.
    fn risk(&self, x: &[f64]) -> f64 {
        self.fails.as_ref().map_or(0.0, |f| f.predict(x).0)
    }

    fn new_to(&self, p: u64, out: &[u64]) -> bool {
        !self.ask.history.knows(p, 1.0) && !out.contains(&p)
    }

    /// Proposals of the forest.
    fn by_forest(&self, candidates: &[(u64, Vec<f64>)], rng: &mut fastrand::Rng) -> Vec<u64> {
        let plan = ForestPlan {
            bootstrap: true,
            ..ForestPlan::default()
        };
        let forest = Forest::fit(&self.x, &self.y, plan, rng);
        let batch = (self.ask.budget / 110).clamp(1, 8);
        let mut out = Vec::new();
        for _ in 0..batch {
            let tree = rng.usize(..plan.trees);
            let best = candidates
                .iter()
                .filter(|(p, _)| self.new_to(*p, &out))
                // Ties, which one tree has many of, fall at random.
                .map(|(p, x)| {
                    (
                        forest.of_tree(tree, x) + self.risk(x) + 1e-9 * rng.f64(),
                        *p,
                    )
                })
                .min_by(|a, b| a.0.total_cmp(&b.0));
            out.extend(best.map(|b| b.1));
        }
        out.extend(self.child(&forest, &out, rng));
        out
    }

    /// The child of good points that a tree likes best.
    fn child(&self, forest: &Forest, out: &[u64], rng: &mut fastrand::Rng) -> Option<u64> {
        let points = self.ask.points;
        let top = self.ranked.len().min(PARENTS);
        let tree = rng.usize(..ForestPlan::default().trees);
        let parent = |rng: &mut fastrand::Rng| {
            points.coordinates(self.ranked[rng.usize(..top).min(rng.usize(..top))])
        };
        let mut best: Option<(f64, u64)> = None;
        for _ in 0..BROOD {
            let (a, b) = (parent(rng), parent(rng));
            let child: Vec<u32> = points
                .values()
                .iter()
                .enumerate()
                .map(|(i, values)| {
                    if rng.f64() < MUTATION {
                        rng.u32(..values.len() as u32)
                    } else if rng.bool() {
                        a[i]
                    } else {
                        b[i]
                    }
                })
                .collect();
            let p = nearest(self.ask, &child, rng);
            if !self.new_to(p, out) {
                continue;
            }
            let x = self.features.of(&points.coordinates(p));
            let value = forest.of_tree(tree, &x) + self.risk(&x);
            if best.is_none_or(|(v, _)| value < v) {
                best = Some((value, p));
            }
        }
        best.map(|b| b.1)
    }

    /// Proposals of the Gaussian process.
    fn by_process(&self, candidates: &[(u64, Vec<f64>)], rng: &mut fastrand::Rng) -> Vec<u64> {
        // The best trials and a random part of the rest.
        let mut order: Vec<usize> = (0..self.y.len()).collect();
        if order.len() > PROCESS {
            rng.shuffle(&mut order[PROCESS / 2..]);
            order.truncate(PROCESS);
        }
        let x: Vec<Vec<f64>> = order.iter().map(|&i| self.x[i].clone()).collect();
        let y: Vec<f64> = order.iter().map(|&i| self.y[i]).collect();
        let Some(process) = Process::fit(&x, &y, STEPS) else {
            return vec![fresh(self.ask, rng)];
        };
        let mut scored: Vec<(f64, u64)> = candidates
            .iter()
            .filter(|(p, _)| self.new_to(*p, &[]))
            .map(|(p, x)| {
                let (mean, sd) = process.predict(x);
                ((1.0 - self.risk(x)) * improvement(self.y[0], mean, sd), *p)
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.truncate((self.ask.budget / 60).clamp(2, 8));
        scored.into_iter().map(|s| s.1).collect()
    }
}

impl Strategy for Surrogate {
    fn feedback(&self) -> Feedback {
        Feedback::Partial
    }

    fn ask(&mut self, ask: &Ask, rng: &mut fastrand::Rng) -> Vec<Proposal> {
        let points = ask.points;
        let forest = self.kind == Kind::Forest;
        let features = self
            .features
            .get_or_insert_with(|| Features::new(points, forest));
        let dimensions = points.values().iter().filter(|v| v.len() > 1).count();
        let good: Vec<(u64, f64)> = ask
            .history
            .iter()
            .filter_map(|(p, c)| Some((p, c.filter(|c| *c > 0.0)?)))
            .collect();
        // A first look around: a few points a dimension, at most a quarter of the budget.
        let first = (3 * dimensions).clamp(8, 40).min((ask.budget / 4).max(4));
        if good.len() < first {
            return (good.len()..first)
                .map(|_| fresh(ask, rng).into())
                .collect();
        }
        if points.len() <= RANKED && self.all.is_none() {
            let all = (0..points.len()).map(|p| (p, features.of(&points.coordinates(p))));
            self.all = Some(all.collect());
        }
        let known = Known::new(ask, features, &good, rng);
        let drawn;
        let candidates = match &self.all {
            Some(all) => all,
            None => {
                drawn = draw(&known, rng);
                &drawn
            }
        };
        // Nothing better for long: the model may know only a corner, so look elsewhere now and then.
        let stale = ask.history.len() - ask.history.best_at();
        self.asked += 1;
        if stale > (ask.budget / STALE).max(PATIENCE) && self.asked.is_multiple_of(4) {
            return (0..3).map(|_| fresh(ask, rng).into()).collect();
        }
        let found = if forest {
            let mut found = known.by_forest(candidates, rng);
            if ask.budget <= FEW {
                let process = self
                    .beside
                    .get_or_insert_with(|| Box::new(Self::gaussian_process()));
                let more = process.ask(ask, rng).into_iter().map(|p| p.point);
                let new = more.into_iter().find(|p| !found.contains(p));
                found.extend(new);
            }
            found
        } else {
            known.by_process(candidates, rng)
        };
        found.into_iter().map(Proposal::from).collect()
    }
}

/// Points of a large space to choose from: at random, and around the best.
fn draw(known: &Known, rng: &mut fastrand::Rng) -> Vec<(u64, Vec<f64>)> {
    let points = known.ask.points;
    let mut some: HashSet<u64> = known
        .ranked
        .iter()
        .take(8)
        .flat_map(|&p| points.neighbours(p))
        .collect();
    for _ in 0..DRAWN {
        some.insert(rng.u64(..points.len()));
    }
    let mut some: Vec<u64> = some.into_iter().collect();
    some.sort_unstable();
    some.into_iter()
        .map(|p| (p, known.features.of(&points.coordinates(p))))
        .collect()
}

/// Expected improvement on the best logarithm of cost so far (Jones, Schonlau, Welch 1998).
fn improvement(best: f64, mean: f64, sd: f64) -> f64 {
    // Trees that agree are still not certain.
    let sd = sd.max(1e-4);
    let u = (best - mean) / sd;
    let density = (-0.5 * u * u).exp() / (2.0 * std::f64::consts::PI).sqrt();
    // Logistic approximation of the normal distribution function (error below 2e-4).
    let below = 1.0 / (1.0 + (-1.5976 * u - 0.070_565_992 * u.powi(3)).exp());
    sd * (u * below + density)
}
