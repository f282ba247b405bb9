//! Names at a point, with derived values computed once each.

use crate::expr::{Expr, Names, Scope, eval};
use crate::value::Value;
use hashbrown::HashMap;
use std::cell::RefCell;

/// Parameters and constants by `base`, and the derived values that follow from them.
pub(crate) struct WithDerived<'a> {
    base: &'a dyn Fn(&str) -> Option<Value>,
    derived: &'a [(String, Expr)],
    known: RefCell<HashMap<&'a str, Option<Value>>>,
}

impl<'a> WithDerived<'a> {
    pub(crate) fn new(
        base: &'a dyn Fn(&str) -> Option<Value>,
        derived: &'a [(String, Expr)],
    ) -> Self {
        Self {
            base,
            derived,
            known: RefCell::new(HashMap::new()),
        }
    }
}

impl Names for WithDerived<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        if let Some(v) = (self.base)(name) {
            return Some(v);
        }
        if let Some(v) = self.known.borrow().get(name) {
            return v.clone();
        }
        let (name, e) = self.derived.iter().find(|(n, _)| n == name)?;
        let v = eval(e, &Scope::new(self)).ok();
        self.known.borrow_mut().insert(name, v.clone());
        v
    }
}
