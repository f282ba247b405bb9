//! Errors of power models on what they have not seen.

use super::{PowerData, PowerFit, PowerModel, PowerSample, kernel_key};
use serde::Serialize;
use std::collections::BTreeMap;

/// Errors of leaving one setting out, and of leaving one kernel out.
#[derive(Clone, Debug, Serialize)]
pub struct PowerErrors {
    /// Which model was fitted.
    pub model: PowerModel,
    /// Number of settings.
    pub settings: usize,
    /// Number of samples.
    pub samples: usize,
    /// Mean absolute relative error, one setting held out at a time; `None` of a single setting.
    pub leave_setting_out: Option<f64>,
    /// The same, one kernel (utilisation vector) held out at a time, in ten groups; not defined
    /// for the known-kernel model, nor of a single kernel.
    pub leave_kernels_out: Option<f64>,
}

/// Errors of a model on settings and on kernels it has not seen.
pub fn validate(data: &PowerData, model: PowerModel) -> PowerErrors {
    let setting = |s: &PowerSample| vec![s.core_mhz.to_bits(), s.mem_mhz.to_bits()];
    let (settings, leave_setting_out) = held_out(data, model, setting, usize::MAX);
    let kernels = (model != PowerModel::KnownKernel)
        .then(|| held_out(data, model, kernel_key, 10).1)
        .flatten();
    PowerErrors {
        model,
        settings,
        samples: data.samples.len(),
        leave_setting_out,
        leave_kernels_out: kernels,
    }
}

/// Number of keys, and the mean over folds of the mean absolute relative error; keys are dealt into at most `groups`.
fn held_out(
    data: &PowerData,
    model: PowerModel,
    key: impl Fn(&PowerSample) -> Vec<u64>,
    groups: usize,
) -> (usize, Option<f64>) {
    let mut fold_of: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    for s in &data.samples {
        let next = fold_of.len();
        fold_of.entry(key(s)).or_insert(next);
    }
    let folds = fold_of.len().min(groups);
    if folds < 2 {
        return (folds, None);
    }
    let mut total = 0.0;
    for fold in 0..folds {
        let (test, train): (Vec<&PowerSample>, Vec<&PowerSample>) = data
            .samples
            .iter()
            .partition(|s| fold_of[&key(s)] % folds == fold);
        let fit = PowerFit::new(data, &train, model);
        let sum: f64 = test
            .iter()
            .map(|s| (fit.power_w(s) / s.power_w - 1.0).abs())
            .sum();
        total += sum / test.len() as f64;
    }
    (fold_of.len(), Some(total / folds as f64))
}
