//! One expression at one point, by walking its tree: the meaning that compiled programs must
//! reproduce. Used for constants, for lists of values, and to test the compiler.

use super::ast::{BinaryOp, CompareOp, Expr, Kind};
use super::functions::{call, list_call};
use super::operators::{binary, compare, unary};
use crate::error::{ExprError, Span};
use crate::script::Scripts;
use crate::value::Value;

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

pub(super) fn too_long(span: Span) -> ExprError {
    ExprError::new(format!("more than {MAX_LIST} values"), span)
}
