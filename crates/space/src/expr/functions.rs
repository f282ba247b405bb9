//! Functions that expressions may call: of values, and those that give lists.

use super::ast::{BinaryOp, Expr};
use super::eval::{Evaluated, MAX_LIST, Scope, eval, eval_list, too_long};
use super::operators::{OVERFLOW, binary};
use crate::error::{ExprError, Span};
use crate::value::Value;
use std::cmp::Ordering;

pub(super) fn list_call(
    name: &str,
    args: &[Expr],
    span: Span,
    scope: &Scope,
) -> Evaluated<Option<Vec<Value>>> {
    let int = |e: &Expr| -> Evaluated<i64> {
        let v = eval(e, scope)?;
        v.as_int()
            .ok_or_else(|| ExprError::new(format!("an integer is expected, not {v}"), e.span))
    };
    let list = match (name, args) {
        ("range", [_] | [_, _] | [_, _, _]) => {
            let (start, stop) = match args {
                [stop] => (0, int(stop)?),
                _ => (int(&args[0])?, int(&args[1])?),
            };
            let step = args.get(2).map_or(Ok(1), int)?;
            if step == 0 {
                return Err(ExprError::new("the step of a range is 0", span));
            }
            let mut out = Vec::new();
            let mut i = start;
            while (step > 0 && i < stop) || (step < 0 && i > stop) {
                if out.len() >= MAX_LIST {
                    return Err(too_long(span));
                }
                out.push(Value::Int(i));
                match i.checked_add(step) {
                    Some(next) => i = next,
                    None => break,
                }
            }
            out
        }
        ("list" | "tuple", [e]) => eval_list(e, scope)?,
        ("sorted", [e]) => {
            let mut out = eval_list(e, scope)?;
            out.sort_by(|a, b| a.compare(b).unwrap_or(Ordering::Equal));
            out
        }
        ("divisors", [e]) => {
            let n = int(e)?;
            if n == 0 {
                return Err(ExprError::new("0 has no finite list of divisors", e.span));
            }
            if n.unsigned_abs() > 1 << 40 {
                return Err(ExprError::new("too large to list its divisors", e.span));
            }
            divisors(n).into_iter().map(Value::Int).collect()
        }
        ("powers_of_two", [from, to]) => {
            let (from, to) = (int(from)?, int(to)?);
            (0..63)
                .map(|k| 1_i64 << k)
                .filter(|p| (from..=to).contains(p))
                .map(Value::Int)
                .collect()
        }
        _ => match scope.scripts {
            Some(scripts) if scripts.has(name) => {
                let args: Vec<Value> = args
                    .iter()
                    .map(|a| eval(a, scope))
                    .collect::<Evaluated<_>>()?;
                scripts
                    .call(name, &args)
                    .map_err(|m| ExprError::new(m, span))?
            }
            _ => return Ok(None),
        },
    };
    Ok(Some(list))
}

/// Functions of one value or of several, for messages.
pub(crate) const FUNCTIONS: [&str; 17] = [
    "min", "max", "abs", "int", "float", "round", "floor", "ceil", "sqrt", "log2", "log", "exp",
    "gcd", "len", "sum", "bool", "pow",
];

pub(super) fn call(name: &str, args: &[Expr], span: Span, scope: &Scope) -> Evaluated {
    let short = name.strip_prefix("math.").unwrap_or(name);
    let fail = |m: &str| ExprError::new(m, span);
    if let ("len" | "sum" | "min" | "max", [only]) = (short, args) {
        let list = eval_list(only, scope)?;
        return match short {
            "len" => Ok(Value::Int(list.len() as i64)),
            "sum" => list
                .iter()
                .try_fold(Value::Int(0), |a, v| binary(BinaryOp::Add, &a, v))
                .map_err(|m| ExprError::new(m, span)),
            _ => extreme(short, list).ok_or_else(|| fail("no number to choose from")),
        };
    }
    let values: Vec<Value> = args
        .iter()
        .map(|a| eval(a, scope))
        .collect::<Evaluated<_>>()?;
    let number = |i: usize| -> Evaluated<f64> {
        values[i]
            .as_float()
            .ok_or_else(|| fail("a number is expected"))
    };
    let whole = |f: f64| -> Evaluated {
        if f.is_finite() && f.abs() < 9.2e18 {
            Ok(Value::Int(f as i64))
        } else {
            Err(fail(OVERFLOW))
        }
    };
    match (short, values.as_slice()) {
        ("min" | "max", [_, _, ..]) => {
            extreme(short, values).ok_or_else(|| fail("numbers are expected"))
        }
        ("abs", [v]) => match v.as_int() {
            Some(i) => i
                .checked_abs()
                .map(Value::Int)
                .ok_or_else(|| fail(OVERFLOW)),
            None => Ok(Value::Float(number(0)?.abs())),
        },
        ("bool", [v]) => Ok(Value::Bool(v.truth())),
        ("float", [_]) => Ok(Value::Float(number(0)?)),
        ("int" | "floor" | "ceil" | "round", [v]) => match v.as_int() {
            Some(i) => Ok(Value::Int(i)),
            None => whole(match short {
                "int" => number(0)?.trunc(),
                "floor" => number(0)?.floor(),
                "ceil" => number(0)?.ceil(),
                _ => number(0)?.round_ties_even(),
            }),
        },
        ("sqrt" | "log2" | "log", [_]) => {
            let x = number(0)?;
            if x < 0.0 || (x == 0.0 && short != "sqrt") {
                return Err(fail("outside the function's domain"));
            }
            Ok(Value::Float(match short {
                "sqrt" => x.sqrt(),
                "log2" => x.log2(),
                _ => x.ln(),
            }))
        }
        ("exp", [_]) => Ok(Value::Float(number(0)?.exp())),
        ("pow", [a, b]) => binary(BinaryOp::Pow, a, b).map_err(|m| ExprError::new(m, span)),
        ("gcd", [a, b]) => match (a.as_int(), b.as_int()) {
            (Some(a), Some(b)) => gcd(a, b).map(Value::Int).ok_or_else(|| fail(OVERFLOW)),
            _ => Err(fail("integers are expected")),
        },
        _ if FUNCTIONS.contains(&short) => {
            Err(fail("the function does not take this number of values"))
        }
        _ => Err(ExprError::new(
            format!(
                "there is no function `{name}`; known are {}",
                FUNCTIONS.join(", ")
            ),
            span,
        )),
    }
}

fn extreme(which: &str, values: Vec<Value>) -> Option<Value> {
    let mut values = values.into_iter();
    let mut best = values.next()?;
    for v in values {
        let order = v.compare(&best)?;
        if (which == "min" && order.is_lt()) || (which == "max" && order.is_gt()) {
            best = v;
        }
    }
    Some(best)
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
