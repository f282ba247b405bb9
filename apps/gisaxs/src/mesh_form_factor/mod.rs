//! Form factors of triangulated surfaces at many q at once.
//!
//! | module | contents |
//! |---|---|
//! | `method`, `settings` | the methods; what a user asks for |
//! | `prepare`, `cost` | preparation of a method, and selection of the cheapest |
//! | `each`, `over_ranks` | F on many grids, by one rank and by several |
//! | `q_grid` | the q at which F is computed |
//! | `surface` | a surface as quadrature nodes, the error of that, and F near q = 0 |
//! | `direct` | direct sums: one exponential per node and q (SIMD kernels in `kernels/direct.c`) |
//! | `gemm` | matrix products on tensor grids and detector rows |
//! | `nufft` | the nonuniform FFT: cost independent of the number of triangles |
//! | `accelerator`, `over_devices` | form factors on another device, on several devices |
//! | `kernels` | the C kernels of this CPU's instruction set |

mod accelerator;
mod cost;
mod direct;
mod each;
mod gemm;
mod kernels;
mod method;
mod nufft;
mod over_devices;
mod over_ranks;
mod prepare;
mod q_grid;
mod settings;
mod surface;

pub(crate) use accelerator::whole_grid;
pub use accelerator::{Accelerator, DeviceTimes, MakeMeter, Request, Sums, Values};
pub(crate) use cost::runs;
pub use direct::{Blocks, Precision, direct};
pub use each::each;
pub(crate) use gemm::about_center;
pub use method::Method;
pub(crate) use nufft::{Axis, Cells, Layout, Window, chebyshev};
pub use nufft::{DetectorNufft, grid};
pub use over_devices::Several;
pub use over_ranks::each_over;
pub use prepare::{FINEST, Prepared, prepare};
pub use q_grid::{Extent, QGrid, part_of};
pub use settings::{QuadratureChoice, Settings};
pub use surface::{Nodes, Quadrature, Sampling, Surface};

use num_complex::Complex64;
use std::mem::{ManuallyDrop, align_of, size_of};
use std::sync::atomic::{AtomicBool, Ordering};

/// Zeros, which the system gives page by page as they are first written, by any thread.
pub(crate) fn zeros(count: usize) -> Vec<Complex64> {
    const {
        assert!(size_of::<[f64; 2]>() == size_of::<Complex64>());
        assert!(align_of::<[f64; 2]>() == align_of::<Complex64>());
    }
    // The standard library clears numbers and arrays of them by allocation, other types one by one.
    let mut pairs = ManuallyDrop::new(vec![[0.0_f64; 2]; count]);
    // SAFETY: `Complex64` is `repr(C)` with two f64; size and alignment are equal, thus the allocation too.
    unsafe { Vec::from_raw_parts(pairs.as_mut_ptr().cast(), pairs.len(), pairs.capacity()) }
}

/// Reports progress, and tells a computation to stop.
pub struct Watch<'a> {
    /// Called with the number of further q that are done.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Set to stop the computation.
    pub stop: &'a AtomicBool,
}

impl Watch<'_> {
    /// Whether the computation must stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Reports `points` more q as done.
    pub fn tick(&self, points: u64) {
        (self.progress)(points);
    }
}
