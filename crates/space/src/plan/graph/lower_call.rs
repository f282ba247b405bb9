//! Calls of functions to graph nodes.

use crate::error::{ExprError, Span};
use crate::expr::{BinaryOp, Expr, takes};
use crate::plan::graph::Id;
use crate::plan::graph::lower::{Lowered, Lowering};
use crate::plan::graph::op::{Op, Type};
use crate::plan::graph::table::COMBINATIONS;

impl Lowering<'_> {
    pub(crate) fn call(&mut self, name: &str, args: &[Expr], span: Span) -> Lowered {
        takes(name, args.len(), &[]).map_err(|m| ExprError::new(m, span))?;
        let short = name.strip_prefix("math.").unwrap_or(name);
        let by_values = || {
            ExprError::new(
                format!(
                    "`{name}` is found for each value of its parameters here: they need lists of values, and at most {COMBINATIONS} combinations"
                ),
                span,
            )
        };
        match (short, args) {
            ("any" | "all", [of]) => self.any_all(short == "any", of, by_values()),
            ("sum", [of]) => self.sum(of, by_values()),
            ("len", [of]) => self.len(of, by_values()),
            ("min" | "max", [of]) => {
                let list = self.list(of).ok_or_else(by_values)?;
                if list.items.iter().any(|i| i.when.is_some()) {
                    return Err(by_values());
                }
                let items: Vec<Expr> = list.items.into_iter().map(|i| i.value).collect();
                let empty = ExprError::new(format!("`{short}` of no values"), span);
                self.extreme(short == "min", &items, empty)
            }
            ("min" | "max", _) => self.extreme(short == "min", args, by_values()),
            ("bool", [e]) => self.truth(e),
            ("float", [e]) => {
                let id = self.plain_number(e)?;
                Ok(self.float(id))
            }
            ("abs", [e]) => {
                let id = self.plain_number(e)?;
                Ok(if self.is_float(id) {
                    self.graph.apply(Op::FloatAbs, &[id], Type::Float)
                } else {
                    self.graph.apply(Op::IntAbs, &[id], Type::Int)
                })
            }
            ("int" | "floor" | "ceil" | "round", [e]) => {
                let id = self.plain_number(e)?;
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
                let op = match short {
                    "sqrt" => Op::FloatSqrt,
                    "log2" => Op::FloatLog2,
                    "log" => Op::FloatLog,
                    _ => Op::FloatExp,
                };
                self.of_float(op, e)
            }
            ("log", [e, base]) => {
                let (e, base) = (
                    self.of_float(Op::FloatLog, e)?,
                    self.of_float(Op::FloatLog, base)?,
                );
                Ok(self.graph.apply(Op::FloatDiv, &[e, base], Type::Float))
            }
            ("pow", [a, b]) => self.binary(BinaryOp::Pow, a, b),
            ("gcd", args) => {
                let mut ids = args.iter();
                let first = ids.next().ok_or_else(by_values)?;
                let first = self.integer(first)?;
                let mut all = self.graph.apply(Op::IntAbs, &[first], Type::Int);
                for e in ids {
                    let id = self.integer(e)?;
                    all = self.graph.apply(Op::IntGcd, &[all, id], Type::Int);
                }
                Ok(all)
            }
            ("list" | "tuple" | "set" | "sorted" | "range", _) => Err(ExprError::new(
                "a list stands where one value is expected",
                span,
            )),
            _ => Err(by_values()),
        }
    }

    /// The node of a number; strings and what else the function may take are found one by one.
    fn plain_number(&mut self, e: &Expr) -> Result<Id, ExprError> {
        let id = self.value(e)?;
        if self.is_symbol(id) {
            return Err(self.no_number(e));
        }
        Ok(id)
    }

    fn of_float(&mut self, op: Op, e: &Expr) -> Lowered {
        let id = self.plain_number(e)?;
        let id = self.float(id);
        Ok(self.graph.apply(op, &[id], Type::Float))
    }
}
