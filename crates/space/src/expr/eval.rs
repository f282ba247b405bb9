//! One expression at one point, by walking its tree: the meaning that compiled programs must
//! reproduce. Used for constants, for lists of values, and to test the compiler.

use super::ast::{BinaryOp, CompareOp, Expr, Kind};
use super::functions::{FUNCTIONS, divisors, extreme, gcd};
use super::operators::{OVERFLOW, binary, compare, unary};
use crate::error::{ExprError, Span};
use crate::script::Scripts;
use crate::value::Value;

/// Values by name.
pub trait Names {
    /// The value of `name`, if it is known.
    fn get(&self, name: &str) -> Option<Value>;
}

impl<F: Fn(&str) -> Option<Value>> Names for F {
    fn get(&self, name: &str) -> Option<Value> {
        self(name)
    }
}

/// What an expression may refer to.
pub struct Scope<'a> {
    /// Parameters, constants and derived values.
    pub names: &'a dyn Names,
    /// Functions of the space's script.
    pub scripts: Option<&'a Scripts>,
}

impl<'a> Scope<'a> {
    /// A scope without script.
    pub fn new(names: &'a dyn Names) -> Self {
        Self {
            names,
            scripts: None,
        }
    }
}

/// A list longer than this is refused: it would not be a parameter's values.
pub(super) const MAX_LIST: usize = 10_000_000;

pub(super) type Evaluated<T = Value> = Result<T, ExprError>;

/// Evaluates to one value.
///
/// # Errors
/// Unknown names, types that do not fit, division by zero, integers beyond 64 bits.
pub fn eval(e: &Expr, scope: &Scope) -> Evaluated {
    let fail = |message: String| ExprError::new(message, e.span);
    match &e.kind {
        Kind::Literal(v) => Ok(v.clone()),
        Kind::Name(n) => scope
            .names
            .get(n)
            .ok_or_else(|| fail(format!("`{n}` is not known here"))),
        Kind::Unary(op, a) => {
            let v = eval(a, scope)?;
            unary(*op, &v).map_err(|m| m.at(e.span))
        }
        Kind::Binary(op, a, b) => {
            let (a, b) = (eval(a, scope)?, eval(b, scope)?);
            binary(*op, &a, &b).map_err(|m| m.at(e.span))
        }
        Kind::Compare(first, rest) => {
            let mut left = eval(first, scope)?;
            for (op, right) in rest {
                if matches!(op, CompareOp::In | CompareOp::NotIn) {
                    let found = eval_list(right, scope)?.contains(&left);
                    if found != (*op == CompareOp::In) {
                        return Ok(Value::Bool(false));
                    }
                    continue;
                }
                let value = eval(right, scope)?;
                if !compare(*op, &left, &value).map_err(|m| m.at(e.span))? {
                    return Ok(Value::Bool(false));
                }
                left = value;
            }
            Ok(Value::Bool(true))
        }
        Kind::All(items) | Kind::Any(items) => {
            let stop_at = matches!(e.kind, Kind::Any(_));
            let mut last = Value::Bool(!stop_at);
            for item in items {
                last = eval(item, scope)?;
                if last.truth() == stop_at {
                    break;
                }
            }
            Ok(last)
        }
        Kind::IfElse {
            condition,
            then,
            otherwise,
        } => {
            if eval(condition, scope)?.truth() {
                eval(then, scope)
            } else {
                eval(otherwise, scope)
            }
        }
        Kind::Call(name, args) => call(name, args, e.span, scope),
        Kind::List(_) => eval_list(e, scope).map(Value::Tuple),
        Kind::Index(of, index) => {
            let (items, i) = (eval(of, scope)?, eval(index, scope)?);
            element(&items, &i).map_err(fail)
        }
        Kind::Comprehension { .. } => Err(fail("a list stands where one value is expected".into())),
    }
}

/// An element of a tuple, counted from the end where the index is negative.
fn element(items: &Value, index: &Value) -> Result<Value, String> {
    let Value::Tuple(items) = items else {
        return Err(format!("a {} has no elements", items.kind()));
    };
    let i = index
        .as_int()
        .ok_or_else(|| format!("an index is an integer, not {index}"))?;
    let from_start = if i < 0 {
        i.checked_add(items.len() as i64)
    } else {
        Some(i)
    };
    from_start
        .and_then(|i| usize::try_from(i).ok())
        .and_then(|i| items.get(i).cloned())
        .ok_or_else(|| format!("there is no element {i} in {} of them", items.len()))
}

/// Evaluates to a list of values; a single value is a list of one.
///
/// # Errors
/// As [`eval`], and a list that is too long.
pub fn eval_list(e: &Expr, scope: &Scope) -> Evaluated<Vec<Value>> {
    match &e.kind {
        Kind::List(items) => items.iter().map(|i| eval(i, scope)).collect(),
        Kind::Comprehension {
            item,
            name,
            source,
            condition,
        } => {
            let mut out = Vec::new();
            for v in eval_list(source, scope)? {
                let names = |n: &str| {
                    if n == name {
                        Some(v.clone())
                    } else {
                        scope.names.get(n)
                    }
                };
                let inner = Scope {
                    names: &names,
                    scripts: scope.scripts,
                };
                let keep = match condition {
                    Some(c) => eval(c, &inner)?.truth(),
                    None => true,
                };
                if keep {
                    out.push(eval(item, &inner)?);
                }
            }
            Ok(out)
        }
        Kind::Binary(op @ (BinaryOp::Add | BinaryOp::Mul), a, b)
            if is_list(a) || (is_list(b) && *op == BinaryOp::Add) =>
        {
            let mut out = eval_list(a, scope)?;
            if *op == BinaryOp::Add {
                out.extend(eval_list(b, scope)?);
                return Ok(out);
            }
            let times = eval(b, scope)?.as_int().unwrap_or(0).max(0) as usize;
            if out.len().saturating_mul(times) > MAX_LIST {
                return Err(too_long(e.span));
            }
            Ok((0..times).flat_map(|_| out.iter().cloned()).collect())
        }
        Kind::Call(name, args) => match list_call(name, args, e.span, scope)? {
            Some(list) => Ok(list),
            None => Ok(items(eval(e, scope)?)),
        },
        _ => Ok(items(eval(e, scope)?)),
    }
}

/// The elements of a tuple; a single value as a list of one.
fn items(v: Value) -> Vec<Value> {
    match v {
        Value::Tuple(items) => items,
        v => vec![v],
    }
}

fn is_list(e: &Expr) -> bool {
    match &e.kind {
        Kind::List(_) | Kind::Comprehension { .. } => true,
        Kind::Call(n, _) => matches!(n.as_str(), "list" | "range" | "sorted" | "divisors"),
        Kind::Binary(BinaryOp::Add, a, b) => is_list(a) || is_list(b),
        _ => false,
    }
}

pub(super) fn too_long(span: Span) -> ExprError {
    ExprError::new(format!("more than {MAX_LIST} values"), span)
}

fn list_call(
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
            out.sort_by(Value::order);
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
                    .map_err(|e| ExprError::new(e.to_string(), span))?
            }
            _ => return Ok(None),
        },
    };
    Ok(Some(list))
}

fn call(name: &str, args: &[Expr], span: Span, scope: &Scope) -> Evaluated {
    let short = name.strip_prefix("math.").unwrap_or(name);
    let fail = |m: &str| ExprError::new(m, span);
    if let ("len" | "sum" | "min" | "max", [only]) = (short, args) {
        let list = eval_list(only, scope)?;
        return match short {
            "len" => Ok(Value::Int(list.len() as i64)),
            "sum" => list
                .iter()
                .try_fold(Value::Int(0), |a, v| binary(BinaryOp::Add, &a, v))
                .map_err(|m| m.at(span)),
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
        ("pow", [a, b]) => binary(BinaryOp::Pow, a, b).map_err(|m| m.at(span)),
        ("gcd", [a, b]) => match (a.as_int(), b.as_int()) {
            (Some(a), Some(b)) => gcd(a, b).map(Value::Int).ok_or_else(|| fail(OVERFLOW)),
            _ => Err(fail("integers are expected")),
        },
        _ if FUNCTIONS.contains(&short) => {
            Err(fail("the function does not take this number of values"))
        }
        _ => Err(ExprError::new(
            format!(
                "unknown function `{name}`; known are {}",
                FUNCTIONS.join(", ")
            ),
            span,
        )),
    }
}
