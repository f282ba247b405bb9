//! One expression at one point, by walking its tree: the meaning that compiled programs must
//! reproduce. Used for constants, for lists of values, and to test the compiler.

use super::ast::{BinaryOp, CompareOp, Expr, Kind, UnaryOp};
use crate::error::{ExprError, Span};
use crate::script::Scripts;
use crate::value::Value;
use std::cmp::Ordering;

/// Values by name.
pub trait Names {
    fn get(&self, name: &str) -> Option<Value>;
}

impl<F: Fn(&str) -> Option<Value>> Names for F {
    fn get(&self, name: &str) -> Option<Value> {
        self(name)
    }
}

/// What an expression may refer to.
pub struct Scope<'a> {
    pub names: &'a dyn Names,
    pub scripts: Option<&'a Scripts>,
}

impl<'a> Scope<'a> {
    pub fn new(names: &'a dyn Names) -> Self {
        Self {
            names,
            scripts: None,
        }
    }
}

/// A list longer than this is refused: it would not be a parameter's values.
const MAX_LIST: usize = 10_000_000;

type Evaluated<T = Value> = Result<T, ExprError>;

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
            unary(*op, &v).map_err(fail)
        }
        Kind::Binary(op, a, b) => {
            let (a, b) = (eval(a, scope)?, eval(b, scope)?);
            binary(*op, &a, &b).map_err(fail)
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
                if !compare(*op, &left, &value).map_err(fail)? {
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
        Kind::List(_) | Kind::Comprehension { .. } => {
            Err(fail("a list stands where one value is expected".into()))
        }
    }
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
            None => Ok(vec![eval(e, scope)?]),
        },
        _ => Ok(vec![eval(e, scope)?]),
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

fn too_long(span: Span) -> ExprError {
    ExprError::new(format!("more than {MAX_LIST} values"), span)
}

fn unary(op: UnaryOp, v: &Value) -> Result<Value, String> {
    Ok(match (op, v) {
        (UnaryOp::Not, v) => Value::Bool(!v.truth()),
        (UnaryOp::Negate, Value::Float(f)) => Value::Float(-f),
        (UnaryOp::Plus, Value::Float(f)) => Value::Float(*f),
        (op, v) => {
            let Some(i) = v.as_int() else {
                return Err(format!("a {} has no sign", v.kind()));
            };
            Value::Int(match op {
                UnaryOp::Negate => i.checked_neg().ok_or(OVERFLOW)?,
                UnaryOp::Invert => !i,
                UnaryOp::Plus | UnaryOp::Not => i,
            })
        }
    })
}

const OVERFLOW: &str = "the integer does not fit 64 bits";
const BY_ZERO: &str = "division by zero";

fn binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value, String> {
    use BinaryOp as B;
    if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
        let int = |r: Option<i64>| r.map(Value::Int).ok_or_else(|| OVERFLOW.to_owned());
        return match op {
            B::Add => int(x.checked_add(y)),
            B::Sub => int(x.checked_sub(y)),
            B::Mul => int(x.checked_mul(y)),
            B::Div if y == 0 => Err(BY_ZERO.into()),
            B::Div => Ok(Value::Float(x as f64 / y as f64)),
            B::FloorDiv if y == 0 => Err(BY_ZERO.into()),
            B::FloorDiv => int(int_floor_div(x, y)),
            B::Mod if y == 0 => Err(BY_ZERO.into()),
            B::Mod => Ok(Value::Int(int_mod(x, y))),
            B::Pow if y < 0 && x == 0 => Err(BY_ZERO.into()),
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
        return Err(format!(
            "`{}` does not work on a {} and a {}",
            op.symbol(),
            a.kind(),
            b.kind()
        ));
    };
    Ok(Value::Float(match op {
        B::Add => x + y,
        B::Sub => x - y,
        B::Mul => x * y,
        B::Div | B::FloorDiv | B::Mod if y == 0.0 => return Err(BY_ZERO.into()),
        B::Div => x / y,
        B::FloorDiv => float_floor_div(x, y),
        B::Mod => float_mod(x, y),
        B::Pow => {
            let r = x.powf(y);
            if r.is_nan() && !x.is_nan() && !y.is_nan() {
                return Err("a negative number has no real power of this kind".into());
            }
            r
        }
        _ => return Err(format!("`{}` works on integers only", op.symbol())),
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

fn compare(op: CompareOp, a: &Value, b: &Value) -> Result<bool, String> {
    let order = a.compare(b);
    Ok(match op {
        CompareOp::Eq => order == Some(Ordering::Equal),
        CompareOp::Ne => order != Some(Ordering::Equal),
        _ => {
            let strings = [a, b].iter().filter(|v| matches!(v, Value::Str(_))).count();
            if strings == 1 {
                return Err(format!("a {} has no order with a {}", a.kind(), b.kind()));
            }
            let Some(order) = order else {
                return Ok(false);
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
