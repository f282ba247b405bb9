//! Fits sample parameters to a measured image or cut.
//!
//! | module | contents |
//! |---|---|
//! | `input` | the input file |
//! | `data` | the measured data, and what is left out of them |
//! | `target` | free parameters, noise, residuals of a model |
//! | `model` | the model over fractions of the intervals between the bounds |
//! | `evaluate` | many models at once, by ranks and devices |
//! | `search` | a particle swarm finds the basin, Levenberg–Marquardt refines it |
//! | `least_squares` | residuals and derivatives for Levenberg–Marquardt |
//! | `result` | values, uncertainties, convergence |
//! | [`report`] | figures and the HTML page of a fit |

mod data;
mod evaluate;
mod input;
mod least_squares;
mod model;
pub mod report;
mod result;
mod search;
mod target;

pub use data::LeftOut;
pub use input::FitInput;
pub use result::{Evaluation, Fitted, Stage};
pub use search::{Progress, fit};
pub use target::{Free, Noise, Target};
