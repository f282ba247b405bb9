//! A box, its base centred at the origin.

use super::FormFactor;
use super::functions::{sinc, wave};
use num_complex::Complex64;

/// A box with edges along the axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cuboid {
    /// Edge along x, nm.
    pub length: f64,
    /// Edge along y, nm.
    pub width: f64,
    /// Edge along z, nm.
    pub height: f64,
}

impl FormFactor for Cuboid {
    fn at(&self, q: &[Complex64; 3]) -> Complex64 {
        let half = q[2] * (0.5 * self.height);
        sinc(q[0] * (0.5 * self.length))
            * sinc(q[1] * (0.5 * self.width))
            * sinc(half)
            * wave(half)
            * self.volume()
    }

    fn volume(&self) -> f64 {
        self.length * self.width * self.height
    }
}
