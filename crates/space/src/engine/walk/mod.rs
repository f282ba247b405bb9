//! Moves through a nest: the state of one worker, and a plain walk over all points.

mod domain;
mod memo;
pub(super) mod parallel;
pub(super) mod recall;
mod scan;

use self::domain::{Candidates, DomainFault};
use self::scan::{Halt, Scanner, Slots};
use super::Stop;
use crate::error::SpaceError;
use crate::plan::Space;
use crate::plan::graph::op::{Fault, Op};
use crate::plan::nest::compile::Nest;
use crate::value::Value;

/// Before a scan of more candidates than this, the caller is asked whether to stop.
const LONG: usize = 1 << 16;

/// Position of one worker in a nest.
pub struct Walker<'a> {
    pub nest: &'a Nest<'a>,
    pub slots: Slots,
    pub candidates: Candidates,
    scanner: Scanner,
    skip: Vec<bool>,
    /// Whether a candidate without a value of a test passes it: while only looking whether a point is there.
    faults_pass: bool,
    /// Candidates looked at so far, for budgets.
    pub looked: u64,
    /// Asked now and then while looking whether a point is there.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    asked: u64,
}

impl<'a> Walker<'a> {
    pub fn new(nest: &'a Nest<'a>) -> Self {
        let g = &nest.space.graph;
        let mut slots = Slots {
            words: vec![0; nest.slots.max(1)],
            faults: vec![0; nest.slots.max(1)],
        };
        for (i, n) in g.nodes.iter().enumerate() {
            if let Op::Const(v) = n.op {
                slots.words[i] = v;
            }
        }
        slots.steps(&nest.prologue);
        Self {
            nest,
            slots,
            candidates: Candidates::default(),
            scanner: Scanner::default(),
            skip: Vec::new(),
            faults_pass: false,
            looked: 0,
            cancelled: &|| false,
            asked: 0,
        }
    }

    /// Whether the tests of constants hold: if not, the space is empty. One without a value is an error only where
    /// the space has a point, all else passing.
    pub fn constants_hold(&mut self) -> Result<bool, Stop> {
        let mut fault = None;
        for t in &self.nest.constant_tests {
            match self.slots.truth(t) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(_) if self.nest.faults_reject => return Ok(false),
                Err(f) => {
                    fault.get_or_insert((t.filter, f));
                }
            }
        }
        let Some((filter, f)) = fault else {
            return Ok(true);
        };
        if self.have_points(&self.nest.tree.roots)? {
            Err(self.fault(filter, f, 0).into())
        } else {
            Ok(false)
        }
    }

    /// The values of level `k` that pass its tests at the current prefix.
    pub fn survivors(&mut self, k: usize, out: &mut Vec<u64>) -> Result<(), Stop> {
        self.fill(k, out, None)?;
        self.pass(k, out, None)
    }

    /// As [`Walker::survivors`], of candidates drawn at random where they are many. Returns how many each stands for.
    pub fn drawn_survivors(
        &mut self,
        k: usize,
        out: &mut Vec<u64>,
        rng: &mut fastrand::Rng,
    ) -> Result<f64, Stop> {
        let each = self.fill(k, out, Some(rng))?;
        let drawn = (each != 1.0).then(|| out.clone());
        self.pass(k, out, drawn)?;
        Ok(each)
    }

    fn fill(
        &mut self,
        k: usize,
        out: &mut Vec<u64>,
        draw: Option<&mut fastrand::Rng>,
    ) -> Result<f64, Stop> {
        let nest = self.nest;
        let level = &nest.levels[k];
        self.candidates
            .fill(
                nest.space,
                k,
                level,
                &mut self.slots,
                (out, &mut self.skip),
                draw,
            )
            .map_err(|f| self.no_candidates(k, f))
    }

    /// Keeps the candidates that pass the tests of level `k`; `drawn` are all of them, where they are not all there are.
    fn pass(&mut self, k: usize, out: &mut Vec<u64>, drawn: Option<Vec<u64>>) -> Result<(), Stop> {
        let level = &self.nest.levels[k];
        self.looked += out.len() as u64 + 1;
        for (t, test) in level.tests.iter().enumerate() {
            if self.skip[t] || out.is_empty() {
                continue;
            }
            if out.len() > LONG && (self.cancelled)() {
                return Err(Stop::Cancelled);
            }
            let done = self
                .scanner
                .filter(test, level.slot, &mut self.slots, out, self.cancelled);
            match done {
                Ok(()) => {}
                Err(Halt::Cancelled) => return Err(Stop::Cancelled),
                Err(Halt::Fault) => return self.survivors_with_faults(k, t, out, drawn),
            }
        }
        Ok(())
    }

    /// The rest of [`Walker::survivors`] when test `from` has no value for some candidate: that is
    /// an error only where the candidate would lead to a point, all else passing.
    fn survivors_with_faults(
        &mut self,
        k: usize,
        from: usize,
        out: &mut Vec<u64>,
        drawn: Option<Vec<u64>>,
    ) -> Result<(), Stop> {
        let nest = self.nest;
        let level = &nest.levels[k];
        let skip = self.skip.clone();
        // The scan that failed had moved what it kept to the front.
        match drawn {
            Some(drawn) => *out = drawn,
            None => {
                self.fill(k, out, None)?;
            }
        }
        let candidates = std::mem::take(out);
        'candidates: for x in candidates {
            let mut fault = None;
            for (t, test) in level.tests.iter().enumerate() {
                if skip[t] && t >= from {
                    continue;
                }
                self.slots.words[level.slot as usize] = x;
                match self.slots.truth(test) {
                    Ok(true) => {}
                    Ok(false) => continue 'candidates,
                    Err(f) => {
                        fault.get_or_insert((test.filter, f));
                    }
                }
            }
            if fault.is_some() && nest.faults_reject {
                continue;
            }
            self.enter(k, x);
            if let Some((filter, f)) = fault.filter(|_| !self.faults_pass) {
                if self.leads_to_a_point(k)? {
                    self.enter(k, x);
                    return Err(self.fault(filter, f, k + 1).into());
                }
            } else {
                out.push(x);
            }
        }
        Ok(())
    }

    /// Whether a point lies below the values chosen at level `k` and above it.
    fn leads_to_a_point(&mut self, k: usize) -> Result<bool, Stop> {
        let tree = &self.nest.tree;
        // Groups that hang on the way to `k`, and those below it.
        let mut heads: &[usize] = &tree.roots;
        let mut siblings = Vec::new();
        while let Some(&on_way) = heads.iter().find(|&&h| tree.group[h][k]) {
            siblings.extend(heads.iter().copied().filter(|&h| h != on_way));
            heads = &tree.children[on_way];
            if on_way == k {
                break;
            }
        }
        siblings.extend_from_slice(heads);
        self.have_points(&siblings)
    }

    /// Whether each of these groups of levels has a point here, also one at which a test has no value.
    fn have_points(&mut self, heads: &[usize]) -> Result<bool, Stop> {
        let before = std::mem::replace(&mut self.faults_pass, true);
        let mut all = Ok(true);
        for &h in heads {
            all = self.has_point(h);
            if all != Ok(true) {
                break;
            }
        }
        self.faults_pass = before;
        all
    }

    /// Whether the group of levels headed by `k` has a point here.
    fn has_point(&mut self, k: usize) -> Result<bool, Stop> {
        if self.looked > self.asked {
            self.asked = self.looked + 100_000;
            if (self.cancelled)() {
                return Err(Stop::Cancelled);
            }
        }
        let mut values = Vec::new();
        self.survivors(k, &mut values)?;
        'values: for v in values {
            self.enter(k, v);
            for &child in &self.nest.tree.children[k] {
                if !self.has_point(child)? {
                    continue 'values;
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Chooses a value at level `k`.
    #[inline]
    pub fn enter(&mut self, k: usize, value: u64) {
        let level = &self.nest.levels[k];
        self.slots.words[level.slot as usize] = value;
        self.slots.steps(&level.enter);
    }

    fn position(&self, depth: usize) -> String {
        let s = self.nest.space;
        (0..depth)
            .map(|k| {
                let p = s.levels[k];
                let bits = self.slots.words[self.nest.levels[k].slot as usize];
                format!("{} = {}", s.params[p].name, s.decode(p, bits))
            })
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn fault(&self, filter: usize, fault: Fault, depth: usize) -> SpaceError {
        let f = &self.nest.space.filters[filter];
        let mut message = format!(
            "filter `{}` cannot be decided: {} in `{}`",
            f.name,
            fault.describe(),
            f.expression
        );
        let position = self.position(depth);
        if !position.is_empty() {
            message.push_str(&format!(" at {position}"));
        }
        let mut e = SpaceError::new(message);
        if fault == Fault::DivisionByZero {
            e = e.hint("guard it: `d != 0 and n % d == 0`");
        }
        e
    }

    fn no_candidates(&self, k: usize, f: DomainFault) -> Stop {
        let s = self.nest.space;
        let name = &s.params[s.levels[k]].name;
        let what = match f {
            DomainFault::ZeroStep => "the step of its range is 0".to_owned(),
            DomainFault::TooMany => "its range has more than 9.2e18 values".to_owned(),
            DomainFault::Memory => return Stop::Memory,
            DomainFault::NoValue(why) => why.to_owned(),
            DomainFault::Script(why) => why,
        };
        let position = self.position(k);
        Stop::Fault(SpaceError::new(if position.is_empty() {
            format!("parameter `{name}`: {what}")
        } else {
            format!("parameter `{name}`: {what} at {position}")
        }))
    }
}

/// Calls `f` with every point, parameters in declared order; it returns whether to go on. Holds
/// one point at a time.
///
/// # Errors
/// A fault of the space.
pub fn visit(space: &Space, f: &mut dyn FnMut(&[Value]) -> bool) -> Result<(), SpaceError> {
    let nest = Nest::new(space, |_| true);
    let mut w = Walker::new(&nest);
    let mut point: Vec<Value> = space
        .params
        .iter()
        .map(|p| match &p.list {
            Some(l) if !l.is_empty() => l[0].1.clone(),
            _ => Value::Int(0),
        })
        .collect();
    let mut run = |w: &mut Walker| -> Result<(), Stop> {
        if w.constants_hold()? {
            descend(w, 0, &mut point, f)?;
        }
        Ok(())
    };
    match run(&mut w) {
        Err(Stop::Fault(e)) => Err(e),
        Err(Stop::Memory) => Err(SpaceError::new(
            "a parameter has more values than can be looked at one by one",
        )),
        Ok(()) | Err(Stop::Cancelled) => Ok(()),
    }
}

fn descend(
    w: &mut Walker,
    k: usize,
    point: &mut [Value],
    f: &mut dyn FnMut(&[Value]) -> bool,
) -> Result<(), Stop> {
    let space = w.nest.space;
    if k == space.levels.len() {
        return if f(point) {
            Ok(())
        } else {
            Err(Stop::Cancelled)
        };
    }
    let mut values = Vec::new();
    w.survivors(k, &mut values)?;
    let p = space.levels[k];
    for v in values {
        w.enter(k, v);
        point[p] = space.decode(p, v);
        descend(w, k + 1, point, f)?;
    }
    Ok(())
}
