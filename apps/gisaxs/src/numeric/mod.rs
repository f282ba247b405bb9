//! Form factors of triangulated surfaces at many q at once.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sheet`] | where F is wanted |
//! | [`rule`], [`nodes`], [`surface`] | a surface as weighted points, and how wrong that is |
//! | [`direct`] | one exponential for each node and q (SIMD kernels in `kernels/direct.c`) |
//! | [`way`], [`cost`] | the choice between the ways |
//! | [`elsewhere`] | the same on another device |
//! | [`product`], [`pairs`], [`family`], [`gemm`] | matrix products on tensor grids, best of symmetric q_y, and on rows that share factors |
//! | [`kernels`] | the C kernels of this CPU's instruction set |
//! | [`spread`], [`window`], [`nufft`] | the nonuniform transform: cost independent of the triangles |
//! | [`bound`] | how wrong the nonuniform transform may be |
//! | [`moments`] | F near q = 0 |
//! | [`chebyshev`] | polynomials |

mod bound;
pub mod chebyshev;
mod cost;
mod direct;
mod elsewhere;
mod family;
mod gemm;
mod kernels;
mod moments;
mod nodes;
mod nufft;
mod pairs;
mod product;
mod rule;
mod sheet;
mod spread;
mod surface;
mod way;
mod window;

pub(crate) use cost::runs;
pub use direct::{Blocks, Precision, direct};
pub use elsewhere::Accelerator;
pub use nodes::{Nodes, Sampling};
pub(crate) use nufft::Layout;
pub use nufft::{Band, grid};
pub use pairs::about_middle;
pub use rule::Rule;
pub use sheet::{Extent, Sheet};
pub(crate) use spread::Axis;
pub use surface::Surface;
pub use way::{FINEST, Prepared, Settings, Way, each, prepare};
pub(crate) use window::Window;

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
