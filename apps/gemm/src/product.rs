//! What a matrix product is.

use greenup_device::Buffer;
use serde::{Deserialize, Serialize};

/// C (m × n) += A (m × k) · B (k × n).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

impl Size {
    pub fn flops(self) -> f64 {
        2.0 * self.m as f64 * self.n as f64 * self.k as f64
    }

    /// Bytes that any algorithm moves: A and B read, C read and written.
    pub fn bytes(self) -> f64 {
        let [m, n, k] = [self.m, self.n, self.k].map(|x| x as f64);
        8.0 * (2.0 * m * n + m * k + k * n)
    }

    /// How far apart two sizes are: the largest ratio of a side, as a logarithm.
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

/// The operands, row major, without gaps.
pub struct Matrices {
    pub size: Size,
    pub a: Buffer<f64>,
    pub b: Buffer<f64>,
    pub c: Buffer<f64>,
}

impl Matrices {
    /// Entries uniform in (−1, 1).
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

/// Something that multiplies.
pub trait Product {
    fn name(&self) -> &str;
    /// C += A·B.
    fn multiply(&self, x: &mut Matrices);
}
