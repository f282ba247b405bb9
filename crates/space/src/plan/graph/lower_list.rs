//! Lists whose elements are expressions, to graph nodes: `any`, `all`, `sum`, `len`, `min`, `max`, `in`, an element, and
//! comparisons of tuples.

use crate::error::{ExprError, Span};
use crate::expr::{BinaryOp, CompareOp, Expr, ExprKind, Form};
use crate::plan::graph::Id;
use crate::plan::graph::lower::{Binding, Lowered, Lowering};
use crate::plan::graph::op::{Fault, Op, Type};
use crate::plan::graph::table::EFFORT;
use crate::value::Value;

/// A list as it is when the space is built.
pub struct List {
    pub items: Vec<Item>,
    /// What is equal counts once.
    pub set: bool,
    /// What is not looked at has no faults.
    pub lazy: bool,
}

/// An element, and the condition under which it is there.
pub struct Item {
    pub when: Option<Expr>,
    pub value: Expr,
}

/// Levels of an element's tree at most: lowering recurses.
const MAX_HEIGHT: usize = 500;

impl Lowering<'_> {
    /// The elements of an expression that is a list for every point; `None` where it is none, or its length varies
    /// otherwise than by conditions.
    pub fn list(&mut self, e: &Expr) -> Option<List> {
        let plain = |items: &[Expr], set: bool| List {
            items: items
                .iter()
                .map(|value| Item {
                    when: None,
                    value: value.clone(),
                })
                .collect(),
            set,
            lazy: false,
        };
        match &e.kind {
            ExprKind::List(items) | ExprKind::Tuple(items) => Some(plain(items, false)),
            ExprKind::Set(items) => Some(plain(items, true)),
            ExprKind::Comprehension {
                form,
                item,
                name,
                source,
                condition,
            } => {
                let source = self.list(source).filter(|l| !l.set)?;
                let mut items = Vec::with_capacity(source.items.len());
                let size = item.size() + condition.as_ref().map_or(0, |c| c.size());
                for from in &source.items {
                    let parts = size.saturating_mul(from.value.size());
                    self.effort = self.effort.saturating_add(parts);
                    if self.effort > EFFORT {
                        return None;
                    }
                    let value = item.with(name, &from.value)?;
                    let own = match condition {
                        Some(c) => Some(c.with(name, &from.value)?),
                        None => None,
                    };
                    let when = match (&from.when, own) {
                        (Some(a), Some(b)) => Some(Expr {
                            span: b.span,
                            kind: ExprKind::All(vec![a.clone(), b]),
                        }),
                        (when, own) => own.or_else(|| when.clone()),
                    };
                    let high = |e: &Expr| e.height() > MAX_HEIGHT;
                    if high(&value) || when.as_ref().is_some_and(high) {
                        return None;
                    }
                    items.push(Item { when, value });
                }
                Some(List {
                    items,
                    set: *form == Form::Set,
                    lazy: *form == Form::Generator,
                })
            }
            ExprKind::Call(name, args) => match (name.as_str(), args.as_slice()) {
                ("list" | "tuple", [of]) => self.list(of).map(|l| List { lazy: false, ..l }),
                ("set", [of]) => self.list(of).map(|l| List {
                    set: true,
                    lazy: false,
                    ..l
                }),
                _ => self.constant_list(e),
            },
            ExprKind::Name(n) => match self.names.get(n) {
                Some(Binding::Derived(e)) => self.list(e),
                Some(Binding::Constant(_)) => self.constant_list(e),
                _ => None,
            },
            ExprKind::Binary(BinaryOp::Add, a, b) => {
                let (mut a, b) = (self.list(a)?, self.list(b)?);
                a.items.extend(b.items);
                (!a.set && !b.set).then_some(a)
            }
            ExprKind::Literal(Value::Tuple(_)) | ExprKind::Binary(BinaryOp::Mul, ..) => {
                self.constant_list(e)
            }
            _ => None,
        }
    }

    fn constant_list(&mut self, e: &Expr) -> Option<List> {
        let Value::Tuple(items) = self.known(e)? else {
            return None;
        };
        self.effort = self.effort.saturating_add(items.len());
        Some(List {
            items: items
                .into_iter()
                .map(|v| Item {
                    when: None,
                    value: Expr {
                        kind: ExprKind::Literal(v),
                        span: e.span,
                    },
                })
                .collect(),
            set: false,
            lazy: false,
        })
    }

    fn may_fail(&self, id: Id) -> bool {
        self.graph.node(id).may_fail
    }

    /// Joins truths: Python finds all elements of a list before it looks at them, those of a generator one by one.
    fn join(&mut self, any: bool, lazy: bool, truths: &[Id]) -> Id {
        let strict = !lazy && truths.iter().skip(1).any(|&id| self.may_fail(id));
        let op = match (any, strict) {
            (true, false) => Op::Or,
            (false, false) => Op::And,
            (true, true) => Op::IntMax,
            (false, true) => Op::IntMin,
        };
        let mut all = self.graph.int(i64::from(!any));
        for &id in truths {
            all = self.graph.apply(op, &[all, id], Type::Int);
        }
        all
    }

    fn not(&mut self, id: Id) -> Id {
        self.graph.apply(Op::Not, &[id], Type::Int)
    }

    /// `any` or `all` of a list.
    pub(super) fn any_all(&mut self, any: bool, of: &Expr, error: ExprError) -> Lowered {
        let list = self.list(of).ok_or(error)?;
        let mut truths = Vec::with_capacity(list.items.len());
        for item in &list.items {
            let truth = self.truth(&item.value)?;
            truths.push(match &item.when {
                None => truth,
                Some(when) => {
                    let when = self.truth(when)?;
                    let left_out = self.graph.int(i64::from(!any));
                    self.graph
                        .apply(Op::Select, &[when, truth, left_out], Type::Int)
                }
            });
        }
        Ok(self.join(any, list.lazy, &truths))
    }

    /// Whether each element is there, and for a set, the first of its kind; `None` for those that always are.
    fn there(&mut self, list: &List) -> Result<Vec<Option<Id>>, ExprError> {
        let mut there = Vec::with_capacity(list.items.len());
        for (i, item) in list.items.iter().enumerate() {
            let mut own = match &item.when {
                Some(when) => Some(self.truth(when)?),
                None => None,
            };
            if list.set {
                for earlier in &list.items[..i] {
                    self.effort += 1;
                    let differs = self
                        .pair(CompareOp::Ne, &earlier.value, None, &item.value)?
                        .0;
                    let differs = match &earlier.when {
                        None => differs,
                        Some(when) => {
                            let when = self.truth(when)?;
                            let absent = self.not(when);
                            self.graph.apply(Op::Or, &[absent, differs], Type::Int)
                        }
                    };
                    own = Some(match own {
                        None => differs,
                        Some(id) => self.graph.apply(Op::And, &[id, differs], Type::Int),
                    });
                }
            }
            there.push(own);
        }
        Ok(there)
    }

    /// A function of a list that no parameter changes: the elements of a set are compared pair by pair otherwise.
    fn known_call(&mut self, name: &str, of: &Expr) -> Option<Value> {
        let call = Expr {
            kind: ExprKind::Call(name.to_owned(), vec![of.clone()]),
            span: of.span,
        };
        self.known(&call).filter(|v| v.as_float().is_some())
    }

    /// `sum` of a list.
    pub(super) fn sum(&mut self, of: &Expr, error: ExprError) -> Lowered {
        if let Some(sum) = self.known_call("sum", of) {
            return self.literal(&sum, of.span);
        }
        let list = self.list(of).ok_or(error)?;
        let there = self.there(&list)?;
        let zero = self.graph.int(0);
        let mut all = zero;
        for (item, there) in list.items.iter().zip(there) {
            let mut id = self.number(&item.value)?;
            if let Some(there) = there {
                id = self.select(there, id, zero, item.value.span)?;
            }
            all = if self.is_float(all) || self.is_float(id) {
                let (a, b) = (self.float(all), self.float(id));
                self.graph.apply(Op::FloatAdd, &[a, b], Type::Float)
            } else {
                self.graph.apply(Op::IntAdd, &[all, id], Type::Int)
            };
        }
        Ok(all)
    }

    /// `len` of a list.
    pub(super) fn len(&mut self, of: &Expr, error: ExprError) -> Lowered {
        if let Some(length) = self.known_call("len", of) {
            return self.literal(&length, of.span);
        }
        let list = self.list(of).ok_or_else(|| error.clone())?;
        for item in &list.items {
            // A fault of an element is one of the list.
            if let Ok(id) = self.value(&item.value)
                && self.may_fail(id)
            {
                return Err(error);
            }
        }
        let mut all = self.graph.int(0);
        for there in self.there(&list)? {
            let one = there.unwrap_or_else(|| self.graph.int(1));
            all = self.graph.apply(Op::IntAdd, &[all, one], Type::Int);
        }
        Ok(all)
    }

    /// `min` or `max` of some values.
    pub(super) fn extreme(&mut self, least: bool, of: &[Expr], error: ExprError) -> Lowered {
        let mut ids = Vec::with_capacity(of.len());
        for e in of {
            let id = self.value(e)?;
            if self.is_symbol(id) && self.tabulable(&of.iter().collect::<Vec<_>>()).is_some() {
                return Err(self.no_number(e));
            }
            ids.push(self.number_of(id, e)?);
        }
        let floats = ids.iter().any(|&id| self.is_float(id));
        let (int, float) = if least {
            (Op::IntMin, Op::FloatMin)
        } else {
            (Op::IntMax, Op::FloatMax)
        };
        let mut all = None;
        for id in ids {
            let id = if floats { self.exact(id) } else { id };
            all = Some(match all {
                None => id,
                Some(all) if floats => self.graph.apply(float, &[all, id], Type::Float),
                Some(all) => self.graph.apply(int, &[all, id], Type::Int),
            });
        }
        all.ok_or(error)
    }

    /// Whether a value, its node perhaps known, is in a list or a string.
    pub(super) fn membership(
        &mut self,
        item: &Expr,
        known: Option<Id>,
        of: &Expr,
        positive: bool,
    ) -> Lowered {
        let none = |s: &mut Self| {
            let kinds = s.values(of);
            let kind = kinds.first().map_or("another value", Value::operand);
            ExprError::new(
                format!("`in` needs a list, or {kind} of parameters with few values"),
                of.span,
            )
        };
        let mut truths = Vec::new();
        let mut lazy = true;
        if let Some(list) = self.list(of) {
            let known = match known {
                None if self.list(item).is_none() => self.value(item).ok(),
                known => known,
            };
            for own in &list.items {
                let equal = self.pair(CompareOp::Eq, item, known, &own.value)?.0;
                truths.push(match &own.when {
                    None => equal,
                    Some(when) => {
                        let when = self.truth(when)?;
                        self.graph.apply(Op::And, &[when, equal], Type::Int)
                    }
                });
            }
            lazy = list.lazy;
        } else {
            let error = none(self);
            let item_id = match known {
                Some(id) => id,
                None => self.value(item)?,
            };
            let elements = self.elements(of, &error)?.ok_or(error)?;
            for own in elements {
                truths.push(self.compare(CompareOp::Eq, item_id, own, of.span)?);
            }
        }
        let any = self.join(true, lazy, &truths);
        Ok(if positive { any } else { self.not(any) })
    }

    /// An element of a list, by an index that is known or not.
    pub(super) fn element(&mut self, of: &Expr, index: &Expr, span: Span) -> Lowered {
        let error = ExprError::new(
            "an element is taken of a list that is written here, or of parameters with few values",
            span,
        );
        let list = self.list(of).filter(|l| !l.set).ok_or(error.clone())?;
        let mut ids = Vec::with_capacity(list.items.len());
        for item in &list.items {
            if item.when.is_some() {
                return Err(error);
            }
            ids.push(self.value(&item.value)?);
        }
        let at = self.value(index)?;
        if self.graph.node(at).kind != Type::Int || ids.iter().any(|&id| self.may_fail(id)) {
            return Err(error);
        }
        let n = ids.len() as i64;
        let outside = |i: i64| ExprError::new(format!("index {i} of {n} values"), span);
        if let Some(i) = self.graph.value(at) {
            let i = i as i64;
            let from_start = if i < 0 { i + n } else { i };
            return usize::try_from(from_start)
                .ok()
                .and_then(|i| ids.get(i).copied())
                .ok_or_else(|| outside(i));
        }
        let Some(&first) = ids.first() else {
            return Err(outside(0));
        };
        let kind = self.graph.node(first).kind;
        if ids.iter().any(|&id| self.graph.node(id).kind != kind) {
            return Err(error);
        }
        let mut all = self.graph.apply(Op::Unfit(Fault::Index), &[at], kind);
        for i in (-n..n).rev() {
            let own = ids[i.rem_euclid(n) as usize];
            let i = self.graph.int(i);
            let here = self.graph.apply(Op::Eq, &[at, i], Type::Int);
            all = self.graph.apply(Op::Select, &[here, own, all], kind);
        }
        Ok(all)
    }

    /// Whether two lists are equal, or in this order: the first elements that differ decide.
    pub(super) fn lists(&mut self, op: CompareOp, a: &List, b: &List, span: Span) -> Lowered {
        let error = ExprError::new(
            "lists are compared where all their elements have values, and are always there",
            span,
        );
        let plain = |l: &List| !l.set && l.items.iter().all(|i| i.when.is_none());
        if !plain(a) || !plain(b) {
            return Err(error);
        }
        for item in a.items.iter().chain(&b.items) {
            if let Ok(id) = self.value(&item.value)
                && self.may_fail(id)
            {
                return Err(error);
            }
        }
        let (na, nb) = (a.items.len(), b.items.len());
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        if equality && na != nb {
            return Ok(self.graph.int(i64::from(op == CompareOp::Ne)));
        }
        let last = match op {
            CompareOp::Eq => true,
            CompareOp::Ne => false,
            CompareOp::Lt => na < nb,
            CompareOp::Le => na <= nb,
            CompareOp::Gt => na > nb,
            _ => na >= nb,
        };
        let mut all = self.graph.int(i64::from(last));
        for (a, b) in a.items.iter().zip(&b.items).rev() {
            let equal = self.pair(CompareOp::Eq, &a.value, None, &b.value)?.0;
            all = match op {
                CompareOp::Eq => self.graph.apply(Op::And, &[equal, all], Type::Int),
                CompareOp::Ne => {
                    let differ = self.not(equal);
                    self.graph.apply(Op::Or, &[differ, all], Type::Int)
                }
                _ => {
                    let here = self.pair(op, &a.value, None, &b.value)?.0;
                    self.graph.apply(Op::Select, &[equal, all, here], Type::Int)
                }
            };
        }
        Ok(all)
    }

    /// `len({a, b, c}) == 3`: that all differ, compared pair by pair so that each pair is decided early.
    pub(super) fn all_differ(&mut self, length: &Expr, n: &Expr) -> Option<Id> {
        let (ExprKind::Call(name, args), ExprKind::Literal(n)) = (&length.kind, &n.kind) else {
            return None;
        };
        let [of] = args.as_slice() else {
            return None;
        };
        if name != "len" {
            return None;
        }
        let list = self.list(of).filter(|l| l.set)?;
        let mut faults = false;
        for item in &list.items {
            let id = self.value(&item.value).ok()?;
            faults |= item.when.is_some() || self.may_fail(id);
        }
        if faults || n.as_int() != Some(list.items.len() as i64) {
            return None;
        }
        let mut all = self.graph.int(1);
        for (i, b) in list.items.iter().enumerate() {
            for a in &list.items[..i] {
                let differ = self.pair(CompareOp::Ne, &a.value, None, &b.value).ok()?.0;
                all = self.graph.apply(Op::And, &[all, differ], Type::Int);
            }
        }
        Some(all)
    }
}
