//! A surface ready for sums over it.

use super::kernels::Kernels;
use super::moments::Moments;
use super::{Nodes, Sampling};
use crate::Q;
use crate::mesh::Mesh;
use num_complex::Complex64;

/// Points that stand for a closed surface, and what they are too coarse for.
#[derive(Clone, Debug)]
pub struct Surface {
    pub nodes: Nodes,
    near: Moments,
}

impl Surface {
    /// Samples a closed surface for |q| up to `most`.
    pub fn new(mesh: &Mesh, most: f64, sampling: Sampling) -> Self {
        Self {
            nodes: Nodes::new(mesh, most, sampling),
            near: Moments::new(
                mesh,
                match sampling {
                    Sampling::Within(accuracy) => accuracy,
                    Sampling::Every(_) => 1e-9,
                },
            ),
        }
    }

    /// |q| × reach up to which F is a power series, and a bound of its error over the volume there.
    pub(super) fn near_limit(&self) -> f64 {
        self.near.limit
    }

    pub(super) fn near_error(&self) -> f64 {
        self.near.error
    }

    /// e^{iq·c} of the centre that nodes are counted from.
    fn shift(&self, q: &Q) -> Complex64 {
        let c = self.nodes.centre;
        Complex64::from_polar(
            (-q.z.im * c[2]).exp(),
            q.x * c[0] + q.y * c[1] + q.z.re * c[2],
        )
    }

    /// F(q) from the sum of q*·n e^{iq·r} over the nodes about their centre; near q = 0 without it.
    pub(crate) fn value(&self, q: &Q, sum: impl FnOnce() -> Complex64) -> Complex64 {
        self.shift(q)
            * if self.near.serve(q) {
                self.near.at(q)
            } else {
                finish(q, sum())
            }
    }

    /// F(q) near q = 0, where sums over the nodes would cancel.
    pub(crate) fn near(&self, q: &Q) -> Option<Complex64> {
        self.near.serve(q).then(|| self.shift(q) * self.near.at(q))
    }

    /// F at places with the same q_z from both of their sums, Σ (q_x n_x + q_y n_y) e^{iq·r} and Σ n_z e^{iq·r},
    /// which hold e^{iq·c} already.
    pub(super) fn row(
        &self,
        places: &[[f64; 2]],
        z: Complex64,
        sums: (&[[f64; 2]], &[[f64; 2]]),
        out: &mut [Complex64],
    ) {
        Kernels::best().finish(places, z, sums, out);
        if !self.near.serve(&Q { x: 0.0, y: 0.0, z }) {
            return;
        }
        for ([x, y], f) in places.iter().zip(out) {
            if let Some(near) = self.near(&Q { x: *x, y: *y, z }) {
                *f = near;
            }
        }
    }
}

/// F = −i/Σ|q_k|² × the sum of q*·n over the surface.
fn finish(q: &Q, sum: Complex64) -> Complex64 {
    // −i times.
    Complex64::new(sum.im, -sum.re) / q.norm_squared()
}
