//! Runs compiled steps: for one point, or for many candidates of one level at once.

use crate::plan::graph::op::{Fault, Op};
use crate::plan::nest::compile::{SCALAR, Step, Test};

/// Values of the nodes of a nest at the current point.
pub struct Slots {
    pub words: Vec<u64>,
    /// Code of the fault of each node; 0 for none.
    pub faults: Vec<u8>,
}

impl Slots {
    /// One step for the current point.
    #[inline]
    pub fn step(&mut self, s: &Step) {
        let [a, b, c] = s.args.map(|i| i as usize);
        let w = &self.words;
        let i = s.slot as usize;
        if !s.may_fail {
            // A step that cannot fail has a result.
            self.words[i] = s.op.apply(w[a], w[b], w[c]).unwrap_or(0);
            return;
        }
        let f = &self.faults;
        match guarded(s.op, (w[a], f[a]), (w[b], f[b]), (w[c], f[c])) {
            Ok(v) => {
                self.words[i] = v;
                self.faults[i] = 0;
            }
            Err(code) => self.faults[i] = code,
        }
    }

    pub fn steps(&mut self, steps: &[Step]) {
        for s in steps {
            self.step(s);
        }
    }

    /// The truth of a test at the current point.
    ///
    /// # Errors
    /// The test has no value here.
    pub fn truth(&mut self, t: &Test) -> Result<bool, Fault> {
        self.steps(&t.steps);
        match Fault::of_code(self.faults[t.root as usize]) {
            Some(fault) if t.may_fail => Err(fault),
            _ => Ok(self.words[t.root as usize] != 0),
        }
    }
}

/// An operation on words that may be faulty, evaluated from left to right as Python does: what
/// is not looked at cannot fail.
#[inline]
fn guarded(op: Op, a: (u64, u8), b: (u64, u8), c: (u64, u8)) -> Result<u64, u8> {
    let ok = |(v, f): (u64, u8)| if f == 0 { Ok(v) } else { Err(f) };
    match op {
        Op::And => match ok(a)? {
            0 => Ok(0),
            _ => ok(b),
        },
        Op::Or => match ok(a)? {
            0 => ok(b),
            truth => Ok(truth),
        },
        Op::Select => ok(if ok(a)? != 0 { b } else { c }),
        _ => {
            let n = op.arity();
            let a = if n > 0 { ok(a)? } else { 0 };
            let b = if n > 1 { ok(b)? } else { 0 };
            op.apply(a, b, 0).map_err(|f| f as u8)
        }
    }
}

/// Candidates evaluated together.
const LANES: usize = 256;

/// Fewer candidates are evaluated one by one.
const FEW: usize = 4;

/// Candidates between two looks at whether to stop.
const LOOK: usize = LANES << 12;

/// Why a scan ended early.
pub enum Halt {
    Fault,
    Cancelled,
}

#[derive(Default)]
pub struct Scanner {
    columns: Vec<u64>,
    faults: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Operand<'a> {
    One(u64),
    Each(&'a [u64]),
}

impl Scanner {
    /// Keeps the candidates that pass; `slot` is the slot of the candidate's parameter.
    ///
    /// # Errors
    /// The test has no value for a candidate; the caller stopped it.
    pub fn filter(
        &mut self,
        t: &Test,
        slot: u32,
        slots: &mut Slots,
        candidates: &mut Vec<u64>,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Halt> {
        if t.column == SCALAR {
            let pass = match Fault::of_code(slots.faults[t.root as usize]) {
                Some(_) if t.may_fail => {
                    return if candidates.is_empty() {
                        Ok(())
                    } else {
                        Err(Halt::Fault)
                    };
                }
                _ => slots.words[t.root as usize] != 0,
            };
            if !pass {
                candidates.clear();
            }
            return Ok(());
        }
        if candidates.len() <= FEW {
            let mut kept = 0;
            for i in 0..candidates.len() {
                let x = candidates[i];
                slots.words[slot as usize] = x;
                if slots.truth(t).map_err(|_| Halt::Fault)? {
                    candidates[kept] = x;
                    kept += 1;
                }
            }
            candidates.truncate(kept);
            return Ok(());
        }
        self.columns
            .resize(self.columns.len().max(t.columns * LANES), 0);
        if t.may_fail {
            self.faults
                .resize(self.faults.len().max(t.columns * LANES), 0);
        }
        let (mut from, mut kept) = (0, 0);
        while from < candidates.len() {
            let n = LANES.min(candidates.len() - from);
            if t.candidates != SCALAR {
                let at = t.candidates as usize * LANES;
                self.columns[at..at + n].copy_from_slice(&candidates[from..from + n]);
                if t.may_fail {
                    self.faults[at..at + n].fill(0);
                }
            }
            for s in &t.steps {
                if t.may_fail {
                    self.guarded_column(s, slots, n);
                } else {
                    self.column(s, slots, n);
                }
            }
            let root = t.column as usize * LANES;
            for i in 0..n {
                if t.may_fail && self.faults[root + i] != 0 {
                    return Err(Halt::Fault);
                }
                candidates[kept] = candidates[from + i];
                kept += usize::from(self.columns[root + i] != 0);
            }
            from += n;
            if from.is_multiple_of(LOOK) && cancelled() {
                return Err(Halt::Cancelled);
            }
        }
        candidates.truncate(kept);
        Ok(())
    }

    /// A step of a test in which something may fail.
    fn guarded_column(&mut self, s: &Step, slots: &Slots, n: usize) {
        let out = s.column as usize * LANES;
        for i in 0..n {
            let get = |k: usize| match s.arg_columns[k] {
                SCALAR => {
                    let a = s.args[k] as usize;
                    (slots.words[a], slots.faults[a])
                }
                c => {
                    let at = c as usize * LANES + i;
                    (self.columns[at], self.faults[at])
                }
            };
            let r = guarded(s.op, get(0), get(1), get(2));
            match r {
                Ok(v) => {
                    self.columns[out + i] = v;
                    self.faults[out + i] = 0;
                }
                Err(code) => self.faults[out + i] = code,
            }
        }
    }

    fn column(&mut self, s: &Step, slots: &Slots, n: usize) {
        // Operands were created earlier: their columns lie before.
        let (before, rest) = self.columns.split_at_mut(s.column as usize * LANES);
        let out = &mut rest[..n];
        let get = |k: usize| match s.arg_columns[k] {
            SCALAR => Operand::One(slots.words[s.args[k] as usize]),
            c => Operand::Each(&before[c as usize * LANES..c as usize * LANES + n]),
        };
        let (a, b) = (get(0), get(1));
        let truth = u64::from;
        match s.op {
            Op::IntAdd => each(out, a, b, u64::wrapping_add),
            Op::IntSub => each(out, a, b, u64::wrapping_sub),
            Op::IntMul => each(out, a, b, u64::wrapping_mul),
            Op::IntMod => each(out, a, b, fast_mod),
            Op::IntDiv => each(out, a, b, fast_div),
            Op::Eq => each(out, a, b, |a, b| truth(a == b)),
            Op::Ne => each(out, a, b, |a, b| truth(a != b)),
            Op::Lt => each(out, a, b, |a, b| truth((a as i64) < b as i64)),
            Op::Le => each(out, a, b, |a, b| truth(a as i64 <= b as i64)),
            Op::And => each(out, a, b, |a, b| a & b),
            Op::Or => each(out, a, b, |a, b| a | b),
            Op::Not => each(out, a, a, |a, _| a ^ 1),
            op => {
                let c = get(2);
                let at = |o: Operand, i: usize| match o {
                    Operand::One(v) => v,
                    Operand::Each(v) => v[i],
                };
                for (i, o) in out.iter_mut().enumerate() {
                    *o = op.apply(at(a, i), at(b, i), at(c, i)).unwrap_or(0);
                }
            }
        }
    }
}

#[inline(always)]
fn each(out: &mut [u64], a: Operand, b: Operand, f: impl Fn(u64, u64) -> u64) {
    match (a, b) {
        (Operand::Each(a), Operand::Each(b)) => {
            for ((o, &a), &b) in out.iter_mut().zip(a).zip(b) {
                *o = f(a, b);
            }
        }
        (Operand::Each(a), Operand::One(b)) => {
            for (o, &a) in out.iter_mut().zip(a) {
                *o = f(a, b);
            }
        }
        (Operand::One(a), Operand::Each(b)) => {
            for (o, &b) in out.iter_mut().zip(b) {
                *o = f(a, b);
            }
        }
        (Operand::One(a), Operand::One(b)) => out.fill(f(a, b)),
    }
}

/// Sizes fit 32 bits nearly always, where the division is several times faster.
#[inline(always)]
fn fast_mod(a: u64, b: u64) -> u64 {
    if (a | b) >> 32 == 0 && b != 0 {
        return u64::from(a as u32 % b as u32);
    }
    Op::IntMod.apply(a, b, 0).unwrap_or(0)
}

#[inline(always)]
fn fast_div(a: u64, b: u64) -> u64 {
    if (a | b) >> 32 == 0 && b != 0 {
        return u64::from(a as u32 / b as u32);
    }
    Op::IntDiv.apply(a, b, 0).unwrap_or(0)
}
