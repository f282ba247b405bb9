//! Sizes, matrices and the trait of a matrix product.

use greenup_device::Buffer;
use serde::{Deserialize, Serialize};

/// Size of the product C (m × n) += A (m × k) · B (k × n).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Columns of A, rows of B.
    pub k: usize,
}

impl Size {
    /// Operations of a product, 2 m n k flop.
    pub fn flops(self) -> f64 {
        2.0 * self.m as f64 * self.n as f64 * self.k as f64
    }

    /// Minimum traffic of a product, bytes: A and B read, C read and written.
    pub fn bytes(self) -> f64 {
        let [m, n, k] = [self.m, self.n, self.k].map(|x| x as f64);
        8.0 * (2.0 * m * n + m * k + k * n)
    }

    /// Distance of two sizes: the largest |ln| of the ratios of their dimensions.
    pub fn distance(self, other: Self) -> f64 {
        [(self.m, other.m), (self.n, other.n), (self.k, other.k)]
            .map(|(a, b)| (a.max(1) as f64 / b.max(1) as f64).ln().abs())
            .into_iter()
            .fold(0.0, f64::max)
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} × {} × {}", self.m, self.n, self.k)
    }
}

/// The operands, row-major and contiguous.
pub struct Matrices {
    /// Size of the product.
    pub size: Size,
    /// A, m × k.
    pub a: Buffer<f64>,
    /// B, k × n.
    pub b: Buffer<f64>,
    /// C, m × n.
    pub c: Buffer<f64>,
}

impl Matrices {
    /// Random matrices with entries uniform in [−1, 1).
    pub fn random(size: Size, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut fill = |len| Buffer::from_fn(len, |_| 2.0 * rng.f64() - 1.0);
        Self {
            size,
            a: fill(size.m * size.k),
            b: fill(size.k * size.n),
            c: fill(size.m * size.n),
        }
    }
}

/// An implementation of the matrix product.
pub trait Product {
    /// Name of the implementation, for tables and messages.
    fn name(&self) -> &str;
    /// Computes C += A·B.
    fn multiply(&self, x: &mut Matrices);
}
