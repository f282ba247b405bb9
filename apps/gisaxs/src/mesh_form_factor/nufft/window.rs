//! The window that spreads a point onto the nodes of a grid: e^{β(√(1 − x²) − 1)}, which is close to the optimum and
//! cheap (Barnett, Magland and af Klinteberg 2019).

use super::chebyshev;
use crate::form::gauss;
use num_complex::Complex64;
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::OnceLock;

/// Oversampling factor: density of nodes relative to the sampling theorem.
pub const OVERSAMPLING: f64 = 2.0;

/// Maximum width of a window, nodes.
const MAX: usize = 16;

/// Number of positions at which the error of a window is evaluated.
const PLACES: usize = 96;
/// Number of phases at which the error of a window is evaluated.
const PHASES: usize = 64;
/// Bound of the ratio of the error between these points to that at them: a polynomial of degree d is at most
/// 1/cos(πd/2n) times its maximum on n Chebyshev nodes (Ehlich and Zeller 1964), here d ≈ 28 and 30.
const BETWEEN: f64 = 1.5;

/// Errors of the interpolation of a wave with a window.
#[derive(Clone, Copy, Debug)]
pub struct Quality {
    /// Largest error relative to the size of the wave.
    pub error: f64,
    /// Largest Σ|window e^{…}| / |transform|: amplification of errors of cells.
    pub gain: f64,
    /// Largest |Σ window e^{…}| / |transform| of the first few nodes.
    pub partial: f64,
    /// Largest √(Σ window²) / Σ window.
    pub peak: f64,
}

/// A window.
#[derive(Clone, Debug)]
pub struct Window {
    /// Number of nodes onto which a point is spread.
    pub width: usize,
    /// β in the exponent.
    pub beta: f64,
    /// [degree + 1][16], highest power first: the values at each node as polynomials in 2f − 1, where f is the position
    /// within a cell.
    pub coefficients: Vec<f64>,
    /// Degree of these polynomials.
    pub degree: usize,
    /// Quadrature of half of the window: positions in 0…1, and values times weights.
    quadrature: Vec<(f64, f64)>,
}

impl Window {
    /// A window whose error is below `accuracy` (not less than about 1e-14).
    pub fn new(accuracy: f64) -> Self {
        let width = ((-accuracy.log10()).ceil().max(2.0) as usize + 1).clamp(4, MAX);
        let beta = 2.30 * width as f64;
        let half = 0.5 * width as f64;
        let value = |x: f64| (beta * ((1.0 - x * x).max(0.0).sqrt() - 1.0)).exp();
        let degree = width + 3;
        let n = degree + 1;
        let mut coefficients = vec![0.0; 16 * n];
        for i in 0..width {
            let piece = |x: f64| {
                let f = 0.5 + 0.5 * x;
                value((i as f64 - half + 1.0 - f) / half)
            };
            let sum = chebyshev::powers(&chebyshev::coefficients(piece, n));
            for (d, c) in sum.iter().rev().enumerate() {
                coefficients[16 * d + i] = *c;
            }
        }
        let quadrature = gauss(width + 22)
            .into_iter()
            .map(|(x, w)| {
                let t = 0.5 + 0.5 * x;
                (t, 0.5 * w * value(t) * width as f64)
            })
            .collect();
        Self {
            width,
            beta,
            coefficients,
            degree,
            quadrature,
        }
    }

    /// Quadrature of half of the window: positions in 0…1, and values times weights.
    pub fn quadrature(&self) -> &[(f64, f64)] {
        &self.quadrature
    }

    /// ∫ window(t) e^{ixt} dt over its width in cells: the factor for a wave with phase x per cell.
    pub fn transform(&self, x: Complex64) -> Complex64 {
        let half = 0.5 * self.width as f64;
        self.quadrature
            .iter()
            .map(|&(t, w)| (x * (t * half)).cos() * w)
            .sum()
    }

    /// The same for a real phase.
    pub fn transform_real(&self, x: f64) -> f64 {
        let half = 0.5 * self.width as f64;
        self.quadrature
            .iter()
            .map(|&(t, w)| (x * t * half).cos() * w)
            .sum()
    }

    /// The values at each node for a position f within a cell, as the kernels compute them.
    fn values(&self, f: f64) -> [f64; MAX] {
        let x = 2.0 * f - 1.0;
        let mut sum = [0.0; MAX];
        for row in self.coefficients.as_chunks::<MAX>().0 {
            for (s, c) in sum.iter_mut().zip(row) {
                *s = *s * x + c;
            }
        }
        sum
    }

    /// The largest errors at all positions and all phases per cell: real parts up to π/2, the limit by oversampling,
    /// and imaginary parts up to `loss`. They include the polynomials and the quadrature.
    pub fn quality(&self, loss: f64) -> Quality {
        static LOSSLESS: [OnceLock<Quality>; MAX + 1] = [const { OnceLock::new() }; MAX + 1];
        if loss == 0.0 {
            return *LOSSLESS[self.width].get_or_init(|| self.measured(&self.boundary(0.0)));
        }
        self.measured(&self.boundary(loss))
    }

    /// Phases on the boundary of that rectangle, where an analytic function is largest; one quadrant, by symmetry.
    fn boundary(&self, loss: f64) -> Vec<Complex64> {
        let share = |k: usize, n: usize| 0.5 - 0.5 * (PI * k as f64 / (n - 1) as f64).cos();
        let mut out: Vec<Complex64> = (0..PHASES)
            .map(|k| Complex64::new(FRAC_PI_2 * share(k, PHASES), loss))
            .collect();
        if loss > 0.0 {
            let n = PHASES / 2;
            out.extend((0..n).map(|k| Complex64::new(FRAC_PI_2, loss * share(k, n))));
        }
        out
    }

    /// The errors at the given phases.
    fn measured(&self, phases: &[Complex64]) -> Quality {
        let half = 0.5 * self.width as f64;
        let positions: Vec<(f64, [f64; MAX])> = (0..PLACES)
            .map(|k| 0.5 + 0.5 * chebyshev::node(k, PLACES))
            .map(|f| (f, self.values(f)))
            .collect();
        let mut out = Quality {
            error: 0.0,
            gain: 0.0,
            partial: 0.0,
            peak: 0.0,
        };
        for (_, w) in &positions {
            let (one, two) = w[..self.width]
                .iter()
                .fold((0.0, 0.0), |(a, b), w| (a + w.abs(), b + w * w));
            out.peak = out.peak.max(two.sqrt() / one);
        }
        for &phase in phases {
            let over = 1.0 / self.transform(phase);
            let waves: Vec<Complex64> = (0..self.width)
                .map(|i| (Complex64::I * phase * (i as f64 - half + 1.0)).exp() * over)
                .collect();
            for (f, w) in &positions {
                let back = (-Complex64::I * phase * *f).exp();
                let (mut sum, mut size) = (Complex64::ZERO, 0.0);
                for (w, wave) in w.iter().zip(&waves) {
                    sum += wave * *w;
                    size += wave.norm() * w.abs();
                    out.partial = out.partial.max((sum * back).norm());
                }
                out.error = out.error.max((sum * back - 1.0).norm());
                out.gain = out.gain.max(size * back.norm());
            }
        }
        out.error *= BETWEEN;
        out
    }

    /// A position in units of cells as the kernels expect it: its integer part is the first node.
    pub fn position(&self, cells: f64) -> f64 {
        cells - 0.5 * self.width as f64 + 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Error of a wave at a position, by the sum itself.
    fn off(w: &Window, phase: Complex64, f: f64) -> f64 {
        let half = 0.5 * w.width as f64;
        let sum: Complex64 = w.values(f)[..w.width]
            .iter()
            .enumerate()
            .map(|(i, v)| v * (Complex64::I * phase * (i as f64 - half + 1.0 - f)).exp())
            .sum();
        (sum / w.transform(phase) - 1.0).norm()
    }

    #[test]
    fn no_wave_is_worse_than_the_window_says() {
        let mut rng = fastrand::Rng::with_seed(7);
        for width in 4..=MAX {
            let w = Window::new(1.1 * 10.0_f64.powi(1 - width as i32));
            assert_eq!(w.width, width);
            for loss in [0.0, 0.01, 0.3] {
                let q = w.quality(loss);
                let mut worst = 0.0_f64;
                for _ in 0..20_000 {
                    let phase = Complex64::new(
                        FRAC_PI_2 * (2.0 * rng.f64() - 1.0),
                        loss * (2.0 * rng.f64() - 1.0),
                    );
                    worst = worst.max(off(&w, phase, rng.f64()));
                }
                assert!(worst <= q.error, "{width} {loss}: {worst:e} {q:?}");
                assert!(q.error <= 4.0 * worst, "{width} {loss}: {worst:e} {q:?}");
            }
        }
    }
}
