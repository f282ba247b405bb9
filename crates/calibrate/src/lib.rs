//! Microbenchmarks and the fit that turns their records into a machine.
//!
//! | module | what it holds |
//! |---|---|
//! | [`kernels`] | the C microbenchmark kernels, dispatched to the best instruction set |
//! | [`mod@bench`] | the microbenchmarks: what each runs, on how much data, how much work it is |
//! | [`suite`] | which microbenchmarks a calibration runs, and running them |
//! | [`gpu`] | the same for a GPU |
//! | [`levels`] | bytes, random accesses and latency of each level of the memory hierarchy |
//! | [`record`] | their records as CSV; other measurements can be read too |
//! | [`fit`] | linear, non-negative, capped fits; intervals, cross-validation, diagnostics |
//! | [`dvfs`] | power as a function of clocks, with voltage fitted as a function of clock |
//! | `roof` | the best rate of a class that records hold |
//! | [`machine`] | records + fit → a machine file |
//! | [`network`] | messages between ranks and between GPUs, and the fit of latency and bandwidth |
//! | [`peak`] | arithmetic peaks against cores × flops per cycle × clock |
//! | [`linalg`] | least squares, NNLS, Levenberg–Marquardt, Nelder–Mead |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod bench;
pub mod dvfs;
pub mod fit;
pub mod gpu;
pub mod kernels;
pub mod levels;
pub mod linalg;
pub mod machine;
pub mod network;
pub mod peak;
pub mod record;
mod roof;
pub mod suite;

pub use fit::{Fit, FitError, FitOptions, Method};
pub use record::{Record, RecordError};
