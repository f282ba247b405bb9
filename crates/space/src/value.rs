//! A value of a parameter, a constant or an expression.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt::{self, Write};

/// Integer, float, boolean, string, tuple or `None`, as in the notation. Numbers compare by value across kinds, as in
/// Python: `1 == 1.0 == True`. In JSON a tuple is a list, and `None` is null.
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
    /// Several values as one, such as the two sides of a block.
    Tuple(Vec<Value>),
    /// `None`.
    None,
}

impl Value {
    /// What kind of value it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "boolean",
            Self::Int(_) => "integer",
            Self::Float(_) => "float",
            Self::Str(_) => "string",
            Self::Tuple(_) => "tuple",
            Self::None => "`None`",
        }
    }

    /// What kind of value it is, as an operand.
    pub(crate) fn operand(&self) -> &'static str {
        match self {
            Self::Bool(_) | Self::Int(_) | Self::Float(_) => "a number",
            Self::Str(_) => "a string",
            Self::Tuple(_) => "a tuple or list",
            Self::None => "`None`",
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

    /// Truth as in Python: zero, `None`, the empty string and the empty tuple are false.
    pub fn truth(&self) -> bool {
        match self {
            Self::Bool(b) => *b,
            Self::Int(i) => *i != 0,
            Self::Float(f) => *f != 0.0,
            Self::Str(s) => !s.is_empty(),
            Self::Tuple(items) => !items.is_empty(),
            Self::None => false,
        }
    }

    /// Order by value, of tuples by their first elements that differ; `None` between a number and a value of another
    /// kind, and for NaN.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Str(a), Self::Str(b)) => Some(a.cmp(b)),
            (Self::Tuple(a), Self::Tuple(b)) => {
                let differ = a.iter().zip(b).map(|(a, b)| a.compare(b));
                let first = differ.into_iter().find(|o| *o != Some(Ordering::Equal));
                first.unwrap_or_else(|| Some(a.len().cmp(&b.len())))
            }
            (Self::None, Self::None) => Some(Ordering::Equal),
            (a, b) => match (a.as_int(), b.as_int()) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                (Some(a), None) => int_to_float(a, b.as_float()?),
                (None, Some(b)) => int_to_float(b, a.as_float()?).map(Ordering::reverse),
                (None, None) => a.as_float()?.partial_cmp(&b.as_float()?),
            },
        }
    }

    /// Python's `is`: equal, and of the same type.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is(b))
            }
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b) && a == b,
        }
    }

    /// A total order, for sorting: numbers, NaN last, then strings, tuples and `None`.
    pub fn order(&self, other: &Self) -> Ordering {
        let rank = |v: &Self| match v {
            Self::Bool(_) | Self::Int(_) | Self::Float(_) => 0,
            Self::Str(_) => 1,
            Self::Tuple(_) => 2,
            Self::None => 3,
        };
        match (self, other) {
            (Self::Tuple(a), Self::Tuple(b)) => {
                let differ = a.iter().zip(b).map(|(a, b)| a.order(b));
                let first = differ.into_iter().find(|o| o.is_ne());
                first.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (a, b) => a.compare(b).unwrap_or_else(|| {
                let nan = |v: &Self| matches!(v, Self::Float(f) if f.is_nan());
                (rank(a), nan(a)).cmp(&(rank(b), nan(b)))
            }),
        }
    }

    /// The value as one writes it in an expression: as displayed, with strings in quotes.
    pub fn literal(&self) -> String {
        match self {
            Self::Str(s) => quoted(s),
            v => v.to_string(),
        }
    }
}

/// A string as Python's `repr` has it.
fn quoted(s: &str) -> String {
    let quote = match s.contains('\'') && !s.contains('"') {
        true => '"',
        false => '\'',
    };
    let mut out = String::from(quote);
    for c in s.chars() {
        // Rust and Python escape the same characters of other scripts, in different forms.
        let plain = match c.is_ascii() {
            true => !c.is_ascii_control(),
            false => ['a', c].iter().collect::<String>().escape_debug().count() == 2,
        };
        let code = u32::from(c);
        let _ = match c {
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            c if c == quote || c == '\\' => write!(out, "\\{c}"),
            c if plain => out.write_char(c),
            _ if code <= 0xff => write!(out, "\\x{code:02x}"),
            _ if code <= 0xffff => write!(out, "\\u{code:04x}"),
            _ => write!(out, "\\U{code:08x}"),
        };
    }
    out.push(quote);
    out
}

/// A float as Python prints it: `1e+16`, `1e-05`.
fn float_text(f: f64) -> String {
    if f.is_nan() {
        return "nan".into();
    }
    let scientific = format!("{f:e}");
    match scientific
        .split_once('e')
        .map(|(digits, e)| (digits, e.parse::<i32>()))
    {
        Some((digits, Ok(e))) if !(-4..16).contains(&e) => {
            let sign = if e < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", e.unsigned_abs())
        }
        Some(_) if f.trunc() == f => format!("{f:.1}"),
        _ => f.to_string(),
    }
}

/// The integer that a float equals.
pub(crate) fn whole(f: f64) -> Option<i64> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    ((-END..END).contains(&f) && f.trunc() == f).then_some(f as i64)
}

/// The exact order of an integer and a float: not every integer is a float.
pub(crate) fn int_to_float(i: i64, f: f64) -> Option<Ordering> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    if f.is_nan() {
        return None;
    }
    if f >= END {
        return Some(Ordering::Less);
    }
    if f < -END {
        return Some(Ordering::Greater);
    }
    let whole = f.trunc();
    match i.cmp(&(whole as i64)) {
        Ordering::Equal => 0.0_f64.partial_cmp(&(f - whole)),
        order => Some(order),
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
            Self::Float(x) => f.write_str(&float_text(*x)),
            Self::Str(s) => f.write_str(s),
            Self::Tuple(items) => {
                let items: Vec<String> = items.iter().map(Self::literal).collect();
                let comma = if items.len() == 1 { "," } else { "" };
                write!(f, "({}{comma})", items.join(", "))
            }
            Self::None => f.write_str("None"),
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
