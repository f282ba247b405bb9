//! Shapes of revolution about z, base at z = 0.

use super::FormFactor;
use super::functions::{ball, disc, integral, sinc};
use crate::Q;
use num_complex::Complex64;
use std::f64::consts::PI;

/// Radius R along the surface, half height h; a sphere where they are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Spheroid {
    pub radius: f64,
    pub half_height: f64,
}

impl FormFactor for Spheroid {
    fn at(&self, q: &Q) -> Complex64 {
        let (along, across) = (self.radius * q.along(), q.z * self.half_height);
        let u = (across * across + along * along).sqrt();
        self.volume() * ball(u) * (Complex64::I * across).exp()
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
    fn at(&self, q: &Q) -> Complex64 {
        let half = q.z * (0.5 * self.height);
        self.volume() * disc(q.along() * self.radius) * sinc(half) * (Complex64::I * half).exp()
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
    fn at(&self, q: &Q) -> Complex64 {
        let slope = (self.radius - self.top) / self.height;
        let along = q.along();
        // Four radians a panel of 16 points leave 1e-16.
        let phase = q.z.norm() * self.height + along * (self.radius - self.top).abs();
        let panels = 1 + (phase / 4.0) as usize;
        PI * integral(self.height, panels, |z| {
            let radius = self.radius - slope * z;
            radius * radius * disc(along * radius) * (Complex64::I * q.z * z).exp()
        })
    }

    fn volume(&self) -> f64 {
        let (a, b) = (self.radius, self.top);
        PI / 3.0 * self.height * (a * a + a * b + b * b)
    }
}
