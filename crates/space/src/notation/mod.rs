//! How a space is written down: our own notation, the community's T1 problems, and the neutral
//! files of published spaces.

mod json;
mod own;

pub use own::SPACE_TABLES;

use crate::error::SpaceError;
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

impl Definition {
    /// Reads any of the formats, told apart by their content: JSON (T1 or neutral) or TOML (ours).
    ///
    /// # Errors
    /// What is wrong in the file, with its line where known.
    pub fn read(text: &str, facts: &Facts) -> Result<Self, SpaceError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let result = if crate::json::without_mark(text)
            .trim_start()
            .starts_with('{')
        {
            json::read(text)
        } else {
            own::read(text, facts).map_err(|e| json::not_an_object(text).unwrap_or(e))
        };
        result.map_err(|e| with_line(e, text))
    }

    /// Reads our own notation from a table that may hold other tables, as a problem file does.
    ///
    /// # Errors
    /// As [`Definition::read`].
    pub fn from_table(table: &toml::Table, facts: &Facts) -> Result<Self, SpaceError> {
        own::from_table(table, facts)
    }
}

/// Names the line of the expression at fault.
pub fn with_line(mut e: SpaceError, text: &str) -> SpaceError {
    if let Some(expression) = e.expression.take().filter(|x| !x.is_empty())
        && let Some(at) = text.find(&expression)
    {
        let line = 1 + text[..at].bytes().filter(|b| *b == b'\n').count();
        e.message = format!("line {line}: {}", e.message);
    }
    e
}

/// A plain value of a JSON or TOML file.
fn plain(v: &serde_json::Value, what: &str) -> Result<Value, SpaceError> {
    use serde_json::Value as J;
    match v {
        J::Bool(b) => Ok(Value::Bool(*b)),
        J::String(s) => Ok(Value::Str(s.clone())),
        J::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(i), _) => Ok(Value::Int(i)),
            (None, Some(f)) if !n.is_u64() && f.is_finite() => Ok(Value::Float(f)),
            _ => Err(SpaceError::new(format!("{what}: {n} does not fit 64 bits"))),
        },
        J::Array(items) => {
            let items = items.iter().map(|v| plain(v, what));
            items.collect::<Result<_, _>>().map(Value::Tuple)
        }
        J::Null => Ok(Value::None),
        J::Object(_) => Err(SpaceError::new(format!(
            "{what}: a number, a string, a boolean, a list or null is expected, not {v}"
        ))),
    }
}
