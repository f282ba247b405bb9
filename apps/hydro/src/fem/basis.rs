//! Polynomials on [0, 1]: Gauss–Legendre and Gauss–Lobatto points, Lagrange and Bernstein bases.

use std::f64::consts::PI;

/// P_n and its derivative at x in [−1, 1].
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut now) = (0.0, 1.0);
    for k in 0..n {
        let k = k as f64;
        (before, now) = (now, ((2.0 * k + 1.0) * x * now - k * before) / (k + 1.0));
    }
    let n = n as f64;
    (now, n * (before - x * now) / (1.0 - x * x))
}

/// Points and weights of the n-point Gauss–Legendre rule on [0, 1], exact for degree 2n − 1.
pub fn gauss(n: usize) -> (Vec<f64>, Vec<f64>) {
    (0..n)
        .map(|i| {
            let mut x = -(PI * (i as f64 + 0.75) / (n as f64 + 0.5)).cos();
            for _ in 0..100 {
                let (p, dp) = legendre(n, x);
                let step = p / dp;
                x -= step;
                if step.abs() < 1e-16 {
                    break;
                }
            }
            let dp = legendre(n, x).1;
            (0.5 + 0.5 * x, 1.0 / ((1.0 - x * x) * dp * dp))
        })
        .unzip()
}

/// The k + 1 Gauss–Lobatto points on [0, 1], including both ends.
pub fn lobatto(k: usize) -> Vec<f64> {
    let mut out = vec![0.0; k + 1];
    out[k] = 1.0;
    let n = k as f64;
    for (i, to) in out.iter_mut().enumerate().take(k).skip(1) {
        // Zeros of P'_k, by P'' = (2x P' − k (k + 1) P) / (1 − x²).
        let mut x = -(PI * i as f64 / n).cos();
        for _ in 0..100 {
            let (p, dp) = legendre(k, x);
            let second = (2.0 * x * dp - n * (n + 1.0) * p) / (1.0 - x * x);
            let step = dp / second;
            x -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        *to = 0.5 + 0.5 * x;
    }
    out
}

/// Values and derivatives at x of the Lagrange polynomials on `nodes`.
pub fn lagrange(nodes: &[f64], x: f64) -> (Vec<f64>, Vec<f64>) {
    let others = |i: usize| nodes.iter().enumerate().filter(move |(j, _)| *j != i);
    (0..nodes.len())
        .map(|i| {
            let under: f64 = others(i).map(|(_, n)| nodes[i] - n).product();
            let value: f64 = others(i).map(|(_, n)| x - n).product();
            let gradient: f64 = others(i)
                .map(|(j, _)| {
                    others(i)
                        .filter(|(l, _)| *l != j)
                        .map(|(_, n)| x - n)
                        .product::<f64>()
                })
                .sum();
            (value / under, gradient / under)
        })
        .unzip()
}

/// Values at x of the Bernstein polynomials of degree t.
pub fn bernstein(t: usize, x: f64) -> Vec<f64> {
    let mut out = vec![1.0];
    for n in 0..t {
        let mut next = vec![0.0; n + 2];
        for (i, b) in out.iter().enumerate() {
            next[i] += (1.0 - x) * b;
            next[i + 1] += x * b;
        }
        out = next;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_exact_and_bases_are_of_unity() {
        for n in 1..14 {
            let (x, w) = gauss(n);
            for degree in 0..2 * n {
                let sum: f64 = x
                    .iter()
                    .zip(&w)
                    .map(|(x, w)| w * x.powi(degree as i32))
                    .sum();
                assert!(
                    (sum * (degree + 1) as f64 - 1.0).abs() < 1e-13,
                    "{n} {degree}: {sum}"
                );
            }
        }
        for k in 1..9 {
            let nodes = lobatto(k);
            assert!(nodes.windows(2).all(|n| n[0] < n[1]));
            for x in [0.0, 0.37, 1.0] {
                let (v, d) = lagrange(&nodes, x);
                assert!((v.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(d.iter().sum::<f64>().abs() < 1e-11);
                // Exact for x^k.
                let power: f64 = nodes
                    .iter()
                    .zip(&d)
                    .map(|(n, d)| n.powi(k as i32) * d)
                    .sum();
                let want = k as f64 * x.powi(k as i32 - 1);
                assert!((power - want).abs() < 1e-10, "{k} {x}: {power} {want}");
                assert!((bernstein(k, x).iter().sum::<f64>() - 1.0).abs() < 1e-14);
            }
        }
        // Interior points of degree 3: (1 ± 1/√5)/2.
        assert!((lobatto(3)[1] - 0.5 * (1.0 - 0.2_f64.sqrt())).abs() < 1e-15);
    }
}
