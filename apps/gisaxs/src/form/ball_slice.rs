//! A ball between two horizontal planes.

use super::functions::{along, disc, integral, wave};
use super::{FormFactor, Slice, upright};
use crate::sample::rotation::Rotation;
use num_complex::Complex64;
use std::f64::consts::PI;

/// A ball or a spheroid between two horizontal planes, shifted so that its base is at z = 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BallSlice {
    /// Radius of the ball, nm.
    pub radius: f64,
    /// Lower plane, from the ball's centre, nm.
    pub bottom: f64,
    /// Upper plane, from the ball's centre, nm.
    pub top: f64,
    /// Factor by which the ball is stretched along z; 1 of a sphere.
    pub stretch: f64,
}

impl FormFactor for BallSlice {
    fn at(&self, q: &[Complex64; 3]) -> Complex64 {
        let along = along(q[0], q[1]);
        let across = q[2] * self.stretch;
        // Integrated over the polar angle, in which the radius is smooth.
        let angle = |z: f64| (z / self.radius).clamp(-1.0, 1.0).asin();
        let (from, to) = (angle(self.bottom), angle(self.top));
        let phase = (across.norm() + along.norm()) * 2.0 * self.radius;
        let panels = 2 + (phase / 3.0) as usize;
        let sum = integral(to - from, panels, |a| {
            let (sine, cosine) = (from + a).sin_cos();
            let r = self.radius * cosine;
            let z = self.radius * sine - self.bottom;
            disc(along * r) * wave(across * z) * (r * r * r)
        });
        sum * (PI * self.stretch)
    }

    fn volume(&self) -> f64 {
        let part = |z: f64| z * (self.radius * self.radius - z * z / 3.0);
        PI * self.stretch * (part(self.top) - part(self.bottom))
    }

    fn reach(&self, toward: [f64; 3]) -> f64 {
        let (across, up) = (toward[0].hypot(toward[1]), self.stretch * toward[2]);
        // The farthest height of the whole ball, if it is in this part.
        let whole = self.radius * up / across.hypot(up).max(f64::MIN_POSITIVE);
        let z = whole.clamp(self.bottom, self.top);
        across * (self.radius * self.radius - z * z).max(0.0).sqrt() + up * (z - self.bottom)
    }

    fn slice(&self, by: &Rotation, low: f64, high: f64) -> Option<Slice> {
        upright(by, (low, high), |low, high| {
            let form = Self {
                bottom: self.bottom + low / self.stretch,
                top: (self.bottom + high / self.stretch).min(self.top),
                ..*self
            };
            (Box::new(form), [0.0, 0.0, low])
        })
    }
}
