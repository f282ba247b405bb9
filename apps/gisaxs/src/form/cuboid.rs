//! A box with its base at z = 0, centred.

use super::FormFactor;
use super::functions::sinc;
use crate::Q;
use num_complex::Complex64;

#[derive(Clone, Debug, PartialEq)]
pub struct Cuboid {
    pub length: f64,
    pub width: f64,
    pub height: f64,
}

impl FormFactor for Cuboid {
    fn at(&self, q: &Q) -> Complex64 {
        let half = q.z * (0.5 * self.height);
        let along = |x: f64| sinc(Complex64::new(0.5 * x, 0.0)).re;
        self.volume()
            * along(q.x * self.length)
            * along(q.y * self.width)
            * sinc(half)
            * (Complex64::I * half).exp()
    }

    fn volume(&self) -> f64 {
        self.length * self.width * self.height
    }
}
