//! The clocks and the power limit among a problem's parameters.

use super::{ConfigError, Problem};
use greenup_meter::control::{PARAMETERS, Setting};
use greenup_space::Value;

impl Problem {
    /// The clocks and the power limit that a config asks for, by the names of
    /// [`greenup_meter::control::PARAMETERS`].
    ///
    /// # Errors
    /// A value is not a positive integer.
    pub fn setting(&self, config: &[Value]) -> Result<Setting, ConfigError> {
        let of = |name: &str| -> Result<Option<u32>, ConfigError> {
            let Some(i) = self.space.names().position(|n| n == name) else {
                return Ok(None);
            };
            let v = config.get(i).and_then(Value::as_int).unwrap_or(0);
            match u32::try_from(v) {
                Ok(v) if v > 0 => Ok(Some(v)),
                _ => Err(ConfigError::Clock {
                    name: name.to_owned(),
                    value: config[i].to_string(),
                }),
            }
        };
        let [clock_sm, clock_mem, power_limit] = PARAMETERS;
        Ok(Setting {
            clock_sm: of(clock_sm)?,
            clock_mem: of(clock_mem)?,
            power_limit: of(power_limit)?,
        })
    }

    /// Whether clocks or the power limit are among its parameters.
    pub fn sets_clocks(&self) -> bool {
        self.space.names().any(|n| PARAMETERS.contains(&n))
    }
}
