//! Operations of compiled expressions, on 64-bit words: integers, floats or symbols.

use crate::expr::{EXACT, OperatorError};
use crate::expr::{
    float_floor_div, float_mod, float_pow, gcd, int_floor_div, int_mod, int_pow, int_quotient,
    int_shl, int_shr,
};
use crate::value::int_to_float;
use std::cmp::Ordering;

/// What a word holds. Booleans are integers 0 and 1, as in Python; strings are symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Int,
    Float,
    Symbol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Const(u64),
    /// The parameter chosen at this level of the nest.
    Param(u32),
    IntAdd,
    IntSub,
    IntMul,
    IntDiv,
    IntMod,
    IntPow,
    IntShl,
    IntShr,
    IntAnd,
    IntOr,
    IntXor,
    IntNot,
    IntNeg,
    IntAbs,
    IntMin,
    IntMax,
    IntGcd,
    /// True division of integers of which not all are floats.
    IntQuotient,
    FloatAdd,
    FloatSub,
    FloatMul,
    FloatDiv,
    FloatFloorDiv,
    FloatMod,
    FloatPow,
    FloatNeg,
    FloatAbs,
    FloatMin,
    FloatMax,
    FloatSqrt,
    FloatLog2,
    FloatLog,
    FloatExp,
    ToFloat,
    /// As `ToFloat`, where the integer is a float.
    Exact,
    Truncate,
    Floor,
    Ceil,
    Round,
    /// Integers and symbols.
    Eq,
    Ne,
    Lt,
    Le,
    FloatEq,
    FloatNe,
    FloatLt,
    FloatLe,
    /// An integer against a float, exactly.
    IntFloatEq,
    IntFloatNe,
    IntFloatLt,
    IntFloatLe,
    /// A float against an integer.
    FloatIntLt,
    FloatIntLe,
    And,
    Or,
    Not,
    /// Second if the first is true, else third.
    Select,
    /// No value for the operand.
    Unfit(Fault),
}

/// Why an operation has no value at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Fault {
    DivisionByZero = 1,
    Overflow = 2,
    Domain = 3,
    Kind = 4,
    Inexact = 5,
    FloatOverflow = 6,
    Index = 7,
}

impl Fault {
    pub fn of_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::DivisionByZero),
            2 => Some(Self::Overflow),
            3 => Some(Self::Domain),
            4 => Some(Self::Kind),
            5 => Some(Self::Inexact),
            6 => Some(Self::FloatOverflow),
            7 => Some(Self::Index),
            _ => None,
        }
    }

    pub fn describe(self) -> &'static str {
        match self {
            Self::DivisionByZero => "division by zero",
            Self::Overflow => "an integer does not fit 64 bits",
            Self::Domain => "a value is outside a function's domain",
            Self::Kind => "a value is of the wrong kind",
            Self::Inexact => "an integer beyond 2^53 stands where a float is chosen or compared",
            Self::FloatOverflow => "a float is too large",
            Self::Index => "an index is outside its list",
        }
    }
}

impl Op {
    pub fn arity(self) -> usize {
        match self {
            Self::Const(_) | Self::Param(_) => 0,
            Self::IntNot
            | Self::IntNeg
            | Self::IntAbs
            | Self::FloatNeg
            | Self::FloatAbs
            | Self::FloatSqrt
            | Self::FloatLog2
            | Self::FloatLog
            | Self::FloatExp
            | Self::ToFloat
            | Self::Exact
            | Self::Truncate
            | Self::Floor
            | Self::Ceil
            | Self::Round
            | Self::Not
            | Self::Unfit(_) => 1,
            Self::Select => 3,
            _ => 2,
        }
    }

    /// The result for words `a`, `b`, `c`.
    ///
    /// # Errors
    /// The operation has no value for them.
    #[inline]
    pub fn apply(self, a: u64, b: u64, c: u64) -> Result<u64, Fault> {
        let (x, y) = (a as i64, b as i64);
        let (f, g) = (f64::from_bits(a), f64::from_bits(b));
        let int = |r: Option<i64>| r.map(|i| i as u64).ok_or(Fault::Overflow);
        let float = |f: f64| Ok(f.to_bits());
        let truth = |b: bool| Ok(u64::from(b));
        let whole = |f: f64| {
            if f.is_finite() && f.abs() < 9.2e18 {
                Ok(f as i64 as u64)
            } else {
                Err(Fault::Overflow)
            }
        };
        match self {
            Self::Const(v) => Ok(v),
            Self::Param(_) => Ok(a),
            Self::IntAdd => int(x.checked_add(y)),
            Self::IntSub => int(x.checked_sub(y)),
            Self::IntMul => int(x.checked_mul(y)),
            Self::IntDiv | Self::IntMod if y == 0 => Err(Fault::DivisionByZero),
            Self::IntDiv => int(int_floor_div(x, y)),
            Self::IntMod => Ok(int_mod(x, y) as u64),
            Self::IntPow => int(int_pow(x, y)),
            Self::IntShl => int(int_shl(x, y)),
            Self::IntShr => int(int_shr(x, y)),
            Self::IntAnd => Ok(a & b),
            Self::IntOr => Ok(a | b),
            Self::IntXor => Ok(a ^ b),
            Self::IntNot => Ok(!a),
            Self::IntNeg => int(x.checked_neg()),
            Self::IntAbs => int(x.checked_abs()),
            Self::IntMin => Ok(x.min(y) as u64),
            Self::IntMax => Ok(x.max(y) as u64),
            Self::IntGcd => int(gcd(x, y)),
            Self::IntQuotient if y == 0 => Err(Fault::DivisionByZero),
            Self::IntQuotient => float(int_quotient(x, y)),
            Self::FloatAdd => float(f + g),
            Self::FloatSub => float(f - g),
            Self::FloatMul => float(f * g),
            Self::FloatDiv | Self::FloatFloorDiv | Self::FloatMod if g == 0.0 => {
                Err(Fault::DivisionByZero)
            }
            Self::FloatDiv => float(f / g),
            Self::FloatFloorDiv => float(float_floor_div(f, g)),
            Self::FloatMod => float(float_mod(f, g)),
            Self::FloatPow => match float_pow(f, g) {
                Ok(r) => float(r),
                Err(OperatorError::DivisionByZero) => Err(Fault::DivisionByZero),
                Err(OperatorError::FloatOverflow) => Err(Fault::FloatOverflow),
                Err(_) => Err(Fault::Domain),
            },
            Self::FloatNeg => float(-f),
            Self::FloatAbs => float(f.abs()),
            // The first of equals, as Python's min and max.
            Self::FloatMin => float(if g < f { g } else { f }),
            Self::FloatMax => float(if g > f { g } else { f }),
            Self::FloatSqrt if f < 0.0 => Err(Fault::Domain),
            Self::FloatSqrt => float(f.sqrt()),
            Self::FloatLog2 | Self::FloatLog if f <= 0.0 => Err(Fault::Domain),
            Self::FloatLog2 => float(f.log2()),
            Self::FloatLog => float(f.ln()),
            Self::FloatExp if f.is_finite() && f.exp().is_infinite() => Err(Fault::FloatOverflow),
            Self::FloatExp => float(f.exp()),
            Self::ToFloat => float(x as f64),
            Self::Exact => match int_to_float(x, x as f64) {
                Some(Ordering::Equal) => float(x as f64),
                _ => Err(Fault::Inexact),
            },
            Self::Truncate => whole(f.trunc()),
            Self::Floor => whole(f.floor()),
            Self::Ceil => whole(f.ceil()),
            Self::Round => whole(f.round_ties_even()),
            Self::Eq => truth(a == b),
            Self::Ne => truth(a != b),
            Self::Lt => truth(x < y),
            Self::Le => truth(x <= y),
            Self::FloatEq => truth(f == g),
            Self::FloatNe => truth(f != g),
            Self::FloatLt => truth(f < g),
            Self::FloatLe => truth(f <= g),
            Self::IntFloatEq => truth(int_to_float(x, g) == Some(Ordering::Equal)),
            Self::IntFloatNe => truth(int_to_float(x, g) != Some(Ordering::Equal)),
            Self::IntFloatLt => truth(int_to_float(x, g).is_some_and(Ordering::is_lt)),
            Self::IntFloatLe => truth(int_to_float(x, g).is_some_and(Ordering::is_le)),
            Self::FloatIntLt => truth(int_to_float(y, f).is_some_and(Ordering::is_gt)),
            Self::FloatIntLe => truth(int_to_float(y, f).is_some_and(Ordering::is_ge)),
            Self::And => Ok(a & b),
            Self::Or => Ok(a | b),
            Self::Not => Ok(a ^ 1),
            Self::Select => Ok(if a != 0 { b } else { c }),
            Self::Unfit(fault) => Err(fault),
        }
    }

    /// Whether the operation can fail for operands within these bounds.
    pub fn may_fail(self, a: Bounds, b: Bounds) -> bool {
        let out = |lo: i128, hi: i128| lo < i128::from(i64::MIN) || hi > i128::from(i64::MAX);
        match self {
            Self::IntAdd => out(a.lo() + b.lo(), a.hi() + b.hi()),
            Self::IntSub => out(a.lo() - b.hi(), a.hi() - b.lo()),
            Self::IntMul => {
                let (lo, hi) = products(a, b);
                out(lo, hi)
            }
            Self::IntDiv => b.holds_zero() || (a.lo == i64::MIN && b.lo <= -1 && b.hi >= -1),
            Self::IntMod | Self::IntQuotient => b.holds_zero(),
            Self::Exact => !a.fits_float(),
            Self::FloatExp => a.f_hi.is_nan() || a.f_hi >= 709.0,
            Self::FloatDiv | Self::FloatFloorDiv | Self::FloatMod => {
                !(b.f_lo > 0.0 || b.f_hi < 0.0)
            }
            Self::FloatSqrt => a.f_lo < 0.0,
            Self::FloatLog2 | Self::FloatLog => a.f_lo <= 0.0,
            Self::IntNeg | Self::IntAbs => a.lo == i64::MIN,
            Self::IntShr => b.lo < 0,
            Self::Truncate | Self::Floor | Self::Ceil | Self::Round => {
                a.f_lo <= -9e18 || a.f_hi >= 9e18
            }
            Self::IntPow | Self::IntShl | Self::IntGcd | Self::FloatPow | Self::Unfit(_) => true,
            _ => false,
        }
    }
}

/// Least and greatest value a word can have: as an integer and as a float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub lo: i64,
    pub hi: i64,
    pub f_lo: f64,
    pub f_hi: f64,
}

impl Bounds {
    pub const ANY: Self = Self {
        lo: i64::MIN,
        hi: i64::MAX,
        f_lo: f64::NEG_INFINITY,
        f_hi: f64::INFINITY,
    };

    pub fn ints(lo: i64, hi: i64) -> Self {
        Self {
            lo,
            hi,
            f_lo: lo as f64,
            f_hi: hi as f64,
        }
    }

    pub fn floats(lo: f64, hi: f64) -> Self {
        if lo.is_nan() || hi.is_nan() {
            return Self::ANY;
        }
        Self {
            f_lo: lo,
            f_hi: hi,
            ..Self::ANY
        }
    }

    fn lo(self) -> i128 {
        i128::from(self.lo)
    }

    fn hi(self) -> i128 {
        i128::from(self.hi)
    }

    /// Whether every integer within is a float.
    pub fn fits_float(self) -> bool {
        self.lo.unsigned_abs() <= EXACT && self.hi.unsigned_abs() <= EXACT
    }

    fn holds_zero(self) -> bool {
        self.lo <= 0 && self.hi >= 0
    }

    fn clamped(lo: i128, hi: i128) -> Self {
        let clamp = |v: i128| v.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        Self::ints(clamp(lo), clamp(hi))
    }
}

fn products(a: Bounds, b: Bounds) -> (i128, i128) {
    let p = [
        a.lo() * b.lo(),
        a.lo() * b.hi(),
        a.hi() * b.lo(),
        a.hi() * b.hi(),
    ];
    (
        p.into_iter().min().unwrap_or(0),
        p.into_iter().max().unwrap_or(0),
    )
}

/// Bounds of a result, where all went well.
pub fn bounds_of(op: Op, a: Bounds, b: Bounds, c: Bounds) -> Bounds {
    use Op as O;
    match op {
        O::Const(v) => Bounds {
            lo: v as i64,
            hi: v as i64,
            f_lo: f64::from_bits(v),
            f_hi: f64::from_bits(v),
        },
        O::IntAdd => Bounds::clamped(a.lo() + b.lo(), a.hi() + b.hi()),
        O::IntSub => Bounds::clamped(a.lo() - b.hi(), a.hi() - b.lo()),
        O::IntMul => {
            let (lo, hi) = products(a, b);
            Bounds::clamped(lo, hi)
        }
        O::IntDiv if b.lo >= 1 => {
            let q = |x: i64, y: i64| int_floor_div(x, y).unwrap_or(0);
            Bounds::ints(
                q(a.lo, b.lo).min(q(a.lo, b.hi)),
                q(a.hi, b.lo).max(q(a.hi, b.hi)),
            )
        }
        O::IntMod if b.lo >= 1 => Bounds::ints(
            0,
            if a.lo >= 0 {
                (b.hi - 1).min(a.hi)
            } else {
                b.hi - 1
            },
        ),
        O::IntNeg => Bounds::clamped(-a.hi(), -a.lo()),
        O::IntAbs => Bounds::clamped(
            if a.holds_zero() {
                0
            } else {
                a.lo().abs().min(a.hi().abs())
            },
            a.lo().abs().max(a.hi().abs()),
        ),
        O::IntMin => Bounds::ints(a.lo.min(b.lo), a.hi.min(b.hi)),
        O::IntMax => Bounds::ints(a.lo.max(b.lo), a.hi.max(b.hi)),
        O::IntGcd => Bounds::ints(0, i64::MAX),
        O::Eq
        | O::Ne
        | O::Lt
        | O::Le
        | O::FloatEq
        | O::FloatNe
        | O::FloatLt
        | O::FloatLe
        | O::IntFloatEq
        | O::IntFloatNe
        | O::IntFloatLt
        | O::IntFloatLe
        | O::FloatIntLt
        | O::FloatIntLe
        | O::And
        | O::Or
        | O::Not => Bounds::ints(0, 1),
        O::Select => Bounds {
            lo: b.lo.min(c.lo),
            hi: b.hi.max(c.hi),
            f_lo: b.f_lo.min(c.f_lo),
            f_hi: b.f_hi.max(c.f_hi),
        },
        O::ToFloat | O::Exact => Bounds::floats(a.lo as f64, a.hi as f64),
        O::FloatAdd => Bounds::floats(a.f_lo + b.f_lo, a.f_hi + b.f_hi),
        O::FloatSub => Bounds::floats(a.f_lo - b.f_hi, a.f_hi - b.f_lo),
        O::FloatMul if a.f_lo >= 0.0 && b.f_lo >= 0.0 => {
            Bounds::floats(a.f_lo * b.f_lo, a.f_hi * b.f_hi)
        }
        O::IntQuotient | O::FloatDiv if a.f_lo >= 0.0 && b.f_lo > 0.0 => {
            Bounds::floats(a.f_lo / b.f_hi, a.f_hi / b.f_lo)
        }
        O::FloatSqrt if a.f_lo >= 0.0 => Bounds::floats(a.f_lo.sqrt(), a.f_hi.sqrt()),
        O::FloatLog2 if a.f_lo > 0.0 => Bounds::floats(a.f_lo.log2(), a.f_hi.log2()),
        O::FloatMin => Bounds::floats(a.f_lo.min(b.f_lo), a.f_hi.min(b.f_hi)),
        O::FloatMax => Bounds::floats(a.f_lo.max(b.f_lo), a.f_hi.max(b.f_hi)),
        O::Truncate | O::Floor | O::Ceil | O::Round => Bounds::ints(
            (a.f_lo.max(-9.2e18).floor()) as i64,
            (a.f_hi.min(9.2e18).ceil()) as i64,
        ),
        _ => Bounds::ANY,
    }
}
