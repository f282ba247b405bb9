//! Correlations of parameters and metrics with performance and energy efficiency (figs. 6 to 9 of the paper).

use super::MeasuredConfig;
use crate::sweep::{OBJECTIVE, Sweep};
use serde::Serialize;

/// Pearson's coefficient of one metric or parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Correlation {
    /// Name of the parameter or recorded metric.
    pub name: String,
    /// Whether it is a parameter of the space, not a metric of the trials.
    pub is_parameter: bool,
    /// Number of configs with a value.
    pub known: usize,
    /// Pearson coefficient with performance, −1 to 1.
    pub performance: f64,
    /// Pearson coefficient with energy efficiency, −1 to 1; `None` without energies.
    pub efficiency: Option<f64>,
    /// Pearson coefficient with performance times efficiency; `None` without energies.
    pub product: Option<f64>,
    /// Change of its rank between the orders by performance and by efficiency, as a fraction of
    /// the number of rows; positive: higher by efficiency.
    pub moved: Option<f64>,
    /// Whether the rank changed significantly, or the sign changed.
    pub mover: bool,
}

impl Correlation {
    /// Whether it may be a cause of the time: a parameter, or a metric that does not follow from the time.
    pub fn is_cause(&self) -> bool {
        let name = self.name.to_lowercase();
        let follows = || FOLLOWS.iter().any(|part| name.contains(part));
        self.is_parameter || !(follows() || self.performance.abs() >= SAME)
    }

    /// Its name, with the number of configs where some lack a value.
    pub fn label(&self, all: usize) -> String {
        if self.known < all {
            format!("{} ({})", self.name, self.known)
        } else {
            self.name.clone()
        }
    }
}

/// Parts of the names of metrics that follow from the time, or are the time in other words.
const FOLLOWS: [&str; 15] = [
    "cycles",
    "clock",
    "freq",
    "power",
    "watt",
    "temperature",
    "energy",
    "flop",
    "time",
    "throughput",
    "pct_of_peak",
    "utilization",
    "issue_share",
    "pipe_share",
    "per_second",
];
/// From this coefficient on a metric is the performance itself.
const SAME: f64 = 0.995;

/// Smallest significant change of rank, as a fraction of the number of rows.
const MOVED: f64 = 0.25;

/// Trials split at the mean of a metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Split {
    /// Name of the parameter or metric.
    pub name: String,
    /// The mean of its values, where the trials are split.
    pub mean: f64,
    /// Number of trials with a value above the mean.
    pub above: usize,
    /// Number of trials with a value at or below the mean.
    pub below: usize,
    /// Mean performance of those above and below.
    pub performance: (f64, f64),
    /// The same of the energy efficiency; `None` without energies.
    pub efficiency: Option<(f64, f64)>,
}

/// A metric must have values for half of the configs, or for this number (counters are read for a sample only).
const ENOUGH: usize = 50;

/// Metrics that are performance or efficiency themselves, or describe the measurement: not properties of a config.
const NOT_OF_THE_CONFIG: [&str; 8] = [
    "gflops",
    "gflops_per_w",
    "drift",
    "error",
    "gpu",
    "baseline_s",
    "baseline_j",
    // The objective's metric again, as a value to minimise.
    OBJECTIVE,
];

/// Numeric columns: metrics and parameters that vary.
fn columns(sweep: &Sweep, rows: &[MeasuredConfig]) -> Vec<(String, bool, Vec<Option<f64>>)> {
    let mut out = Vec::new();
    for (p, name) in sweep.facts.parameters.iter().enumerate() {
        let values = rows
            .iter()
            .map(|r| sweep.trials[r.trial].config[p].as_float())
            .collect();
        out.push((name.clone(), true, values));
    }
    let mut names: Vec<&String> = rows
        .iter()
        .flat_map(|r| sweep.trials[r.trial].metrics.keys())
        .collect();
    names.sort();
    names.dedup();
    names.retain(|n| !NOT_OF_THE_CONFIG.contains(&n.as_str()));
    for name in names {
        let values = rows
            .iter()
            .map(|r| sweep.trials[r.trial].metrics.get(name).copied())
            .collect();
        out.push((name.clone(), false, values));
    }
    out.retain(|(_, _, v): &(String, bool, Vec<Option<f64>>)| {
        let some: Vec<f64> = v.iter().flatten().copied().collect();
        (some.len() * 2 > rows.len() || some.len() >= ENOUGH) && some.iter().any(|x| *x != some[0])
    });
    out
}

fn pearson(x: &[Option<f64>], y: &[Option<f64>]) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = x
        .iter()
        .zip(y)
        .filter_map(|(x, y)| Some((*x.as_ref()?, *y.as_ref()?)))
        .collect();
    let n = pairs.len() as f64;
    if n < 3.0 {
        return None;
    }
    let (mx, my) = pairs
        .iter()
        .fold((0.0, 0.0), |(a, b), p| (a + p.0 / n, b + p.1 / n));
    let (mut sxy, mut sxx, mut syy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        sxy += (x - mx) * (y - my);
        sxx += (x - mx).powi(2);
        syy += (y - my).powi(2);
    }
    let r = sxy / (sxx * syy).sqrt();
    r.is_finite().then_some(r)
}

/// Coefficients of all varying parameters and metrics, sorted by the coefficient with performance.
pub fn correlations(sweep: &Sweep, rows: &[MeasuredConfig]) -> Vec<Correlation> {
    let performance: Vec<Option<f64>> = rows.iter().map(|r| Some(r.performance)).collect();
    let efficiency: Vec<Option<f64>> = rows.iter().map(|r| r.efficiency).collect();
    let product: Vec<Option<f64>> = rows
        .iter()
        .map(|r| r.efficiency.map(|e| e * r.performance))
        .collect();
    let mut out: Vec<Correlation> = columns(sweep, rows)
        .into_iter()
        .filter_map(|(name, is_parameter, values)| {
            Some(Correlation {
                performance: pearson(&values, &performance)?,
                efficiency: pearson(&values, &efficiency),
                product: pearson(&values, &product),
                known: values.iter().flatten().count(),
                name,
                is_parameter,
                moved: None,
                mover: false,
            })
        })
        .collect();
    out.sort_by(|a, b| a.performance.total_cmp(&b.performance));
    let mut by_efficiency: Vec<usize> = (0..out.len())
        .filter(|&i| out[i].efficiency.is_some())
        .collect();
    by_efficiency.sort_by(|&a, &b| {
        let e = |i: usize| out[i].efficiency.unwrap_or(0.0);
        e(a).total_cmp(&e(b))
    });
    let places = out.len().max(2) as f64 - 1.0;
    for (place, &i) in by_efficiency.iter().enumerate() {
        let moved = (place as f64 - i as f64) / places;
        let c = &mut out[i];
        let e = c.efficiency.unwrap_or(0.0);
        let turned = e * c.performance < 0.0 && e.abs().min(c.performance.abs()) > 0.1;
        c.moved = Some(moved);
        c.mover = moved.abs() >= MOVED || turned;
    }
    out
}

/// Trials split at the mean of each metric and parameter.
pub fn splits(sweep: &Sweep, rows: &[MeasuredConfig]) -> Vec<Split> {
    columns(sweep, rows)
        .into_iter()
        .filter_map(|(name, _, values)| {
            let some: Vec<f64> = values.iter().flatten().copied().collect();
            let mean = some.iter().sum::<f64>() / some.len() as f64;
            let group = |above: bool| -> Vec<&MeasuredConfig> {
                rows.iter()
                    .zip(&values)
                    .filter(|(_, v)| v.is_some_and(|v| (v > mean) == above))
                    .map(|(r, _)| r)
                    .collect()
            };
            let (above, below) = (group(true), group(false));
            let average = |g: &[&MeasuredConfig], f: &dyn Fn(&MeasuredConfig) -> Option<f64>| {
                let v: Vec<f64> = g.iter().filter_map(|r| f(r)).collect();
                (!v.is_empty()).then(|| v.iter().sum::<f64>() / v.len() as f64)
            };
            let performance = |r: &MeasuredConfig| Some(r.performance);
            let efficiency = |r: &MeasuredConfig| r.efficiency;
            Some(Split {
                mean,
                above: above.len(),
                below: below.len(),
                performance: (
                    average(&above, &performance)?,
                    average(&below, &performance)?,
                ),
                efficiency: average(&above, &efficiency).zip(average(&below, &efficiency)),
                name,
            })
        })
        .collect()
}
