//! Cells of tables.

use crate::si::{percent, range, si, three};
use serde::{Serialize, Serializer};

/// A cell of a table: its value, and what a reader sees of it.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Text shown.
    pub text: String,
    /// What the column is sorted by and what files hold.
    #[serde(rename = "sort", serialize_with = "sort_key")]
    pub value: Value,
    /// `good`, `bad`, `wrap` for text that is to be read in full, or nothing.
    pub mark: Option<&'static str>,
    /// Anchor of the section that the text leads to; empty for none.
    pub section: String,
    /// Where the value lies between its bounds, 0 to 1: drawn as a dot on a line.
    pub place: Option<f64>,
}

/// The value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// None.
    Missing,
    /// A number, in the column's unit without prefix.
    Number(f64),
    /// Text.
    Text(String),
}

/// `1.5e0` of numbers: what a page sorts by.
fn sort_key<S: Serializer>(value: &Value, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Value::Missing => to.serialize_str(""),
        Value::Number(x) => to.collect_str(&format_args!("{x:e}")),
        Value::Text(text) => to.serialize_str(text),
    }
}

impl Cell {
    /// A cell of text, sorted by the text.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            value: Value::Text(text.clone()),
            text,
            mark: None,
            section: String::new(),
            place: None,
        }
    }

    /// A cell of a number, sorted by `value`.
    pub fn number(value: f64, text: impl Into<String>) -> Self {
        Self {
            value: Value::Number(value),
            ..Self::text(text)
        }
    }

    /// A cell without a value.
    pub fn missing() -> Self {
        Self {
            value: Value::Missing,
            ..Self::text("–")
        }
    }

    /// Text where there is some.
    pub fn known(text: Option<impl Into<String>>) -> Self {
        text.map_or_else(Self::missing, Self::text)
    }

    /// A number where there is a finite one, shown as `show` says.
    pub fn shown(value: impl Into<Option<f64>>, show: impl FnOnce(f64) -> String) -> Self {
        (value.into().filter(|v| v.is_finite()))
            .map_or_else(Self::missing, |v| Self::number(v, show(v)))
    }

    /// A number with SI prefix and unit, where there is one.
    pub fn si(value: impl Into<Option<f64>>, unit: &str) -> Self {
        Self::shown(value, |v| si(v, unit))
    }

    /// Both ends of an interval with SI prefixes and unit, where there is one.
    pub fn range(ends: Option<(f64, f64)>, unit: &str) -> Self {
        let known = |(lo, hi): &(f64, f64)| lo.is_finite() && hi.is_finite();
        ends.filter(known).map_or_else(Self::missing, |(lo, hi)| {
            Self::number(lo, range(lo, hi, unit))
        })
    }

    /// A share as a percentage, where there is one.
    pub fn percent(value: impl Into<Option<f64>>) -> Self {
        Self::shown(value, percent)
    }

    /// A number with three significant digits, where there is one.
    pub fn three(value: impl Into<Option<f64>>) -> Self {
        Self::shown(value, three)
    }

    /// A number with all its digits where there is one, also in files: `2e0`.
    pub fn exact(value: impl Into<Option<f64>>) -> Self {
        (value.into()).map_or_else(Self::missing, |v| Self::text(format!("{v:e}")))
    }

    /// A whole number.
    pub fn count(n: impl Into<u64>) -> Self {
        let n = n.into();
        Self::number(n as f64, n.to_string())
    }

    /// The cell as a link to a section of the page.
    pub fn leads_to(self, section: &str) -> Self {
        Self {
            section: section.to_owned(),
            ..self
        }
    }

    /// The cell with a dot at a share of the way from the lower to the upper bound.
    pub fn placed(self, share: f64) -> Self {
        let place = (1e3 * share.clamp(0.0, 1.0)).round() / 1e3;
        Self {
            place: Some(place).filter(|p| p.is_finite()),
            ..self
        }
    }

    /// Text over several lines, shown in full.
    pub fn wrapped(text: impl Into<String>) -> Self {
        Self::text(text).marked("wrap")
    }

    /// The cell with a mark, if any: `good` or `bad`.
    pub fn marked(self, mark: impl Into<Option<&'static str>>) -> Self {
        Self {
            mark: mark.into(),
            ..self
        }
    }
}
