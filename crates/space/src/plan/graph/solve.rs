//! What a filter says about the value of the innermost parameter before any value is tried: its
//! truth rises or falls with it, or the value must divide something.

use crate::plan::graph::op::{Op, Type};
use crate::plan::graph::{Graph, Id};
use hashbrown::{HashMap, HashSet};

/// How a node changes when the parameter of a level grows, all else fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    Fixed,
    Up,
    Down,
    Unknown,
}

impl Trend {
    fn flipped(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
            other => other,
        }
    }

    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fixed, t) | (t, Self::Fixed) => t,
            (a, b) if a == b => a,
            _ => Self::Unknown,
        }
    }
}

/// The trend of a node in the parameter of `level`.
pub fn trend(g: &Graph, id: Id, level: i32) -> Trend {
    known_trend(g, id, level, &mut HashMap::new())
}

/// As [`trend`], each node once: nodes are shared.
fn known_trend(g: &Graph, id: Id, level: i32, known: &mut HashMap<Id, Trend>) -> Trend {
    if let Some(&t) = known.get(&id) {
        return t;
    }
    let t = own_trend(g, id, level, &mut |below| {
        known_trend(g, below, level, known)
    });
    known.insert(id, t);
    t
}

fn own_trend(g: &Graph, id: Id, level: i32, t: &mut dyn FnMut(Id) -> Trend) -> Trend {
    let n = g.node(id);
    if n.level < level {
        return Trend::Fixed;
    }
    let [a, b, _] = n.args;
    let (ba, bb) = (g.node(a).bounds, g.node(b).bounds);
    match n.op {
        Op::Param(l) if l as i32 == level => Trend::Up,
        Op::IntAdd | Op::FloatAdd | Op::IntMin | Op::IntMax | Op::FloatMin | Op::FloatMax => {
            t(a).with(t(b))
        }
        Op::IntSub | Op::FloatSub => t(a).with(t(b).flipped()),
        Op::IntNeg | Op::FloatNeg => t(a).flipped(),
        Op::And | Op::Or => t(a).with(t(b)),
        Op::Not => t(a).flipped(),
        Op::ToFloat | Op::Exact | Op::Truncate | Op::Floor | Op::Ceil | Op::Round => t(a),
        Op::FloatSqrt | Op::FloatLog2 | Op::FloatLog | Op::FloatExp => t(a),
        Op::IntMul => product(
            t(a),
            t(b),
            sign(ba.lo >= 0, ba.hi <= 0),
            sign(bb.lo >= 0, bb.hi <= 0),
        ),
        Op::FloatMul => product(
            t(a),
            t(b),
            sign(ba.f_lo >= 0.0, ba.f_hi <= 0.0),
            sign(bb.f_lo >= 0.0, bb.f_hi <= 0.0),
        ),
        // Non-negative over positive: rises with the first, falls with the second.
        Op::IntDiv if bb.lo >= 1 && (ba.lo >= 0 || t(b) == Trend::Fixed) => {
            t(a).with(t(b).flipped())
        }
        Op::FloatDiv | Op::IntQuotient
            if bb.f_lo > 0.0 && (ba.f_lo >= 0.0 || t(b) == Trend::Fixed) =>
        {
            t(a).with(t(b).flipped())
        }
        Op::Lt | Op::Le if g.node(a).kind != Type::Symbol => t(b).with(t(a).flipped()),
        Op::FloatLt
        | Op::FloatLe
        | Op::IntFloatLt
        | Op::IntFloatLe
        | Op::FloatIntLt
        | Op::FloatIntLe => t(b).with(t(a).flipped()),
        _ => Trend::Unknown,
    }
}

/// 1 for never negative, -1 for never positive, 0 for neither known.
fn sign(never_negative: bool, never_positive: bool) -> i8 {
    i8::from(never_negative) - i8::from(never_positive && !never_negative)
}

fn product(ta: Trend, tb: Trend, sa: i8, sb: i8) -> Trend {
    let scaled = |t: Trend, by: i8| match (t, by) {
        (Trend::Fixed, _) => Trend::Fixed,
        (t, 1) => t,
        (t, -1) => t.flipped(),
        _ => Trend::Unknown,
    };
    scaled(ta, sb).with(scaled(tb, sa))
}

/// A node whose value the parameter of `level` must divide for `root` to hold, and whether it is a
/// float. The filter itself may be decidable only deeper: `A % (x * y) == 0` and `x * y == A` say
/// that `x` divides `A` whatever `y` is.
pub fn divided(g: &Graph, root: Id, level: i32) -> Option<(Id, bool)> {
    let n = g.node(root);
    if !matches!(n.op, Op::Eq | Op::FloatEq) {
        return None;
    }
    let [a, b, _] = n.args;
    // 0 and 0.0 are the same word.
    for (modulo, zero) in [(a, b), (b, a)] {
        let m = g.node(modulo);
        if g.value(zero) == Some(0) && matches!(m.op, Op::IntMod | Op::FloatMod) {
            let [of, by, _] = m.args;
            return (g.node(of).level < level && has_factor(g, by, level, &mut HashSet::new()))
                .then_some((of, m.op == Op::FloatMod));
        }
    }
    [(a, b), (b, a)].into_iter().find_map(|(product, of)| {
        (n.op == Op::Eq
            && g.node(product).op == Op::IntMul
            && g.node(of).level < level
            && g.node(of).kind == Type::Int
            && has_factor(g, product, level, &mut HashSet::new()))
        .then_some((of, false))
    })
}

/// Whether a node is the parameter of `level`, or that times integers; `seen` are nodes that are neither.
fn has_factor(g: &Graph, id: Id, level: i32, seen: &mut HashSet<Id>) -> bool {
    if !seen.insert(id) {
        return false;
    }
    let n = g.node(id);
    let [a, b, _] = n.args;
    match n.op {
        Op::Param(l) => l as i32 == level && n.kind == Type::Int && n.bounds.lo >= 1,
        Op::ToFloat => has_factor(g, a, level, seen),
        Op::IntMul => {
            n.level >= level && (has_factor(g, a, level, seen) || has_factor(g, b, level, seen))
        }
        _ => false,
    }
}
