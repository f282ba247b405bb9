//! Gravity between bodies in time: leapfrog steps, and energies.

use crate::FmmError;
use crate::cpu::Cpu;
use crate::engine::Engine as _;
use crate::kernel::Kernel;
use crate::options::{M2l, Options};
use crate::plan::Plan;
use crate::points::Points;
use serde::Serialize;
use std::f64::consts::PI;
use std::sync::Arc;

/// Bodies of equal masses that add up to 1, with G = 1.
pub struct Bodies {
    /// Positions.
    pub positions: Points,
    /// Velocities by component.
    pub velocities: [Vec<f64>; 3],
    accelerations: [Vec<f64>; 3],
    potential: Vec<f64>,
    options: Options,
}

/// Energies at a time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Energies {
    /// Time.
    pub t: f64,
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy.
    pub potential: f64,
}

impl Energies {
    /// Their sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

impl Bodies {
    /// Bodies at rest.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn new(positions: Points, tolerance: f64, ncrit: usize) -> Result<Self, FmmError> {
        let n = positions.len();
        let zero = || std::array::from_fn(|_| vec![0.0; n]);
        let mut out = Self {
            positions,
            velocities: zero(),
            accelerations: zero(),
            potential: Vec::new(),
            options: Options {
                kernel: Kernel::Laplace,
                tolerance,
                gradient: true,
                ncrit,
                m2l: M2l::Fft,
                order: None,
            },
        };
        out.update_forces()?;
        Ok(out)
    }

    /// Sets velocities around the z axis: `share` of the speed of a circular orbit.
    pub fn spin(&mut self, share: f64) {
        for i in 0..self.positions.len() {
            let [x, y, _] = self.positions.at(i);
            let r = x.hypot(y);
            if r == 0.0 {
                continue;
            }
            let inward = (self.accelerations[0][i] * x + self.accelerations[1][i] * y) / r;
            let speed = share * (-inward * r).max(0.0).sqrt();
            self.velocities[0][i] = -speed * y / r;
            self.velocities[1][i] = speed * x / r;
        }
    }

    /// Computes accelerations and potentials at the present positions.
    fn update_forces(&mut self) -> Result<(), FmmError> {
        let n = self.positions.len();
        let plan = Plan::<f64>::new(&self.positions, None, &self.options)?;
        let masses = vec![4.0 * PI / n.max(1) as f64; n];
        let out = Cpu::new(Arc::new(plan)).evaluate(&masses)?;
        self.potential = out[..n].iter().map(|x| -x).collect();
        for a in 0..3 {
            self.accelerations[a].copy_from_slice(&out[(a + 1) * n..(a + 2) * n]);
        }
        Ok(())
    }

    /// A step of leapfrog: kick, drift, kick.
    ///
    /// # Errors
    /// Bodies came so close that their coordinates overflow.
    pub fn step(&mut self, dt: f64) -> Result<(), FmmError> {
        let kick = |s: &mut Self| {
            for a in 0..3 {
                for (v, g) in s.velocities[a].iter_mut().zip(&s.accelerations[a]) {
                    *v += 0.5 * dt * g;
                }
            }
        };
        kick(self);
        for a in 0..3 {
            for (x, v) in self.positions.x[a].iter_mut().zip(&self.velocities[a]) {
                *x += dt * v;
            }
        }
        self.update_forces()?;
        kick(self);
        Ok(())
    }

    /// Energies at time `t`.
    pub fn energies(&self, t: f64) -> Energies {
        let m = 1.0 / self.positions.len().max(1) as f64;
        let squares: f64 = self.velocities.iter().flatten().map(|v| v * v).sum();
        Energies {
            t,
            kinetic: 0.5 * m * squares,
            potential: 0.5 * m * self.potential.iter().sum::<f64>(),
        }
    }
}
