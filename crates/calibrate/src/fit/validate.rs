//! Cross-validation by setting and by benchmark, and capped against uncapped.

use super::ks::KsTest;
use super::model::{RecordNumbers, Rows};
use super::{Errors, Method, caps, estimate};
use serde::Serialize;
use std::collections::BTreeSet;

/// Errors of energy on records that the fit had not seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// One fold a setting; `None` with fewer than two settings.
    pub by_setting: Option<Errors>,
    /// Leave one benchmark out; only folds whose classes the rest still determines.
    pub by_benchmark: Option<Errors>,
    /// Two-sample Kolmogorov–Smirnov test of the errors in performance with and without a cap.
    pub capped_against_uncapped: Option<KsTest>,
}

pub fn validate(rows: &Rows, method: Method) -> Option<Validation> {
    Some(Validation {
        by_setting: folds(rows, method, |r| &r.setting),
        by_benchmark: folds(rows, method, |r| &r.benchmark),
        capped_against_uncapped: (method == Method::Capped)
            .then(|| caps::of_rows(rows))
            .flatten()
            .map(|c| c.performance_test),
    })
}

fn folds(rows: &Rows, method: Method, key: impl Fn(&RecordNumbers) -> &String) -> Option<Errors> {
    let keys: BTreeSet<&String> = rows.rows.iter().map(&key).collect();
    if keys.len() < 2 {
        return None;
    }
    let mut errors = Vec::new();
    for held in keys {
        let (test, train): (Vec<RecordNumbers>, Vec<RecordNumbers>) =
            rows.rows.iter().cloned().partition(|r| key(r) == held);
        // A class that occurs in the held-out fold alone cannot be predicted.
        let known = |k: usize| train.iter().any(|r| r.counts[k] > 0.0);
        let predictable = test
            .iter()
            .all(|r| (0..rows.ops.len()).all(|k| r.counts[k] == 0.0 || known(k)));
        if !predictable || train.len() <= rows.ops.len() {
            continue;
        }
        let Ok(p) = estimate(&rows.with_rows(train), method) else {
            continue;
        };
        // Energy with the measured time, as the thesis validates (§5.3).
        errors.extend(rows.with_rows(test).energy_errors(&p, Method::Nnls));
    }
    Errors::of(&errors)
}
