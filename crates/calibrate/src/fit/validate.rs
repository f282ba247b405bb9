//! Cross-validation by setting and by benchmark, and capped against uncapped.

use super::model::{Parameters, Row, Rows};
use super::{Errors, Method, estimate, refine};
use serde::Serialize;
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

/// Two-sample Kolmogorov–Smirnov test of the capped and the uncapped time errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KsTest {
    /// Largest distance of the two empirical distributions.
    pub statistic: f64,
    /// Two-sided asymptotic p-value.
    pub p_value: f64,
    /// Mean absolute relative error of the time with the cap.
    pub mean_abs_error_capped: f64,
    /// Mean absolute relative error of the time without the cap.
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
    let (statistic, p_value) = kolmogorov_smirnov(&capped, &uncapped)?;
    Some(KsTest {
        statistic,
        p_value,
        mean_abs_error_capped: mean(&capped),
        mean_abs_error_uncapped: mean(&uncapped),
    })
}

/// Two-sample Kolmogorov–Smirnov test: the largest distance D of the two empirical distributions
/// and its two-sided asymptotic p-value, 2 Σ (−1)^(k−1) exp(−2 k² D² mn/(m+n)) (Kolmogorov 1933).
/// `None` for an empty sample or one with NaN.
fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|x| x.is_nan()) {
        return None;
    }
    let sorted = |x: &[f64]| {
        let mut x = x.to_vec();
        x.sort_by(f64::total_cmp);
        x
    };
    let (a, b) = (sorted(a), sorted(b));
    let (m, n) = (a.len() as f64, b.len() as f64);
    let below = |x: &[f64], v: f64| x.partition_point(|&y| y <= v) as f64;
    let d = a
        .iter()
        .chain(&b)
        .map(|&v| (below(&a, v) / m - below(&b, v) / n).abs())
        .fold(0.0, f64::max);
    let x2 = d * d * m * n / (m + n);
    if x2 < 0.01 {
        // The series converges too slowly; p differs from 1 by less than 1e-50.
        return Some((d, 1.0));
    }
    let (mut sum, mut sign) = (0.0, 1.0);
    for k in 1..100 {
        let term = (-2.0 * f64::from(k * k) * x2).exp();
        sum += sign * term;
        sign = -sign;
        if term < 1e-10 {
            break;
        }
    }
    Some((d, 2.0 * sum))
}

#[cfg(test)]
mod tests {
    use super::kolmogorov_smirnov;

    /// Values of statrs 0.19 (`ks_twosample`, two-sided asymptotic).
    #[test]
    fn values_of_statrs() {
        let a: Vec<f64> = (0..30).map(|i| f64::from((i * 37) % 101) / 101.0).collect();
        let b: Vec<f64> = (0..25)
            .map(|i| (f64::from((i * 53) % 97) / 97.0).powi(2))
            .collect();
        let shifted: Vec<f64> = a.iter().map(|x| x + 0.5).collect();
        for (x, y, d, p) in [
            (
                &a[..],
                &b[..],
                0.346_666_666_666_666_73,
                0.075_435_126_432_441_48,
            ),
            (
                &[0.1, 0.2, 0.2, 0.4],
                &[0.2, 0.3, 0.5, 0.5, 0.9],
                0.6,
                0.400_471_036_208_457_8,
            ),
            (
                &a,
                &shifted,
                0.533_333_333_333_333_3,
                0.000_393_595_764_888_817_54,
            ),
        ] {
            let (got_d, got_p) = kolmogorov_smirnov(x, y).unwrap();
            assert!((got_d - d).abs() < 1e-14, "{got_d} {d}");
            assert!((got_p - p).abs() < 1e-9, "{got_p} {p}");
        }
        assert_eq!(kolmogorov_smirnov(&a, &a), Some((0.0, 1.0)));
        assert_eq!(kolmogorov_smirnov(&a, &[]), None);
    }
}
