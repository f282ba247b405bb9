//! Why a product cannot be computed.

use greenup_tune::error::BuildError;
use greenup_tune::problem::ProblemError;

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
