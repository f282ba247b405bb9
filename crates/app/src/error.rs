//! Errors of commands: what is wrong, where, and the suggestion.

use crate::lookup_error::LookupError;
use greenup_device::cuda::CudaError;
use greenup_files::FileError;
use greenup_process::memory::OutOfMemory;
use greenup_wisdom::StoreError;
use std::error::Error;

/// An error that ends a command.
#[derive(Clone, Debug)]
pub struct AppError {
    /// What is wrong, and where.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
    /// Whether memory of the host or of a GPU is what lacks.
    pub out_of_memory: bool,
    /// Exit code of the command.
    pub code: u8,
}

/// Result of a command or of a part of it.
pub type Result<T = ()> = std::result::Result<T, AppError>;

impl AppError {
    /// An error with this message and exit code 1.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            out_of_memory: false,
            code: 1,
        }
    }

    /// The same error with a suggestion.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The user stopped the command before it had a result.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self {
            code: greenup_process::interrupt::CODE,
            ..Self::new(message)
        }
    }
}

impl<E: Error + 'static> From<E> for AppError {
    fn from(e: E) -> Self {
        let first: &(dyn Error + 'static) = &e;
        let causes = || std::iter::successors(Some(first), |&e| e.source());
        Self {
            hint: causes().find_map(hint),
            out_of_memory: causes().any(is_out_of_memory),
            ..Self::new(e.to_string())
        }
    }
}

/// The suggestion of an error.
fn hint(e: &(dyn Error + 'static)) -> Option<String> {
    if let Some(e) = e.downcast_ref::<LookupError>() {
        return e.hint();
    }
    if let Some(e) = e.downcast_ref::<StoreError>() {
        return e.hint();
    }
    if let Some(e) = e.downcast_ref::<FileError>() {
        return e.hint().map(str::to_owned);
    }
    e.downcast_ref::<CudaError>()?.hint().map(str::to_owned)
}

fn is_out_of_memory(e: &(dyn Error + 'static)) -> bool {
    e.is::<OutOfMemory>() || matches!(e.downcast_ref(), Some(CudaError::OutOfMemory(_)))
}
