//! Expressions that have no graph of their own, such as an element of a tuple or a comparison of strings: found for each
//! value of the parameters that they depend on when the space is built.

use crate::error::ExprError;
use crate::expr::{
    DIVISION_BY_ZERO, DOMAIN, EXACT, Expr, FLOAT_OVERFLOW, INDEX, Names, OVERFLOW, Scope, eval,
};
use crate::plan::graph::Id;
use crate::plan::graph::lower::{Binding, Lowered, Lowering};
use crate::plan::graph::op::{Fault, Op, Type};
use crate::plan::param::Param;
use crate::plan::read::values::typed;
use crate::value::Value;
use hashbrown::HashMap;
use std::cell::RefCell;

/// Combinations of values of several parameters at most.
pub const COMBINATIONS: usize = 4096;

/// Nodes evaluated for one filter at most: a second or two.
pub const EFFORT: usize = 1 << 24;

/// A parameter that an expression depends on.
type Used<'a> = (&'a str, Id, &'a Param);

/// What the names of a lowering stand for where some parameters have a value; derived values are found once each.
struct Point<'a, 'n> {
    names: &'a HashMap<String, Binding>,
    given: &'n [(&'a str, &'a Value)],
    known: RefCell<HashMap<String, Option<Value>>>,
}

impl Names for Point<'_, '_> {
    fn get(&self, name: &str) -> Option<Value> {
        match self.names.get(name)? {
            Binding::Constant(v) => Some(v.clone()),
            Binding::Param(_) => {
                let of = self.given.iter().find(|(n, _)| *n == name);
                of.map(|(_, v)| (*v).clone())
            }
            Binding::Derived(e) => {
                if let Some(v) = self.known.borrow().get(name) {
                    return v.clone();
                }
                let v = eval(e, &Scope::new(self)).ok();
                self.known.borrow_mut().insert(name.to_owned(), v.clone());
                v
            }
        }
    }
}

impl<'a> Lowering<'a> {
    /// The node of an expression, looked up by the values of the parameters that it depends on; `of` makes a result fit,
    /// where it can. Values for which there is none are a fault at points that have them.
    ///
    /// # Errors
    /// `error`, where these parameters have no lists or too many values; the expression's own where it never has a value.
    pub fn table(
        &mut self,
        e: &Expr,
        of: impl Fn(Value) -> Option<Value>,
        error: ExprError,
    ) -> Lowered {
        let Some(used) = self.tabulable(&[e]) else {
            return Err(error);
        };
        let Some(results) = self.results(e, &used) else {
            return Err(error);
        };
        let mut why = None;
        let results: Vec<Result<Value, Fault>> = results
            .into_iter()
            .map(|r| match r {
                Ok(v) => of(v).ok_or(Fault::Kind),
                Err(e) => {
                    let fault = fault(&e);
                    why.get_or_insert(e);
                    Err(fault)
                }
            })
            .collect();
        let found: Vec<Value> = results.iter().flatten().cloned().collect();
        if found.is_empty() {
            let within = |why: &ExprError| e.span.from <= why.span.from && why.span.to <= e.span.to;
            return Err(why.map_or(error, |why| {
                if within(&why) {
                    why
                } else {
                    ExprError::new(why.message, e.span)
                }
            }));
        }
        let numbers = found.iter().all(|v| v.as_float().is_some());
        let known = |v: &Value| self.symbols.get(v).is_some();
        if !(numbers || found.iter().all(known)) {
            return Err(error);
        }
        let (kind, words) = typed(&found, self.symbols);
        let rounded = |v: &Value| v.as_int().is_some_and(|i| i.unsigned_abs() > EXACT);
        if kind == Type::Float && found.iter().any(rounded) {
            return Err(error);
        }
        let mut words = words.into_iter().map(|(word, _)| word);
        let words: Vec<Result<u64, Fault>> = results
            .into_iter()
            .map(|r| r.map(|_| words.next().unwrap_or(0)))
            .collect();
        Ok(self.look_up(&used, &words, kind))
    }

    /// The parameters that expressions depend on, the deepest first; `None` where one has no list of values, or there are too
    /// many combinations.
    pub fn tabulable(&self, all: &[&Expr]) -> Option<Vec<Used<'a>>> {
        let mut used = self.parameters(all);
        let lengths = used
            .iter()
            .map(|(_, _, p)| p.list.as_ref().map(Vec::len))
            .collect::<Option<Vec<_>>>()?;
        let combinations = lengths.iter().try_fold(1_usize, |a, n| a.checked_mul(*n))?;
        if used.len() > 1 && combinations > COMBINATIONS {
            return None;
        }
        used.sort_by_key(|&(_, id, _)| std::cmp::Reverse(self.graph.node(id).level));
        Some(used)
    }

    /// The results for all combinations of values, those of the last parameter one after the other; `None` where finding
    /// them takes too long.
    fn results(&mut self, e: &Expr, used: &[Used<'a>]) -> Option<Vec<Result<Value, ExprError>>> {
        let lists: Vec<&'a [(u64, Value)]> = used
            .iter()
            .map(|(_, _, p)| p.list.as_deref().unwrap_or_default())
            .collect();
        let combinations: usize = lists.iter().map(|l| l.len()).product();
        self.effort = self
            .effort
            .saturating_add(combinations.saturating_mul(e.size()));
        if self.effort > EFFORT {
            return None;
        }
        let mut out = Vec::with_capacity(combinations);
        for at in 0..combinations {
            let mut rest = at;
            let mut given = Vec::with_capacity(used.len());
            for ((name, _, _), list) in used.iter().zip(&lists).rev() {
                given.push((*name, &list[rest % list.len()].1));
                rest /= list.len();
            }
            let names = Point {
                names: self.names,
                given: &given,
                known: RefCell::default(),
            };
            out.push(eval(e, &Scope::new(&names)));
        }
        Some(out)
    }

    /// The elements of a tuple that one parameter gives; the last of a short one again in place of what it lacks. `None`
    /// where not every value is a tuple with elements.
    pub fn elements(&mut self, e: &Expr, error: &ExprError) -> Result<Option<Vec<Id>>, ExprError> {
        let mut longest = 0;
        for v in self.values(e) {
            match v {
                Value::Tuple(items) if !items.is_empty() => longest = longest.max(items.len()),
                _ => return Ok(None),
            }
        }
        if longest == 0 {
            return Ok(None);
        }
        let all = (0..longest).map(|k| {
            let element = |v: Value| match v {
                Value::Tuple(items) => items.get(k).or(items.last()).cloned(),
                _ => None,
            };
            self.table(e, element, error.clone())
        });
        all.collect::<Result<_, _>>().map(Some)
    }

    /// Nodes that choose the result by the words of parameters.
    fn look_up(&mut self, used: &[Used<'a>], words: &[Result<u64, Fault>], kind: Type) -> Id {
        let Some(((_, id, param), deeper)) = used.split_first() else {
            return match words.first() {
                Some(Ok(w)) => self.graph.constant(*w, kind),
                Some(Err(fault)) => {
                    let any = self.graph.int(0);
                    self.graph.apply(Op::Unfit(*fault), &[any], kind)
                }
                None => self.graph.int(0),
            };
        };
        let list = param.list.as_deref().unwrap_or_default();
        let equal = match param.kind {
            Type::Float => Op::FloatEq,
            Type::Int | Type::Symbol => Op::Eq,
        };
        let each = words.len() / list.len().max(1);
        let mut all = None;
        for ((bits, _), words) in list.iter().zip(words.chunks(each.max(1))).rev() {
            let result = match (deeper, words) {
                ([], [Err(fault)]) => self.graph.apply(Op::Unfit(*fault), &[*id], kind),
                _ => self.look_up(deeper, words, kind),
            };
            all = Some(match all {
                None => result,
                Some(rest) if rest == result => rest,
                Some(rest) => {
                    let bits = self.graph.constant(*bits, param.kind);
                    let here = self.graph.apply(equal, &[*id, bits], Type::Int);
                    self.graph.apply(Op::Select, &[here, result, rest], kind)
                }
            });
        }
        all.unwrap_or(*id)
    }

    /// The values that an expression has, where they can be found one by one; else none.
    pub fn values(&mut self, e: &Expr) -> Vec<Value> {
        let Some(used) = self.tabulable(&[e]) else {
            return Vec::new();
        };
        let results = self.results(e, &used).unwrap_or_default();
        results.into_iter().flatten().collect()
    }

    /// The value of an expression that depends on no parameter.
    pub fn known(&mut self, e: &Expr) -> Option<Value> {
        self.parameters(&[e])
            .is_empty()
            .then(|| self.results(e, &[])?.pop()?.ok())?
    }

    /// The parameters that expressions depend on, derived values seen through.
    fn parameters(&self, all: &[&Expr]) -> Vec<Used<'a>> {
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
        let of = |name: &'a str| {
            let Some(Binding::Param(id)) = self.names.get(name) else {
                return None;
            };
            let param = self.params.iter().find(|p| p.name == name)?;
            Some((name, *id, param))
        };
        found.into_iter().filter_map(of).collect()
    }
}

/// What kind of fault an error of an expression is.
fn fault(e: &ExprError) -> Fault {
    match e.message.as_str() {
        DIVISION_BY_ZERO => Fault::DivisionByZero,
        OVERFLOW => Fault::Overflow,
        FLOAT_OVERFLOW => Fault::FloatOverflow,
        DOMAIN => Fault::Domain,
        message if message.starts_with(INDEX) => Fault::Index,
        _ => Fault::Kind,
    }
}
