//! The window that spreads a point over the nodes of a grid: e^{β(√(1 − x²) − 1)}, which is nearly as good
//! as the best there is and cheap (Barnett, Magland and af Klinteberg 2019).

use super::chebyshev;
use crate::form::gauss;
use num_complex::Complex64;

/// Nodes of a grid are so much closer than the sampling theorem asks.
pub const OVERSAMPLING: f64 = 2.0;

/// Most nodes that a point is spread over.
const MOST: usize = 16;

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

    /// What the kernels take for a place: its whole part is the first node.
    pub fn place(&self, cells: f64) -> f64 {
        cells - 0.5 * self.width as f64 + 1.0
    }
}
