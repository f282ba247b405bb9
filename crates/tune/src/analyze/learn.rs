//! The surrogate of the paper's future work: all configs predicted from a calibrating sample,
//! judged on those it has not seen.

use super::Row;
use crate::points::Points as _;
use crate::surrogate::{Features, Forest, ForestPlan, Process};
use crate::sweep::Sweep;
use serde::Serialize;

/// A surrogate model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// A forest of extremely randomised trees.
    Forest,
    /// A Gaussian process.
    GaussianProcess,
    /// Mean of both, of the logarithms.
    Both,
}

/// Accuracy of a model that learned from a sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Learnt {
    /// Number of configs in the sample.
    pub sample: usize,
    /// Number of trials that were held out for testing.
    pub held_out: usize,
    /// The model with the least error in cross-validation on the sample.
    pub model: Model,
    /// Mean of |predicted/measured − 1| over the held-out configs.
    pub mean_error: f64,
    /// Median relative error on the held-out trials.
    pub median_error: f64,
    /// Optimum divided by the best of the sample and of the `tried` configs with the best predictions.
    pub best_fraction: f64,
    /// Number of held-out configs, the models' best predictions, that `best_fraction` counts as measured.
    pub tried: usize,
}

/// Number of configs with the best predictions that count as measured.
const TRIED: usize = 20;

/// Largest sample of a Gaussian process.
const MOST: usize = 600;

/// Steps of the maximisation of its likelihood.
const STEPS: usize = 60;

type Value<'a> = &'a dyn Fn(&Row) -> Option<f64>;

struct Fitted {
    forest: Forest,
    process: Option<Process>,
}

impl Fitted {
    fn new(x: &[Vec<f64>], y: &[f64], rng: &mut fastrand::Rng) -> Self {
        let plan = ForestPlan {
            trees: 128,
            ..ForestPlan::default()
        };
        let most = y.len().min(MOST);
        Self {
            forest: Forest::fit(x, y, plan, rng),
            process: Process::fit(&x[..most], &y[..most], STEPS),
        }
    }

    fn predict(&self, model: Model, x: &[f64]) -> f64 {
        let forest = || self.forest.predict(x).0;
        let process = || self.process.as_ref().map(|p| p.mean(x));
        match model {
            Model::Forest => forest(),
            Model::GaussianProcess => process().unwrap_or_else(forest),
            Model::Both => process().map_or_else(forest, |p| 0.5 * (p + forest())),
        }
    }
}

/// Learns from `share` of the measured rows; `None` when there are too few.
pub fn learn(sweep: &Sweep, rows: &[Row], value: Value, share: f64, seed: u64) -> Option<Learnt> {
    let data: Vec<(usize, f64)> = rows
        .iter()
        .filter_map(|r| Some((r.trial, value(r)?.ln())))
        .filter(|(_, v)| v.is_finite())
        .collect();
    let n = ((data.len() as f64 * share).round() as usize).max(10);
    if data.len() < 2 * n {
        return None;
    }
    let table = sweep.table();
    let features = Features::new(&table, true);
    let all: Vec<Vec<f64>> = data
        .iter()
        .map(|(t, _)| features.of(&table.coordinates(*t as u64)))
        .collect();
    let pick = |rows: &[usize]| -> Vec<Vec<f64>> { rows.iter().map(|&i| all[i].clone()).collect() };
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut order: Vec<usize> = (0..data.len()).collect();
    rng.shuffle(&mut order);
    let (sample, rest) = order.split_at(n);
    let y = |rows: &[usize]| -> Vec<f64> { rows.iter().map(|&i| data[i].1).collect() };
    let error = |f: &Fitted, m: Model, i: usize| {
        let p = f.predict(m, &all[i]);
        ((p - data[i].1).exp() - 1.0).abs()
    };
    // The model is chosen by cross-validation within the sample: the rest is never looked at.
    let models = [Model::Forest, Model::GaussianProcess, Model::Both];
    let mut errors = [0.0; 3];
    const FOLDS: usize = 3;
    for fold in 0..FOLDS {
        let (train, test): (Vec<usize>, Vec<usize>) = {
            let (mut train, mut test) = (Vec::new(), Vec::new());
            for (k, &i) in sample.iter().enumerate() {
                if k % FOLDS == fold {
                    test.push(i);
                } else {
                    train.push(i);
                }
            }
            (train, test)
        };
        let f = Fitted::new(&pick(&train), &y(&train), &mut rng);
        for (e, &m) in errors.iter_mut().zip(&models) {
            *e += test.iter().map(|&i| error(&f, m, i)).sum::<f64>();
        }
    }
    let model = models
        .into_iter()
        .zip(errors)
        .min_by(|a, b| a.1.total_cmp(&b.1))?
        .0;
    let fitted = Fitted::new(&pick(sample), &y(sample), &mut rng);
    let mut held: Vec<f64> = rest.iter().map(|&i| error(&fitted, model, i)).collect();
    held.sort_by(f64::total_cmp);
    let found = favourites(&fitted, &all, rest)
        .into_iter()
        .chain(sample.iter().copied())
        .map(|i| data[i].1)
        .fold(f64::INFINITY, f64::min);
    let optimum = data.iter().map(|d| d.1).fold(f64::INFINITY, f64::min);
    Some(Learnt {
        sample: n,
        held_out: held.len(),
        model,
        mean_error: held.iter().sum::<f64>() / held.len() as f64,
        median_error: held[held.len() / 2],
        best_fraction: (optimum - found).exp(),
        tried: TRIED,
    })
}

/// The configs of `rest` with the best predictions, alternating between the models, since one often
/// finds what the other misses.
fn favourites(fitted: &Fitted, all: &[Vec<f64>], rest: &[usize]) -> Vec<usize> {
    let ranked = |m: Model| {
        let mut order: Vec<(f64, usize)> = rest
            .iter()
            .map(|&i| (fitted.predict(m, &all[i]), i))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order
    };
    let (forest, process) = (ranked(Model::Forest), ranked(Model::GaussianProcess));
    let mut out: Vec<usize> = Vec::new();
    for (f, p) in forest.iter().zip(&process) {
        for &(_, i) in [f, p] {
            if out.len() < TRIED && !out.contains(&i) {
                out.push(i);
            }
        }
    }
    out
}

/// How much of the variation of a value each parameter explains, by a forest on all rows.
pub fn importance(sweep: &Sweep, rows: &[Row], value: Value, seed: u64) -> Option<Vec<f64>> {
    let data: Vec<(usize, f64)> = rows
        .iter()
        .filter_map(|r| Some((r.trial, value(r)?.ln())))
        .collect();
    if data.len() < 8 {
        return None;
    }
    let table = sweep.table();
    let features = Features::new(&table, false);
    let x: Vec<Vec<f64>> = data
        .iter()
        .map(|(t, _)| features.of(&table.coordinates(*t as u64)))
        .collect();
    let y: Vec<f64> = data.iter().map(|d| d.1).collect();
    let plan = ForestPlan {
        trees: 32,
        leaf: 2,
        ..ForestPlan::default()
    };
    let forest = Forest::fit(&x, &y, plan, &mut fastrand::Rng::with_seed(seed));
    Some(forest.importance)
}
