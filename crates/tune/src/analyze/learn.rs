//! The surrogate of the paper's future work: all configs predicted from a calibrating sample,
//! judged on those it has not seen.

use super::MeasuredConfig;
use crate::points::Points as _;
use crate::surrogate::{Boosted, Features, Forest, ForestPlan, Process};
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
    /// Gradient boosting.
    Boosted,
    /// Mean of all three, of the logarithms.
    All,
}

impl Model {
    const ALL: [Self; 5] = [
        Self::Forest,
        Self::GaussianProcess,
        Self::Both,
        Self::Boosted,
        Self::All,
    ];
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
const TRIED: usize = 10;

/// Largest sample of a Gaussian process.
const MOST: usize = 600;

/// Steps of the maximisation of its likelihood.
const STEPS: usize = 60;
/// The same where it begins with those of nearly the same data.
const FEW_STEPS: usize = 4;

/// The value of a row that is learnt, such as its time.
pub type Value<'a> = &'a dyn Fn(&MeasuredConfig) -> Option<f64>;

/// All models of one sample.
struct Fitted {
    forest: Forest,
    process: Option<Process>,
    boosted: Boosted,
    /// Features that the process sees.
    smooth: usize,
}

/// Predictions of one config: of the forest, the process and the boosted trees.
type Predicted = [f64; 3];

impl Fitted {
    /// `like`: models of nearly the same data, whose lengths the process takes over.
    fn new(
        x: &[Vec<f64>],
        y: &[f64],
        smooth: usize,
        like: Option<&Self>,
        rng: &mut fastrand::Rng,
    ) -> Self {
        let plan = ForestPlan {
            trees: 128,
            ..ForestPlan::default()
        };
        let most = y.len().min(MOST);
        let short: Vec<Vec<f64>> = x[..most].iter().map(|r| r[..smooth].to_vec()).collect();
        let before = like.and_then(|l| l.process.as_ref());
        let steps = if before.is_some() { FEW_STEPS } else { STEPS };
        Self {
            forest: Forest::fit(x, y, plan, rng),
            process: Process::fit_from(before, &short, &y[..most], steps),
            boosted: Boosted::fit(x, y, rng),
            smooth,
        }
    }

    fn predict(&self, x: &[f64]) -> Predicted {
        let forest = self.forest.predict(x).0;
        let process = self.process.as_ref();
        [
            forest,
            process.map_or(forest, |p| p.mean(&x[..self.smooth])),
            self.boosted.predict(x),
        ]
    }
}

impl Model {
    fn of(self, [forest, process, boosted]: Predicted) -> f64 {
        match self {
            Self::Forest => forest,
            Self::GaussianProcess => process,
            Self::Boosted => boosted,
            Self::Both => 0.5 * (forest + process),
            Self::All => (forest + process + boosted) / 3.0,
        }
    }
}

/// Measured and predicted value of a config.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Trial of the sweep.
    pub trial: usize,
    /// As measured.
    pub measured: f64,
    /// By the chosen model; of a config of the sample what the model makes of it.
    pub predicted: f64,
    /// Whether it is of the sample.
    pub in_sample: bool,
}

/// Learns from `share` of the measured rows; `None` when there are too few.
pub fn learn(
    sweep: &Sweep,
    rows: &[MeasuredConfig],
    value: Value,
    share: f64,
    seed: u64,
) -> Option<Learnt> {
    Some(predictions(sweep, rows, value, share, seed)?.0)
}

/// The same with the value of every config.
pub fn predictions(
    sweep: &Sweep,
    rows: &[MeasuredConfig],
    value: Value,
    share: f64,
    seed: u64,
) -> Option<(Learnt, Vec<Prediction>)> {
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
    let features = Features::rich(&table);
    let smooth = features.smooth();
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
    let error = |m: Model, p: Predicted, i: usize| ((m.of(p) - data[i].1).exp() - 1.0).abs();
    let fitted = Fitted::new(&pick(sample), &y(sample), smooth, None, &mut rng);
    // The model is chosen by cross-validation within the sample: the rest is never looked at.
    let mut errors = [0.0; Model::ALL.len()];
    const FOLDS: usize = 3;
    for fold in 0..FOLDS {
        let part = |inside: bool| -> Vec<usize> {
            let own = sample
                .iter()
                .enumerate()
                .filter(|(k, _)| (k % FOLDS == fold) == inside);
            own.map(|(_, &i)| i).collect()
        };
        let (train, test) = (part(false), part(true));
        let f = Fitted::new(&pick(&train), &y(&train), smooth, Some(&fitted), &mut rng);
        for i in test {
            let p = f.predict(&all[i]);
            for (e, m) in errors.iter_mut().zip(Model::ALL) {
                *e += error(m, p, i);
            }
        }
    }
    let model = Model::ALL
        .into_iter()
        .zip(errors)
        .min_by(|a, b| a.1.total_cmp(&b.1))?
        .0;
    let predicted: Vec<Predicted> = rest.iter().map(|&i| fitted.predict(&all[i])).collect();
    let mut held: Vec<f64> = (rest.iter().zip(&predicted))
        .map(|(&i, p)| error(model, *p, i))
        .collect();
    held.sort_by(f64::total_cmp);
    let found = favourites(&predicted, rest)
        .into_iter()
        .chain(sample.iter().copied())
        .map(|i| data[i].1)
        .fold(f64::INFINITY, f64::min);
    let optimum = data.iter().map(|d| d.1).fold(f64::INFINITY, f64::min);
    let one = |i: usize, p: Predicted, in_sample| Prediction {
        trial: data[i].0,
        measured: data[i].1.exp(),
        predicted: model.of(p).exp(),
        in_sample,
    };
    let known = sample
        .iter()
        .map(|&i| one(i, fitted.predict(&all[i]), true));
    let others = rest.iter().zip(&predicted).map(|(&i, p)| one(i, *p, false));
    let each = known.chain(others).collect();
    let learnt = Learnt {
        sample: n,
        held_out: held.len(),
        model,
        mean_error: held.iter().sum::<f64>() / held.len() as f64,
        median_error: held[held.len() / 2],
        best_fraction: (optimum - found).exp(),
        tried: TRIED,
    };
    Some((learnt, each))
}

/// The configs of `rest` with the best predictions, in turn from each model, since one often finds what the others miss.
fn favourites(predicted: &[Predicted], rest: &[usize]) -> Vec<usize> {
    let ranked = |m: usize| {
        let mut order: Vec<(f64, usize)> = (predicted.iter().zip(rest))
            .map(|(p, &i)| (p[m], i))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order
    };
    let lists = [2, 0, 1].map(ranked);
    let mut out: Vec<usize> = Vec::new();
    for rank in 0..rest.len() {
        for list in &lists {
            let i = list[rank].1;
            if out.len() < TRIED && !out.contains(&i) {
                out.push(i);
            }
        }
    }
    out
}

/// How much of the variation of a value each parameter explains, by a forest on all rows.
pub fn importance(
    sweep: &Sweep,
    rows: &[MeasuredConfig],
    value: Value,
    seed: u64,
) -> Option<Vec<f64>> {
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
