//! A definition of a space, as texts.

use crate::value::Value;
use std::collections::BTreeMap;

/// Facts of a device by name, for `device.NAME` in expressions.
pub type Facts = BTreeMap<String, Value>;

/// A space as written: nothing evaluated yet but the constants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definition {
    /// Name of the space.
    pub name: String,
    /// Description.
    pub about: String,
    /// Named constants.
    pub constants: Vec<(String, Value)>,
    /// Parameters in declared order.
    pub parameters: Vec<ParameterText>,
    /// Named expressions of parameters and constants.
    pub derived: Vec<(String, String)>,
    /// Filters in declared order.
    pub filters: Vec<FilterText>,
    /// Functions for closure iterators.
    pub script: Option<String>,
}

/// A parameter as written.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterText {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: ValuesText,
}

/// The values of a parameter as written.
#[derive(Clone, Debug, PartialEq)]
pub enum ValuesText {
    /// A list of values.
    List(Vec<Value>),
    /// `start : stop : step` or an expression for a list.
    Text(String),
}

/// Whether a rejected point would be invalid, or only hopeless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// A point that fails it is invalid.
    Hard,
    /// A point that fails it is valid but not worth trying.
    Soft,
}

impl Strength {
    /// `hard` or `soft`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hard => "hard",
            Self::Soft => "soft",
        }
    }
}

/// A boolean filter as written: points for which it is false are rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterText {
    /// Name of the filter.
    pub name: String,
    /// Boolean expression.
    pub expression: String,
    /// Hard or soft.
    pub strength: Strength,
    /// Reason for the filter.
    pub because: Option<String>,
}
