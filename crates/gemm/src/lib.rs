//! DGEMM, C += A·B for row-major f64 matrices: a generated family of kernels, tuned for a device and a size.
//!
//! | module | contents |
//! |---|---|
//! | [`product`] | sizes, matrices and the trait of a matrix product |
//! | [`family`] | the kernel family as a tuning problem, and its default config |
//! | [`gpu`] | the kernel family for GPUs |
//! | [`kernel`] | one config, compiled and loaded |
//! | [`faer`] | the kernel of faer as a baseline |
//! | [`libraries`] | any library with `cblas_dgemm` as a baseline |
//! | [`check`] | verification against sums in twice the working precision |
//! | [`comparison`] | interleaved comparison of several products |
//! | [`wisdom`] | the config for a device and a size: of the nearest entry of wisdom, else the default |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
pub mod check;
pub mod comparison;
mod error;
pub mod faer;
pub mod family;
pub mod gpu;
pub mod kernel;
pub mod libraries;
pub mod product;
pub mod wisdom;

pub use comparison::{Comparison, Entry, compare};
pub use error::GemmError;
pub use faer::Faer;
pub use kernel::Kernel;
pub use libraries::Cblas;
pub use product::{Matrices, Product, Size};
