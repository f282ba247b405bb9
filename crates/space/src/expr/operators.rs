//! Operators on values, with Python's meaning; integers beyond 64 bits are an error.

use super::ast::{BinaryOp, CompareOp, UnaryOp};
use crate::error::{ExprError, Span};
use crate::value::Value;
use std::cmp::Ordering;

/// An operator that has no value for its operands; kinds of values are named as by
/// [`Value::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OperatorError {
    #[error("{OVERFLOW}")]
    Overflow,
    #[error("division by zero")]
    DivisionByZero,
    #[error("a {0} has no sign")]
    NoSign(&'static str),
    #[error("`{operator}` does not work on a {left} and a {right}")]
    Types {
        operator: &'static str,
        left: &'static str,
        right: &'static str,
    },
    #[error("`{0}` works on integers only")]
    IntegersOnly(&'static str),
    #[error("a negative number has no real power of this kind")]
    NegativePower,
    #[error("a {left} has no order with a {right}")]
    NoOrder {
        left: &'static str,
        right: &'static str,
    },
}

pub(super) const OVERFLOW: &str = "the integer does not fit 64 bits";

impl OperatorError {
    /// The error with the place of the operator in its expression.
    pub(super) fn at(self, span: Span) -> ExprError {
        ExprError::new(self.to_string(), span)
    }
}

pub(super) fn unary(op: UnaryOp, v: &Value) -> Result<Value, OperatorError> {
    Ok(match (op, v) {
        (UnaryOp::Not, v) => Value::Bool(!v.truth()),
        (UnaryOp::Negate, Value::Float(f)) => Value::Float(-f),
        (UnaryOp::Plus, Value::Float(f)) => Value::Float(*f),
        (op, v) => {
            let Some(i) = v.as_int() else {
                return Err(OperatorError::NoSign(v.kind()));
            };
            Value::Int(match op {
                UnaryOp::Negate => i.checked_neg().ok_or(OperatorError::Overflow)?,
                UnaryOp::Invert => !i,
                UnaryOp::Plus | UnaryOp::Not => i,
            })
        }
    })
}

pub(super) fn binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value, OperatorError> {
    use BinaryOp as B;
    if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
        let int = |r: Option<i64>| r.map(Value::Int).ok_or(OperatorError::Overflow);
        return match op {
            B::Add => int(x.checked_add(y)),
            B::Sub => int(x.checked_sub(y)),
            B::Mul => int(x.checked_mul(y)),
            B::Div if y == 0 => Err(OperatorError::DivisionByZero),
            B::Div => Ok(Value::Float(x as f64 / y as f64)),
            B::FloorDiv if y == 0 => Err(OperatorError::DivisionByZero),
            B::FloorDiv => int(int_floor_div(x, y)),
            B::Mod if y == 0 => Err(OperatorError::DivisionByZero),
            B::Mod => Ok(Value::Int(int_mod(x, y))),
            B::Pow if y < 0 && x == 0 => Err(OperatorError::DivisionByZero),
            B::Pow if y < 0 => Ok(Value::Float((x as f64).powf(y as f64))),
            B::Pow => int(int_pow(x, y)),
            B::Shl => int(int_shl(x, y)),
            B::Shr => int(int_shr(x, y)),
            B::BitAnd => Ok(Value::Int(x & y)),
            B::BitOr => Ok(Value::Int(x | y)),
            B::BitXor => Ok(Value::Int(x ^ y)),
        };
    }
    let (Some(x), Some(y)) = (a.as_float(), b.as_float()) else {
        return Err(OperatorError::Types {
            operator: op.symbol(),
            left: a.kind(),
            right: b.kind(),
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
        B::Pow => {
            let r = x.powf(y);
            if r.is_nan() && !x.is_nan() && !y.is_nan() {
                return Err(OperatorError::NegativePower);
            }
            r
        }
        _ => return Err(OperatorError::IntegersOnly(op.symbol())),
    }))
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
    let y = u32::try_from(y).ok().filter(|y| *y < 63)?;
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
        return int_mod(x as i64, y as i64) as f64;
    }
    let r = x % y;
    if r != 0.0 && (r < 0.0) != (y < 0.0) {
        r + y
    } else {
        r
    }
}

pub(crate) fn float_floor_div(x: f64, y: f64) -> f64 {
    let m = float_mod(x, y);
    let q = (x - m) / y;
    let floor = q.floor();
    if q - floor > 0.5 { floor + 1.0 } else { floor }
}

pub(super) fn compare(op: CompareOp, a: &Value, b: &Value) -> Result<bool, OperatorError> {
    let order = a.compare(b);
    Ok(match op {
        CompareOp::Eq => order == Some(Ordering::Equal),
        CompareOp::Ne => order != Some(Ordering::Equal),
        _ => {
            let numbers = a.as_float().is_some() && b.as_float().is_some();
            let Some(order) = order.filter(|_| !matches!(a, Value::None)) else {
                // NaN is not less, not equal and not greater.
                return match numbers {
                    true => Ok(false),
                    false => Err(OperatorError::NoOrder {
                        left: a.kind(),
                        right: b.kind(),
                    }),
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
