//! The values of parameters that depend on no other: their lists, kinds and 64-bit encodings.

use crate::error::{ExprError, SpaceError};
use crate::expr::{Domain, Expr, ExprKind, Functions, Scope, eval, eval_list};
use crate::notation::Definition;
use crate::plan::graph::op::{Bounds, Type};
use crate::plan::graph::symbols::Symbols;
use crate::plan::nest::resolve::Uses;
use crate::plan::read::derived::WithDerived;
use crate::plan::read::parsed::{Parsed, ParsedDomain};
use crate::value::Value;
use hashbrown::HashSet;

type Built<T> = Result<T, SpaceError>;

/// The values of each parameter that depends on no other; `None` for the rest, and for ranges of
/// integers, which need no list.
pub fn static_lists(
    d: &Definition,
    parsed: &Parsed,
    uses: &Uses,
    scripts: Option<&dyn Functions>,
) -> Built<Vec<Option<Vec<Value>>>> {
    let constant = |n: &str| {
        let found = d.constants.iter().find(|(k, _)| k == n);
        found.map(|(_, v)| v.clone())
    };
    let scope = Scope {
        names: &WithDerived::new(&constant, &parsed.derived),
        scripts,
    };
    let mut lists = Vec::new();
    for (i, p) in d.parameters.iter().enumerate() {
        let what = format!("parameter `{}`", p.name);
        let list = match &parsed.domains[i] {
            ParsedDomain::List(v) => Some(v.clone()),
            ParsedDomain::Expr(..) if !uses.domain[i].is_empty() => None,
            ParsedDomain::Expr(Domain::Values(e), text) => {
                Some(eval_list(e, &scope).map_err(|e| e.within(&what, text))?)
            }
            ParsedDomain::Expr(Domain::Range { start, stop, step }, text) => {
                static_range(start, stop, step.as_ref(), &scope)
                    .map_err(|e| e.within(&what, text))?
            }
        };
        if let Some(list) = &list {
            check_list(list, &what)?;
            if list.is_empty() {
                return Err(nothing(&parsed.domains[i], &what));
            }
        }
        lists.push(list);
    }
    Ok(lists)
}

/// Ranges of integers with more values than this stay ranges.
const LIST_AT_MOST: i128 = 4096;

fn static_range(
    start: &Expr,
    stop: &Expr,
    step: Option<&Expr>,
    scope: &Scope,
) -> Result<Option<Vec<Value>>, ExprError> {
    let (a, b) = (eval(start, scope)?, eval(stop, scope)?);
    let c = step.map_or(Ok(Value::Int(1)), |e| eval(e, scope))?;
    let span = step.unwrap_or(stop).span;
    if let (Some(a), Some(b), Some(c)) = (a.as_int(), b.as_int(), c.as_int()) {
        if c == 0 {
            return Err(ExprError::new("the step of the range is 0", span));
        }
        let count = (i128::from(b) - i128::from(a)) / i128::from(c) + 1;
        if count > LIST_AT_MOST {
            return Ok(None);
        }
        let values = (0..count)
            .map_while(|k| i64::try_from(i128::from(a) + k * i128::from(c)).ok())
            .filter(|v| if c > 0 { *v <= b } else { *v >= b })
            .map(Value::Int)
            .collect();
        return Ok(Some(values));
    }
    let number = |v: &Value, e: &Expr| {
        v.as_float()
            .ok_or_else(|| ExprError::new("a range is of numbers", e.span))
    };
    let (a, b) = (number(&a, start)?, number(&b, stop)?);
    let c = number(&c, step.unwrap_or(stop))?;
    let decimal = decimal(a, b, c);
    let count = match decimal {
        Some((a, b, c, _)) => ((b - a) / c).floor() + 1.0,
        None => ((b - a) / c + 1e-9).floor() + 1.0,
    };
    if c == 0.0 || !count.is_finite() || count > 1e6 {
        return Err(ExprError::new(
            "the range has no end or more than a million values",
            span,
        ));
    }
    Ok(Some(
        (0..count.max(0.0) as u64)
            .map(|k| {
                Value::Float(match decimal {
                    Some((a, _, c, scale)) => (a + k as f64 * c) / scale,
                    None => a + k as f64 * c,
                })
            })
            .collect(),
    ))
}

/// Start, stop and step as whole multiples of `1 / scale`, the last number, a power of ten: the values of the range are
/// then the decimals that one would write, 0.3 and not 0.1 + 0.1 + 0.1. `None` for numbers with more digits.
fn decimal(a: f64, b: f64, c: f64) -> Option<(f64, f64, f64, f64)> {
    const EXACT: f64 = 9e15;
    (0..=15).find_map(|digits| {
        let scale = 10_f64.powi(digits);
        let [a, b, c] = [a, b, c].map(|x| {
            let whole = (x * scale).round();
            (whole.abs() < EXACT && whole / scale == x).then_some(whole)
        });
        Some((a?, b?, c?, scale))
    })
}

/// The error of a parameter without values.
fn nothing(domain: &ParsedDomain, what: &str) -> SpaceError {
    let (text, hint) = match domain {
        ParsedDomain::List(_) => return SpaceError::new(format!("{what}: the list has no values")),
        ParsedDomain::Expr(Domain::Values(_), text) => (text.as_str(), None),
        ParsedDomain::Expr(Domain::Range { .. }, text) => {
            let down = "a range goes down with a step below 0, as in `8 : 1 : -1`";
            (text.as_str(), Some(down.to_owned()))
        }
    };
    SpaceError {
        message: format!("{what}: `{text}` gives no values"),
        hint,
        expression: Some(text.to_owned()),
    }
}

fn check_list(list: &[Value], what: &str) -> Built<()> {
    let mut seen = HashSet::with_capacity(list.len());
    for v in list {
        let key = match (v.as_int(), v) {
            (Some(i), _) => i.to_string(),
            (None, Value::Float(f)) if f.is_nan() => {
                return Err(SpaceError::new(format!("{what}: invalid value: NaN")));
            }
            (None, Value::Float(f)) if f.trunc() == *f && f.abs() < 9e15 => (*f as i64).to_string(),
            (None, Value::Float(f)) => format!("{f:?}"),
            (None, v) => format!("{} {v}", v.kind()),
        };
        if !seen.insert(key) {
            return Err(
                SpaceError::new(format!("{what}: the value {v} stands there twice"))
                    .hint("take one of them out: every point of a space is counted once"),
            );
        }
    }
    Ok(())
}

/// The kind of a list and its values as words.
pub fn typed(values: &[Value], symbols: &Symbols) -> (Type, Vec<(u64, Value)>) {
    let kind = if values.iter().all(|v| v.as_int().is_some()) {
        Type::Int
    } else if values.iter().all(|v| v.as_float().is_some()) {
        Type::Float
    } else {
        Type::Symbol
    };
    let word = |v: &Value| match kind {
        Type::Int => v.as_int().unwrap_or(0) as u64,
        Type::Float => v.as_float().unwrap_or(0.0).to_bits(),
        Type::Symbol => symbols.get(v).unwrap_or(u64::MAX),
    };
    (kind, values.iter().map(|v| (word(v), v.clone())).collect())
}

pub fn list_bounds(kind: Type, list: &[(u64, Value)]) -> Bounds {
    match kind {
        Type::Int => {
            let ints = list.iter().map(|(b, _)| *b as i64);
            match (ints.clone().min(), ints.max()) {
                (Some(lo), Some(hi)) => Bounds::ints(lo, hi),
                _ => Bounds::ANY,
            }
        }
        Type::Float => {
            let floats = list.iter().map(|(b, _)| f64::from_bits(*b));
            Bounds::floats(
                floats.clone().fold(f64::INFINITY, f64::min),
                floats.fold(f64::NEG_INFINITY, f64::max),
            )
        }
        Type::Symbol => Bounds::ANY,
    }
}

/// Every string, tuple and `None`, the elements of tuples, and every value of a mixed list.
pub fn symbols(d: &Definition, lists: &[Option<Vec<Value>>], parsed: &Parsed) -> Symbols {
    let mut all = vec![Value::None];
    fn with_elements(v: &Value, out: &mut Vec<Value>) {
        out.push(v.clone());
        if let Value::Tuple(items) = v {
            items.iter().for_each(|v| with_elements(v, out));
        }
    }
    for list in lists.iter().flatten() {
        if list.iter().any(|v| v.as_float().is_none()) {
            list.iter().for_each(|v| with_elements(v, &mut all));
        }
    }
    for (_, v) in &d.constants {
        if v.as_float().is_none() {
            with_elements(v, &mut all);
        }
    }
    fn literals(e: &Expr, out: &mut Vec<Value>) {
        if let ExprKind::Literal(v @ Value::Str(_)) = &e.kind {
            out.push(v.clone());
        }
        e.children(&mut |c| literals(c, out));
    }
    for e in parsed
        .filters
        .iter()
        .chain(parsed.derived.iter().map(|(_, e)| e))
    {
        literals(e, &mut all);
    }
    for domain in &parsed.domains {
        match domain {
            ParsedDomain::Expr(Domain::Values(e), _) => literals(e, &mut all),
            ParsedDomain::Expr(Domain::Range { start, stop, step }, _) => {
                for e in [Some(start), Some(stop), step.as_ref()]
                    .into_iter()
                    .flatten()
                {
                    literals(e, &mut all);
                }
            }
            ParsedDomain::List(_) => {}
        }
    }
    Symbols::new(all)
}
