//! Faults of the environment: they say nothing of a config, so they end the run and are no trial.

/// No memory, no processes, no descriptors, no space: what went wrong, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EnvironmentFault(pub String);
