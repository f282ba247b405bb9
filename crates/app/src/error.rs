//! Errors of commands: what is wrong, where, and the suggestion.

use crate::lookup_error::LookupError;
use greenup_device::cuda::CudaError;
use greenup_files::FileError;
use greenup_wisdom::StoreError;
use std::error::Error;

/// An error that ends a command.
#[derive(Debug)]
pub struct AppError {
    /// What is wrong, and where.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
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
        Self {
            hint: hint(&e),
            ..Self::new(e.to_string())
        }
    }
}

/// The suggestion of an error, or of one of its sources.
fn hint(e: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(e);
    while let Some(e) = cause {
        if let Some(e) = e.downcast_ref::<LookupError>() {
            return e.hint();
        }
        if let Some(e) = e.downcast_ref::<StoreError>() {
            return e.hint().map(str::to_owned);
        }
        if let Some(e) = e.downcast_ref::<FileError>() {
            return e.hint().map(str::to_owned);
        }
        if let Some(e) = e.downcast_ref::<CudaError>() {
            return e.hint().map(str::to_owned);
        }
        cause = e.source();
    }
    None
}
