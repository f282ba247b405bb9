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
pub mod faer;
pub mod family;
pub mod gpu;
pub mod kernel;
pub mod libraries;
pub mod product;
pub mod wisdom;

use greenup_tune::error::BuildError;
use greenup_tune::problem::ProblemError;

pub use comparison::{Comparison, Entry, compare};
pub use faer::Faer;
pub use kernel::Kernel;
pub use libraries::Cblas;
pub use product::{Matrices, Product, Size};

/// Why a product cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum GemmError {
    /// The kernel does not compile.
    #[error("the kernel does not compile: {0}")]
    Compile(#[from] BuildError),
    /// A library cannot be loaded.
    #[error("{path}: {cause}")]
    Library {
        /// File of the library.
        path: String,
        /// Message of the loader, or the missing symbol.
        cause: String,
    },
    /// A compiled kernel cannot be read.
    #[error("{path}: {cause}")]
    Io {
        /// File of the kernel.
        path: String,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// A file or a cache folder cannot be read or written.
    #[error("{0}")]
    File(#[from] greenup_files::FileError),
    /// The tuning problem is invalid.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A computed entry of C exceeds the error bound.
    #[error(
        "`{name}` is wrong: C[{row}, {column}] is {got:e}, not {expected:e} (error {error:.1e}, bound {bound:.1e})"
    )]
    Wrong {
        /// Name of the product.
        name: String,
        /// Row of the entry, from 0.
        row: usize,
        /// Column of the entry, from 0.
        column: usize,
        /// Computed value.
        got: f64,
        /// Reference value.
        expected: f64,
        /// |got − expected| / Σ|a·b|.
        error: f64,
        /// Bound of the error, (k + 2)·u with the unit roundoff u.
        bound: f64,
    },
}
