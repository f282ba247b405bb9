//! What models learn from the trials so far, and the points that they name.

use crate::points::Points;
use crate::strategy::{Ask, child, fresh};
use crate::surrogate::{Features, Forest, ForestPlan, Process};
use std::collections::HashSet;

/// Points ranked at each step at most; larger spaces are sampled.
const RANKED: u64 = 20_000;
/// Points drawn from a larger space.
const DRAWN: usize = 5_000;
/// Parents of children, and children looked at for each that is proposed.
const PARENTS: usize = 16;
const BROOD: usize = 20;
const MUTATION: f64 = 0.15;
/// Trials that a Gaussian process learns from at most: its cost grows with the cube.
const PROCESS: usize = 120;
/// Steps of its likelihood: the first time, and when there are a sixteenth more trials.
const STEPS: (usize, usize) = (25, 3);
/// Points drawn for it where there are more; the neighbours of the best come with them.
const WEIGHED: usize = 600;

/// A point and its features.
type Featured = (u64, Vec<f64>);

/// What a search keeps between questions.
pub struct Models {
    features: Features,
    /// All points, where the space is small enough.
    all: Option<Vec<Featured>>,
    /// Chance of failure.
    risk: Option<Risk>,
    process: Option<Process>,
    /// Trials when its likelihood was last climbed.
    process_at: usize,
}

/// Chance that a point fails, learnt when the history had so many entries.
struct Risk {
    forest: Forest,
    /// Of all points, where they are listed.
    all: Vec<f64>,
    entries: usize,
}

/// The trials so far.
pub struct Known<'a> {
    ask: &'a Ask<'a>,
    models: &'a mut Models,
    /// Points from best to worst, features and logarithms of costs in the same order.
    pub ranked: Vec<u64>,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    /// Points that are being measured.
    open: &'a dyn Fn(u64) -> bool,
    /// What the process named already.
    weighed: Option<Vec<u64>>,
}

impl Models {
    pub fn new(points: &dyn Points) -> Self {
        let features = Features::new(points, true);
        let all = (points.len() <= RANKED).then(|| {
            let of = |p| (p, features.of(&points.coordinates(p)));
            (0..points.len()).map(of).collect()
        });
        Self {
            features,
            all,
            risk: None,
            process: None,
            process_at: 0,
        }
    }
}

/// Points that were measured and their costs.
pub fn measured(ask: &Ask) -> Vec<(u64, f64)> {
    ask.history
        .iter()
        .filter_map(|(p, c)| Some((p, c.filter(|c| *c > 0.0)?)))
        .collect()
}

/// Size of a first look around: a few points a dimension, at most a quarter of the budget.
pub fn first_look(ask: &Ask) -> usize {
    let dimensions = ask.points.values().iter().filter(|v| v.len() > 1).count();
    (3 * dimensions).clamp(8, 40).min((ask.budget / 4).max(4))
}

impl<'a> Known<'a> {
    pub fn new(
        ask: &'a Ask,
        models: &'a mut Models,
        mut good: Vec<(u64, f64)>,
        open: &'a dyn Fn(u64) -> bool,
        rng: &mut fastrand::Rng,
    ) -> Self {
        good.sort_by(|a, b| a.1.total_cmp(&b.1));
        let of = |p: u64| match &models.all {
            Some(all) => all[p as usize].1.clone(),
            None => models.features.of(&ask.points.coordinates(p)),
        };
        let x: Vec<Vec<f64>> = good.iter().map(|g| of(g.0)).collect();
        let entries = ask.history.len();
        let failed = entries.saturating_sub(good.len());
        let before = models.risk.as_ref().map_or(0, |r| r.entries);
        if failed > 2 && (before == 0 || entries > before + before / 16) {
            let mut fx = x.clone();
            let mut fy = vec![0.0; x.len()];
            let points = ask.history.iter().filter(|(_, c)| c.is_none());
            fx.extend(points.map(|(p, _)| of(p)));
            fy.resize(fx.len(), 1.0);
            let plan = ForestPlan {
                trees: 16,
                ..ForestPlan::default()
            };
            let forest = Forest::fit(&fx, &fy, plan, rng);
            let all = models.all.iter().flatten();
            let all = all.map(|(_, x)| forest.predict(x).0).collect();
            models.risk = Some(Risk {
                forest,
                all,
                entries,
            });
        }
        Self {
            ask,
            ranked: good.iter().map(|g| g.0).collect(),
            x,
            y: good.iter().map(|g| g.1.ln()).collect(),
            models,
            open,
            weighed: None,
        }
    }

    /// Chance of failure: it weighs like a factor e on the cost.
    fn risk(&self, p: u64, x: &[f64]) -> f64 {
        let Some(risk) = &self.models.risk else {
            return 0.0;
        };
        let listed = usize::try_from(p).ok().and_then(|p| risk.all.get(p));
        listed.map_or_else(|| risk.forest.predict(x).0, |r| *r)
    }

    pub fn is_new(&self, p: u64, out: &[u64]) -> bool {
        !self.ask.history.knows(p, 1.0) && !(self.open)(p) && !out.contains(&p)
    }

    /// A plausible truth: a tree of a bootstrap sample of the trials.
    fn tree(&self, rng: &mut fastrand::Rng) -> Forest {
        let plan = ForestPlan {
            trees: 1,
            bootstrap: true,
            ..ForestPlan::default()
        };
        Forest::fit(&self.x, &self.y, plan, rng)
    }

    /// A point's value in the eyes of a tree. Ties, which one tree has many of, fall at random.
    fn value(&self, tree: &Forest, p: u64, x: &[f64], rng: &mut fastrand::Rng) -> f64 {
        tree.of_tree(0, x) + self.risk(p, x) + 1e-9 * rng.f64()
    }

    /// The best of some points in the eyes of a tree drawn at random.
    pub fn best_of(&self, points: &[u64], rng: &mut fastrand::Rng) -> Option<u64> {
        let tree = self.tree(rng);
        points
            .iter()
            .map(|&p| (self.value(&tree, p, &self.features(p), rng), p))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|b| b.1)
    }

    fn features(&self, p: u64) -> std::borrow::Cow<'_, [f64]> {
        match &self.models.all {
            Some(all) => (&all[p as usize].1[..]).into(),
            None => (self.models.features.of(&self.ask.points.coordinates(p))).into(),
        }
    }

    /// Points to choose from: all, or of a large space some at random and those around the best.
    fn candidates(&self, rng: &mut fastrand::Rng) -> Vec<u64> {
        let points = self.ask.points;
        if self.models.all.is_some() {
            return (0..points.len()).collect();
        }
        self.some(DRAWN, rng)
    }

    /// Points drawn at random and those around the best.
    fn some(&self, drawn: usize, rng: &mut fastrand::Rng) -> Vec<u64> {
        let points = self.ask.points;
        let best = self.ranked.iter().take(8);
        let mut some: HashSet<u64> = best.flat_map(|&p| points.neighbours(p)).collect();
        for _ in 0..drawn {
            some.insert(rng.u64(..points.len()));
        }
        let mut some: Vec<u64> = some.into_iter().collect();
        some.sort_unstable();
        some
    }

    /// Proposals of the forest: as many, each the best of all points in the eyes of one tree.
    pub fn by_forest(&self, many: usize, rng: &mut fastrand::Rng) -> Vec<u64> {
        let candidates = self.candidates(rng);
        let mut out = Vec::new();
        for _ in 0..many {
            let new = candidates.iter().copied();
            let new: Vec<u64> = new.filter(|&p| self.is_new(p, &out)).collect();
            out.extend(self.best_of(&new, rng));
        }
        out
    }

    /// The child of good points that a tree likes best.
    pub fn child(&self, out: &[u64], rng: &mut fastrand::Rng) -> Option<u64> {
        let top = self.ranked.len().min(PARENTS);
        let parent = |rng: &mut fastrand::Rng| self.ranked[rng.usize(..top).min(rng.usize(..top))];
        let mut brood = Vec::new();
        for _ in 0..BROOD {
            let parents = (parent(rng), parent(rng));
            let p = child(self.ask, parents, MUTATION, rng);
            if self.is_new(p, out) {
                brood.push(p);
            }
        }
        self.best_of(&brood, rng)
    }

    /// The next proposal of the process, which is fitted once a question.
    pub fn next_of_process(&mut self, out: &[u64], rng: &mut fastrand::Rng) -> Option<u64> {
        let mut weighed = match self.weighed.take() {
            Some(w) => w,
            None => self.by_process(16, rng),
        };
        weighed.retain(|&p| self.is_new(p, out));
        let next = (!weighed.is_empty()).then(|| weighed.remove(0));
        self.weighed = Some(weighed);
        next
    }

    /// Proposals of the Gaussian process, at most so many, by expected improvement.
    pub fn by_process(&mut self, many: usize, rng: &mut fastrand::Rng) -> Vec<u64> {
        // The best trials and a random part of the rest.
        let mut order: Vec<usize> = (0..self.y.len()).collect();
        if order.len() > PROCESS {
            rng.shuffle(&mut order[PROCESS / 2..]);
            order.truncate(PROCESS);
        }
        let single = self.models.features.single();
        let x: Vec<Vec<f64>> = order
            .iter()
            .map(|&i| self.x[i][..single].to_vec())
            .collect();
        let y: Vec<f64> = order.iter().map(|&i| self.y[i]).collect();
        let before = self.models.process.as_ref();
        let (now, then) = (self.y.len(), self.models.process_at);
        let steps = match before {
            None => STEPS.0,
            Some(_) if now > then + then / 16 => STEPS.1,
            Some(_) => 0,
        };
        if steps > 0 {
            self.models.process_at = now;
        }
        self.models.process = Process::fit_from(before, &x, &y, steps);
        let Some(process) = &self.models.process else {
            return vec![fresh(self.ask, rng)];
        };
        let candidates = match self.ask.points.len() {
            n if n <= WEIGHED as u64 => (0..n).collect(),
            _ => self.some(WEIGHED, rng),
        };
        let candidates: Vec<u64> = (candidates.into_iter())
            .filter(|&p| self.is_new(p, &[]))
            .collect();
        let rows: Vec<_> = candidates.iter().map(|&p| self.features(p)).collect();
        let plain: Vec<&[f64]> = rows.iter().map(|r| &r[..single]).collect();
        let mut scored: Vec<(f64, u64)> = (candidates.iter().zip(&rows))
            .zip(process.predict_all(&plain))
            .map(|((&p, x), (mean, sd))| {
                (
                    (1.0 - self.risk(p, x)) * improvement(self.y[0], mean, sd),
                    p,
                )
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.truncate(many);
        scored.into_iter().map(|s| s.1).collect()
    }
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
