//! What is wrong with a machine.

use super::estimate::Estimate;
use crate::op::Op;

/// What is wrong with a machine.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The text is not a machine in TOML.
    #[error("{0}")]
    Syntax(Box<toml::de::Error>),
    /// A cost that is not a valid number.
    #[error("{field} is {value}, but a cost must be a finite number {bound}")]
    BadValue {
        /// Field of the machine file.
        field: String,
        /// Its value.
        value: f64,
        /// The valid range, for the message.
        bound: &'static str,
    },
    /// An interval that does not contain its value.
    #[error("the interval of {field} is [{lo}, {hi}], which does not hold its value {value}")]
    BadInterval {
        /// Field of the machine file.
        field: String,
        /// Lower end.
        lo: f64,
        /// Upper end.
        hi: f64,
        /// The value.
        value: f64,
    },
    /// The machine, named, has no costs at all.
    #[error("machine `{0}` has no operation costs")]
    NoCosts(String),
    /// The machine has no cost for a class that the work needs.
    #[error("machine `{machine}` has no cost for `{op}`; it has {known}")]
    NoCost {
        /// Name of the machine.
        machine: String,
        /// The missing class.
        op: Op,
        /// The classes that it has, for the message.
        known: String,
    },
    /// The machine has no time for a class.
    #[error("machine `{machine}` knows the energy of `{op}` but not its time")]
    NoTime {
        /// Name of the machine.
        machine: String,
        /// The class.
        op: Op,
    },
    /// The machine, named, has no energy costs.
    #[error("machine `{0}` has no energy costs: only time can be predicted on it")]
    NoEnergy(String),
    /// Time or energy of some work on the machine, named, is no finite number.
    #[error("time or energy of this work on machine `{0}` is beyond the range of numbers")]
    BeyondNumbers(String),
}

pub(crate) fn check_estimate(
    field: &str,
    e: &Estimate,
    positive: bool,
) -> Result<(), MachineError> {
    let bad = |value: f64| !value.is_finite() || value < 0.0 || (positive && value == 0.0);
    for value in [Some(e.value), e.lo, e.hi].into_iter().flatten() {
        if bad(value) {
            return Err(MachineError::BadValue {
                field: field.to_owned(),
                value,
                bound: if positive {
                    "above 0"
                } else {
                    "that is not negative"
                },
            });
        }
    }
    if e.low() > e.value || e.high() < e.value {
        return Err(MachineError::BadInterval {
            field: field.to_owned(),
            lo: e.low(),
            hi: e.high(),
            value: e.value,
        });
    }
    Ok(())
}
