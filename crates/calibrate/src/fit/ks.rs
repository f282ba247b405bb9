//! The two-sample Kolmogorov–Smirnov test.

use serde::Serialize;

/// The largest distance D of the two empirical distributions, and its two-sided asymptotic p-value. `None` for an empty sample
/// or one with NaN.
pub fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
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
    Some((d, p_value(d, m, n)))
}

/// The two-sided asymptotic p-value of a distance of samples of m and n: 2 Σ (−1)^(k−1) exp(−2 k² D² mn/(m+n))
/// (Kolmogorov 1933, Smirnov 1948).
fn p_value(d: f64, m: f64, n: f64) -> f64 {
    let x2 = d * d * m * n / (m + n);
    if x2 < 0.01 {
        // The series converges too slowly; p differs from 1 by less than 1e-50.
        return 1.0;
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
    2.0 * sum
}

/// Two-sample Kolmogorov–Smirnov test of the errors of two models.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KsTest {
    /// Largest distance of the two empirical distributions.
    pub statistic: f64,
    /// Two-sided asymptotic p-value.
    pub p_value: f64,
    /// Mean absolute relative error with the cap.
    pub mean_abs_error_capped: f64,
    /// Mean absolute relative error without the cap.
    pub mean_abs_error_uncapped: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Smirnov's table (1948) of critical values c(α): D > c √((m+n)/(mn)) is significant at α.
    #[test]
    fn critical_values_of_smirnov() {
        for (alpha, c) in [
            (0.10, 1.224),
            (0.05, 1.358),
            (0.025, 1.480),
            (0.01, 1.628),
            (0.005, 1.731),
            (0.001, 1.949),
        ] {
            for (m, n) in [(20.0, 20.0), (53.0, 29.0), (1000.0, 100.0)] {
                let d = c * f64::sqrt((m + n) / (m * n));
                let p = p_value(d, m, n);
                assert!((p / alpha - 1.0).abs() < 0.01, "{alpha}: {p}");
            }
        }
    }
}
