//! The window that spreads a point over the nodes of a grid: e^{β(√(1 − x²) − 1)}, which is nearly as good
//! as the best there is and cheap (Barnett, Magland and af Klinteberg 2019).

use super::chebyshev;
use crate::form::gauss;
use num_complex::Complex64;
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::OnceLock;

/// Nodes of a grid are so much closer than the sampling theorem asks.
pub const OVERSAMPLING: f64 = 2.0;

/// Most nodes that a point is spread over.
const MOST: usize = 16;

/// Places and phases at which a window is looked at, and what its error may be larger by between them: polynomials of
/// degree d are at most 1/cos(πd/2n) times what they are on n nodes of Chebyshev (Ehlich and Zeller 1964), here
/// d ≈ 28 and 30.
const PLACES: usize = 96;
const PHASES: usize = 64;
const BETWEEN: f64 = 1.5;

/// What interpolation with a window does to a wave.
#[derive(Clone, Copy, Debug)]
pub struct Quality {
    /// Largest error over the wave's size.
    pub error: f64,
    /// Largest Σ|window e^{…}| / |transform|: by so much errors of cells grow.
    pub gain: f64,
    /// Largest |Σ window e^{…}| / |transform| of the first few nodes.
    pub partial: f64,
    /// Largest √(Σ window²) / Σ window.
    pub peak: f64,
}

#[derive(Clone, Debug)]
pub struct Window {
    /// Nodes that a point is spread over.
    pub width: usize,
    pub beta: f64,
    /// [degree + 1][16], highest power first: the values on each node as polynomials in 2f − 1, f the
    /// place within a cell.
    pub coefficients: Vec<f64>,
    pub degree: usize,
    /// Half of the window's integral: places in 0…1, and values times weights.
    rule: Vec<(f64, f64)>,
}

impl Window {
    /// A window whose error is below `accuracy` (not less than about 1e-14).
    pub fn new(accuracy: f64) -> Self {
        let width = ((-accuracy.log10()).ceil().max(2.0) as usize + 1).clamp(4, MOST);
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
        let rule = gauss(width + 22)
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
            rule,
        }
    }

    /// Points of half the window, 0…1, with weights times values.
    pub fn rule(&self) -> &[(f64, f64)] {
        &self.rule
    }

    /// ∫ window(t) e^{ixt} dt over its width in cells: what a wave of phase x a cell is multiplied by.
    pub fn transform(&self, x: Complex64) -> Complex64 {
        let half = 0.5 * self.width as f64;
        self.rule
            .iter()
            .map(|&(t, w)| (x * (t * half)).cos() * w)
            .sum()
    }

    /// The same where the phase is real.
    pub fn transform_real(&self, x: f64) -> f64 {
        let half = 0.5 * self.width as f64;
        self.rule
            .iter()
            .map(|&(t, w)| (x * t * half).cos() * w)
            .sum()
    }

    /// The values on each node at a share of a cell, as the kernels compute them.
    fn values(&self, f: f64) -> [f64; MOST] {
        let x = 2.0 * f - 1.0;
        let mut sum = [0.0; MOST];
        for row in self.coefficients.as_chunks::<MOST>().0 {
            for (s, c) in sum.iter_mut().zip(row) {
                *s = *s * x + c;
            }
        }
        sum
    }

    /// The worst of all places and of all phases a cell up to π/2, what oversampling leaves, with a loss a cell up to
    /// `loss`. Of the window as it is computed: polynomials, quadrature and all.
    pub fn quality(&self, loss: f64) -> Quality {
        static LOSSLESS: [OnceLock<Quality>; MOST + 1] = [const { OnceLock::new() }; MOST + 1];
        if loss == 0.0 {
            return *LOSSLESS[self.width].get_or_init(|| self.measured(&self.boundary(0.0)));
        }
        self.measured(&self.boundary(loss))
    }

    /// Phases on the border of the rectangle, where an analytic function is largest; a quarter, as the others mirror it.
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

    fn measured(&self, phases: &[Complex64]) -> Quality {
        let half = 0.5 * self.width as f64;
        let places: Vec<(f64, [f64; MOST])> = (0..PLACES)
            .map(|k| 0.5 + 0.5 * chebyshev::node(k, PLACES))
            .map(|f| (f, self.values(f)))
            .collect();
        let mut out = Quality {
            error: 0.0,
            gain: 0.0,
            partial: 0.0,
            peak: 0.0,
        };
        for (_, w) in &places {
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
            for (f, w) in &places {
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

    /// What the kernels take for a place: its whole part is the first node.
    pub fn place(&self, cells: f64) -> f64 {
        cells - 0.5 * self.width as f64 + 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Error of a wave at a place, by the sum itself.
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
        for width in 4..=MOST {
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
