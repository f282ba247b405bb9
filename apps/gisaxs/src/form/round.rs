//! Shapes of revolution about z, base at z = 0.

use super::FormFactor;
use super::functions::{along, ball, disc, integral, sinc, wave};
use num_complex::Complex64;
use std::f64::consts::PI;

/// Radius R along the surface, half height h; a sphere where they are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Spheroid {
    pub radius: f64,
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
}

#[derive(Clone, Debug, PartialEq)]
pub struct Cylinder {
    pub radius: f64,
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
}

/// A cone, or what is left of it below a height.
#[derive(Clone, Debug, PartialEq)]
pub struct Cone {
    pub radius: f64,
    /// Radius at the top.
    pub top: f64,
    pub height: f64,
}

impl FormFactor for Cone {
    fn at(&self, q: &[Complex64; 3]) -> Complex64 {
        let slope = (self.radius - self.top) / self.height;
        let along = along(q[0], q[1]);
        // Four radians a panel of 16 points leave 1e-16.
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
}

/// What is left of a ball below a height, resting on its lowest point where nothing is cut below: z from
/// `bottom` to `top` about the ball's centre, the base at z = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct BallSlice {
    pub radius: f64,
    pub bottom: f64,
    pub top: f64,
    /// Height over width: 1 of a sphere.
    pub stretch: f64,
}

impl FormFactor for BallSlice {
    fn at(&self, q: &[Complex64; 3]) -> Complex64 {
        let along = along(q[0], q[1]);
        let across = q[2] * self.stretch;
        // By the polar angle, in which the radius is smooth.
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
}
