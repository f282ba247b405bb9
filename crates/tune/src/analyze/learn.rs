//! The surrogate of the paper's future work: all configs predicted from a calibrating sample,
//! judged on those it has not seen.

use super::Row;
use crate::points::Points as _;
use crate::surrogate::{Features, Forest, ForestPlan, Process};
use crate::sweep::Sweep;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    Forest,
    GaussianProcess,
    /// Mean of both, of the logarithms.
    Both,
}

/// What a model from a sample says of the rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Learnt {
    /// Configs it learnt from.
    pub sample: usize,
    pub held_out: usize,
    /// The model with the least error in cross-validation on the sample.
    pub model: Model,
    /// Mean of |predicted/measured − 1| over the held-out configs.
    pub mean_error: f64,
    pub median_error: f64,
    /// Optimum over the best of the sample and of the `tried` configs it thinks best.
    pub best_fraction: f64,
    pub tried: usize,
}

/// Configs that are measured after all, the model's favourites.
const TRIED: usize = 20;

/// Configs a Gaussian process learns from at most.
const MOST: usize = 600;

type Value<'a> = &'a dyn Fn(&Row) -> Option<f64>;

struct Fitted {
    forest: Forest,
    process: Option<Process>,
}

impl Fitted {
    fn new(x: &Matrix, y: &[f64], rng: &mut fastrand::Rng) -> Self {
        let plan = ForestPlan {
            trees: 128,
            ..ForestPlan::default()
        };
        let most = y.len().min(MOST);
        Self {
            forest: Forest::fit(&x.with_pairs, y, plan, rng),
            process: Process::fit(&x.single[..most], &y[..most]),
        }
    }

    fn predict(&self, model: Model, with_pairs: &[f64], single: &[f64]) -> f64 {
        let forest = || self.forest.predict(with_pairs).0;
        let process = || self.process.as_ref().map(|p| p.mean(single));
        match model {
            Model::Forest => forest(),
            Model::GaussianProcess => process().unwrap_or_else(forest),
            Model::Both => process().map_or_else(forest, |p| 0.5 * (p + forest())),
        }
    }
}

/// Features for trees and for the process.
struct Matrix {
    with_pairs: Vec<Vec<f64>>,
    single: Vec<Vec<f64>>,
}

impl Matrix {
    fn of(&self, rows: &[usize]) -> Self {
        let pick = |m: &[Vec<f64>]| rows.iter().map(|&i| m[i].clone()).collect();
        Self {
            with_pairs: pick(&self.with_pairs),
            single: pick(&self.single),
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
    let (pairs, singles) = (Features::new(&table, true), Features::new(&table, false));
    let coordinates: Vec<Vec<u32>> = data
        .iter()
        .map(|(t, _)| table.coordinates(*t as u64))
        .collect();
    let all = Matrix {
        with_pairs: coordinates.iter().map(|c| pairs.of(c)).collect(),
        single: coordinates.iter().map(|c| singles.of(c)).collect(),
    };
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut order: Vec<usize> = (0..data.len()).collect();
    rng.shuffle(&mut order);
    let (sample, rest) = order.split_at(n);
    let y = |rows: &[usize]| -> Vec<f64> { rows.iter().map(|&i| data[i].1).collect() };
    let error = |f: &Fitted, m: Model, i: usize| {
        let p = f.predict(m, &all.with_pairs[i], &all.single[i]);
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
        let f = Fitted::new(&all.of(&train), &y(&train), &mut rng);
        for (e, &m) in errors.iter_mut().zip(&models) {
            *e += test.iter().map(|&i| error(&f, m, i)).sum::<f64>();
        }
    }
    let model = models
        .into_iter()
        .zip(errors)
        .min_by(|a, b| a.1.total_cmp(&b.1))?
        .0;
    let fitted = Fitted::new(&all.of(sample), &y(sample), &mut rng);
    let mut held: Vec<f64> = rest.iter().map(|&i| error(&fitted, model, i)).collect();
    held.sort_by(f64::total_cmp);
    let mut favourites: Vec<(f64, usize)> = rest
        .iter()
        .map(|&i| {
            let p = fitted.predict(model, &all.with_pairs[i], &all.single[i]);
            (p, i)
        })
        .collect();
    favourites.sort_by(|a, b| a.0.total_cmp(&b.0));
    let found = favourites
        .iter()
        .take(TRIED)
        .map(|f| f.1)
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
