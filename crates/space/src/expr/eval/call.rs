//! Calls of functions at one point.

use super::{Evaluated, Functions, Scope, each, eval, iterable};
use crate::error::{ExprError, Span};
use crate::expr::ast::{BinaryOp, Expr, ExprKind, Form};
use crate::expr::functions::{
    distinct, divisors, extreme, gcd, number, power_modulo, rounded, sum, takes,
};
use crate::expr::operators::{DOMAIN, FLOAT_OVERFLOW, MAX_LIST, OVERFLOW, binary};
use crate::value::Value;

pub(super) fn call(name: &str, args: &[Expr], span: Span, scope: &Scope) -> Evaluated {
    if let Some(list) = list_call(name, args, span, scope)? {
        return Ok(Value::Tuple(list));
    }
    let others = scope.scripts.map(Functions::names).unwrap_or_default();
    takes(name, args.len(), &others).map_err(|m| ExprError::new(m, span))?;
    let short = name.strip_prefix("math.").unwrap_or(name);
    if let [only] = args
        && ["len", "sum", "min", "max", "any", "all"].contains(&short)
    {
        return of_list(short, only, span, scope);
    }
    let values: Vec<Value> = args
        .iter()
        .map(|a| eval(a, scope))
        .collect::<Evaluated<_>>()?;
    of_values(short, values).map_err(|m| ExprError::new(m, span))
}

/// Functions of the elements of one list.
fn of_list(short: &str, list: &Expr, span: Span, scope: &Scope) -> Evaluated {
    let fail = |m: String| ExprError::new(m, span);
    if short == "any" || short == "all" {
        let stop_at = short == "any";
        let mut stopped = false;
        let mut look = |v: Value| {
            stopped |= v.truth() == stop_at;
            !stopped
        };
        match &list.kind {
            ExprKind::Comprehension {
                form: Form::Generator,
                ..
            } => each(list, scope, &mut look)?,
            _ => {
                let _ = iterable(list, scope)?.into_iter().all(&mut look);
            }
        }
        return Ok(Value::Bool(stopped == stop_at));
    }
    let list = iterable(list, scope)?;
    match short {
        "len" => Ok(Value::Int(list.len() as i64)),
        "sum" => sum(&list).map_err(|e| fail(e.to_string())),
        _ => extreme(short, list).map_err(fail),
    }
}

pub(crate) fn of_values(short: &str, values: Vec<Value>) -> Result<Value, String> {
    let float = |i: usize| -> Result<f64, String> {
        values[i]
            .as_float()
            .ok_or_else(|| format!("a number is expected, not {}", values[i].operand()))
    };
    let int = |i: usize| -> Result<i64, String> {
        values[i]
            .as_int()
            .ok_or_else(|| format!("an integer is expected, not {}", values[i].literal()))
    };
    let whole = |f: f64| -> Result<Value, String> {
        crate::value::whole(f)
            .map(Value::Int)
            .ok_or(OVERFLOW.into())
    };
    let logarithm = |i: usize, of: fn(f64) -> f64| -> Result<f64, String> {
        match float(i)? {
            x if x > 0.0 || x.is_nan() => Ok(of(x)),
            _ => Err(DOMAIN.into()),
        }
    };
    match (short, values.as_slice()) {
        ("min" | "max", _) => extreme(short, values),
        ("abs", [v]) => match v.as_int() {
            Some(i) => i.checked_abs().map(Value::Int).ok_or(OVERFLOW.into()),
            None => Ok(Value::Float(float(0)?.abs())),
        },
        ("bool", [v]) => Ok(Value::Bool(v.truth())),
        ("str", [v]) => Ok(Value::Str(v.to_string())),
        ("int" | "float", [Value::Str(s)]) => number(short, s),
        ("float", [_]) => Ok(Value::Float(float(0)?)),
        ("round", [v, _]) => {
            float(0)?;
            rounded(v, int(1)?).ok_or(OVERFLOW.into())
        }
        ("int" | "floor" | "ceil" | "round", [v]) => match v.as_int() {
            Some(i) => Ok(Value::Int(i)),
            None => whole(match short {
                "int" => float(0)?.trunc(),
                "floor" => float(0)?.floor(),
                "ceil" => float(0)?.ceil(),
                _ => float(0)?.round_ties_even(),
            }),
        },
        ("sqrt", [_]) => match float(0)? {
            x if x < 0.0 => Err(DOMAIN.into()),
            x => Ok(Value::Float(x.sqrt())),
        },
        ("log2", [_]) => logarithm(0, f64::log2).map(Value::Float),
        ("log", [_]) => logarithm(0, f64::ln).map(Value::Float),
        ("log", _) => {
            let (x, base) = (logarithm(0, f64::ln)?, logarithm(1, f64::ln)?);
            binary(BinaryOp::Div, &Value::Float(x), &Value::Float(base)).map_err(|e| e.to_string())
        }
        ("exp", [_]) => match float(0)? {
            x if x.is_finite() && x.exp().is_infinite() => Err(FLOAT_OVERFLOW.into()),
            x => Ok(Value::Float(x.exp())),
        },
        ("pow", [a, b]) => binary(BinaryOp::Pow, a, b).map_err(|e| e.to_string()),
        ("pow", _) => power_modulo(int(0)?, int(1)?, int(2)?),
        ("gcd", all) => (0..all.len())
            .try_fold(Some(0), |a: Option<i64>, i| {
                let b = int(i)?;
                Ok::<_, String>(a.and_then(|a| gcd(a, b)))
            })?
            .map(Value::Int)
            .ok_or(OVERFLOW.into()),
        _ => Err(format!("`{short}` has no value here")),
    }
}

pub(super) fn too_long(span: Span) -> ExprError {
    ExprError::new(format!("more than {MAX_LIST} values"), span)
}

/// Functions of integers that give a list; `None` for any other.
pub(crate) fn list_of_values(name: &str, values: &[Value]) -> Result<Option<Vec<i64>>, String> {
    let int = |v: &Value| {
        v.as_int()
            .ok_or_else(|| format!("an integer is expected, not {}", v.literal()))
    };
    Ok(Some(match (name, values) {
        ("divisors", [n]) => match int(n)? {
            0 => return Err("0 has no finite list of divisors".into()),
            n if n.unsigned_abs() > 1 << 40 => {
                return Err("too large to list its divisors".into());
            }
            n => divisors(n),
        },
        ("powers_of_two", [from, to]) => {
            let (from, to) = (int(from)?, int(to)?);
            let powers = (0..63).map(|k| 1_i64 << k);
            powers.filter(|p| (from..=to).contains(p)).collect()
        }
        _ => return Ok(None),
    }))
}

/// Functions that give a list, and those of the script; `None` for any other.
fn list_call(
    name: &str,
    args: &[Expr],
    span: Span,
    scope: &Scope,
) -> Evaluated<Option<Vec<Value>>> {
    let int = |e: &Expr| -> Evaluated<i64> {
        let v = eval(e, scope)?;
        v.as_int().ok_or_else(|| {
            ExprError::new(
                format!("an integer is expected, not {}", v.literal()),
                e.span,
            )
        })
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
        ("list" | "tuple", [e]) => iterable(e, scope)?,
        ("set", [e]) => distinct(iterable(e, scope)?),
        ("sorted", [e]) => {
            let mut out = iterable(e, scope)?;
            out.sort_by(Value::order);
            out
        }
        ("divisors" | "powers_of_two", _) => {
            let values: Vec<Value> = args
                .iter()
                .map(|a| eval(a, scope))
                .collect::<Evaluated<_>>()?;
            let list = list_of_values(name, &values).map_err(|m| ExprError::new(m, span))?;
            let Some(list) = list else { return Ok(None) };
            list.into_iter().map(Value::Int).collect()
        }
        _ => match scope.scripts {
            Some(scripts) if scripts.names().contains(&name) => {
                let args: Vec<Value> = args
                    .iter()
                    .map(|a| eval(a, scope))
                    .collect::<Evaluated<_>>()?;
                scripts.call_at(name, &args, span)?
            }
            _ => return Ok(None),
        },
    };
    Ok(Some(list))
}
