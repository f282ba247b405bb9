//! DGEMM, C += A·B for row-major f64 matrices: a generated family of kernels, tuned for a device
//! and a size, the winners kept as wisdom.
//!
//! | module | what it holds |
//! |---|---|
//! | [`product`] | what a matrix product is: sizes, matrices, who can multiply |
//! | [`family`] | the kernel family as a tunable problem, and its config without wisdom |
//! | [`gpu`] | the family for GPUs |
//! | [`kernel`] | one config, compiled and loaded |
//! | [`rivals`] | faer, and any library with `cblas_dgemm` |
//! | [`check`] | results against sums in twice the precision |
//! | [`contest`] | several take turns on the same matrices |
//! | [`wisdom`] | the best config known for a device and a size |

pub mod check;
pub mod contest;
pub mod family;
pub mod gpu;
pub mod kernel;
pub mod product;
pub mod rivals;
pub mod wisdom;

pub use contest::{Contest, Entry, contest};
pub use kernel::Kernel;
pub use product::{Matrices, Product, Size};
pub use rivals::{Cblas, Faer};
pub use wisdom::{Known, Wisdom};

/// A product that cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum GemmError {
    #[error("the kernel does not compile: {0}")]
    Compile(String),
    #[error("{path}: {cause}")]
    Library { path: String, cause: String },
    #[error("{path}: {cause}")]
    Io { path: String, cause: std::io::Error },
    #[error("{0}")]
    File(#[from] greenup_files::FileError),
    #[error("{0}")]
    Problem(String),
    #[error("{path}: {message}")]
    Wisdom { path: String, message: String },
    #[error(
        "`{name}` is wrong: C[{row}, {column}] is {got:e}, not {expected:e} (error {error:.1e}, bound {bound:.1e})"
    )]
    Wrong {
        name: String,
        row: usize,
        column: usize,
        got: f64,
        expected: f64,
        error: f64,
        bound: f64,
    },
}
