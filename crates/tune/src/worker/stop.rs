//! Why a job of the worker ends early.

use super::inputs::error::{ArgumentError, WrongResult};
use crate::sweep::Failure as F;

/// Why a job ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The kernel's fault.
    Failed(F, String),
    /// The environment's fault.
    Environment(String),
}

impl From<(F, String)> for Stop {
    fn from((failure, message): (F, String)) -> Self {
        Self::Failed(failure, message)
    }
}

impl From<ArgumentError> for Stop {
    fn from(e: ArgumentError) -> Self {
        Self::Environment(e.to_string())
    }
}

impl From<WrongResult> for Stop {
    fn from(e: WrongResult) -> Self {
        Self::Failed(F::Wrong, e.to_string())
    }
}
