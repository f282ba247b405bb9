//! A box, its base centred at the origin.

use super::functions::{sinc, wave};
use super::solids::{frustum, rectangle};
use super::{FormFactor, Slice, upright};
use crate::sample::rotation::Rotation;
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

    fn reach(&self, toward: [f64; 3]) -> f64 {
        0.5 * (self.length * toward[0].abs() + self.width * toward[1].abs())
            + (self.height * toward[2]).max(0.0)
    }

    fn slice(&self, by: &Rotation, low: f64, high: f64) -> Option<Slice> {
        if by.up().is_none() {
            let base = rectangle(self.length, self.width);
            return frustum(&base, &base, self.height)
                .ok()?
                .slice(by, low, high);
        }
        upright(by, (low, high), |low, high| {
            let height = high - low;
            (Box::new(Self { height, ..*self }), [0.0, 0.0, low])
        })
    }
}
