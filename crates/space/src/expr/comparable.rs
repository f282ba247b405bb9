//! Which comparisons of lists have Python's meaning here.

use super::ast::{BinaryOp, CompareOp, Expr, ExprKind, Form};
use crate::error::ExprError;

/// What kind of list an expression is written as; `None` for one value, and where only the values tell.
fn written_as(e: &Expr) -> Option<&'static str> {
    match &e.kind {
        ExprKind::List(_)
        | ExprKind::Comprehension {
            form: Form::List, ..
        } => Some("list"),
        ExprKind::Set(_)
        | ExprKind::Comprehension {
            form: Form::Set, ..
        } => Some("set"),
        ExprKind::Call(n, _) => match n.as_str() {
            "list" | "sorted" => Some("list"),
            "set" => Some("set"),
            "range" => Some("range"),
            _ => None,
        },
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Mul, a, b) => {
            let list = |e| written_as(e).filter(|k| *k == "list");
            list(a).or(list(b))
        }
        _ => None,
    }
}

/// Refuses comparisons of lists and sets with other values: to Python a list equals no tuple, but values hold both alike.
pub(super) fn comparable(op: CompareOp, left: &Expr, right: &Expr) -> Result<(), ExprError> {
    let refuse = |e: &Expr, kind: &str| {
        Err(ExprError::new(
            format!("a {kind} equals only a {kind}: write a tuple, `(a, b)`"),
            e.span,
        ))
    };
    if matches!(op, CompareOp::In | CompareOp::NotIn) {
        if let ExprKind::List(items) | ExprKind::Tuple(items) | ExprKind::Set(items) = &right.kind {
            for item in items {
                comparable(CompareOp::Eq, left, item)?;
            }
        } else if let Some(kind) = written_as(left) {
            return refuse(left, kind);
        }
        return Ok(());
    }
    if matches!(op, CompareOp::Is | CompareOp::IsNot) {
        let own = |e: &&Expr| written_as(e).is_some() || matches!(e.kind, ExprKind::Tuple(_));
        if let Some(e) = [left, right].into_iter().find(own) {
            return Err(ExprError::new(
                "`is` never holds for a list or tuple that is written here: write `==`",
                e.span,
            ));
        }
        return Ok(());
    }
    match (written_as(left), written_as(right)) {
        (a, b) if a == b => {
            let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
            if a.is_some_and(|kind| kind != "list") && !equality {
                return Err(ExprError::new(
                    "sets and ranges have no order here: write the comparison of their elements",
                    right.span,
                ));
            }
        }
        (Some(kind), _) => return refuse(left, kind),
        (None, Some(kind)) => return refuse(right, kind),
        (None, None) => {}
    }
    if let (
        ExprKind::List(a) | ExprKind::Tuple(a) | ExprKind::Set(a),
        ExprKind::List(b) | ExprKind::Tuple(b) | ExprKind::Set(b),
    ) = (&left.kind, &right.kind)
    {
        for (a, b) in a.iter().zip(b) {
            comparable(CompareOp::Eq, a, b)?;
        }
    }
    Ok(())
}
