//! Gravity between bodies in time: leapfrog steps, and what energy does.

use crate::FmmError;
use crate::cpu::Cpu;
use crate::kernel::Kernel;
use crate::plan::{M2l, Options, Plan};
use crate::points::Points;
use serde::Serialize;
use std::f64::consts::PI;

/// Bodies of equal masses that add up to 1, with G = 1.
pub struct Bodies {
    pub places: Points,
    pub velocities: [Vec<f64>; 3],
    slopes: [Vec<f64>; 3],
    potential: Vec<f64>,
    options: Options,
}

/// Energies at a time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Energies {
    pub t: f64,
    pub kinetic: f64,
    pub potential: f64,
}

impl Energies {
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

impl Bodies {
    /// Bodies at rest in these places.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn new(places: Points, tolerance: f64, most: usize) -> Result<Self, FmmError> {
        let n = places.len();
        let zero = || std::array::from_fn(|_| vec![0.0; n]);
        let mut out = Self {
            places,
            velocities: zero(),
            slopes: zero(),
            potential: Vec::new(),
            options: Options {
                kernel: Kernel::Laplace,
                tolerance,
                gradient: true,
                most,
                m2l: M2l::Fft,
                edge: None,
            },
        };
        out.pull()?;
        Ok(out)
    }

    /// Turns each body about the z axis so that it is on a circle about the middle, at `share` of that speed.
    pub fn spin(&mut self, share: f64) {
        for i in 0..self.places.len() {
            let [x, y, _] = self.places.at(i);
            let r = x.hypot(y);
            if r == 0.0 {
                continue;
            }
            let inward = (self.slopes[0][i] * x + self.slopes[1][i] * y) / r;
            let speed = share * (-inward * r).max(0.0).sqrt();
            self.velocities[0][i] = -speed * y / r;
            self.velocities[1][i] = speed * x / r;
        }
    }

    /// Accelerations and potentials here.
    fn pull(&mut self) -> Result<(), FmmError> {
        let n = self.places.len();
        let plan = Plan::<f64>::new(&self.places, None, &self.options)?;
        let masses = vec![4.0 * PI / n.max(1) as f64; n];
        let out = Cpu::new(&plan).evaluate(&masses)?;
        self.potential = out[..n].iter().map(|x| -x).collect();
        for a in 0..3 {
            self.slopes[a].copy_from_slice(&out[(a + 1) * n..(a + 2) * n]);
        }
        Ok(())
    }

    /// A step of leapfrog: kick, drift, kick.
    ///
    /// # Errors
    /// Bodies so near each other that a step throws them out of all numbers.
    pub fn step(&mut self, dt: f64) -> Result<(), FmmError> {
        let kick = |s: &mut Self| {
            for a in 0..3 {
                for (v, g) in s.velocities[a].iter_mut().zip(&s.slopes[a]) {
                    *v += 0.5 * dt * g;
                }
            }
        };
        kick(self);
        for a in 0..3 {
            for (x, v) in self.places.x[a].iter_mut().zip(&self.velocities[a]) {
                *x += dt * v;
            }
        }
        self.pull()?;
        kick(self);
        Ok(())
    }

    pub fn energies(&self, t: f64) -> Energies {
        let m = 1.0 / self.places.len().max(1) as f64;
        let squares: f64 = self.velocities.iter().flatten().map(|v| v * v).sum();
        Energies {
            t,
            kinetic: 0.5 * m * squares,
            potential: 0.5 * m * self.potential.iter().sum::<f64>(),
        }
    }
}
