//! Form factors of triangulated surfaces at many q at once.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sheet`] | where F is wanted |
//! | [`rule`], [`nodes`] | a surface as weighted points, and how wrong that is |
//! | [`direct`] | one exponential for each node and q (SIMD kernels in `kernels/direct.c`) |
//! | [`way`] | the choice between the ways |
//! | [`product`] | matrix products on tensor grids and blocks of rows |
//! | [`spread`], [`window`], [`nufft`] | the nonuniform transform: cost independent of the triangles |
//! | [`moments`] | F near q = 0 |
//! | [`chebyshev`] | polynomials |

pub mod chebyshev;
mod direct;
mod kernels;
mod moments;
mod nodes;
mod nufft;
mod product;
mod rule;
mod sheet;
mod spread;
mod way;
mod window;

pub use direct::{Blocks, Precision, direct};
pub use nodes::{Nodes, Sampling};
pub use nufft::{Band, grid};
pub use rule::Rule;
pub use sheet::{Extent, Sheet};
pub use way::{Prepared, Settings, Way, each, prepare};

use crate::Q;
use num_complex::Complex64;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells of progress, and hears that work is to stop.
pub struct Watch<'a> {
    /// Called with the number of q done.
    pub progress: &'a (dyn Fn(u64) + Sync),
    pub stop: &'a AtomicBool,
}

impl Watch<'_> {
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub fn tick(&self, points: u64) {
        (self.progress)(points);
    }
}

/// F = −i/Σ|q_k|² × the sum of q*·n over the surface.
fn finish(q: &Q, sum: Complex64) -> Complex64 {
    // −i times.
    Complex64::new(sum.im, -sum.re) / q.norm_squared()
}

impl Nodes {
    /// e^{iq·c} of the centre that nodes are counted from.
    fn shift(&self, q: &Q) -> Complex64 {
        let along = q.x * self.centre[0] + q.y * self.centre[1];
        Complex64::from_polar(
            (-q.z.im * self.centre[2]).exp(),
            along + q.z.re * self.centre[2],
        )
    }
}
