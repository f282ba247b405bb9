//! When the kernels, copies and memsets of a program ran, by NVIDIA's CUPTI: needs no privileges and no change of the
//! program. The CUDA driver loads a small library into it, which writes a file for each process.

pub mod file;
pub mod library;

pub use file::{Activity, Event, FileError, What};
pub use library::{Injection, MissingCupti};
