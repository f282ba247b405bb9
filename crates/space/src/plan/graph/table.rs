//! Expressions of one parameter whose values are not all numbers, such as an element of a tuple: found for each of its
//! values when the space is built.

use crate::error::ExprError;
use crate::expr::{Expr, Scope, eval};
use crate::plan::build::Param;
use crate::plan::graph::Id;
use crate::plan::graph::lower::{Binding, Lowered, Lowering};
use crate::plan::graph::op::{Op, Type};
use crate::plan::read::values::typed;
use crate::value::Value;

/// The number that a value is.
pub fn number(v: Value) -> Option<Value> {
    v.as_float().is_some().then_some(v)
}

impl<'a> Lowering<'a> {
    /// The node of an expression, looked up by the value of the only parameter that it depends on; `of` makes a result
    /// fit, where it can. A value for which there is none is a fault at points that have it.
    ///
    /// # Errors
    /// `error`, where the expression depends on other parameters, or no value has a result.
    pub fn table(
        &mut self,
        e: &Expr,
        of: impl Fn(Value) -> Option<Value>,
        error: ExprError,
    ) -> Lowered {
        let Some((name, id, param)) = self.only_parameter(&[e]) else {
            return Err(error);
        };
        let Some(list) = &param.list else {
            return Err(error);
        };
        let results: Vec<Option<Value>> = list
            .iter()
            .map(|(_, v)| self.at(e, name, v).and_then(&of))
            .collect();
        let found: Vec<Value> = results.iter().flatten().cloned().collect();
        let numbers = found.iter().all(|v| v.as_float().is_some());
        let known = |v: &Value| self.symbols.get(v).is_some();
        if found.is_empty() || !(numbers || found.iter().all(known)) {
            return Err(error);
        }
        let (kind, words) = typed(&found, self.symbols);
        let mut words = words.into_iter().map(|(word, _)| word);
        let entries: Vec<(u64, Option<u64>)> = list
            .iter()
            .zip(&results)
            .map(|((bits, _), r)| (*bits, r.as_ref().and_then(|_| words.next())))
            .collect();
        Ok(self.look_up(id, param.kind, &entries, kind))
    }

    /// The elements of a tuple that one parameter gives; the last of a short one again in place of what it lacks.
    ///
    /// # Errors
    /// As [`Lowering::table`].
    pub fn elements(&mut self, e: &Expr, error: &ExprError) -> Result<Vec<Id>, ExprError> {
        let lengths = self.values(e).into_iter().map(|v| match v {
            Value::Tuple(items) => items.len(),
            _ => 0,
        });
        let longest = lengths.max().unwrap_or(0);
        if longest == 0 {
            return Err(error.clone());
        }
        (0..longest)
            .map(|k| {
                let element = |v: Value| match v {
                    Value::Tuple(items) => items.get(k).or(items.last()).cloned(),
                    _ => None,
                };
                self.table(e, element, error.clone())
            })
            .collect()
    }

    /// Nodes that choose the result by the word of a parameter.
    fn look_up(
        &mut self,
        param: Id,
        param_kind: Type,
        entries: &[(u64, Option<u64>)],
        kind: Type,
    ) -> Id {
        let equal = match param_kind {
            Type::Float => Op::FloatEq,
            Type::Int | Type::Symbol => Op::Eq,
        };
        let mut all = None;
        for (bits, word) in entries.iter().rev() {
            let result = match word {
                Some(w) => self.graph.constant(*w, kind),
                None => self.graph.apply(Op::Unfit, &[param], kind),
            };
            all = Some(match all {
                None => result,
                Some(rest) if rest == result => rest,
                Some(rest) => {
                    let bits = self.graph.constant(*bits, param_kind);
                    let here = self.graph.apply(equal, &[param, bits], Type::Int);
                    self.graph.apply(Op::Select, &[here, result, rest], kind)
                }
            });
        }
        all.unwrap_or(param)
    }

    /// The values that an expression of one parameter has; none where it depends on others.
    pub fn values(&self, e: &Expr) -> Vec<Value> {
        let Some((name, _, param)) = self.only_parameter(&[e]) else {
            return Vec::new();
        };
        let list = param.list.iter().flatten();
        list.filter_map(|(_, v)| self.at(e, name, v)).collect()
    }

    /// The one parameter that expressions depend on, derived values seen through.
    pub fn only_parameter(&self, all: &[&Expr]) -> Option<(&'a str, Id, &'a Param)> {
        let mut found: Vec<&'a str> = Vec::new();
        let mut open: Vec<&Expr> = all.to_vec();
        let mut seen: Vec<&'a str> = Vec::new();
        while let Some(e) = open.pop() {
            e.names(&mut |n, _| {
                if let Some((name, binding)) = self.names.get_key_value(n)
                    && !seen.contains(&name.as_str())
                {
                    seen.push(name);
                    match binding {
                        Binding::Param(_) => found.push(name),
                        Binding::Derived(e) => open.push(e),
                        Binding::Constant(_) => {}
                    }
                }
            });
        }
        let [name] = found[..] else {
            return None;
        };
        let Some(Binding::Param(id)) = self.names.get(name) else {
            return None;
        };
        let param = self.params.iter().find(|p| p.name == name)?;
        Some((name, *id, param))
    }

    /// The value of an expression where a parameter has this value, if it has one.
    fn at(&self, e: &Expr, parameter: &str, value: &Value) -> Option<Value> {
        let names = |n: &str| match self.names.get(n)? {
            _ if n == parameter => Some(value.clone()),
            Binding::Constant(v) => Some(v.clone()),
            Binding::Derived(e) => self.at(e, parameter, value),
            Binding::Param(_) => None,
        };
        eval(e, &Scope::new(&names)).ok()
    }
}
