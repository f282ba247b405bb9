//! Chebyshev expansions of functions on (−1, 1).

use std::f64::consts::PI;

/// The k-th of n Chebyshev nodes.
pub fn node(k: usize, n: usize) -> f64 {
    (PI * (k as f64 + 0.5) / n as f64).cos()
}

/// Weight of the value at the k-th of n nodes in the coefficient of T_j.
pub fn weight(j: usize, k: usize, n: usize) -> f64 {
    let scale = if j == 0 { 1.0 } else { 2.0 } / n as f64;
    scale * (PI * j as f64 * (k as f64 + 0.5) / n as f64).cos()
}

/// Chebyshev coefficients of the polynomial through n nodes.
pub fn coefficients(f: impl Fn(f64) -> f64, n: usize) -> Vec<f64> {
    let values: Vec<f64> = (0..n).map(|k| f(node(k, n))).collect();
    (0..n)
        .map(|j| {
            values
                .iter()
                .enumerate()
                .map(|(k, v)| v * weight(j, k, n))
                .sum()
        })
        .collect()
}

/// The sum of a Chebyshev expansion at a position (Clenshaw).
pub fn value(coefficients: &[f64], x: f64) -> f64 {
    let (mut a, mut b) = (0.0, 0.0);
    for c in coefficients.iter().skip(1).rev() {
        (a, b) = (c + 2.0 * x * a - b, a);
    }
    coefficients.first().map_or(0.0, |c| c + x * a - b)
}

/// Coefficients of the same polynomial in powers of x, lowest first.
pub fn powers(coefficients: &[f64]) -> Vec<f64> {
    let n = coefficients.len();
    let mut sum = vec![0.0; n];
    let (mut before, mut now) = (vec![0.0; n], vec![0.0; n]);
    for (j, c) in coefficients.iter().enumerate() {
        // T_j = 2 x T_{j−1} − T_{j−2}
        let next: Vec<f64> = (0..n)
            .map(|p| match j {
                0 | 1 => f64::from(u8::from(p == j)),
                _ => 2.0 * if p > 0 { now[p - 1] } else { 0.0 } - before[p],
            })
            .collect();
        before = std::mem::replace(&mut now, next);
        for (s, t) in sum.iter_mut().zip(&now) {
            *s += c * t;
        }
    }
    sum
}

/// Number of terms for which the error of e^{icx} on (−1, 1) is below `accuracy`.
pub fn terms(c: f64, accuracy: f64) -> usize {
    let (mut n, mut term) = (1, 2.0);
    // 2 (c/2)^n / n! bounds the remainder from n on, once it decreases.
    while term > accuracy || (n as f64) < 0.5 * c {
        term *= 0.5 * c / n as f64;
        n += 1;
    }
    n
}

/// Bound of the error of e^{icx} on (−1, 1) interpolated between `terms` nodes: twice the remainder of the series, with
/// 2 |J_k(c)| ≤ 2 (c/2)^k / k! per term; the factor two covers aliasing onto lower terms.
pub fn tail(c: f64, terms: usize) -> f64 {
    let half = 0.5 * c.abs();
    let mut term = 2.0;
    for k in 1..=terms {
        term *= half / k as f64;
    }
    let mut sum = 0.0;
    let mut k = terms;
    while term > 1e-20 * sum || (k as f64) < half {
        sum += term;
        k += 1;
        term *= half / k as f64;
        if term == 0.0 || k > 100_000 {
            break;
        }
    }
    2.0 * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_in_three_ways() {
        let n = terms(7.0, 1e-12);
        let c = coefficients(|x| (7.0 * x).cos(), n);
        let p = powers(&c);
        for i in 0..=20 {
            let x = f64::from(i) / 10.0 - 1.0;
            let want = (7.0 * x).cos();
            assert!((value(&c, x) - want).abs() < 1e-11);
            let horner = p.iter().rev().fold(0.0, |s, a| s * x + a);
            assert!((horner - want).abs() < 1e-9);
        }
        assert!(n > 14 && n < 32, "{n}");
        assert!(terms(1e-9, 1e-9) <= 2);
    }
}
