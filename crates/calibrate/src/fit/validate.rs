//! Cross-validation by setting and by benchmark, and capped against uncapped.

use super::model::{Parameters, Row, Rows};
use super::{Errors, Method, estimate, refine};
use serde::Serialize;
use statrs::stats_tests::NaNPolicy;
use statrs::stats_tests::ks_test::{KSTwoSampleAlternativeMethod, ks_twosample};
use std::collections::BTreeSet;

/// Errors of energy on records that the fit had not seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// One fold a setting; `None` with fewer than two settings.
    pub by_setting: Option<Errors>,
    /// Leave one benchmark out; only folds whose classes the rest still determines.
    pub by_benchmark: Option<Errors>,
    /// Two-sample Kolmogorov–Smirnov test of the time errors with and without a cap.
    pub capped_against_uncapped: Option<KsTest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KsTest {
    pub statistic: f64,
    pub p_value: f64,
    pub mean_abs_error_capped: f64,
    pub mean_abs_error_uncapped: f64,
}

pub fn validate(rows: &Rows, method: Method) -> Option<Validation> {
    Some(Validation {
        by_setting: folds(rows, method, |r| &r.setting),
        by_benchmark: folds(rows, method, |r| &r.benchmark),
        capped_against_uncapped: ks(rows, method),
    })
}

fn folds(rows: &Rows, method: Method, key: impl Fn(&Row) -> &String) -> Option<Errors> {
    let keys: BTreeSet<&String> = rows.rows.iter().map(&key).collect();
    if keys.len() < 2 {
        return None;
    }
    let mut errors = Vec::new();
    for held in keys {
        let (test, train): (Vec<Row>, Vec<Row>) =
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

fn ks(rows: &Rows, method: Method) -> Option<KsTest> {
    if method != Method::Capped {
        return None;
    }
    let start = estimate(rows, Method::Nnls).ok()?;
    let errors = |p: &Parameters| rows.time_errors(p);
    let capped = errors(&refine(rows, &start, true, 60).0);
    let uncapped = errors(&refine(rows, &start, false, 60).0);
    let mean = |e: &[f64]| e.iter().map(|x| x.abs()).sum::<f64>() / e.len() as f64;
    let (statistic, p_value) = ks_twosample(
        capped.clone(),
        uncapped.clone(),
        KSTwoSampleAlternativeMethod::TwoSidedAsymptotic,
        NaNPolicy::Error,
    )
    .ok()?;
    Some(KsTest {
        statistic,
        p_value,
        mean_abs_error_capped: mean(&capped),
        mean_abs_error_uncapped: mean(&uncapped),
    })
}
