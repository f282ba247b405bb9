//! The transfer of momentum.

use num_complex::Complex64;

/// q = k_i − k_f, 1/nm. Along the surface it is real; across it is complex where waves are damped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Q {
    pub x: f64,
    pub y: f64,
    pub z: Complex64,
}

impl Q {
    /// Σ |q_k|²: zero only where q is.
    pub fn norm_squared(&self) -> f64 {
        self.x * self.x + self.y * self.y + self.z.norm_sqr()
    }

    /// x, y and z, all complex, as a turned frame makes them.
    pub fn vector(&self) -> [Complex64; 3] {
        [self.x.into(), self.y.into(), self.z]
    }

    pub fn is_finite(&self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }
}
