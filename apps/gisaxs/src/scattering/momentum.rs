//! The momentum transfer.

use num_complex::Complex64;

/// The momentum transfer q = k_i − k_f, 1/nm: real along the surface, complex along z in absorbing layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Q {
    /// q_x, 1/nm.
    pub x: f64,
    /// q_y, 1/nm.
    pub y: f64,
    /// q_z, 1/nm.
    pub z: Complex64,
}

impl Q {
    /// Σ |q_k|², 1/nm²; zero only for q = 0.
    pub fn norm_squared(&self) -> f64 {
        self.x * self.x + self.y * self.y + self.z.norm_sqr()
    }

    /// The vector with three complex components, 1/nm.
    pub fn vector(&self) -> [Complex64; 3] {
        [self.x.into(), self.y.into(), self.z]
    }

    /// Whether all components are finite.
    pub fn is_finite(&self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }
}
