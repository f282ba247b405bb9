//! A surface prepared for sums over its quadrature nodes.

mod moments;
mod nodes;
mod quadrature;

pub use nodes::{Nodes, Sampling};
pub use quadrature::Quadrature;

use super::kernels::Kernels;
use crate::Q;
use crate::mesh::Mesh;
use moments::Moments;
use num_complex::Complex64;
use std::sync::atomic::{AtomicBool, Ordering};

/// Quadrature nodes of a closed surface, and a power series of F near q = 0, where sums over nodes cancel.
#[derive(Clone, Debug)]
pub struct Surface {
    /// The quadrature nodes.
    pub nodes: Nodes,
    near: Moments,
}

impl Surface {
    /// Prepares a closed surface for |q| up to `most`, 1/nm.
    pub fn new(mesh: &Mesh, most: f64, sampling: Sampling) -> Self {
        Self::whole(mesh, most, sampling, &AtomicBool::new(false))
    }

    /// The same; `None` if stopped.
    pub fn until(mesh: &Mesh, most: f64, sampling: Sampling, stop: &AtomicBool) -> Option<Self> {
        let surface = Self::whole(mesh, most, sampling, stop);
        (!stop.load(Ordering::Relaxed)).then_some(surface)
    }

    /// The surface, of which parts are missing if stopped.
    fn whole(mesh: &Mesh, most: f64, sampling: Sampling, stop: &AtomicBool) -> Self {
        let accuracy = match sampling {
            Sampling::Within(accuracy) => accuracy,
            Sampling::Every(_) => 1e-9,
        };
        Self {
            nodes: Nodes::new(mesh, most, sampling, stop),
            near: Moments::new(mesh, accuracy, stop),
        }
    }

    /// Limit of |q| × reach up to which F is a power series.
    pub(super) fn near_limit(&self) -> f64 {
        self.near.limit
    }

    /// Bound of the error of the power series relative to the volume.
    pub(super) fn near_error(&self) -> f64 {
        self.near.error
    }

    /// e^{iq·c} for the centre c of the nodes.
    fn shift(&self, q: &Q) -> Complex64 {
        let c = self.nodes.centre;
        Complex64::from_polar(
            (-q.z.im * c[2]).exp(),
            q.x * c[0] + q.y * c[1] + q.z.re * c[2],
        )
    }

    /// F(q) from the sum of q*·n e^{iq·r} over the nodes about their centre, or near q = 0 from the power series.
    pub(crate) fn value(&self, q: &Q, sum: impl FnOnce() -> Complex64) -> Complex64 {
        self.shift(q)
            * if self.near.serve(q) {
                self.near.at(q)
            } else {
                finish(q, sum())
            }
    }

    /// F(q) from the power series; `None` if q is not near 0.
    pub(crate) fn near(&self, q: &Q) -> Option<Complex64> {
        self.near.serve(q).then(|| self.shift(q) * self.near.at(q))
    }

    /// F at positions with the same q_z from both of their sums, Σ (q_x n_x + q_y n_y) e^{iq·r} and Σ n_z e^{iq·r},
    /// which include e^{iq·c}.
    pub(super) fn row(
        &self,
        positions: &[[f64; 2]],
        z: Complex64,
        sums: (&[[f64; 2]], &[[f64; 2]]),
        out: &mut [Complex64],
    ) {
        Kernels::best().finish(positions, z, sums, out);
        if !self.near.serve(&Q { x: 0.0, y: 0.0, z }) {
            return;
        }
        for ([x, y], f) in positions.iter().zip(out) {
            if let Some(near) = self.near(&Q { x: *x, y: *y, z }) {
                *f = near;
            }
        }
    }
}

/// F = −i/Σ|q_k|² times the sum of q*·n e^{iq·r} over the surface.
fn finish(q: &Q, sum: Complex64) -> Complex64 {
    // −i times.
    Complex64::new(sum.im, -sum.re) / q.norm_squared()
}
