//! Faults of the environment: they say nothing of a config, so they end the run and are no trial.

use super::compile::CompileError;
use super::plan::TuneError;

/// No memory, no processes, no descriptors, no space: what went wrong, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EnvironmentFault(pub String);

/// A kernel that could not be built: its own fault, or the environment's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("{}", .0.0)]
    Compile(CompileError),
    #[error(transparent)]
    Environment(#[from] EnvironmentFault),
}

impl From<CompileError> for BuildError {
    fn from(e: CompileError) -> Self {
        Self::Compile(e)
    }
}

impl BuildError {
    /// Ends a run: with the environment's fault as it is, with the compiler's words as `of_source` says.
    pub fn into_tune(self, of_source: impl FnOnce(String) -> TuneError) -> TuneError {
        match self {
            Self::Compile(e) => of_source(e.0),
            Self::Environment(e) => e.into(),
        }
    }
}

/// Words of compilers and linkers when the machine, not the source, is at fault.
const WORDS: [&str; 9] = [
    "No space left on device",
    "Disk quota exceeded",
    "Cannot allocate memory",
    "out of memory",
    "virtual memory exhausted",
    "Too many open files",
    "Resource temporarily unavailable",
    "Input/output error",
    "Killed signal terminated program",
];

/// Whether a compiler's message is of the environment.
pub(super) fn of_environment(message: &str) -> bool {
    WORDS.iter().any(|w| message.contains(w))
}
