//! Evaluates the expressions of a function.

use super::error::{At, MAX_SIZE, Run};
use super::read::tree::{Kind, Loop, Node};
use super::run::Call;
use super::values::item::Item;
use crate::expr::Form;

impl Call<'_> {
    pub fn eval(&mut self, e: &Node) -> Run<Item> {
        match &e.kind {
            Kind::Constant(v) => Ok(*v),
            Kind::Slot(slot) => self.local(*slot, e.at),
            Kind::Binary(op, both) => {
                let (a, b) = (self.eval(&both.0)?, self.eval(&both.1)?);
                self.heap.binary(*op, a, b).at(e.at)
            }
            Kind::Compare(first, rest) => {
                let mut left = self.eval(first)?;
                for (op, right) in rest {
                    let right = self.eval(right)?;
                    if !self.heap.compare(*op, left, right).at(e.at)? {
                        return Ok(Item::Bool(false));
                    }
                    left = right;
                }
                Ok(Item::Bool(true))
            }
            Kind::Index(both) => {
                let (of, index) = (self.eval(&both.0)?, self.eval(&both.1)?);
                self.heap.element(of, index).at(e.at)
            }
            Kind::Unary(op, a) => {
                let a = self.eval(a)?;
                self.heap.unary(*op, a).at(e.at)
            }
            Kind::All(items) => self.first_that(items, false),
            Kind::Any(items) => self.first_that(items, true),
            Kind::IfElse(parts) => {
                let [condition, then, otherwise] = &**parts;
                let chosen = if self.holds(condition)? {
                    then
                } else {
                    otherwise
                };
                self.eval(chosen)
            }
            _ => self.eval_more(e),
        }
    }

    /// The first value of this truth, or the last value.
    fn first_that(&mut self, items: &[Node], truth: bool) -> Run<Item> {
        let mut last = Item::Bool(!truth);
        for item in items {
            last = self.eval(item)?;
            if self.heap.truth(last) == truth {
                break;
            }
        }
        Ok(last)
    }

    pub fn all(&mut self, items: &[Node]) -> Run<Vec<Item>> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            out.push(self.eval(item)?);
        }
        Ok(out)
    }

    /// What is evaluated less often, so that the frame of [`Call::eval`] stays small.
    #[inline(never)]
    fn eval_more(&mut self, e: &Node) -> Run<Item> {
        match &e.kind {
            Kind::List(items) => {
                let items = self.all(items)?;
                self.heap.put_list(items).at(e.at)
            }
            Kind::Tuple(items) => {
                let items = self.all(items)?;
                self.heap.put_tuple(items).at(e.at)
            }
            Kind::Set(items) => {
                let items = self.all(items)?;
                self.heap.put_set(&items).at(e.at)
            }
            Kind::Dict(items) => {
                let mut pairs = Vec::with_capacity(items.len());
                for (key, value) in items {
                    pairs.push((self.eval(key)?, self.eval(value)?));
                }
                self.heap.put_pairs(&pairs).at(e.at)
            }
            Kind::Slice(both) => {
                let of = self.eval(&both.0)?;
                let mut bounds = [None; 3];
                for (bound, node) in bounds.iter_mut().zip(&both.1) {
                    *bound = node.as_ref().map(|n| self.eval(n)).transpose()?;
                }
                self.heap.slice(of, bounds).at(e.at)
            }
            Kind::Call(number, args) => {
                let args = self.all(args)?;
                self.function(*number, args, e.at)
            }
            Kind::Function(name @ ("any" | "all"), args)
                if matches!(args[0].kind, Kind::Comprehension(Form::Generator, ..)) =>
            {
                self.until(&args[0], *name == "any")
            }
            Kind::Function(name, args) => {
                let args = self.all(args)?;
                self.heap.function(name, &args).at(e.at)
            }
            Kind::Method(of, name, args) => {
                let of = self.eval(of)?;
                let args = self.all(args)?;
                self.heap.method(of, name, &args).at(e.at)
            }
            Kind::Comprehension(form, item, loops) => {
                let mut out = Vec::new();
                self.loops(loops, item, &mut |_, v| {
                    out.push(v);
                    out.len() <= MAX_SIZE
                })?;
                match form {
                    Form::Set => self.heap.put_set(&out).at(e.at),
                    Form::Dict => {
                        let pairs = self.heap.put_list(out).at(e.at)?;
                        self.heap.function("dict", &[pairs]).at(e.at)
                    }
                    _ => self.heap.put_list(out).at(e.at),
                }
            }
            _ => Ok(Item::None),
        }
    }

    /// `any` and `all` look at no element after the one that decides.
    fn until(&mut self, generator: &Node, stop: bool) -> Run<Item> {
        let mut found = false;
        if let Kind::Comprehension(_, item, loops) = &generator.kind {
            self.loops(loops, item, &mut |call, v| {
                found = call.heap.truth(v) == stop;
                !found
            })?;
        }
        Ok(Item::Bool(found == stop))
    }

    /// Calls `f` with each value until it returns false; whether there may be more.
    fn loops(
        &mut self,
        loops: &[Loop],
        item: &Node,
        f: &mut dyn FnMut(&mut Self, Item) -> bool,
    ) -> Run<bool> {
        let Some((first, inner)) = loops.split_first() else {
            let v = self.eval(item)?;
            return Ok(f(self, v));
        };
        let mut elements = self.elements(&first.source)?;
        'elements: while let Some(v) = elements.next(&mut self.heap, first.source.at)? {
            self.tick(first.steps, item.at)?;
            self.assign(&first.target, v)?;
            for condition in &first.conditions {
                if !self.holds(condition)? {
                    continue 'elements;
                }
            }
            if !self.loops(inner, item, f)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
