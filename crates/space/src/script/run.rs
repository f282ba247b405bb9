//! Runs the statements of a function.

use super::error::{At, CALL_STEPS, Cause, Done, MAX_CALLS, MAX_SIZE, Run};
use super::read::parse::Program;
use super::read::tree::{Block, Do, Kind, Node, Statement, Target};
use super::values::item::{Heap, Item};
use crate::expr::BinaryOp;
use std::sync::atomic::{AtomicU64, Ordering};

/// Levels that the evaluation of all calls together recurses at most.
const MAX_LEVELS: usize = 1500;
/// Steps that are taken from the budget of all calls at once.
const PORTION: u64 = 1 << 14;

/// Steps that are left for all calls together.
pub(super) struct Budget(AtomicU64);

impl Budget {
    pub fn new(steps: u64) -> Self {
        Self(AtomicU64::new(steps))
    }

    /// Takes so many steps, or what is left of them.
    fn take(&self, steps: u64) -> u64 {
        let less = |left: u64| Some(left.saturating_sub(steps));
        let before = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        before.unwrap_or_default().min(steps)
    }

    fn give_back(&self, steps: u64) {
        self.0.fetch_add(steps, Ordering::Relaxed);
    }
}

/// How a statement ends.
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(Item),
}

/// One call from outside, with all that it calls.
pub(super) struct Call<'a> {
    program: &'a Program,
    budget: &'a Budget,
    /// Steps left of the portion.
    left: u64,
    taken: u64,
    pub heap: Heap<'a>,
    /// The slots of all functions that run; those of the innermost begin at `base`.
    pub slots: Vec<Item>,
    pub base: usize,
    /// Values of `yield`, of each generator that runs.
    yields: Vec<Vec<Item>>,
    calls: usize,
    levels: usize,
    /// The function that runs.
    running: usize,
    /// Where the function that ended last did so.
    pub ended: usize,
}

impl<'a> Call<'a> {
    pub fn new(program: &'a Program, budget: &'a Budget) -> Self {
        Self {
            program,
            budget,
            left: 0,
            taken: 0,
            heap: Heap::new(&program.texts, &program.tuples),
            slots: Vec::new(),
            base: 0,
            yields: Vec::new(),
            calls: 0,
            levels: 0,
            running: 0,
            ended: 0,
        }
    }

    /// Counts steps.
    #[inline]
    pub fn tick(&mut self, steps: u64, at: usize) -> Run<()> {
        let steps = steps + self.heap.owed;
        self.heap.owed = 0;
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.refill(steps).at(at),
        }
    }

    #[cold]
    fn refill(&mut self, steps: u64) -> Done<()> {
        while self.left < steps {
            let portion = self.budget.take(PORTION.max(steps));
            if portion == 0 {
                return Err(Cause::TotalSteps);
            }
            self.left += portion;
            self.taken += portion;
        }
        self.left -= steps;
        if self.taken - self.left > CALL_STEPS {
            return Err(Cause::CallSteps);
        }
        Ok(())
    }

    /// Calls a function with as many values as it takes.
    pub fn function(&mut self, number: usize, args: Vec<Item>, at: usize) -> Run<Item> {
        let f = &self.program.functions[number];
        self.calls += 1;
        self.levels += f.height;
        if self.calls > MAX_CALLS || self.levels > MAX_LEVELS {
            return Err(Cause::Calls).at(at);
        }
        self.tick(2, at)?;
        let (base, top, caller) = (self.base, self.slots.len(), self.running);
        self.base = top;
        self.running = number;
        let missing = f.parameters - args.len();
        self.slots.extend(args);
        self.slots.extend(&f.defaults[f.defaults.len() - missing..]);
        self.slots.resize(top + f.slots.len(), Item::Unset);
        if f.generator {
            self.yields.push(Vec::new());
        }
        let flow = self.block(&f.body)?;
        self.slots.truncate(top);
        self.base = base;
        self.running = caller;
        self.calls -= 1;
        self.levels -= f.height;
        if f.generator || !matches!(flow, Flow::Return(_)) {
            self.ended = f.at;
        }
        if f.generator {
            let values = self.yields.pop().unwrap_or_default();
            return self.heap.put_list(values).at(at);
        }
        Ok(match flow {
            Flow::Return(v) => v,
            _ => Item::None,
        })
    }

    fn block(&mut self, block: &Block) -> Run<Flow> {
        for statement in block {
            match self.statement(statement)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, s: &Statement) -> Run<Flow> {
        self.tick(s.steps, s.at)?;
        match &s.what {
            Do::Nothing => {}
            Do::Value(e) => {
                self.eval(e)?;
            }
            Do::Assign(targets, value) => self.assign_all(targets, value)?,
            Do::Update(target, op, value) => self.update(target, *op, value, s.at)?,
            Do::If(branches, otherwise) => {
                for (condition, block) in branches {
                    if self.holds(condition)? {
                        return self.block(block);
                    }
                }
                return self.block(otherwise);
            }
            Do::While(condition, body) => {
                while self.holds(condition)? {
                    match self.block(body)? {
                        Flow::Break => break,
                        Flow::Return(v) => return Ok(Flow::Return(v)),
                        Flow::Next | Flow::Continue => {}
                    }
                    self.tick(s.steps, s.at)?;
                }
            }
            Do::For(target, source, body) => {
                let mut elements = self.elements(source)?;
                while let Some(item) = elements.next(&mut self.heap, s.at)? {
                    self.tick(1, s.at)?;
                    self.assign(target, item)?;
                    match self.block(body)? {
                        Flow::Break => break,
                        Flow::Return(v) => return Ok(Flow::Return(v)),
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            Do::Break => return Ok(Flow::Break),
            Do::Continue => return Ok(Flow::Continue),
            Do::Return(e) => {
                let v = e.as_ref().map_or(Ok(Item::None), |e| self.eval(e))?;
                self.ended = s.at;
                return Ok(Flow::Return(v));
            }
            Do::Yield(e) => {
                let v = self.eval(e)?;
                if let Some(values) = self.yields.last_mut() {
                    if values.len() >= MAX_SIZE {
                        return Err(Cause::LongList).at(s.at);
                    }
                    values.push(v);
                }
            }
        }
        Ok(Flow::Next)
    }

    #[inline]
    pub fn holds(&mut self, e: &Node) -> Run<bool> {
        let v = self.eval(e)?;
        Ok(self.heap.truth(v))
    }

    fn assign_all(&mut self, targets: &[Target], value: &Node) -> Run<()> {
        if let ([Target::Unpack(parts, _)], Kind::Tuple(items)) = (targets, &value.kind)
            && parts.len() == items.len()
        {
            // `a, b = b, a` makes no tuple: the values wait above the slots.
            let top = self.slots.len();
            for item in items {
                let v = self.eval(item)?;
                self.slots.push(v);
            }
            for (i, part) in parts.iter().enumerate() {
                let v = self.slots[top + i];
                self.assign(part, v)?;
            }
            self.slots.truncate(top);
            return Ok(());
        }
        let v = self.eval(value)?;
        targets.iter().try_for_each(|t| self.assign(t, v))
    }

    #[inline]
    pub fn assign(&mut self, target: &Target, value: Item) -> Run<()> {
        match target {
            Target::Slot(slot) => {
                self.slots[self.base + slot] = value;
                Ok(())
            }
            Target::Element(of, index, at) => {
                let (of, index) = (self.eval(of)?, self.eval(index)?);
                self.heap.set_element(of, index, value).at(*at)
            }
            Target::Unpack(parts, at) => {
                let values = self.heap.elements(value).at(*at)?;
                if values.len() != parts.len() {
                    let (wanted, found) = (parts.len(), values.len());
                    return Err(Cause::Unpack { wanted, found }).at(*at);
                }
                let mut pairs = parts.iter().zip(values);
                pairs.try_for_each(|(part, v)| self.assign(part, v))
            }
        }
    }

    fn update(&mut self, target: &Target, op: BinaryOp, value: &Node, at: usize) -> Run<()> {
        match target {
            Target::Slot(slot) => {
                let old = self.local(*slot, at)?;
                let v = self.eval(value)?;
                self.slots[self.base + slot] = self.updated(op, old, v).at(at)?;
            }
            Target::Element(of, index, at) => {
                let (of, index) = (self.eval(of)?, self.eval(index)?);
                let old = self.heap.element(of, index).at(*at)?;
                let v = self.eval(value)?;
                let new = self.updated(op, old, v).at(*at)?;
                self.heap.set_element(of, index, new).at(*at)?;
            }
            Target::Unpack(..) => {}
        }
        Ok(())
    }

    /// Lists and sets change in place, as in Python.
    fn updated(&mut self, op: BinaryOp, old: Item, v: Item) -> Done<Item> {
        match (op, old) {
            (BinaryOp::Add, Item::List(id)) => {
                let items = self.heap.elements(v)?;
                self.heap.extend(id as usize, items)?;
                Ok(old)
            }
            _ => {
                let new = self.heap.binary(op, old, v)?;
                Ok(self.heap.put_into(old, new))
            }
        }
    }

    #[inline]
    pub fn local(&mut self, slot: usize, at: usize) -> Run<Item> {
        match self.slots[self.base + slot] {
            Item::Unset => Err(Cause::Unset(self.name(slot))).at(at),
            v => Ok(v),
        }
    }

    #[cold]
    fn name(&self, slot: usize) -> String {
        let name = &self.program.functions[self.running].slots[slot];
        name.trim_end().to_owned()
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.budget.give_back(self.left);
    }
}
