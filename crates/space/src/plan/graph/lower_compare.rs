//! Comparisons to graph nodes: of numbers, of strings, and of values of several kinds.

use crate::error::{ExprError, Span};
use crate::expr::{CompareOp, Expr, Kind, Scope, eval_list};
use crate::plan::build::Param;
use crate::plan::graph::Id;
use crate::plan::graph::lower::{Binding, Lowered, Lowering};
use crate::plan::graph::op::{Op, Type};
use crate::plan::graph::table::number;
use crate::value::Value;

impl Lowering<'_> {
    pub(super) fn comparison(&mut self, first: &Expr, rest: &[(CompareOp, Expr)]) -> Lowered {
        let mut left = None;
        let mut previous = first;
        let mut all: Option<Id> = None;
        for (op, right) in rest {
            let l = match left {
                Some(id) => id,
                None => self.value(previous)?,
            };
            let one = if matches!(op, CompareOp::In | CompareOp::NotIn) {
                left = None;
                self.membership(l, right, *op == CompareOp::In)?
            } else {
                let r = self.value(right)?;
                left = Some(r);
                match self.compare(*op, l, r, right.span) {
                    Ok(id) => id,
                    Err(error) => self.compare_numbers(*op, (previous, l), (right, r), error)?,
                }
            };
            previous = right;
            all = Some(match all {
                None => one,
                Some(a) => self.graph.apply(Op::And, &[a, one], Type::Int),
            });
        }
        Ok(all.unwrap_or_else(|| self.graph.int(1)))
    }

    pub(crate) fn membership(&mut self, item: Id, list: &Expr, positive: bool) -> Lowered {
        let items: Vec<Id> = if let Kind::List(items) = &list.kind {
            items
                .iter()
                .map(|e| self.value(e))
                .collect::<Result<_, _>>()?
        } else {
            let names = self.names;
            let constants = |n: &str| match names.get(n) {
                Some(Binding::Constant(v)) => Some(v.clone()),
                _ => None,
            };
            match eval_list(list, &Scope::new(&constants)) {
                Ok(values) => values
                    .iter()
                    .map(|v| self.literal(v, list.span))
                    .collect::<Result<_, _>>()?,
                Err(error) => self.elements(list, &error)?,
            }
        };
        let mut any = self.graph.int(0);
        for i in items {
            let eq = self.compare(CompareOp::Eq, item, i, list.span)?;
            any = self.graph.apply(Op::Or, &[any, eq], Type::Int);
        }
        Ok(if positive {
            any
        } else {
            self.graph.apply(Op::Not, &[any], Type::Int)
        })
    }

    pub(crate) fn compare(&mut self, op: CompareOp, a: Id, b: Id, span: Span) -> Lowered {
        let (ka, kb) = (self.graph.node(a).kind, self.graph.node(b).kind);
        if (ka == Type::Symbol) != (kb == Type::Symbol) {
            return self.compare_mixed(op, a, b, span);
        }
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        if ka == Type::Symbol && !equality && !(self.strings(a) && self.strings(b)) {
            return Err(ExprError::new("values of these kinds have no order", span));
        }
        let floats = ka == Type::Float || kb == Type::Float;
        let (mut a, mut b) = (a, b);
        if floats {
            (a, b) = (self.float(a), self.float(b));
        }
        let (op, swap) = match (op, floats) {
            (CompareOp::Eq, false) => (Op::Eq, false),
            (CompareOp::Ne, false) => (Op::Ne, false),
            (CompareOp::Lt, false) => (Op::Lt, false),
            (CompareOp::Le, false) => (Op::Le, false),
            (CompareOp::Gt, false) => (Op::Lt, true),
            (CompareOp::Eq, true) => (Op::FloatEq, false),
            (CompareOp::Ne, true) => (Op::FloatNe, false),
            (CompareOp::Lt, true) => (Op::FloatLt, false),
            (CompareOp::Le, true) => (Op::FloatLe, false),
            (CompareOp::Gt, true) => (Op::FloatLt, true),
            (_, false) => (Op::Le, true),
            (_, true) => (Op::FloatLe, true),
        };
        let args = if swap { [b, a] } else { [a, b] };
        Ok(self.graph.apply(op, &args, Type::Int))
    }

    /// Whether all values of a node are strings: their symbols have their order.
    fn strings(&self, id: Id) -> bool {
        let string = |v: &Value| matches!(v, Value::Str(_));
        let n = self.graph.node(id);
        match n.op {
            Op::Const(symbol) => self.symbols.value(symbol).is_some_and(string),
            Op::Param(level) => {
                let at = |p: &&Param| p.level == Some(level as usize);
                let list = self.params.iter().find(at).and_then(|p| p.list.as_ref());
                list.is_some_and(|l| l.iter().all(|(_, v)| string(v)))
            }
            Op::Select => self.strings(n.args[1]) && self.strings(n.args[2]),
            Op::Unfit => true,
            _ => false,
        }
    }

    /// Compares where one side has numbers among other values: those have no order with a number, and equal none.
    fn compare_numbers(
        &mut self,
        op: CompareOp,
        (left, l): (&Expr, Id),
        (right, r): (&Expr, Id),
        error: ExprError,
    ) -> Lowered {
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        let kinds = |e| {
            let has = self.values(e);
            let text = has.iter().any(|v| matches!(v, Value::Str(_)));
            (text, has.iter().any(|v| matches!(v, Value::Tuple(_))))
        };
        let ((text, tuple), (texts, tuples)) = (kinds(left), kinds(right));
        // What the value of one parameter decides is looked up as a whole; strings and tuples have an order of their own.
        let own = !equality && (text && texts || tuple && tuples);
        if own || self.only_parameter(&[left, right]).is_some() {
            return Err(error);
        }
        let numbers = |v: Value| match number(v) {
            None if equality => Some(Value::Float(f64::NAN)),
            // Exact as a float.
            Some(Value::Int(i)) if equality && i.unsigned_abs() > 1 << 53 => None,
            other => other,
        };
        let mut side = |e: &Expr, id: Id| match self.graph.node(id).kind {
            Type::Symbol => self.table(e, numbers, error.clone()),
            _ => Ok(id),
        };
        let (l, r) = (side(left, l)?, side(right, r)?);
        self.compare(op, l, r, right.span)
    }

    /// A string (or a list of mixed values) against a number.
    fn compare_mixed(&mut self, op: CompareOp, a: Id, b: Id, span: Span) -> Lowered {
        if !matches!(op, CompareOp::Eq | CompareOp::Ne) {
            return Err(ExprError::new("a string has no order with a number", span));
        }
        let (symbol, other) = if self.graph.node(a).kind == Type::Symbol {
            (a, b)
        } else {
            (b, a)
        };
        let n = self.graph.node(other);
        let constant = self.graph.value(symbol).and_then(|s| self.symbols.value(s));
        if constant.is_some_and(|v| v.as_float().is_none()) {
            if !n.may_fail {
                return Ok(self.graph.int(i64::from(op == CompareOp::Ne)));
            }
            // Never equal, but a fault of the number stays.
            let equal = self.graph.apply(Op::Eq, &[other, other], Type::Int);
            return Ok(match op {
                CompareOp::Eq => self.graph.apply(Op::Not, &[equal], Type::Int),
                _ => equal,
            });
        }
        let Some(bits) = self.graph.value(other) else {
            return Err(ExprError::new(
                "values of mixed kinds can be compared with constants only",
                span,
            ));
        };
        let value = match n.kind {
            Type::Float => Value::Float(f64::from_bits(bits)),
            _ => Value::Int(bits as i64),
        };
        let Some(known) = self.symbols.get(&value) else {
            return Ok(self.graph.int(i64::from(op == CompareOp::Ne)));
        };
        let known = self.graph.constant(known, Type::Symbol);
        let op = if op == CompareOp::Eq { Op::Eq } else { Op::Ne };
        Ok(self.graph.apply(op, &[symbol, known], Type::Int))
    }
}
