//! What is wrong with arguments before a run, and with results after it.

use super::block::OutOfBounds;
use super::memory::OutOfMemory;
use super::number::Number;
use greenup_device::{LibraryError, cuda, opencl};
use std::path::PathBuf;

/// Arguments that cannot be prepared: no kernel's fault.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentError {
    /// They exceed the memory of this machine.
    #[error(transparent)]
    TooLarge(#[from] OutOfMemory),
    /// The system refuses the memory of an array.
    #[error("no memory for the {bytes} bytes of `{name}`: {cause}")]
    Memory {
        /// Name of the array.
        name: String,
        /// Its size.
        bytes: usize,
        /// The system's message.
        cause: std::io::Error,
    },
    /// The system refuses another place for an array.
    #[error("the arguments cannot be moved: {0}")]
    Move(std::io::Error),
    /// The file of a fill cannot be read.
    #[error("{} cannot be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's message.
        cause: std::io::Error,
    },
    /// The file of a fill has another size than its array.
    #[error("{} has {found} bytes, `{name}` needs {needed}", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// Its size, bytes.
        found: usize,
        /// Name of the array.
        name: String,
        /// Size of the array, bytes.
        needed: usize,
    },
    /// A right value that is not a number: no result equals it.
    #[error("{}: the right value of `{name}`[{index}] is not a number (NaN), which no result equals", path.display())]
    NotANumber {
        /// The file.
        path: PathBuf,
        /// Name of the array.
        name: String,
        /// Index of the element.
        index: usize,
    },
    /// The setup cannot be loaded.
    #[error("the setup: {0}")]
    Setup(LibraryError),
    /// The setup wrote outside of an array.
    #[error("the setup: {0}")]
    SetupResult(Box<WrongResult>),
    /// The device refuses them.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Results of a kernel that are wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WrongResult {
    /// It wrote before the start or behind the end of an array.
    #[error("it wrote outside of `{name}`: {place}")]
    OutOfBounds {
        /// Name of the array.
        name: String,
        /// Where.
        place: OutOfBounds,
    },
    /// It changed an array that it may only read.
    #[error("it changed its input `{0}`")]
    ChangedInput(String),
    /// An element differs from the problem's answer by more than its tolerances.
    #[error("`{name}`[{index}] is {found}, the answer has {expected} ({tolerance:.1e} allowed)")]
    Answer {
        /// Name of the array.
        name: String,
        /// Index of the element.
        index: usize,
        /// The kernel's value.
        found: Number,
        /// The right value.
        expected: Number,
        /// The largest difference allowed.
        tolerance: f64,
    },
    /// An element differs from the reference's by more than the tolerance.
    #[error(
        "`{name}`[{index}] is {found}, the reference has {expected} (error {error:.1e} of the largest value, {tolerance:.0e} allowed)"
    )]
    Differs {
        /// Name of the array.
        name: String,
        /// Index of the element.
        index: usize,
        /// The kernel's value.
        found: Number,
        /// The reference's value.
        expected: Number,
        /// Their difference relative to the largest value of the array.
        error: f64,
        /// The largest error allowed.
        tolerance: f64,
    },
}

/// An error of the device that kernels run on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// Of a GPU through CUDA.
    #[error(transparent)]
    Cuda(#[from] cuda::CudaError),
    /// Of a device through OpenCL.
    #[error(transparent)]
    OpenCl(#[from] opencl::OpenClError),
}
