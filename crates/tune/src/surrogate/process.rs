//! A Gaussian process with a Matérn 3/2 kernel, one length a feature (Rasmussen and Williams 2006,
//! chapters 2 and 5), solved by Cholesky factorisation.

use nalgebra::{Cholesky, DMatrix, DMatrixView, DVector, Dyn};

/// A fitted process.
pub struct Process {
    x: Vec<Vec<f64>>,
    hyper: Hyper,
    mean: f64,
    scale: f64,
    /// K⁻¹ (y − mean) / scale.
    weights: DVector<f64>,
    factor: Cholesky<f64, Dyn>,
}

/// Standard deviation of the logarithm of a length before any data: few trials do not make a feature all-important.
const SPREAD: f64 = 1.2;

/// What the likelihood decides.
#[derive(Clone)]
struct Hyper {
    lengths: Vec<f64>,
    /// Logarithms of the lengths that are likely before any data.
    likely: Vec<f64>,
    amplitude: f64,
    noise: f64,
}

struct Fit {
    likelihood: f64,
    factor: Cholesky<f64, Dyn>,
    weights: DVector<f64>,
}

impl Process {
    /// Fits lengths, amplitude and noise by the gradient of the likelihood, `steps` times; `None`
    /// when the kernel is not positive definite or there are fewer than three points.
    pub fn fit(x: &[Vec<f64>], y: &[f64], steps: usize) -> Option<Self> {
        Self::fit_from(None, x, y, steps)
    }

    /// The same from the lengths, amplitude and noise of an earlier process over the same features: few steps follow data
    /// that grow.
    pub fn fit_from(
        before: Option<&Self>,
        x: &[Vec<f64>],
        y: &[f64],
        steps: usize,
    ) -> Option<Self> {
        let n = y.len();
        if n < 3 {
            return None;
        }
        let start = match before {
            Some(p) if p.hyper.lengths.len() == x[0].len() => p.hyper.clone(),
            _ => Hyper::start(x),
        };
        let mean = y.iter().sum::<f64>() / n as f64;
        let scale = (y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64)
            .sqrt()
            .max(1e-12);
        let z: Vec<f64> = y.iter().map(|v| (v - mean) / scale).collect();
        let (hyper, best) = learn(start, x, &z, steps)?;
        Some(Self {
            x: x.to_vec(),
            hyper,
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
            .zip(self.weights.iter())
            .map(|(x, w)| w * self.hyper.kernel(x, p))
            .sum();
        self.mean + self.scale * k
    }

    /// Mean and standard deviation at a point.
    pub fn predict(&self, p: &[f64]) -> (f64, f64) {
        let k = DVector::from_fn(self.x.len(), |i, _| self.hyper.kernel(&self.x[i], p));
        let mean = k.dot(&self.weights);
        let explained = k.dot(&self.factor.solve(&k));
        (
            self.mean + self.scale * mean,
            self.scale * (self.hyper.amplitude - explained).max(0.0).sqrt(),
        )
    }
}

/// Points predicted together.
const TOGETHER: usize = 256;

impl Process {
    /// Means and standard deviations at many points: [`Process::predict`] by matrix products.
    pub fn predict_all(&self, points: &[&[f64]]) -> Vec<(f64, f64)> {
        let inverse = inverse_of_lower(self.factor.l_dirty().as_view());
        let mut out = Vec::with_capacity(points.len());
        for some in points.chunks(TOGETHER) {
            let k = DMatrix::from_fn(self.x.len(), some.len(), |i, j| {
                self.hyper.kernel(&self.x[i], some[j])
            });
            let explained = &inverse * &k;
            for j in 0..some.len() {
                let mean = k.column(j).dot(&self.weights);
                let left = self.hyper.amplitude - explained.column(j).norm_squared();
                out.push((
                    self.mean + self.scale * mean,
                    self.scale * left.max(0.0).sqrt(),
                ));
            }
        }
        out
    }
}

impl Hyper {
    /// Lengths as wide as the features spread.
    fn start(x: &[Vec<f64>]) -> Self {
        let features = x[0].len();
        let lengths: Vec<f64> = (0..features)
            .map(|k| {
                let column = || x.iter().map(|r| r[k]);
                let (lo, hi) = (
                    column().fold(f64::INFINITY, f64::min),
                    column().fold(f64::NEG_INFINITY, f64::max),
                );
                // Of a feature that does not vary nothing is known.
                if hi > lo { hi - lo } else { 1.0 }
            })
            .collect();
        // Longer where there are many features, so that all of them together vary as much as a few.
        let more = 0.5 * (features as f64).ln();
        Self {
            likely: lengths.iter().map(|l| l.ln() + more).collect(),
            lengths,
            amplitude: 1.0,
            noise: 1e-3,
        }
    }

    /// Deviations of the lengths from the likely ones.
    fn deviations(&self) -> impl Iterator<Item = f64> + '_ {
        (self.lengths.iter().zip(&self.likely)).map(|(l, m)| (l.ln() - m) / SPREAD)
    }

    /// √3 times the distance in lengths.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let r2: f64 = a
            .iter()
            .zip(b)
            .zip(&self.lengths)
            .map(|((x, y), l)| ((x - y) / l).powi(2))
            .sum();
        (3.0 * r2).sqrt()
    }

    fn kernel(&self, a: &[f64], b: &[f64]) -> f64 {
        let r = self.distance(a, b);
        self.amplitude * (1.0 + r) * (-r).exp()
    }

    fn fit(&self, x: &[Vec<f64>], z: &[f64]) -> Option<Fit> {
        let n = z.len();
        let mut k = DMatrix::<f64>::zeros(n, n);
        for i in 0..n {
            for j in 0..i {
                k[(i, j)] = self.kernel(&x[i], &x[j]);
                k[(j, i)] = k[(i, j)];
            }
            k[(i, i)] = self.amplitude + self.noise;
        }
        let factor = k.cholesky()?;
        let z = DVector::from_column_slice(z);
        let weights = factor.solve(&z);
        let fit = weights.dot(&z);
        let log_det: f64 = (0..n).map(|i| factor.l_dirty()[(i, i)].ln()).sum();
        let prior: f64 = self.deviations().map(|d| d * d).sum();
        let likelihood = -0.5 * (fit + prior) - log_det;
        likelihood.is_finite().then_some(Fit {
            likelihood,
            factor,
            weights,
        })
    }

    /// Derivatives of the likelihood by the logarithms of lengths, amplitude and noise:
    /// ½ tr((ααᵀ − K⁻¹) ∂K) (Rasmussen and Williams, eq 5.9).
    fn gradient(&self, x: &[Vec<f64>], f: &Fit) -> Vec<f64> {
        let n = x.len();
        let d = self.lengths.len();
        let inverse = inverse(&f.factor);
        let mut out = vec![0.0; d + 2];
        for i in 0..n {
            for j in 0..i {
                // Twice a half: the matrix is symmetric.
                let a = f.weights[i] * f.weights[j] - inverse[(i, j)];
                let r = self.distance(&x[i], &x[j]);
                let e = self.amplitude * (-r).exp();
                out[d] += a * (1.0 + r) * e;
                for (o, ((p, q), l)) in out
                    .iter_mut()
                    .zip(x[i].iter().zip(&x[j]).zip(&self.lengths))
                {
                    *o += 3.0 * a * e * ((p - q) / l).powi(2);
                }
            }
            let a = 0.5 * (f.weights[i] * f.weights[i] - inverse[(i, i)]);
            out[d] += a * self.amplitude;
            out[d + 1] += a * self.noise;
        }
        for (o, deviation) in out.iter_mut().zip(self.deviations()) {
            *o -= deviation / SPREAD;
        }
        out
    }

    fn scaled(&self, by: &[f64]) -> Self {
        let d = self.lengths.len();
        Self {
            lengths: self
                .lengths
                .iter()
                .zip(by)
                .map(|(l, s)| (l * s.exp()).clamp(1e-3, 1e4))
                .collect(),
            likely: self.likely.clone(),
            amplitude: (self.amplitude * by[d].exp()).clamp(1e-2, 1e4),
            noise: (self.noise * by[d + 1].exp()).clamp(1e-6, 0.5),
        }
    }
}

/// K⁻¹ = L⁻ᵀ L⁻¹ of K = L Lᵀ, mostly by matrix products.
fn inverse(factor: &Cholesky<f64, Dyn>) -> DMatrix<f64> {
    let l = factor.l_dirty();
    let m = inverse_of_lower(l.as_view());
    m.transpose() * m
}

/// The inverse of a lower triangle; what lies above its diagonal is not read.
fn inverse_of_lower(l: DMatrixView<f64>) -> DMatrix<f64> {
    const SMALL: usize = 32;
    let n = l.nrows();
    let mut out = DMatrix::zeros(n, n);
    if n <= SMALL {
        for j in 0..n {
            out[(j, j)] = 1.0 / l[(j, j)];
            for i in j + 1..n {
                let sum: f64 = (j..i).map(|k| l[(i, k)] * out[(k, j)]).sum();
                out[(i, j)] = -sum / l[(i, i)];
            }
        }
        return out;
    }
    // Blocks [A 0; B C] have the inverse [A⁻¹ 0; −C⁻¹ B A⁻¹, C⁻¹].
    let h = n / 2;
    let a = inverse_of_lower(l.view((0, 0), (h, h)));
    let c = inverse_of_lower(l.view((h, h), (n - h, n - h)));
    let below = &c * (l.view((h, 0), (n - h, h)) * &a);
    out.view_mut((0, 0), (h, h)).copy_from(&a);
    out.view_mut((h, h), (n - h, n - h)).copy_from(&c);
    out.view_mut((h, 0), (n - h, h)).copy_from(&-below);
    out
}

/// Resilient propagation: steps that grow while the slope keeps its sign (Igel and Hüsken 2003);
/// the best point met is kept.
fn learn(start: Hyper, x: &[Vec<f64>], z: &[f64], steps: usize) -> Option<(Hyper, Fit)> {
    let mut at = start;
    let mut fit = at.fit(x, z)?;
    let mut best = at.clone();
    let mut likelihood = fit.likelihood;
    let d = at.lengths.len() + 2;
    let mut size = vec![0.2; d];
    let mut before = vec![0.0; d];
    for _ in 0..steps {
        let mut slope = at.gradient(x, &fit);
        let by: Vec<f64> = (0..d)
            .map(|k| {
                let turned = slope[k] * before[k];
                if turned > 0.0 {
                    size[k] = f64::min(size[k] * 1.2, 1.0);
                } else if turned < 0.0 {
                    size[k] = f64::max(size[k] * 0.5, 1e-3);
                    slope[k] = 0.0;
                }
                slope[k].signum() * if slope[k] == 0.0 { 0.0 } else { size[k] }
            })
            .collect();
        before = slope;
        let next = at.scaled(&by);
        let Some(f) = next.fit(x, z) else { break };
        (at, fit) = (next, f);
        if fit.likelihood > likelihood {
            likelihood = fit.likelihood;
            best = at.clone();
        }
        if size.iter().all(|s| *s < 2e-3) {
            break;
        }
    }
    let fit = best.fit(x, z)?;
    Some((best, fit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_one_at_odd_sizes() {
        let mut rng = fastrand::Rng::with_seed(5);
        for n in [1, 2, 31, 33, 77, 131] {
            let a = DMatrix::from_fn(n, n, |_, _| rng.f64() - 0.5);
            let k = &a * a.transpose() + DMatrix::identity(n, n);
            let product = inverse(&k.clone().cholesky().unwrap()) * k;
            let error = (product - DMatrix::identity(n, n)).amax();
            assert!(error < 1e-11, "{n}: {error}");
        }
    }

    #[test]
    fn a_smooth_function_is_learnt_and_doubt_grows_away_from_data() {
        let mut rng = fastrand::Rng::with_seed(3);
        let f = |x: &[f64]| (3.0 * x[0]).sin() + x[1] * x[1];
        let x: Vec<Vec<f64>> = (0..60)
            .map(|_| vec![rng.f64() * 2.0, rng.f64(), rng.f64()])
            .collect();
        let y: Vec<f64> = x.iter().map(|x| f(x)).collect();
        let p = Process::fit(&x, &y, 60).unwrap();
        for _ in 0..50 {
            let q = vec![0.2 + rng.f64() * 1.6, 0.1 + 0.8 * rng.f64(), rng.f64()];
            let (mean, sd) = p.predict(&q);
            assert!((mean - f(&q)).abs() < 0.05, "{q:?} {mean} {}", f(&q));
            // The two sum in different orders.
            assert!((mean - p.mean(&q)).abs() < 1e-9 && sd < 0.2, "{mean} {sd}");
            let (m, s) = p.predict_all(&[&q])[0];
            assert!((m - mean).abs() < 1e-9 && (s - sd).abs() < 1e-6, "{m} {s}");
        }
        assert!(p.predict(&[9.0, 9.0, 0.5]).1 > 10.0 * p.predict(&x[0]).1);
    }
}
