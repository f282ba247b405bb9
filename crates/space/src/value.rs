//! A value of a parameter, a constant or an expression.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// Integer, float, boolean or string, as in the notation. Numbers compare by value across kinds,
/// as in Python: `1 == 1.0 == True`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `True` or `False`.
    Bool(bool),
    /// 64-bit integer.
    Int(i64),
    /// Double precision number.
    Float(f64),
    /// Text.
    Str(String),
}

impl Value {
    /// What kind of value it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "boolean",
            Self::Int(_) => "integer",
            Self::Float(_) => "float",
            Self::Str(_) => "string",
        }
    }

    /// The value as an integer, when it is one (booleans are 0 and 1).
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Bool(b) => Some(i64::from(*b)),
            Self::Int(i) => Some(*i),
            _ => None,
        }
    }

    /// The value as a number, when it is one.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(f) => Some(*f),
            other => other.as_int().map(|i| i as f64),
        }
    }

    /// Truth as in Python: zero and the empty string are false.
    pub fn truth(&self) -> bool {
        match self {
            Self::Bool(b) => *b,
            Self::Int(i) => *i != 0,
            Self::Float(f) => *f != 0.0,
            Self::Str(s) => !s.is_empty(),
        }
    }

    /// Order by value; `None` between a number and a string, and for NaN.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Str(a), Self::Str(b)) => Some(a.cmp(b)),
            (Self::Str(_), _) | (_, Self::Str(_)) => None,
            (a, b) => match (a.as_int(), b.as_int()) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => a.as_float()?.partial_cmp(&b.as_float()?),
            },
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(i) => write!(f, "{i}"),
            Self::Float(x) => write!(f, "{x:?}"),
            Self::Str(s) => f.write_str(s),
        }
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Self {
        Self::Int(i)
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Self {
        Self::Str(s.to_owned())
    }
}
