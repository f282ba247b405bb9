//! The nonuniform FFT.
//!
//! | module | contents |
//! |---|---|
//! | `tensor`, `transform` | the transform on tensor grids, on rows of a detector |
//! | `spread`, `window` | spreading nodes onto a grid, and its window function |
//! | `cells` | the same in integers, for devices |
//! | `bound` | error bounds |
//! | `chebyshev` | Chebyshev expansions |

mod bound;
mod cells;
pub(crate) mod chebyshev;
mod spread;
mod tensor;
mod transform;
mod window;

pub(super) use bound::{Transform, condition, damped, growth};
pub(crate) use cells::{Cells, MAX_SHARED, qx_of};
pub(crate) use spread::Axis;
pub(super) use spread::PARTS;
pub use tensor::grid;
pub(super) use tensor::{BLOCK, GridNufft};
pub use transform::DetectorNufft;
pub(crate) use transform::Layout;
pub(super) use transform::MAX_TERMS;
pub(crate) use window::Window;
