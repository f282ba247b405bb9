//! One expression at one point, by walking its tree: the meaning that compiled programs must
//! reproduce. Used for constants, for lists of values, and to test the compiler.

pub(crate) mod call;

use super::ast::{Expr, ExprKind, Form};
use super::functions::distinct;
use super::operators::{INDEX, MAX_LIST, binary, compare, size, unary};
use crate::error::{ExprError, Span};
use crate::value::Value;
use call::{call, too_long};

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

/// Functions that a space defines.
pub trait Functions {
    /// Their names.
    fn names(&self) -> Vec<&str>;

    /// Whether one of them takes so many values.
    ///
    /// # Errors
    /// Why not.
    fn takes(&self, name: &str, values: usize) -> Result<(), String>;

    /// The list that it returns.
    ///
    /// # Errors
    /// It fails, or returns no list of values; the error stands at `span`.
    fn call_at(&self, name: &str, args: &[Value], span: Span) -> Result<Vec<Value>, ExprError>;
}

/// What an expression may refer to.
pub struct Scope<'a> {
    /// Parameters, constants and derived values.
    pub names: &'a dyn Names,
    /// Functions of the space's script.
    pub scripts: Option<&'a dyn Functions>,
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

pub(super) type Evaluated<T = Value> = Result<T, ExprError>;

/// Evaluates to one value; a list is a tuple of its elements, a set that of its different ones in order.
///
/// # Errors
/// Unknown names, types that do not fit, division by zero, integers beyond 64 bits.
pub fn eval(e: &Expr, scope: &Scope) -> Evaluated {
    let fail = |message: String| ExprError::new(message, e.span);
    let all = |items: &[Expr]| -> Evaluated<Vec<Value>> {
        let mut out = Gathered::default();
        for item in items {
            if !out.push(eval(item, scope)?) {
                break;
            }
        }
        out.all(e.span)
    };
    match &e.kind {
        ExprKind::Literal(v) => Ok(v.clone()),
        ExprKind::Name(n) => scope
            .names
            .get(n)
            .ok_or_else(|| fail(format!("`{n}` is not known here"))),
        ExprKind::Unary(op, a) => {
            let v = eval(a, scope)?;
            unary(*op, &v).map_err(|m| m.at(e.span))
        }
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (eval(a, scope)?, eval(b, scope)?);
            binary(*op, &a, &b).map_err(|m| m.at(e.span))
        }
        ExprKind::Compare(first, rest) => {
            let mut left = eval(first, scope)?;
            for (op, right) in rest {
                let value = eval(right, scope)?;
                if !compare(*op, &left, &value).map_err(|m| m.at(e.span))? {
                    return Ok(Value::Bool(false));
                }
                left = value;
            }
            Ok(Value::Bool(true))
        }
        ExprKind::All(items) | ExprKind::Any(items) => {
            let stop_at = matches!(e.kind, ExprKind::Any(_));
            let mut last = Value::Bool(!stop_at);
            for item in items {
                last = eval(item, scope)?;
                if last.truth() == stop_at {
                    break;
                }
            }
            Ok(last)
        }
        ExprKind::IfElse {
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
        ExprKind::Call(name, args) => call(name, args, e.span, scope),
        ExprKind::List(items) | ExprKind::Tuple(items) => all(items).map(Value::Tuple),
        ExprKind::Set(items) => all(items).map(distinct).map(Value::Tuple),
        ExprKind::Index(of, index) => {
            let (items, i) = (eval(of, scope)?, eval(index, scope)?);
            element(&items, &i).map_err(fail)
        }
        ExprKind::Script(_) => Err(fail("only scripts have this".into())),
        ExprKind::Comprehension { form, .. } => {
            let mut out = Gathered::default();
            each(e, scope, &mut |v| out.push(v))?;
            let out = out.all(e.span)?;
            Ok(Value::Tuple(match form {
                Form::Set => distinct(out),
                Form::List | Form::Generator | Form::Dict => out,
            }))
        }
    }
}

/// Values of a list, of which there may be [`MAX_LIST`], those within them included.
#[derive(Default)]
struct Gathered {
    items: Vec<Value>,
    size: usize,
}

impl Gathered {
    /// Whether there may be more.
    fn push(&mut self, v: Value) -> bool {
        self.size = self.size.saturating_add(size(&v)).saturating_add(1);
        self.items.push(v);
        self.size <= MAX_LIST
    }

    /// All of them.
    fn all(self, span: Span) -> Evaluated<Vec<Value>> {
        if self.size > MAX_LIST {
            return Err(too_long(span));
        }
        Ok(self.items)
    }
}

/// An element of a tuple or a character of a string, counted from the end where the index is negative.
fn element(items: &Value, index: &Value) -> Result<Value, String> {
    let length = match items {
        Value::Tuple(items) => items.len(),
        Value::Str(s) => s.chars().count(),
        v => return Err(format!("{} has no elements", v.operand())),
    };
    let i = index
        .as_int()
        .ok_or_else(|| format!("an index is an integer, not {}", index.literal()))?;
    let from_start = if i < 0 {
        i.checked_add(length as i64)
    } else {
        Some(i)
    };
    from_start
        .and_then(|i| usize::try_from(i).ok())
        .and_then(|i| match items {
            Value::Tuple(items) => items.get(i).cloned(),
            Value::Str(s) => s.chars().nth(i).map(|c| Value::Str(c.into())),
            _ => None,
        })
        .ok_or_else(|| format!("{INDEX}{i} of {length} values"))
}

/// The values of a parameter: the elements of a list, or a single value.
///
/// # Errors
/// As [`eval`].
pub fn eval_list(e: &Expr, scope: &Scope) -> Evaluated<Vec<Value>> {
    Ok(match eval(e, scope)? {
        Value::Tuple(items) => items,
        v => vec![v],
    })
}

/// The elements of a list or tuple, the characters of a string.
///
/// # Errors
/// As [`eval`], and a value that has no elements.
pub(super) fn iterable(e: &Expr, scope: &Scope) -> Evaluated<Vec<Value>> {
    match eval(e, scope)? {
        Value::Tuple(items) => Ok(items),
        Value::Str(s) => Ok(s.chars().map(|c| Value::Str(c.into())).collect()),
        v => Err(ExprError::new(
            format!(
                "a list, a tuple or a string is expected, not {}",
                v.operand()
            ),
            e.span,
        )),
    }
}

/// Calls `f` with each element, until it returns false: those of a generator are found one by one.
pub(super) fn each(e: &Expr, scope: &Scope, f: &mut dyn FnMut(Value) -> bool) -> Evaluated<()> {
    let ExprKind::Comprehension {
        item,
        name,
        source,
        condition,
        ..
    } = &e.kind
    else {
        let all = iterable(e, scope)?;
        let _ = all.into_iter().all(f);
        return Ok(());
    };
    for v in iterable(source, scope)? {
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
        if keep && !f(eval(item, &inner)?) {
            break;
        }
    }
    Ok(())
}
