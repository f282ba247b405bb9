//! Functions that expressions may call.

use super::operators::{self, OVERFLOW, binary, compare};
use crate::error::closest;
use crate::expr::{BinaryOp, CompareOp};
use crate::value::Value;

/// Functions, and how many values they take at least and at most.
const FUNCTIONS: [(&str, usize, usize); 25] = [
    ("min", 1, usize::MAX),
    ("max", 1, usize::MAX),
    ("abs", 1, 1),
    ("int", 1, 1),
    ("float", 1, 1),
    ("round", 1, 2),
    ("floor", 1, 1),
    ("ceil", 1, 1),
    ("sqrt", 1, 1),
    ("log2", 1, 1),
    ("log", 1, 2),
    ("exp", 1, 1),
    ("gcd", 1, usize::MAX),
    ("len", 1, 1),
    ("sum", 1, 1),
    ("bool", 1, 1),
    ("pow", 2, 3),
    ("any", 1, 1),
    ("all", 1, 1),
    ("str", 1, 1),
    ("list", 1, 1),
    ("tuple", 1, 1),
    ("set", 1, 1),
    ("sorted", 1, 1),
    ("range", 1, 3),
];

/// Functions that give lists, where lists stand.
pub(crate) const LISTS: [(&str, usize); 2] = [("divisors", 1), ("powers_of_two", 2)];

/// Names of the functions.
pub(crate) fn functions() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|f| f.0)
}

/// Whether a function is there and takes so many values; if not, why. There are `others` where lists stand.
pub(crate) fn takes(name: &str, values: usize, others: &[&str]) -> Result<(), String> {
    let short = name.strip_prefix("math.").unwrap_or(name);
    match FUNCTIONS.iter().find(|f| f.0 == short) {
        Some(&(_, least, most)) if (least..=most).contains(&values) => Ok(()),
        Some(&(_, least, most)) => Err(takes_not(name, least, most, values)),
        None if LISTS.iter().any(|l| l.0 == short) => Err(format!(
            "`{name}` of {values} values gives no list here: it stands where the values of a parameter are written"
        )),
        None => {
            let mut known: Vec<&str> = functions().collect();
            known.extend(others);
            let hint = match closest(name, known.iter().copied()) {
                Some(n) => format!(": did you mean `{n}`?"),
                None => format!("; known are {}", known.join(", ")),
            };
            Err(format!("unknown function `{name}`{hint}"))
        }
    }
}

/// Why a function does not take so many values.
pub(crate) fn takes_not(name: &str, least: usize, most: usize, values: usize) -> String {
    let plural = if most == 1 { "" } else { "s" };
    let number = match most {
        usize::MAX => format!("{least} or more"),
        _ if least == most => least.to_string(),
        _ => format!("{least} to {most}"),
    };
    format!("`{name}` takes {number} value{plural}, not {values}")
}

/// The first of the least or greatest values.
pub(super) fn extreme(which: &str, values: Vec<Value>) -> Result<Value, String> {
    let op = match which {
        "min" => CompareOp::Lt,
        _ => CompareOp::Gt,
    };
    let mut values = values.into_iter();
    let mut best = values
        .next()
        .ok_or_else(|| format!("`{which}` of no values"))?;
    for v in values {
        if compare(op, &v, &best).map_err(|e| e.to_string())? {
            best = v;
        }
    }
    Ok(best)
}

pub(super) fn sum(values: &[Value]) -> Result<Value, operators::OperatorError> {
    values
        .iter()
        .try_fold(Value::Int(0), |a, v| binary(BinaryOp::Add, &a, v))
}

/// The values of a list in their order, what is equal once.
pub(super) fn distinct(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by(Value::order);
    values.dedup();
    values
}

/// `round(v, digits)`: to the nearest decimal, halves to the even one.
pub(super) fn rounded(v: &Value, digits: i64) -> Option<Value> {
    if digits >= 0 {
        return Some(match v {
            // No double has more digits.
            Value::Float(f) if digits > 1100 || !f.is_finite() => Value::Float(*f),
            Value::Float(f) => Value::Float(format!("{f:.*}", digits as usize).parse().ok()?),
            v => Value::Int(v.as_int()?),
        });
    }
    let tens = u32::try_from(digits.unsigned_abs())
        .ok()
        .and_then(|d| 10_i128.checked_pow(d));
    let (whole, rest) = match v {
        Value::Float(f) if f.abs() < 1e37 => (f.trunc() as i128, f.fract()),
        Value::Float(f) if !f.is_finite() => return Some(Value::Float(*f)),
        Value::Float(_) => return None,
        v => (i128::from(v.as_int()?), 0.0),
    };
    let Some(tens) = tens else {
        return Some(match v {
            Value::Float(f) => Value::Float(0.0_f64.copysign(*f)),
            _ => Value::Int(0),
        });
    };
    let (size, rest) = (whole.abs(), rest.abs());
    let (low, over) = (size / tens, size % tens);
    let up = match (2 * over).cmp(&tens) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => rest > 0.0 || low % 2 == 1,
    };
    let size = (low + i128::from(up)) * tens;
    Some(match v {
        Value::Float(f) => Value::Float((size as f64).copysign(*f)),
        _ => Value::Int(i64::try_from(size * whole.signum()).ok()?),
    })
}

/// `pow(a, b, m)` for `b >= 0`, with the sign of `m`.
pub(super) fn power_modulo(a: i64, b: i64, m: i64) -> Result<Value, String> {
    if m == 0 {
        return Err(operators::DIVISION_BY_ZERO.into());
    }
    if b < 0 {
        return Err("`pow` with a modulus takes no negative exponent".into());
    }
    let m = i128::from(m);
    let modulo = |x: i128| ((x % m) + m) % m;
    let (mut result, mut base, mut left) = (modulo(1), modulo(i128::from(a)), b);
    while left > 0 {
        if left & 1 == 1 {
            result = modulo(result * base);
        }
        base = modulo(base * base);
        left >>= 1;
    }
    i64::try_from(result)
        .map(Value::Int)
        .map_err(|_| OVERFLOW.into())
}

/// The number of a text, as Python's `int` and `float` read it.
pub(super) fn number(which: &str, text: &str) -> Result<Value, String> {
    let fault = || format!("`{which}` reads no number in \"{text}\"");
    let plain = text.trim();
    // `_` stands between two digits.
    let bytes = plain.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let apart =
        (0..bytes.len()).all(|i| bytes[i] != b'_' || (i > 0 && digit(i - 1) && digit(i + 1)));
    if !apart {
        return Err(fault());
    }
    let plain = plain.replace('_', "");
    match which {
        "int" => plain.parse().map(Value::Int).map_err(|_| fault()),
        _ => plain.parse().map(Value::Float).map_err(|_| fault()),
    }
}

pub(crate) fn gcd(a: i64, b: i64) -> Option<i64> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).ok()
}

/// Divisors of `|n|` in ascending order; none for 0.
pub(crate) fn divisors(n: i64) -> Vec<i64> {
    let n = n.unsigned_abs();
    let mut low = Vec::new();
    let mut high = Vec::new();
    let mut d = 1;
    while n != 0 && d <= n / d {
        if n.is_multiple_of(d) {
            low.push(d as i64);
            if d != n / d {
                high.push((n / d) as i64);
            }
        }
        d += 1;
    }
    high.reverse();
    low.extend(high);
    low
}
