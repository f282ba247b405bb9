//! A Gaussian process with a Matérn 5/2 kernel, one length a parameter (Rasmussen and Williams
//! 2006, chapters 2 and 5), solved by Cholesky factorisation.

use faer::linalg::solvers::Solve as _;
use faer::{Mat, Side};

/// A fitted process.
pub struct Process {
    x: Vec<Vec<f64>>,
    lengths: Vec<f64>,
    mean: f64,
    scale: f64,
    /// K⁻¹ (y − mean) / scale.
    weights: Vec<f64>,
    factor: faer::linalg::solvers::Llt<f64>,
}

struct Fit {
    likelihood: f64,
    factor: faer::linalg::solvers::Llt<f64>,
    weights: Vec<f64>,
}

impl Process {
    /// Fits lengths and noise by likelihood, coordinate by coordinate; `None` when no choice of
    /// them gives a positive definite matrix.
    pub fn fit(x: &[Vec<f64>], y: &[f64]) -> Option<Self> {
        let n = y.len();
        if n < 3 {
            return None;
        }
        let mean = y.iter().sum::<f64>() / n as f64;
        let scale = (y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64)
            .sqrt()
            .max(1e-12);
        let z: Vec<f64> = y.iter().map(|v| (v - mean) / scale).collect();
        let d = x[0].len();
        let mut lengths: Vec<f64> = (0..d)
            .map(|k| {
                let (lo, hi) = x
                    .iter()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), r| {
                        (l.min(r[k]), h.max(r[k]))
                    });
                (hi - lo).max(1e-9)
            })
            .collect();
        let mut noise = 1e-3;
        let mut best = try_fit(x, &z, &lengths, noise);
        // Each length, and the noise, by steps of four, two and the root of two.
        for factor in [4.0, 2.0, std::f64::consts::SQRT_2] {
            for k in 0..=d {
                for step in [factor, 1.0 / factor] {
                    loop {
                        let mut l = lengths.clone();
                        let mut s = noise;
                        if k == d {
                            s = (s * step).clamp(1e-6, 0.3);
                        } else {
                            l[k] *= step;
                        }
                        if (k == d && s == noise) || l.iter().any(|v| !(1e-6..1e6).contains(v)) {
                            break;
                        }
                        let next = try_fit(x, &z, &l, s);
                        let better = match (&next, &best) {
                            (Some(a), Some(b)) => a.likelihood > b.likelihood + 1e-3,
                            (Some(_), None) => true,
                            _ => false,
                        };
                        if !better {
                            break;
                        }
                        (best, lengths, noise) = (next, l, s);
                    }
                }
            }
        }
        let best = best?;
        Some(Self {
            x: x.to_vec(),
            lengths,
            mean,
            scale,
            weights: best.weights,
            factor: best.factor,
        })
    }

    /// Mean at a point.
    pub fn mean(&self, p: &[f64]) -> f64 {
        let k: f64 = self
            .x
            .iter()
            .zip(&self.weights)
            .map(|(x, w)| w * matern(x, p, &self.lengths))
            .sum();
        self.mean + self.scale * k
    }

    /// Mean and standard deviation at a point.
    pub fn predict(&self, p: &[f64]) -> (f64, f64) {
        let k: Vec<f64> = self.x.iter().map(|x| matern(x, p, &self.lengths)).collect();
        let mean: f64 = k.iter().zip(&self.weights).map(|(a, b)| a * b).sum();
        let column = Mat::from_fn(k.len(), 1, |i, _| k[i]);
        let solved = self.factor.solve(&column);
        let explained: f64 = k.iter().enumerate().map(|(i, v)| v * solved[(i, 0)]).sum();
        (
            self.mean + self.scale * mean,
            self.scale * (1.0 - explained).max(0.0).sqrt(),
        )
    }
}

fn matern(a: &[f64], b: &[f64], lengths: &[f64]) -> f64 {
    let r2: f64 = a
        .iter()
        .zip(b)
        .zip(lengths)
        .map(|((x, y), l)| ((x - y) / l).powi(2))
        .sum();
    let r = (5.0 * r2).sqrt();
    (1.0 + r + 5.0 / 3.0 * r2) * (-r).exp()
}

fn try_fit(x: &[Vec<f64>], z: &[f64], lengths: &[f64], noise: f64) -> Option<Fit> {
    let n = z.len();
    let mut k = Mat::<f64>::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let v = matern(&x[i], &x[j], lengths);
            k[(i, j)] = v;
            k[(j, i)] = v;
        }
        k[(i, i)] = 1.0 + noise;
    }
    let factor = k.llt(Side::Lower).ok()?;
    let rhs = Mat::from_fn(n, 1, |i, _| z[i]);
    let solved = factor.solve(&rhs);
    let weights: Vec<f64> = (0..n).map(|i| solved[(i, 0)]).collect();
    let fit: f64 = weights.iter().zip(z).map(|(w, z)| w * z).sum();
    let l = factor.L();
    let log_det: f64 = (0..n).map(|i| l[(i, i)].ln()).sum();
    let likelihood = -0.5 * fit - log_det;
    likelihood.is_finite().then_some(Fit {
        likelihood,
        factor,
        weights,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smooth_function_is_learnt_and_doubt_grows_away_from_data() {
        let mut rng = fastrand::Rng::with_seed(3);
        let f = |x: &[f64]| (3.0 * x[0]).sin() + x[1] * x[1];
        let x: Vec<Vec<f64>> = (0..60)
            .map(|_| vec![rng.f64() * 2.0, rng.f64(), rng.f64()])
            .collect();
        let y: Vec<f64> = x.iter().map(|x| f(x)).collect();
        let p = Process::fit(&x, &y).unwrap();
        for _ in 0..50 {
            let q = vec![0.2 + rng.f64() * 1.6, 0.1 + 0.8 * rng.f64(), rng.f64()];
            let (mean, sd) = p.predict(&q);
            assert!((mean - f(&q)).abs() < 0.05, "{q:?} {mean} {}", f(&q));
            assert!((mean - p.mean(&q)).abs() < 1e-12 && sd < 0.2);
        }
        assert!(p.predict(&[9.0, 9.0, 0.5]).1 > 10.0 * p.predict(&x[0]).1);
    }
}
