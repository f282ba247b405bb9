//! Expression trees to graph nodes, with Python's meaning and static types.

use crate::error::{ExprError, Span, closest};
use crate::expr::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::plan::graph::op::{Op, Type};
use crate::plan::graph::symbols::Symbols;
use crate::plan::graph::{Graph, Id};
use crate::plan::param::Param;
use crate::value::Value;
use hashbrown::HashMap;

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Binding {
    Constant(Value),
    /// A parameter's node.
    Param(Id),
    /// An expression, lowered when first used.
    Derived(Expr),
}

pub struct Lowering<'a> {
    pub graph: &'a mut Graph,
    pub names: &'a HashMap<String, Binding>,
    pub symbols: &'a Symbols,
    pub params: &'a [Param],
    /// Nodes of derived values already lowered.
    pub done: &'a mut HashMap<String, Id>,
    /// Nodes evaluated so far to find results one by one.
    pub effort: usize,
}

pub(crate) type Lowered = Result<Id, ExprError>;

impl Lowering<'_> {
    /// The node of the expression's truth: 0 or 1.
    pub fn truth(&mut self, e: &Expr) -> Lowered {
        let direct = match &e.kind {
            ExprKind::All(items) => self.logic(Op::And, items),
            ExprKind::Any(items) => self.logic(Op::Or, items),
            ExprKind::Unary(UnaryOp::Not, a) => self
                .truth(a)
                .map(|a| self.graph.apply(Op::Not, &[a], Type::Int)),
            _ => self.value(e).and_then(|id| self.as_truth(id, e.span)),
        };
        direct.or_else(|error| self.table(e, |v| Some(Value::Bool(v.truth())), error))
    }

    pub(crate) fn as_truth(&mut self, id: Id, span: Span) -> Lowered {
        let n = self.graph.node(id);
        let b = n.bounds;
        match n.kind {
            Type::Int if b.lo >= 0 && b.hi <= 1 => Ok(id),
            Type::Int => {
                let zero = self.graph.int(0);
                Ok(self.graph.apply(Op::Ne, &[id, zero], Type::Int))
            }
            Type::Float => {
                let zero = self.graph.constant(0.0_f64.to_bits(), Type::Float);
                Ok(self.graph.apply(Op::FloatNe, &[id, zero], Type::Int))
            }
            Type::Symbol => Err(ExprError::new(
                "the truth of these values is found one by one, and they are too many",
                span,
            )),
        }
    }

    fn logic(&mut self, op: Op, items: &[Expr]) -> Lowered {
        let mut all = None;
        for item in items {
            let id = self.truth(item)?;
            all = Some(match all {
                None => id,
                Some(left) => self.graph.apply(op, &[left, id], Type::Int),
            });
        }
        Ok(all.unwrap_or_else(|| self.graph.int(1)))
    }

    pub(super) fn literal(&mut self, v: &Value, span: Span) -> Lowered {
        Ok(match v {
            Value::Bool(b) => self.graph.int(i64::from(*b)),
            Value::Int(i) => self.graph.int(*i),
            Value::Float(f) => self.graph.constant(f.to_bits(), Type::Float),
            Value::Str(_) | Value::Tuple(_) | Value::None => {
                let symbol = self
                    .symbols
                    .get(v)
                    .ok_or_else(|| ExprError::new(format!("unknown {} `{v}`", v.kind()), span))?;
                self.graph.constant(symbol, Type::Symbol)
            }
        })
    }

    /// The node of the expression's value.
    pub fn value(&mut self, e: &Expr) -> Lowered {
        self.direct(e).or_else(|error| self.table(e, Some, error))
    }

    /// The value as a graph of operations.
    fn direct(&mut self, e: &Expr) -> Lowered {
        match &e.kind {
            ExprKind::Literal(v) => self.literal(v, e.span),
            ExprKind::Name(n) => self.name(n, e.span),
            ExprKind::Unary(op, a) => match op {
                UnaryOp::Not => self.truth(e),
                UnaryOp::Plus => self.value(a),
                UnaryOp::Negate => {
                    let id = self.number(a)?;
                    Ok(match self.graph.node(id).kind {
                        Type::Float => self.graph.apply(Op::FloatNeg, &[id], Type::Float),
                        _ => self.graph.apply(Op::IntNeg, &[id], Type::Int),
                    })
                }
                UnaryOp::Invert => {
                    let id = self.integer(a)?;
                    Ok(self.graph.apply(Op::IntNot, &[id], Type::Int))
                }
            },
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::Compare(first, rest) => self.comparison(first, rest),
            // Value of the deciding operand, as in Python.
            ExprKind::All(items) | ExprKind::Any(items) => {
                let any = matches!(e.kind, ExprKind::Any(_));
                let mut ids = items.iter().rev();
                let Some(last) = ids.next() else {
                    return Ok(self.graph.int(1));
                };
                let mut value = self.value(last)?;
                for item in ids {
                    let left = self.value(item)?;
                    let truth = self.as_truth(left, item.span)?;
                    value = if any {
                        self.select(truth, left, value, e.span)?
                    } else {
                        self.select(truth, value, left, e.span)?
                    };
                }
                Ok(value)
            }
            ExprKind::IfElse {
                condition,
                then,
                otherwise,
            } => {
                let c = self.truth(condition)?;
                let (a, b) = (self.value(then)?, self.value(otherwise)?);
                self.select(c, a, b, e.span)
            }
            ExprKind::Call(name, args) => self.call(name, args, e.span),
            ExprKind::Index(of, index) => self.element(of, index, e.span),
            ExprKind::List(_)
            | ExprKind::Tuple(_)
            | ExprKind::Set(_)
            | ExprKind::Script(_)
            | ExprKind::Comprehension { .. } => Err(ExprError::new(
                "a list stands where one value is expected",
                e.span,
            )),
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Lowered {
        if let Some(&id) = self.done.get(name) {
            return Ok(id);
        }
        match self.names.get(name) {
            Some(Binding::Constant(v)) => self.literal(v, span),
            Some(Binding::Param(id)) => Ok(*id),
            Some(Binding::Derived(e)) => {
                let id = self.value(e).map_err(|inner| {
                    ExprError::new(format!("in `{name}`: {}", inner.message), span)
                })?;
                self.done.insert(name.to_owned(), id);
                Ok(id)
            }
            None => Err(unknown(name, self.names.keys(), span)),
        }
    }

    pub(crate) fn number(&mut self, e: &Expr) -> Lowered {
        let id = self.value(e)?;
        self.number_of(id, e)
    }

    /// The number that the node of an expression is. Lowering it once more would take twice as long for each level above.
    pub(crate) fn number_of(&mut self, id: Id, e: &Expr) -> Lowered {
        if self.is_symbol(id) {
            let error = self.no_number(e);
            return self.table(e, number, error);
        }
        Ok(id)
    }

    /// The error of a value that is no number.
    pub(crate) fn no_number(&mut self, e: &Expr) -> ExprError {
        let values = self.values(e);
        let other = values.iter().find(|v| v.as_float().is_none());
        let kind = other.map_or("another value", Value::operand);
        ExprError::new(format!("{kind} stands where a number is expected"), e.span)
    }

    pub(crate) fn is_symbol(&self, id: Id) -> bool {
        self.graph.node(id).kind == Type::Symbol
    }

    pub(crate) fn integer(&mut self, e: &Expr) -> Lowered {
        let id = self.number(e)?;
        if self.graph.node(id).kind == Type::Float {
            return Err(ExprError::new("an integer is expected here", e.span));
        }
        Ok(id)
    }

    pub(crate) fn float(&mut self, id: Id) -> Id {
        match self.graph.node(id).kind {
            Type::Int => self.graph.apply(Op::ToFloat, &[id], Type::Float),
            _ => id,
        }
    }

    /// As [`Lowering::float`], for values that are chosen or compared: an integer that is no float has no node there.
    pub(crate) fn exact(&mut self, id: Id) -> Id {
        let n = self.graph.node(id);
        match n.kind {
            Type::Int if !n.bounds.fits_float() => self.graph.apply(Op::Exact, &[id], Type::Float),
            _ => self.float(id),
        }
    }

    pub(crate) fn is_float(&self, id: Id) -> bool {
        self.graph.node(id).kind == Type::Float
    }

    pub(crate) fn select(&mut self, c: Id, a: Id, b: Id, span: Span) -> Lowered {
        let (mut a, mut b) = (a, b);
        let (ka, kb) = (self.graph.node(a).kind, self.graph.node(b).kind);
        let kind = if ka == kb {
            ka
        } else if ka == Type::Symbol || kb == Type::Symbol {
            return Err(ExprError::new(
                "one of the values is a number, another is not",
                span,
            ));
        } else {
            (a, b) = (self.exact(a), self.exact(b));
            Type::Float
        };
        Ok(self.graph.apply(Op::Select, &[c, a, b], kind))
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Lowered {
        use BinaryOp as B;
        if matches!(op, B::Shl | B::Shr | B::BitAnd | B::BitOr | B::BitXor) {
            let (a, b) = (self.integer(a)?, self.integer(b)?);
            let op = match op {
                B::Shl => Op::IntShl,
                B::Shr => Op::IntShr,
                B::BitAnd => Op::IntAnd,
                B::BitOr => Op::IntOr,
                _ => Op::IntXor,
            };
            return Ok(self.graph.apply(op, &[a, b], Type::Int));
        }
        let (left, right) = (self.value(a)?, self.value(b)?);
        if matches!(op, B::Add | B::Mul) && (self.is_symbol(left) || self.is_symbol(right)) {
            let mut lists = |e: &Expr| {
                let list = |v: &Value| matches!(v, Value::Str(_) | Value::Tuple(_));
                self.values(e).iter().any(list)
            };
            let (left, right) = (lists(a), lists(b));
            if (left && right) || (op == B::Mul && (left || right)) {
                return Err(self.no_number(if left { a } else { b }));
            }
        }
        let (mut a, mut b) = (self.number_of(left, a)?, self.number_of(right, b)?);
        let bounds = |s: &Self, id: Id| s.graph.node(id).bounds;
        let ints = !self.is_float(a) && !self.is_float(b);
        if ints && op == B::Div {
            let exact = bounds(self, a).fits_float() && bounds(self, b).fits_float();
            if !exact {
                return Ok(self.graph.apply(Op::IntQuotient, &[a, b], Type::Float));
            }
        }
        // A negative power of an integer is a float, the others are exact.
        if ints && op == B::Pow && bounds(self, b).lo < 0 {
            let (fa, fb) = (self.float(a), self.float(b));
            let float = self.graph.apply(Op::FloatPow, &[fa, fb], Type::Float);
            if bounds(self, b).hi < 0 {
                return Ok(float);
            }
            let int = self.graph.apply(Op::IntPow, &[a, b], Type::Int);
            let zero = self.graph.int(0);
            let negative = self.graph.apply(Op::Lt, &[b, zero], Type::Int);
            let int = self.exact(int);
            return Ok(self
                .graph
                .apply(Op::Select, &[negative, float, int], Type::Float));
        }
        let floats = !ints || op == B::Div;
        if floats {
            (a, b) = (self.float(a), self.float(b));
        }
        let (op, kind) = match (op, floats) {
            (B::Add, false) => (Op::IntAdd, Type::Int),
            (B::Sub, false) => (Op::IntSub, Type::Int),
            (B::Mul, false) => (Op::IntMul, Type::Int),
            (B::FloorDiv, false) => (Op::IntDiv, Type::Int),
            (B::Mod, false) => (Op::IntMod, Type::Int),
            (B::Pow, false) => (Op::IntPow, Type::Int),
            (B::Add, true) => (Op::FloatAdd, Type::Float),
            (B::Sub, true) => (Op::FloatSub, Type::Float),
            (B::Mul, true) => (Op::FloatMul, Type::Float),
            (B::FloorDiv, true) => (Op::FloatFloorDiv, Type::Float),
            (B::Mod, true) => (Op::FloatMod, Type::Float),
            (B::Pow, true) => (Op::FloatPow, Type::Float),
            _ => (Op::FloatDiv, Type::Float),
        };
        Ok(self.graph.apply(op, &[a, b], kind))
    }
}

/// The error of an undeclared name.
pub fn unknown<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a String>,
    span: Span,
) -> ExprError {
    let guess = closest(name, known.into_iter().map(String::as_str));
    ExprError::new(
        match guess {
            Some(g) => format!("`{name}` is not declared; did you mean `{g}`?"),
            None => format!("`{name}` is not declared"),
        },
        span,
    )
}

/// The number that a value is.
pub fn number(v: Value) -> Option<Value> {
    v.as_float().is_some().then_some(v)
}
