//! The error type of the crate.

use greenup_device::cuda::CudaError;
use greenup_files::FileError;
use greenup_process::memory::OutOfMemory;

/// Why a problem cannot be set up or run.
#[derive(Debug, thiserror::Error)]
pub enum HydroError {
    /// A file cannot be read or written.
    #[error("{0}")]
    File(#[from] FileError),
    /// A GPU, its driver or its compiler fails.
    #[error("{0}")]
    Cuda(#[from] CudaError),
    /// A file of wisdom cannot be used.
    #[error("{0}")]
    Wisdom(#[from] greenup_wisdom::StoreError),
    /// Not enough memory.
    #[error("{cause}; {fix}")]
    Memory {
        /// What needs memory, and how much.
        #[source]
        cause: OutOfMemory,
        /// Suggested change of the settings.
        fix: String,
    },
    /// Not enough memory, whatever the settings.
    #[error("{0}")]
    OutOfMemory(#[from] OutOfMemory),
    /// A mesh is invalid, or does not fit the problem.
    #[error("{0}")]
    Mesh(String),
    /// A problem or its file is invalid.
    #[error("{0}")]
    Problem(String),
    /// Orders or other settings are invalid.
    #[error("{0}")]
    Setting(String),
    /// The initial state is invalid.
    #[error("{0}")]
    InitialState(String),
    /// A checkpoint is damaged, or belongs to another run.
    #[error("{0}")]
    Checkpoint(String),
    /// The device cannot run the problem.
    #[error("{0}")]
    Device(String),
    /// An output cannot be made.
    #[error("{0}")]
    Output(String),
    /// The run cannot continue.
    #[error("{0}")]
    Step(String),
}
