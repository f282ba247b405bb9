//! The config before tuning, as a sweep records it.

use greenup_space::Value;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A config that counts as the one before tuning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefaultConfig {
    /// Values of the parameters.
    pub config: Vec<Value>,
    /// Why it counts as that.
    pub origin: DefaultOrigin,
}

impl DefaultConfig {
    /// The config, where somebody chose it: only what is better replaces it.
    pub(crate) fn chosen(&self) -> Option<&[Value]> {
        matches!(self.origin, DefaultOrigin::Problem | DefaultOrigin::Used).then_some(&self.config)
    }
}

/// Where the config before tuning comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefaultOrigin {
    /// `[default]` of the problem file.
    Problem,
    /// What programs used until the search.
    Used,
    /// The problem names none: each parameter has its first value.
    First,
    /// That one does not work: the first in the order of the space of those that were tried and work.
    FirstWorking,
}

impl fmt::Display for DefaultOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Problem => "the default config",
            Self::Used => "the config used until then",
            Self::First => "the first config of the space",
            Self::FirstWorking => "the first tried config of the space that works",
        })
    }
}
