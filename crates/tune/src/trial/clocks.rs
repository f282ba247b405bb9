//! Clocks and power limits that configs ask for.

use super::bench::Bench;
use crate::problem::ConfigError;
use greenup_space::Value;

/// Clocks or a power limit that cannot be set.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClockError {
    /// A value of the config is invalid.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The driver refuses.
    #[error("{setting}: {cause}; {fix}")]
    Control {
        /// The clocks and the power limit.
        setting: String,
        /// The driver's message.
        cause: String,
        /// What to do.
        fix: String,
    },
}

impl Bench<'_> {
    /// Sets the clocks that a config asks for, where it does.
    pub(crate) fn set_clocks(&self, config: &[Value]) -> Result<(), ClockError> {
        let Some(control) = self.control else {
            return Ok(());
        };
        let setting = self.problem.setting(config)?;
        control.set(&setting).map_err(|cause| ClockError::Control {
            setting: setting.to_string(),
            fix: cause.fix().to_string(),
            cause: cause.to_string(),
        })
    }
}
