//! The nonuniform FFT.
//!
//! | module | contents |
//! |---|---|
//! | `transform` | the transform on tensor grids and detectors |
//! | `spread`, `window` | spreading nodes onto a grid, and its window function |
//! | `bound` | error bounds |
//! | `chebyshev` | Chebyshev expansions |

mod bound;
pub(crate) mod chebyshev;
mod spread;
mod transform;
mod window;

pub(super) use bound::{Transform, condition, damped, growth};
pub(crate) use spread::Axis;
pub(super) use spread::PARTS;
pub(crate) use transform::Layout;
pub(super) use transform::MAX_TERMS;
pub use transform::{DetectorNufft, grid};
pub(crate) use window::Window;
