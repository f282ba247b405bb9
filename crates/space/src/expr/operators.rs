//! Operators on values, with Python's meaning; integers beyond 64 bits are an error.

use super::ast::{BinaryOp, CompareOp, UnaryOp};
use crate::error::{ExprError, Span};
use crate::value::Value;

/// An operator that has no value for its operands; kinds of values are named as by
/// [`Value::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OperatorError {
    #[error("{OVERFLOW}")]
    Overflow,
    #[error("{DIVISION_BY_ZERO}")]
    DivisionByZero,
    #[error("`{operator}` does not work on {operand}")]
    Type {
        operator: &'static str,
        operand: &'static str,
    },
    #[error("`{operator}` does not work on {left} and {right}")]
    Types {
        operator: &'static str,
        left: &'static str,
        right: &'static str,
    },
    #[error("`{0}` works on integers only")]
    IntegersOnly(&'static str),
    #[error("a negative number has no real power of this kind")]
    NegativePower,
    #[error("{left} has no order with {right}")]
    NoOrder {
        left: &'static str,
        right: &'static str,
    },
    #[error("`in` needs a list, a tuple or a string on its right, not {0}")]
    NotIterable(&'static str),
    #[error("`in` a string needs a string on its left, not {0}")]
    NotText(&'static str),
    #[error("{FLOAT_OVERFLOW}")]
    FloatOverflow,
    #[error("the result has more than {MAX_RESULT} characters or values")]
    TooLong,
}

pub(crate) const DIVISION_BY_ZERO: &str = "division by zero";
pub(crate) const FLOAT_OVERFLOW: &str = "a float is too large";
pub(crate) const DOMAIN: &str = "outside the function's domain";
/// What the message of an index outside its list begins with.
pub(crate) const INDEX: &str = "index ";
pub(crate) const OVERFLOW: &str = "the integer does not fit 64 bits";

/// A list longer than this is refused: it would not be a parameter's values.
pub(super) const MAX_LIST: usize = 10_000_000;

/// A string or tuple that an operator makes has at most so many characters or values, those of its tuples included.
const MAX_RESULT: usize = 1_000_000;

impl OperatorError {
    /// The error with the place of the operator in its expression.
    pub(super) fn at(self, span: Span) -> ExprError {
        ExprError::new(self.to_string(), span)
    }
}

pub(crate) fn unary(op: UnaryOp, v: &Value) -> Result<Value, OperatorError> {
    Ok(match (op, v) {
        (UnaryOp::Not, v) => Value::Bool(!v.truth()),
        (UnaryOp::Negate, Value::Float(f)) => Value::Float(-f),
        (UnaryOp::Plus, Value::Float(f)) => Value::Float(*f),
        (op, v) => {
            let Some(i) = v.as_int() else {
                let operator = match op {
                    UnaryOp::Negate => "-",
                    UnaryOp::Invert => "~",
                    UnaryOp::Plus | UnaryOp::Not => "+",
                };
                return Err(OperatorError::Type {
                    operator,
                    operand: v.operand(),
                });
            };
            Value::Int(match op {
                UnaryOp::Negate => i.checked_neg().ok_or(OperatorError::Overflow)?,
                UnaryOp::Invert => !i,
                UnaryOp::Plus | UnaryOp::Not => i,
            })
        }
    })
}

/// An operator on two integers.
#[inline]
pub(crate) fn of_ints(op: BinaryOp, x: i64, y: i64) -> Result<Value, OperatorError> {
    use BinaryOp as B;
    let int = |r: Option<i64>| r.map(Value::Int).ok_or(OperatorError::Overflow);
    match op {
        B::Add => int(x.checked_add(y)),
        B::Sub => int(x.checked_sub(y)),
        B::Mul => int(x.checked_mul(y)),
        B::Div if y == 0 => Err(OperatorError::DivisionByZero),
        B::Div => Ok(Value::Float(int_quotient(x, y))),
        B::FloorDiv if y == 0 => Err(OperatorError::DivisionByZero),
        B::FloorDiv => int(int_floor_div(x, y)),
        B::Mod if y == 0 => Err(OperatorError::DivisionByZero),
        B::Mod => Ok(Value::Int(int_mod(x, y))),
        B::Pow if y < 0 && x == 0 => Err(OperatorError::DivisionByZero),
        B::Pow if y < 0 => float_pow(x as f64, y as f64).map(Value::Float),
        B::Pow => int(int_pow(x, y)),
        B::Shl => int(int_shl(x, y)),
        B::Shr => int(int_shr(x, y)),
        B::BitAnd => Ok(Value::Int(x & y)),
        B::BitOr => Ok(Value::Int(x | y)),
        B::BitXor => Ok(Value::Int(x ^ y)),
    }
}

pub(crate) fn binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value, OperatorError> {
    use BinaryOp as B;
    if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
        if let (Value::Bool(x), Value::Bool(y)) = (a, b) {
            match op {
                B::BitAnd => return Ok(Value::Bool(x & y)),
                B::BitOr => return Ok(Value::Bool(x | y)),
                B::BitXor => return Ok(Value::Bool(x ^ y)),
                _ => {}
            }
        }
        return of_ints(op, x, y);
    }
    match (op, a, b) {
        (B::Add, x @ Value::Str(a), y @ Value::Str(b)) => {
            fits(size(x).saturating_add(size(y)))?;
            return Ok(Value::Str(format!("{a}{b}")));
        }
        (B::Add, x @ Value::Tuple(a), y @ Value::Tuple(b)) => {
            fits(size(x).saturating_add(size(y)))?;
            return Ok(Value::Tuple(a.iter().chain(b).cloned().collect()));
        }
        (B::Mul, v @ (Value::Str(_) | Value::Tuple(_)), n)
        | (B::Mul, n, v @ (Value::Str(_) | Value::Tuple(_))) => {
            if let Some(n) = n.as_int() {
                return repeated(v, n);
            }
        }
        _ => {}
    }
    let (Some(x), Some(y)) = (a.as_float(), b.as_float()) else {
        return Err(OperatorError::Types {
            operator: op.symbol(),
            left: a.operand(),
            right: b.operand(),
        });
    };
    Ok(Value::Float(match op {
        B::Add => x + y,
        B::Sub => x - y,
        B::Mul => x * y,
        B::Div | B::FloorDiv | B::Mod if y == 0.0 => return Err(OperatorError::DivisionByZero),
        B::Div => x / y,
        B::FloorDiv => float_floor_div(x, y),
        B::Mod => float_mod(x, y),
        B::Pow => float_pow(x, y)?,
        _ => return Err(OperatorError::IntegersOnly(op.symbol())),
    }))
}

/// Characters and values in a value; tuples are copied with what they hold.
pub(super) fn size(v: &Value) -> usize {
    match v {
        Value::Str(s) => s.len(),
        Value::Tuple(items) => items
            .iter()
            .map(|v| size(v).saturating_add(1))
            .fold(0, usize::saturating_add),
        _ => 0,
    }
}

/// Refuses a result of so many characters and values.
fn fits(size: usize) -> Result<(), OperatorError> {
    if size > MAX_RESULT {
        return Err(OperatorError::TooLong);
    }
    Ok(())
}

/// A string or tuple, many times.
fn repeated(v: &Value, times: i64) -> Result<Value, OperatorError> {
    let times = usize::try_from(times).unwrap_or(0);
    if size(v) == 0 {
        return Ok(v.clone());
    }
    fits(size(v).saturating_mul(times))?;
    Ok(match v {
        Value::Str(s) => Value::Str(s.repeat(times)),
        Value::Tuple(items) => {
            Value::Tuple((0..times).flat_map(|_| items.iter().cloned()).collect())
        }
        other => other.clone(),
    })
}

/// Integers up to this size are floats.
pub(crate) const EXACT: u64 = 1 << 53;

/// `x / y`, correctly rounded also where the integers are no floats.
pub(crate) fn int_quotient(x: i64, y: i64) -> f64 {
    let (a, b) = (x.unsigned_abs(), y.unsigned_abs());
    if (a <= EXACT && b <= EXACT) || a == 0 || b == 0 {
        return x as f64 / y as f64;
    }
    // At least 64 bits of the quotient, the last of them marks a remainder.
    let shift = u128::from(a).leading_zeros();
    let dividend = u128::from(a) << shift;
    let quotient = (dividend / u128::from(b)) | u128::from(dividend % u128::from(b) != 0);
    let magnitude = quotient as f64 / 2_f64.powi(shift as i32);
    if (x < 0) == (y < 0) {
        magnitude
    } else {
        -magnitude
    }
}

pub(crate) fn float_pow(x: f64, y: f64) -> Result<f64, OperatorError> {
    if x == 0.0 && y < 0.0 {
        return Err(OperatorError::DivisionByZero);
    }
    let r = x.powf(y);
    if r.is_nan() && !x.is_nan() && !y.is_nan() {
        return Err(OperatorError::NegativePower);
    }
    if r.is_infinite() && x.is_finite() && y.is_finite() {
        return Err(OperatorError::FloatOverflow);
    }
    Ok(r)
}

pub(crate) fn int_floor_div(x: i64, y: i64) -> Option<i64> {
    let q = x.checked_div(y)?;
    Some(if x % y != 0 && (x < 0) != (y < 0) {
        q - 1
    } else {
        q
    })
}

pub(crate) fn int_mod(x: i64, y: i64) -> i64 {
    let r = x.wrapping_rem(y);
    if r != 0 && (r < 0) != (y < 0) {
        r + y
    } else {
        r
    }
}

pub(crate) fn int_pow(x: i64, y: i64) -> Option<i64> {
    match x {
        0 | 1 => Some(if y == 0 { 1 } else { x }),
        -1 => Some(if y % 2 == 0 { 1 } else { -1 }),
        _ => x.checked_pow(u32::try_from(y).ok()?),
    }
}

pub(crate) fn int_shl(x: i64, y: i64) -> Option<i64> {
    if x == 0 && y >= 0 {
        return Some(0);
    }
    let y = u32::try_from(y).ok().filter(|y| *y < 64)?;
    let r = x << y;
    (r >> y == x).then_some(r)
}

pub(crate) fn int_shr(x: i64, y: i64) -> Option<i64> {
    (y >= 0).then(|| x >> y.min(63))
}

pub(crate) fn float_mod(x: f64, y: f64) -> f64 {
    // Whole numbers need no slow remainder, and are the usual case: sizes divided by sizes.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if x.abs() < WHOLE && y.abs() < WHOLE && x.trunc() == x && y.trunc() == y {
        let r = int_mod(x as i64, y as i64) as f64;
        return r.copysign(y);
    }
    let r = x % y;
    if r == 0.0 {
        0.0_f64.copysign(y)
    } else if (r < 0.0) != (y < 0.0) {
        r + y
    } else {
        r
    }
}

pub(crate) fn float_floor_div(x: f64, y: f64) -> f64 {
    // As CPython: the remainder of signs that differ is made up for afterwards, so that none of it is infinite.
    let m = x % y;
    let mut q = (x - m) / y;
    if m != 0.0 && (m < 0.0) != (y < 0.0) {
        q -= 1.0;
    }
    if q == 0.0 {
        return q.copysign(x / y);
    }
    let floor = q.floor();
    if q - floor > 0.5 { floor + 1.0 } else { floor }
}

pub(crate) fn compare(op: CompareOp, a: &Value, b: &Value) -> Result<bool, OperatorError> {
    let order = a.compare(b);
    Ok(match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Is => a.is(b),
        CompareOp::IsNot => !a.is(b),
        CompareOp::In => contains(b, a)?,
        CompareOp::NotIn => !contains(b, a)?,
        _ => {
            if let (Value::Tuple(a), Value::Tuple(b)) = (a, b) {
                // The first that differ decide.
                if let Some((a, b)) = a.iter().zip(b).find(|(a, b)| a != b) {
                    return compare(op, a, b);
                }
            }
            let numbers = a.as_float().is_some() && b.as_float().is_some();
            let Some(order) = order.filter(|_| !matches!(a, Value::None)) else {
                // NaN is not less, not equal and not greater.
                return if numbers {
                    Ok(false)
                } else {
                    Err(OperatorError::NoOrder {
                        left: a.operand(),
                        right: b.operand(),
                    })
                };
            };
            match op {
                CompareOp::Lt => order.is_lt(),
                CompareOp::Le => order.is_le(),
                CompareOp::Gt => order.is_gt(),
                _ => order.is_ge(),
            }
        }
    })
}

fn contains(all: &Value, v: &Value) -> Result<bool, OperatorError> {
    match (all, v) {
        (Value::Tuple(items), v) => Ok(items.contains(v)),
        (Value::Str(text), Value::Str(part)) => Ok(text.contains(part.as_str())),
        (Value::Str(_), v) => Err(OperatorError::NotText(v.operand())),
        (all, _) => Err(OperatorError::NotIterable(all.operand())),
    }
}
