//! Exact sums: any order of the terms, on any number of ranks, gives the same bits.
//!
//! A sum is kept as a long integer in units of the smallest positive number, 2^-1074, with 32 bits in each 64-bit limb, so
//! that limbs take many additions before a carry, and limbs of several ranks can be added as integers (R. M. Neal, Fast
//! exact summation using small and large superaccumulators, arXiv:1505.05571).

use crate::interface::Ranks;

/// Limbs of 32 bits: all finite numbers, and the carries of 2^63 additions.
const DIGITS: usize = 67;
/// Where NaN, infinity and minus infinity are counted.
const NAN: usize = DIGITS;
const INFINITY: usize = DIGITS + 1;
const MINUS_INFINITY: usize = DIGITS + 2;
const LIMBS: usize = DIGITS + 3;

/// Additions to a limb that cannot overflow it, each below 2^32.
const ADDITIONS: u32 = 1 << 30;

const MASK: u64 = 0xffff_ffff;

/// A sum of numbers without rounding.
#[derive(Clone, Debug, PartialEq)]
pub struct Exact {
    limbs: [i64; LIMBS],
    additions: u32,
}

impl Default for Exact {
    fn default() -> Self {
        Self {
            limbs: [0; LIMBS],
            additions: 0,
        }
    }
}

impl Exact {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let bits = x.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as usize;
        let mut mantissa = bits & ((1 << 52) - 1);
        if exponent == 0x7ff {
            return self.limbs[special(x)] += 1;
        }
        // Subnormal numbers have the exponent of the smallest normal ones.
        let position = exponent.max(1) - 1;
        if exponent > 0 {
            mantissa |= 1 << 52;
        }
        let wide = u128::from(mantissa) << (position % 32);
        let parts = [
            wide as u64 & MASK,
            (wide >> 32) as u64 & MASK,
            (wide >> 64) as u64,
        ];
        let sign = if x.is_sign_negative() { -1 } else { 1 };
        for (limb, part) in self.limbs[position / 32..].iter_mut().zip(parts) {
            *limb += sign * part as i64;
        }
        self.additions += 1;
        if self.additions == ADDITIONS {
            self.carry();
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        // After a carry a limb is as large as after one addition.
        if self.additions + other.additions + 2 >= ADDITIONS {
            self.carry();
            let mut other = other.clone();
            other.carry();
            return self.merge(&other);
        }
        for (a, b) in self.limbs.iter_mut().zip(other.limbs) {
            // Too few additions to overflow; plain addition would be checked, one by one.
            *a = a.wrapping_add(b);
        }
        self.additions += other.additions + 2;
    }

    /// Moves what is above 32 bits of each limb to the next, so that all but the last lie between 0 and 2^32.
    fn carry(&mut self) {
        let mut carry = 0;
        for limb in &mut self.limbs[..DIGITS - 1] {
            let total = *limb + carry;
            *limb = total & MASK as i64;
            carry = total >> 32;
        }
        self.limbs[DIGITS - 1] += carry;
        self.additions = 0;
    }

    /// The sum, rounded to the nearest number, ties to even.
    pub fn value(&self) -> f64 {
        let [nan, up, down] = [NAN, INFINITY, MINUS_INFINITY].map(|i| self.limbs[i] > 0);
        match (nan, up, down) {
            (false, false, false) => {}
            (false, true, false) => return f64::INFINITY,
            (false, false, true) => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.limbs[DIGITS - 1] < 0;
        if negative {
            for limb in &mut sum.limbs[..DIGITS] {
                *limb = -*limb;
            }
            sum.carry();
        }
        let size = rounded(&sum.limbs[..DIGITS]);
        if negative { -size } else { size }
    }
}

fn special(x: f64) -> usize {
    match x {
        _ if x.is_nan() => NAN,
        _ if x > 0.0 => INFINITY,
        _ => MINUS_INFINITY,
    }
}

/// The nearest number of a long integer in units of 2^-1074; its limbs are not negative and below 2^32, but the last.
fn rounded(limbs: &[i64]) -> f64 {
    let Some(top) = limbs.iter().rposition(|l| *l != 0) else {
        return 0.0;
    };
    let bit = |at: usize| limbs[at / 32] >> (at % 32) & 1 == 1;
    let high = top * 32 + 63 - limbs[top].leading_zeros() as usize;
    if high < 53 {
        // The bits of small numbers are those of the integer.
        return f64::from_bits(limbs[0] as u64 | (limbs[1] as u64) << 32);
    }
    if high >= 2098 {
        return f64::INFINITY;
    }
    let shift = high - 52;
    let mut mantissa = 0u64;
    for at in (shift..=high).rev() {
        mantissa = mantissa << 1 | u64::from(bit(at));
    }
    let half = bit(shift - 1);
    let below = || {
        let (limb, rest) = ((shift - 1) / 32, (shift - 1) % 32);
        limbs[..limb].iter().any(|l| *l != 0) || limbs[limb] & ((1 << rest) - 1) != 0
    };
    if half && (mantissa & 1 == 1 || below()) {
        mantissa += 1;
    }
    // A mantissa that was rounded up to 2^53 carries into the exponent.
    f64::from_bits(((shift as u64 + 1) << 52) + (mantissa - (1 << 52)))
}

/// Adds sums over all ranks; each rank then holds the totals.
pub fn sum_exact(ranks: &dyn Ranks, sums: &mut [Exact]) {
    if ranks.size() == 1 {
        return;
    }
    let mut limbs: Vec<i64> = sums
        .iter_mut()
        .flat_map(|s| {
            s.carry();
            s.limbs
        })
        .collect();
    ranks.sum_integers(&mut limbs);
    for (sum, limbs) in sums.iter_mut().zip(limbs.chunks_exact(LIMBS)) {
        sum.limbs.copy_from_slice(limbs);
        sum.carry();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(x: &[f64]) -> f64 {
        let mut out = Exact::default();
        x.iter().for_each(|x| out.add(*x));
        out.value()
    }

    #[test]
    fn one_number_is_itself() {
        let numbers = [
            0.0,
            1.0,
            -1.0,
            0.1,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            -5e-324,
            2.225_073_858_507_201e-308,
            1.0 + f64::EPSILON,
            4_503_599_627_370_497.0,
        ];
        for x in numbers {
            assert_eq!(sum(&[x]).to_bits(), x.to_bits(), "{x:e}");
        }
    }

    #[test]
    fn sums_are_rounded_once_to_even() {
        assert_eq!(sum(&[1.0, 1e100, 1.0, -1e100]), 2.0);
        let tie = f64::EPSILON / 2.0;
        assert_eq!(sum(&[1.0, tie]), 1.0);
        assert_eq!(sum(&[1.0, tie, 1e-300]), 1.0 + f64::EPSILON);
        assert_eq!(sum(&[1.0 + f64::EPSILON, tie]), 1.0 + 2.0 * f64::EPSILON);
        // Rounding carries into the exponent.
        assert_eq!(sum(&[2.0 - f64::EPSILON, tie]), 2.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[f64::MAX, f64::MAX, f64::MIN]), f64::MAX);
        assert_eq!(sum(&[0.1; 10]), 1.0);
    }

    #[test]
    fn what_is_not_finite_is_counted() {
        let (up, nan) = (f64::INFINITY, f64::NAN);
        assert_eq!(sum(&[1.0, up]), up);
        assert_eq!(sum(&[-up, f64::MAX]), -up);
        assert!(sum(&[up, -up]).is_nan() && sum(&[nan, 1.0]).is_nan());
    }

    #[test]
    fn a_carry_changes_nothing() {
        let mut a = Exact::default();
        for x in [1e300, -3.5, 2e-310, -1e299] {
            a.add(x);
            let before = a.value();
            a.carry();
            assert_eq!(a.value().to_bits(), before.to_bits());
        }
    }

    fn at_once(x: &[f64]) -> f64 {
        let mut out = Exact::default();
        out.add_all(&mut x.to_vec());
        out.value()
    }

    #[test]
    fn many_at_once_are_the_same_sum() {
        let mut rng = fastrand::Rng::with_seed(3);
        for n in [0, 1, 7, 8, 9, 1000, 1023, 1024, 1025, 5000] {
            for range in [0, 30, 300, 1000] {
                let x: Vec<f64> = (0..n)
                    .map(|_| (rng.f64() - 0.5) * 2f64.powi(rng.i32(-range..=range)))
                    .collect();
                assert_eq!(at_once(&x).to_bits(), sum(&x).to_bits(), "{n} {range}");
            }
        }
        // The largest slices, sums that need all bits, the ends of the range.
        for one in [
            2.0 - f64::EPSILON,
            1.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX / 4096.0,
            f64::MAX / 2048.0,
            f64::MAX / 1024.0,
            f64::MAX / 512.0,
        ] {
            for x in [
                [one; 1024],
                std::array::from_fn(|i| if i % 2 == 0 { one } else { -one }),
            ] {
                assert_eq!(at_once(&x).to_bits(), sum(&x).to_bits(), "{one:e}");
            }
        }
        let (up, nan) = (f64::INFINITY, f64::NAN);
        assert_eq!(at_once(&[1.0, up, 3.0]), up);
        assert!(at_once(&[nan, 1.0]).is_nan() && at_once(&[up, -up, f64::MAX]).is_nan());
        let long = |one: f64, other: f64| {
            let mut x = [other; 1500];
            x[1100] = one;
            at_once(&x)
        };
        for other in [0.0, 1e-310, -1.5, f64::MAX] {
            assert!(long(nan, other).is_nan());
            assert_eq!(long(-up, other), -up);
        }
    }

    /// Integers times a power of two, whose sums 128 bits hold.
    #[test]
    fn sums_are_those_of_wide_integers() {
        let mut rng = fastrand::Rng::with_seed(5);
        for round in 0..3000 {
            let (spread, n) = (rng.u32(0..=60), rng.usize(1..2500));
            // Integers stay integers of the smallest unit.
            let scale = 2f64.powi(rng.i32(-1022..=850));
            let mut x = Vec::with_capacity(n);
            let mut total = 0i128;
            for _ in 0..n {
                let (bits, shift) = (rng.u32(1..=53), rng.u32(0..=spread));
                let integer = i128::from(rng.i64(1 - (1 << bits)..1 << bits)) << shift;
                total += integer;
                x.push(integer as f64 * scale);
            }
            let want = total as f64 * scale;
            assert_eq!(at_once(&x), want, "round {round}: {n} {spread} {scale:e}");
            assert_eq!(sum(&x), want, "round {round}: {n} {spread} {scale:e}");
        }
    }

    #[test]
    fn merged_sums_may_be_merged_again() {
        let mut a = Exact::default();
        a.add(f64::MAX);
        a.additions = ADDITIONS - 2;
        let mut b = Exact::default();
        b.add(-1.5);
        a.merge(&b);
        b.merge(&a);
        a.merge(&b);
        a.add(-f64::MAX);
        a.add(-f64::MAX);
        assert_eq!(a.value(), -4.5);
    }

    proptest! {
        #[test]
        fn at_once_or_one_by_one(
            x in proptest::collection::vec(prop_oneof![any::<f64>(), -1.0..1.0, -1e200..1e200, -1e-300..1e-300f64], 0..90),
        ) {
            let (a, b) = (at_once(&x), sum(&x));
            prop_assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{a:e} {b:e}");
        }

        #[test]
        fn no_order_and_no_cut_changes_a_bit(
            x in proptest::collection::vec(prop_oneof![-1.0..1.0, -1e200..1e200, -1e-300..1e-300f64], 1..60),
            seed: u64,
            cut: prop::sample::Index,
        ) {
            let whole = sum(&x);
            let mut other = x.clone();
            fastrand::Rng::with_seed(seed).shuffle(&mut other);
            prop_assert_eq!(sum(&other).to_bits(), whole.to_bits());
            let (left, right) = other.split_at(cut.index(other.len()));
            let [mut a, mut b] = [Exact::default(), Exact::default()];
            left.iter().for_each(|x| a.add(*x));
            right.iter().for_each(|x| b.add(*x));
            a.merge(&b);
            prop_assert_eq!(a.value().to_bits(), whole.to_bits());
        }

        #[test]
        fn two_numbers_are_added_as_the_processor_does(a: f64, b: f64) {
            let (ours, theirs) = (sum(&[a, b]), a + b);
            // Only zero has two signs, and NaN many bits.
            prop_assert!(ours == theirs || ours.is_nan() && theirs.is_nan(), "{a:e} + {b:e}: {ours:e}");
        }
    }
}
