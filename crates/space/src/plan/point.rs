//! Points of a space: names, values and their 64-bit encodings.

use crate::error::{ExprError, SpaceError};
use crate::expr::{Expr, Functions, Names as _, Scope, eval, eval_list};
use crate::plan::build::{Filter, Space};
use crate::plan::graph::op::Type;
use crate::plan::read::derived::WithDerived;
use crate::value::Value;

type Built<T> = Result<T, SpaceError>;

impl Space {
    /// Names of the parameters in declared order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.params.iter().map(|p| p.name.as_str())
    }

    /// Names of the parameters in the order of the nest, outermost first; parameters with one
    /// value have no loop.
    pub fn nest(&self) -> impl ExactSizeIterator<Item = &str> {
        self.levels.iter().map(|&p| self.params[p].name.as_str())
    }

    /// Filters in declared order.
    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// Named constants.
    pub fn constants(&self) -> &[(String, Value)] {
        &self.constants
    }

    /// Whether a name is that of a constant, a parameter or a derived value.
    pub fn knows(&self, name: &str) -> bool {
        self.names().any(|n| n == name)
            || self.constants.iter().any(|(n, _)| n == name)
            || self.derived.iter().any(|(n, _)| n == name)
    }

    /// The values of one parameter when they depend on no other.
    pub fn list_of(&self, param: usize) -> Option<Vec<Value>> {
        self.params[param]
            .list
            .as_ref()
            .map(|l| l.iter().map(|(_, v)| v.clone()).collect())
    }

    /// Derived values of a point (parameters in declared order), by name.
    ///
    /// # Errors
    /// A derived value that has no value at this point.
    pub fn derived(&self, point: &[Value]) -> Built<Vec<(String, Value)>> {
        let base = |n: &str| self.given(n, point);
        let names = WithDerived::new(&base, &self.derived);
        let scope = self.scope(&names);
        self.derived
            .iter()
            .map(|(n, e)| {
                let v = match names.get(n) {
                    Some(v) => Ok(v),
                    // Once more, for the reason and for scripts.
                    None => eval(e, &scope),
                }
                .map_err(|e| SpaceError::new(format!("derived value `{n}`: {}", e.message)))?;
                Ok((n.clone(), v))
            })
            .collect()
    }

    /// Any expression of constants, parameters and derived values at a point.
    ///
    /// # Errors
    /// Unknown names and values that do not exist at this point.
    pub fn evaluate(&self, e: &Expr, point: &[Value]) -> Result<Value, ExprError> {
        let base = |n: &str| self.given(n, point);
        eval(e, &self.scope(&WithDerived::new(&base, &self.derived)))
    }

    fn scope<'a>(&'a self, names: &'a WithDerived) -> Scope<'a> {
        Scope {
            names,
            scripts: self.scripts.as_ref().map(|s| s as &dyn Functions),
        }
    }

    fn given(&self, name: &str, point: &[Value]) -> Option<Value> {
        if let Some(i) = self.params.iter().position(|p| p.name == name) {
            return point.get(i).cloned();
        }
        self.constant(name)
    }

    fn constant(&self, name: &str) -> Option<Value> {
        let (_, v) = self.constants.iter().find(|(n, _)| n == name)?;
        Some(v.clone())
    }

    /// The values of a dynamic domain, with the parameters it uses given by name.
    ///
    /// # Errors
    /// The expression has no value, or one that is not an integer.
    pub(crate) fn dynamic(
        &self,
        expr: &Expr,
        known: &[(&str, Value)],
    ) -> Result<Vec<u64>, ExprError> {
        let base = |n: &str| {
            let given = known.iter().find(|(k, _)| *k == n);
            given.map(|(_, v)| v.clone()).or_else(|| self.constant(n))
        };
        eval_list(expr, &self.scope(&WithDerived::new(&base, &self.derived)))?
            .iter()
            .map(|v| {
                v.as_int().map(|i| i as u64).ok_or_else(|| {
                    ExprError::new(
                        format!("a list that depends on parameters holds integers, not {v}"),
                        expr.span,
                    )
                })
            })
            .collect()
    }

    /// A word of a parameter as a value.
    pub(crate) fn decode(&self, param: usize, bits: u64) -> Value {
        let p = &self.params[param];
        if let Some(list) = &p.list
            && let Some((_, v)) = list.iter().find(|(b, _)| *b == bits)
        {
            return v.clone();
        }
        match p.kind {
            Type::Int => Value::Int(bits as i64),
            Type::Float => Value::Float(f64::from_bits(bits)),
            Type::Symbol => self
                .symbols
                .value(bits)
                .cloned()
                .unwrap_or(Value::Int(bits as i64)),
        }
    }

    /// A value of a parameter as a word; `None` when it is not one of its values.
    pub(crate) fn encode(&self, param: usize, v: &Value) -> Option<u64> {
        let p = &self.params[param];
        if let Some(list) = &p.list {
            return list.iter().find(|(_, k)| k == v).map(|(b, _)| *b);
        }
        match v.as_int() {
            Some(i) => Some(i as u64),
            None => v
                .as_float()
                .filter(|f| f.trunc() == *f && f.abs() < 9e15)
                .map(|f| f as i64 as u64),
        }
    }
}
