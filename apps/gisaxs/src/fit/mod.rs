//! Fits sample parameters to a measured image or cut.
//!
//! | module | contents |
//! |---|---|
//! | `input` | the input file: data, free parameters, noise |
//! | `target` | residuals of a model |
//! | `search` | a particle swarm finds the basin, Levenberg–Marquardt refines it; uncertainties |

mod input;
mod search;
mod target;

pub use input::{FitInput, Free, Noise};
pub use search::{Fitted, Progress, fit};
pub use target::Target;
