//! Sums of blocks of numbers without rounding, by vector instructions: the leading bits of all numbers of a block, down to a
//! common last one, are added as they are, then the next bits, until nothing is left (J. Demmel, H. D. Nguyen, *Parallel
//! reproducible summation*, IEEE Trans. Comput. 64, 2015, where a few slices are kept; here all are).

use crate::exact::Exact;

/// Most numbers whose slices are added at once.
const BLOCK: usize = 1024;
/// Bits of a slice: a sum of a block of them has 10 more, and 53 fit.
const BITS: u64 = 43;
/// Pairs of slices of a block at most; what is left of numbers of very different sizes is added one by one.
const ROUNDS: usize = 4;
/// Sums that are independent, for vector instructions.
const LANES: usize = 8;

impl Exact {
    /// Adds many numbers, and leaves none of them. It is many times faster than [`Exact::add`].
    pub fn add_all(&mut self, x: &mut [f64]) {
        for block in x.chunks_mut(BLOCK) {
            if block_is_left(self, block) {
                // Numbers that are not finite, or so large that no cutter exists, too.
                let left = block.iter().filter(|x| **x != 0.0);
                left.for_each(|x| self.add(*x));
            }
        }
    }
}

/// Adds a block; whether some of it is left.
fn block_is_left(total: &mut Exact, x: &mut [f64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has these instructions.
            return unsafe { by_avx512(total, x) };
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has these instructions.
            return unsafe { by_avx2(total, x) };
        }
    }
    by_any(total, x)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn by_avx512(total: &mut Exact, x: &mut [f64]) -> bool {
    by_any(total, x)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn by_avx2(total: &mut Exact, x: &mut [f64]) -> bool {
    by_any(total, x)
}

#[inline(always)]
fn by_any(total: &mut Exact, x: &mut [f64]) -> bool {
    let mut most = largest(x);
    if !most.is_finite() {
        return true;
    }
    for _ in 0..ROUNDS {
        if most == 0.0 {
            return false;
        }
        // The last bit of a cutter is that of its slice.
        let first = (most.to_bits() >> 52) + 53 - BITS;
        // The sum of a block must not overflow.
        if first >= 0x7fe {
            return true;
        }
        let second = first.saturating_sub(BITS).max(1);
        let cutters = [first, second].map(|e| f64::from_bits(e << 52 | 1 << 51));
        let (sums, rest) = cut(x, cutters);
        for sum in sums.into_iter().filter(|s| *s != 0.0) {
            total.add(sum);
        }
        most = rest;
    }
    most != 0.0
}

/// Largest absolute value; infinity or NaN if one is not finite. Sizes are in the order of their bits, and compilers turn the
/// maximum of integers into vector instructions.
#[inline(always)]
fn largest(x: &[f64]) -> f64 {
    let bits = |x: &f64| x.abs().to_bits().cast_signed();
    let most = x.iter().map(bits).fold(0, i64::max);
    f64::from_bits(most.cast_unsigned())
}

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Cuts off the bits of numbers above the last bit of the first cutter, then those above the last bit of the second; returns
/// the sums of both slices, which are exact, and the largest absolute value of what is left.
#[inline(always)]
fn cut(x: &mut [f64], cutters: [f64; 2]) -> ([f64; 2], f64) {
    let mut lanes = Lanes {
        high: [0.0; LANES],
        low: [0.0; LANES],
        most: [0.0; LANES],
    };
    let (blocks, rest) = x.as_chunks_mut::<LANES>();
    for block in blocks {
        lanes.cut(block, cutters);
    }
    if !rest.is_empty() {
        let mut last = [0.0; LANES];
        last[..rest.len()].copy_from_slice(rest);
        lanes.cut(&mut last, cutters);
        rest.copy_from_slice(&last[..rest.len()]);
    }
    let sums = [lanes.high, lanes.low].map(|l| l.iter().sum());
    (sums, lanes.most.iter().copied().fold(0.0, larger))
}

struct Lanes {
    high: [f64; LANES],
    low: [f64; LANES],
    most: [f64; LANES],
}

impl Lanes {
    /// Written lane by lane, which compilers turn into vector instructions.
    #[inline(always)]
    fn cut(&mut self, x: &mut [f64; LANES], [first, second]: [f64; 2]) {
        for (i, x) in x.iter_mut().enumerate() {
            let high = (*x + first) - first;
            let below = *x - high;
            let low = (below + second) - second;
            let rest = below - low;
            *x = rest;
            self.high[i] += high;
            self.low[i] += low;
            self.most[i] = larger(rest.abs(), self.most[i]);
        }
    }
}
