//! Shapes of revolution about z, base at z = 0.

use super::functions::{along, ball, disc, integral, sinc, wave};
use super::tilted::TiltedBall;
use super::{FormFactor, Slice, upright};
use crate::sample::rotation::Rotation;
use num_complex::Complex64;
use std::f64::consts::PI;

/// A spheroid with its axis along z; a sphere if both semi-axes are equal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spheroid {
    /// Semi-axis along x and y, nm.
    pub radius: f64,
    /// Semi-axis along z, nm.
    pub half_height: f64,
}

impl FormFactor for Spheroid {
    fn at(&self, q: &[Complex64; 3]) -> Complex64 {
        let across = q[2] * self.half_height;
        let u = along(along(q[0], q[1]) * self.radius, across);
        ball(u) * wave(across) * self.volume()
    }

    fn volume(&self) -> f64 {
        4.0 / 3.0 * PI * self.radius * self.radius * self.half_height
    }

    fn reach(&self, toward: [f64; 3]) -> f64 {
        let [x, y, z] = toward;
        (self.radius * x.hypot(y)).hypot(self.half_height * z) + self.half_height * z
    }

    fn slice(&self, by: &Rotation, low: f64, high: f64) -> Option<Slice> {
        let semi_axes = [self.radius, self.radius, self.half_height];
        Some(TiltedBall::slice(semi_axes, by, low, high))
    }
}

/// An upright circular cylinder.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cylinder {
    /// Radius, nm.
    pub radius: f64,
    /// Height, nm.
    pub height: f64,
}

impl FormFactor for Cylinder {
    fn at(&self, q: &[Complex64; 3]) -> Complex64 {
        let half = q[2] * (0.5 * self.height);
        disc(along(q[0], q[1]) * self.radius) * sinc(half) * wave(half) * self.volume()
    }

    fn volume(&self) -> f64 {
        PI * self.radius * self.radius * self.height
    }

    fn reach(&self, toward: [f64; 3]) -> f64 {
        self.radius * toward[0].hypot(toward[1]) + (self.height * toward[2]).max(0.0)
    }

    fn slice(&self, by: &Rotation, low: f64, high: f64) -> Option<Slice> {
        upright(by, (low, high), |low, high| {
            let height = high - low;
            (Box::new(Self { height, ..*self }), [0.0, 0.0, low])
        })
    }
}

/// A cone or a conical frustum.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cone {
    /// Radius of the base, nm.
    pub radius: f64,
    /// Radius at the top, nm; 0 of a full cone.
    pub top: f64,
    /// Height, nm.
    pub height: f64,
}

impl FormFactor for Cone {
    fn at(&self, q: &[Complex64; 3]) -> Complex64 {
        let slope = (self.radius - self.top) / self.height;
        let along = along(q[0], q[1]);
        // With four radians per panel, 16 points leave an error of 1e-16.
        let phase = q[2].norm() * self.height + along.norm() * (self.radius - self.top).abs();
        let panels = 1 + (phase / 4.0) as usize;
        PI * integral(self.height, panels, |z| {
            let radius = self.radius - slope * z;
            radius * radius * disc(along * radius) * wave(q[2] * z)
        })
    }

    fn volume(&self) -> f64 {
        let (a, b) = (self.radius, self.top);
        PI / 3.0 * self.height * (a * a + a * b + b * b)
    }

    fn reach(&self, toward: [f64; 3]) -> f64 {
        let (across, up) = (toward[0].hypot(toward[1]), toward[2]);
        (self.radius * across).max(self.top * across + self.height * up)
    }

    fn slice(&self, by: &Rotation, low: f64, high: f64) -> Option<Slice> {
        let radius = |z: f64| self.radius + (self.top - self.radius) * z / self.height;
        upright(by, (low, high), |low, high| {
            let form = Self {
                radius: radius(low),
                top: radius(high),
                height: high - low,
            };
            (Box::new(form), [0.0, 0.0, low])
        })
    }
}
