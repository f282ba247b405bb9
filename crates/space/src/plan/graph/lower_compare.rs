//! Comparisons to graph nodes: of numbers, of strings, and of values of several kinds.

use crate::error::{ExprError, Span};
use crate::expr::{BinaryOp, CompareOp, Expr, ExprKind, UnaryOp};
use crate::plan::graph::Id;
use crate::plan::graph::lower::{Binding, Lowered, Lowering, number};
use crate::plan::graph::op::{Op, Type};
use crate::plan::param::Param;
use crate::value::Value;

impl Lowering<'_> {
    pub(super) fn comparison(&mut self, first: &Expr, rest: &[(CompareOp, Expr)]) -> Lowered {
        let (mut left, mut previous) = (None, first);
        let mut all: Option<Id> = None;
        for (op, right) in rest {
            let (one, known) = self.pair(*op, previous, left, right)?;
            (left, previous) = (known, right);
            all = Some(match all {
                None => one,
                Some(a) => self.graph.apply(Op::And, &[a, one], Type::Int),
            });
        }
        Ok(all.unwrap_or_else(|| self.graph.int(1)))
    }

    /// One comparison of a chain; `known` is the node of its left side, if there is one already. With that of the right
    /// side, if it has one.
    pub(super) fn pair(
        &mut self,
        op: CompareOp,
        left: &Expr,
        known: Option<Id>,
        right: &Expr,
    ) -> Result<(Id, Option<Id>), ExprError> {
        self.pair_directly(op, left, known, right).or_else(|error| {
            let pair = Expr {
                span: Span {
                    from: left.span.from.min(right.span.from),
                    to: right.span.to.max(left.span.to),
                },
                kind: ExprKind::Compare(Box::new(left.clone()), vec![(op, right.clone())]),
            };
            Ok((self.table(&pair, Some, error)?, None))
        })
    }

    fn pair_directly(
        &mut self,
        op: CompareOp,
        left: &Expr,
        known: Option<Id>,
        right: &Expr,
    ) -> Result<(Id, Option<Id>), ExprError> {
        match op {
            CompareOp::In | CompareOp::NotIn => {
                let found = self.membership(left, known, right, op == CompareOp::In)?;
                return Ok((found, None));
            }
            CompareOp::Is | CompareOp::IsNot => {
                let same = self.identity(op, left, known, right)?;
                return Ok((same, None));
            }
            CompareOp::Eq => {
                let all = self.all_differ(left, right);
                if let Some(id) = all.or_else(|| self.all_differ(right, left)) {
                    return Ok((id, None));
                }
            }
            _ => {}
        }
        let lists = (self.list(left), self.list(right));
        if let (Some(a), Some(b)) = &lists {
            return Ok((self.lists(op, a, b, right.span)?, None));
        }
        let l = match known {
            Some(id) => Ok(id),
            None => self.value(left),
        };
        let r = self.value(right);
        if matches!(op, CompareOp::Eq | CompareOp::Ne) && (lists.0.is_some() || lists.1.is_some()) {
            // A list equals no number.
            let other = if lists.0.is_some() { &r } else { &l };
            if let Ok(id) = other
                && !self.is_symbol(*id)
                && !self.graph.node(*id).may_fail
            {
                let known = lists.1.is_none().then_some(*id);
                return Ok((self.graph.int(i64::from(op == CompareOp::Ne)), known));
            }
        }
        let (l, r) = (l?, r?);
        let id = match self.compare(op, l, r, right.span) {
            Ok(id) => id,
            Err(error) if self.tabulable(&[left, right]).is_some() => return Err(error),
            Err(error) => self.compare_numbers(op, (left, l), (right, r), error)?,
        };
        Ok((id, Some(r)))
    }

    /// `is`: equality of values of one type.
    fn identity(&mut self, op: CompareOp, left: &Expr, known: Option<Id>, right: &Expr) -> Lowered {
        let equality = match op {
            CompareOp::Is => CompareOp::Eq,
            _ => CompareOp::Ne,
        };
        // What equals `None` or a string is one.
        let own = |e: &Expr| matches!(&e.kind, ExprKind::Literal(Value::None | Value::Str(_)));
        if own(left) || own(right) {
            return Ok(self.pair(equality, left, known, right)?.0);
        }
        let error = ExprError::new(
            "`is` compares types too, which are not known here: write `==`",
            right.span,
        );
        let mut steps = 10_000;
        match (
            self.type_of(left, &mut steps),
            self.type_of(right, &mut steps),
        ) {
            (Some(a), Some(b)) if a == b => Ok(self.pair(equality, left, known, right)?.0),
            (Some(_), Some(_)) => {
                for e in [left, right] {
                    let id = self.value(e)?;
                    if self.graph.node(id).may_fail {
                        return Err(error);
                    }
                }
                Ok(self.graph.int(i64::from(op == CompareOp::IsNot)))
            }
            _ => Err(error),
        }
    }

    /// The type that an expression of numbers has at every point, as Python tells it.
    fn type_of(&self, e: &Expr, steps: &mut usize) -> Option<&'static str> {
        *steps = steps.checked_sub(1)?;
        let of = |v: &Value| match v {
            Value::Bool(_) => Some("bool"),
            Value::Int(_) => Some("int"),
            Value::Float(_) => Some("float"),
            _ => None,
        };
        let mut one = |e: &Expr| self.type_of(e, steps);
        let mut same = |a: &Expr, b: &Expr| one(a).filter(|t| one(b) == Some(*t));
        match &e.kind {
            ExprKind::Literal(v) => of(v),
            ExprKind::Name(n) => match self.names.get(n)? {
                Binding::Constant(v) => of(v),
                Binding::Derived(e) => one(e),
                Binding::Param(_) => {
                    let param = self.params.iter().find(|p| p.name == *n)?;
                    let Some(list) = &param.list else {
                        return Some("int");
                    };
                    let first = of(&list.first()?.1)?;
                    list.iter()
                        .all(|(_, v)| of(v) == Some(first))
                        .then_some(first)
                }
            },
            ExprKind::Compare(..) | ExprKind::Unary(UnaryOp::Not, _) => Some("bool"),
            ExprKind::Unary(_, a) => one(a).map(|t| if t == "bool" { "int" } else { t }),
            ExprKind::IfElse {
                then, otherwise, ..
            } => same(then, otherwise),
            ExprKind::All(items) | ExprKind::Any(items) => {
                let first = one(items.first()?)?;
                items.iter().all(|i| one(i) == Some(first)).then_some(first)
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (one(a)?, one(b)?);
                match op {
                    BinaryOp::Div => Some("float"),
                    BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor if a == b => Some(a),
                    _ if a == "float" || b == "float" => Some("float"),
                    BinaryOp::Pow => None,
                    _ => Some("int"),
                }
            }
            ExprKind::Call(name, _) => match name.strip_prefix("math.").unwrap_or(name) {
                "bool" | "any" | "all" => Some("bool"),
                "int" | "floor" | "ceil" | "len" | "gcd" => Some("int"),
                "float" | "sqrt" | "log" | "log2" | "exp" => Some("float"),
                _ => None,
            },
            _ => None,
        }
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
        let exact = |s: &Self, id| s.is_float(id) || s.graph.node(id).bounds.fits_float();
        if floats && !(exact(self, a) && exact(self, b)) {
            return Ok(self.compare_exactly(op, a, b));
        }
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

    /// An integer that may be no float against a float, on either side.
    fn compare_exactly(&mut self, op: CompareOp, a: Id, b: Id) -> Id {
        let (int, float, turned) = if self.is_float(b) {
            (a, b, false)
        } else {
            (b, a, true)
        };
        // As the integer sees it.
        let op = match (op, turned) {
            (CompareOp::Lt, true) => CompareOp::Gt,
            (CompareOp::Le, true) => CompareOp::Ge,
            (CompareOp::Gt, true) => CompareOp::Lt,
            (CompareOp::Ge, true) => CompareOp::Le,
            (op, _) => op,
        };
        let (op, args) = match op {
            CompareOp::Eq => (Op::IntFloatEq, [int, float]),
            CompareOp::Ne => (Op::IntFloatNe, [int, float]),
            CompareOp::Lt => (Op::IntFloatLt, [int, float]),
            CompareOp::Le => (Op::IntFloatLe, [int, float]),
            CompareOp::Gt => (Op::FloatIntLt, [float, int]),
            _ => (Op::FloatIntLe, [float, int]),
        };
        self.graph.apply(op, &args, Type::Int)
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
            Op::Unfit(_) => true,
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
        let mut kinds = |e| {
            let has = self.values(e);
            let text = has.iter().any(|v| matches!(v, Value::Str(_)));
            (text, has.iter().any(|v| matches!(v, Value::Tuple(_))))
        };
        let ((text, tuple), (texts, tuples)) = (kinds(left), kinds(right));
        // What the value of one parameter decides is looked up as a whole; strings and tuples have an order of their own.
        let own = !equality && (text && texts || tuple && tuples);
        if own {
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
            return Ok(self.never_equal(op, other));
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
            return Ok(self.never_equal(op, symbol));
        };
        let known = self.graph.constant(known, Type::Symbol);
        let op = if op == CompareOp::Eq { Op::Eq } else { Op::Ne };
        Ok(self.graph.apply(op, &[symbol, known], Type::Int))
    }

    /// A value that never equals what it is compared with; its fault stays one.
    fn never_equal(&mut self, op: CompareOp, id: Id) -> Id {
        if !self.graph.node(id).may_fail {
            return self.graph.int(i64::from(op == CompareOp::Ne));
        }
        let equal = self.graph.apply(Op::Eq, &[id, id], Type::Int);
        match op {
            CompareOp::Eq => self.graph.apply(Op::Not, &[equal], Type::Int),
            _ => equal,
        }
    }
}
