//! Calls of functions to graph nodes.

use crate::error::{ExprError, Span};
use crate::expr::{BinaryOp, Expr, Kind};
use crate::plan::graph::Id;
use crate::plan::graph::lower::{Lowered, Lowering};
use crate::plan::graph::op::{Op, Type};

impl Lowering<'_> {
    pub(crate) fn call(&mut self, name: &str, args: &[Expr], span: Span) -> Lowered {
        let short = name.strip_prefix("math.").unwrap_or(name);
        let fold = |s: &mut Self, ids: Vec<Id>, int: Op, float: Op| {
            let floats = ids.iter().any(|&id| s.is_float(id));
            let mut ids = ids.into_iter();
            let mut all = ids.next()?;
            if floats {
                all = s.float(all);
            }
            for id in ids {
                all = if floats {
                    let id = s.float(id);
                    s.graph.apply(float, &[all, id], Type::Float)
                } else {
                    s.graph.apply(int, &[all, id], Type::Int)
                };
            }
            Some(all)
        };
        match (short, args) {
            ("min" | "max" | "sum", args) if !args.is_empty() => {
                let items = match (args, short) {
                    (
                        [
                            Expr {
                                kind: Kind::List(items),
                                ..
                            },
                        ],
                        _,
                    ) => items,
                    ([_], _) | (_, "sum") => {
                        return Err(ExprError::new("a list is expected", span));
                    }
                    _ => args,
                };
                let ids: Vec<Id> = items
                    .iter()
                    .map(|e| self.number(e))
                    .collect::<Result<_, _>>()?;
                let (int, float) = match short {
                    "min" => (Op::IntMin, Op::FloatMin),
                    "max" => (Op::IntMax, Op::FloatMax),
                    _ => (Op::IntAdd, Op::FloatAdd),
                };
                fold(self, ids, int, float).ok_or_else(|| ExprError::new("the list is empty", span))
            }
            ("bool", [e]) => self.truth(e),
            ("float", [e]) => {
                let id = self.number(e)?;
                Ok(self.float(id))
            }
            ("abs", [e]) => {
                let id = self.number(e)?;
                Ok(if self.is_float(id) {
                    self.graph.apply(Op::FloatAbs, &[id], Type::Float)
                } else {
                    self.graph.apply(Op::IntAbs, &[id], Type::Int)
                })
            }
            ("int" | "floor" | "ceil" | "round", [e]) => {
                let id = self.number(e)?;
                if !self.is_float(id) {
                    return Ok(id);
                }
                let op = match short {
                    "int" => Op::Truncate,
                    "floor" => Op::Floor,
                    "ceil" => Op::Ceil,
                    _ => Op::Round,
                };
                Ok(self.graph.apply(op, &[id], Type::Int))
            }
            ("sqrt" | "log2" | "log" | "exp", [e]) => {
                let id = self.number(e)?;
                let id = self.float(id);
                let op = match short {
                    "sqrt" => Op::FloatSqrt,
                    "log2" => Op::FloatLog2,
                    "log" => Op::FloatLog,
                    _ => Op::FloatExp,
                };
                Ok(self.graph.apply(op, &[id], Type::Float))
            }
            ("pow", [a, b]) => self.binary(BinaryOp::Pow, a, b),
            ("gcd", [a, b]) => {
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                Ok(self.graph.apply(Op::IntGcd, &[a, b], Type::Int))
            }
            _ => Err(ExprError::new(
                format!(
                    "unknown function `{name}` of {} values; known are {}",
                    args.len(),
                    crate::expr::FUNCTIONS.join(", ")
                ),
                span,
            )),
        }
    }
}
