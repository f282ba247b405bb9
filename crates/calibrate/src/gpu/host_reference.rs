//! The same computations on the host: what the microbenchmarks must reach.

use super::data::{decode, from_half, to_half};
use super::kind::{GpuBenchmark, Number, Operand};

/// Arithmetic rounded as the type rounds. Doubles cannot be rounded after the fact, so each type has
/// its own product.
fn fma(n: Number, a: f64, b: f64, c: f64) -> f64 {
    match n {
        // The product of two halves and a third fit a double.
        Number::F16 => from_half(to_half(a * b + c)),
        Number::F32 => f64::from((a as f32).mul_add(b as f32, c as f32)),
        Number::F64 => a.mul_add(b, c),
    }
}

fn add(n: Number, a: f64, b: f64) -> f64 {
    match n {
        Number::F16 => from_half(to_half(a + b)),
        Number::F32 => f64::from(a as f32 + b as f32),
        Number::F64 => a + b,
    }
}

/// Number i of an array.
fn at(n: Number, bytes: &[u8], i: usize) -> f64 {
    match n {
        Number::F16 => from_half(u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]])),
        Number::F32 => f64::from(float(bytes, i)),
        Number::F64 => {
            let mut b = [0; 8];
            b.copy_from_slice(&bytes[8 * i..8 * i + 8]);
            f64::from_le_bytes(b)
        }
    }
}

fn float(bytes: &[u8], i: usize) -> f32 {
    f32::from_bits(word(bytes, i))
}

fn word(bytes: &[u8], i: usize) -> u32 {
    let mut b = [0; 4];
    b.copy_from_slice(&bytes[4 * i..4 * i + 4]);
    u32::from_le_bytes(b)
}

/// (n, passes, blocks) of a small launch.
pub fn small(kind: GpuBenchmark) -> (i64, i32, u32) {
    match kind {
        GpuBenchmark::Stream(..)
        | GpuBenchmark::L2
        | GpuBenchmark::Read
        | GpuBenchmark::Write
        | GpuBenchmark::Copy
        | GpuBenchmark::CopyOnce => (50_007, 1, 3),
        GpuBenchmark::Random(level) => (level.lines().min(1 << 16), 5, 3),
        GpuBenchmark::Latency(level) => (level.lines().min(1 << 16), 5, 1),
        GpuBenchmark::Dmma(_) | GpuBenchmark::Wgmma(_) => (0, 2, 2),
        _ => (128, 2, 3),
    }
}

/// Bytes of output that a small launch writes.
pub fn output_bytes(kind: GpuBenchmark, n: i64, threads: u32) -> usize {
    let threads = threads as usize;
    match kind {
        GpuBenchmark::Write | GpuBenchmark::Copy | GpuBenchmark::CopyOnce => n as usize * 16,
        GpuBenchmark::Wgmma(_) => threads / 2 * 128 * 4,
        GpuBenchmark::Shared | GpuBenchmark::L2 | GpuBenchmark::Read => threads * 16,
        GpuBenchmark::Stream(Number::F64, _)
        | GpuBenchmark::Peak(Number::F64)
        | GpuBenchmark::Dmma(_) => threads * 8,
        _ => threads * 4,
    }
}

/// A result on the GPU that differs from the host's.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("thread or element {at} reached {got:e}, not {want:e}")]
pub struct Difference {
    /// Thread or element of the output.
    pub at: usize,
    /// Result of the GPU.
    pub got: f64,
    /// Result of the host.
    pub want: f64,
}

/// Compares what threads reached with what they must.
///
/// # Errors
/// The first difference.
pub fn compare(
    kind: GpuBenchmark,
    input: &[u8],
    output: &[u8],
    (n, passes): (i64, i32),
    (blocks, threads): (u32, u32),
) -> Result<(), Difference> {
    let n = n as usize;
    let passes = passes as usize;
    let block = threads as usize;
    let all = blocks as usize * block;
    let differs = |at: usize, got: f64, want: f64| Err(Difference { at, got, want });
    // A few threads of every warp position.
    let some = || (0..all).step_by(37);
    match kind {
        GpuBenchmark::Stream(number, products) => {
            let lanes = if number == Number::F16 { 2 } else { 1 };
            for t in some() {
                for lane in 0..lanes {
                    let want = stream(number, products, input, n, (t, block, all), lane);
                    let got = at(number, output, t * lanes + lane);
                    if got != want {
                        return differs(t, got, want);
                    }
                }
            }
        }
        GpuBenchmark::Peak(number) => {
            let lanes = if number == Number::F16 { 2 } else { 1 };
            for t in some() {
                for lane in 0..lanes {
                    let one = |i: usize| at(number, input, i % 4096 * lanes + lane);
                    let mut sum = 0.0;
                    for c in 0..8 {
                        let (mut x, mut y) = (one(t + c), one(t + c + 2048));
                        for _ in 0..n * passes / 2 {
                            x = fma(number, 1.234375, y, -x);
                            y = fma(number, 1.234375, x, -y);
                        }
                        sum = add(number, sum, x);
                    }
                    let got = at(number, output, t * lanes + lane);
                    if got != sum {
                        return differs(t, got, sum);
                    }
                }
            }
        }
        GpuBenchmark::Integers => {
            let (plus, with) = (word(input, 0) | 1, word(input, 1));
            for t in some() {
                let mut sum = 0_u32;
                for c in 0..8 {
                    let mut v = word(input, (t + c) % 4096);
                    for _ in 0..n * passes {
                        v = v.wrapping_add(plus) ^ with;
                    }
                    sum = sum.wrapping_add(v);
                }
                if word(output, t) != sum {
                    return differs(t, f64::from(word(output, t)), f64::from(sum));
                }
            }
        }
        GpuBenchmark::Roots => {
            for t in some() {
                let square = |i: usize| 0.5 + f64::from(float(input, i)).powi(2);
                let mut sum = 0.0;
                for c in 0..8 {
                    let mut v = square((t + c) % 4096);
                    for k in 0..n * passes {
                        v = 1.0 / (v * square((c + k) % 8)).sqrt();
                    }
                    sum += v;
                }
                let got = f64::from(float(output, t));
                // Every step halves the relative error of the one before, and adds 2^-22.
                if (got / sum - 1.0).abs() > 4e-6 {
                    return differs(t, got, sum);
                }
            }
        }
        GpuBenchmark::Shared => {
            for t in some() {
                for w in 0..4 {
                    let mut x = 0;
                    for pass in 0..passes {
                        for k in 0..n {
                            let i = (t % block + k / 2 * 2 * 32 + pass + k % 2 * 32) & 2047;
                            x ^= word(input, 4 * i + w);
                        }
                    }
                    if word(output, 4 * t + w) != x {
                        return differs(t, f64::from(word(output, 4 * t + w)), f64::from(x));
                    }
                }
            }
        }
        GpuBenchmark::L2 | GpuBenchmark::Read => {
            for t in some() {
                for w in 0..4 {
                    let x = places(t, block, all, 8)
                        .take_while(|tile| tile[0] < n)
                        .flatten()
                        .filter(|&i| i < n)
                        .fold(0, |x, i| x ^ word(input, 4 * i + w));
                    if word(output, 4 * t + w) != x {
                        return differs(t, f64::from(word(output, 4 * t + w)), f64::from(x));
                    }
                }
            }
        }
        GpuBenchmark::Write => {
            for i in 0..n {
                // Tiles of four vectors a thread; each thread counts its tiles.
                let t = i / (4 * block) % (all / block) * block + i % block;
                let step = (i / (4 * all)) as u32;
                for w in 0..4 {
                    let first = word(input, 4 * (t % 4096) + w);
                    let want = if w == 0 {
                        first.wrapping_add(step)
                    } else {
                        first
                    };
                    if word(output, 4 * i + w) != want {
                        return differs(i, f64::from(word(output, 4 * i + w)), f64::from(want));
                    }
                }
            }
        }
        GpuBenchmark::Copy | GpuBenchmark::CopyOnce => {
            if let Some(i) = (0..16 * n).find(|&i| input[i] != output[i]) {
                return differs(i, f64::from(output[i]), f64::from(input[i]));
            }
        }
        GpuBenchmark::Random(level) | GpuBenchmark::Latency(level) => {
            let ways = u64::from(kind.ways());
            for t in 0..all {
                let all_ways = (0..ways).fold(0, |x, c| {
                    // The small launch reads the large table: its ways leave the first n lines.
                    let mut at = (t as u64 * ways + c).wrapping_mul(2_654_435_761) % n as u64;
                    for _ in 0..passes {
                        at = at.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
                            & (level.lines() as u64 - 1);
                    }
                    x ^ at
                });
                if u64::from(word(output, t)) != all_ways {
                    return differs(t, f64::from(word(output, t)), all_ways as f64);
                }
            }
        }
        GpuBenchmark::Dmma(k) => {
            for t in some() {
                let want = passes as f64 * dmma(k as usize, input, t % 32);
                let got = at(Number::F64, output, t);
                if (got - want).abs() > 1e-10 * want.abs().max(1.0) {
                    return differs(t, got, want);
                }
            }
        }
        GpuBenchmark::Wgmma(o) => {
            for i in (0..all / 2 * 128).step_by(29) {
                // Every group of four warps has 64 rows; even groups share theirs, and odd ones.
                let (row, column) = (i / 128 % (block / 2) % 128, i % 128);
                let want = passes as f64 * wgmma(o, input, row, column);
                let got = if o == Operand::Int8 {
                    f64::from(word(output, i) as i32)
                } else {
                    f64::from(float(output, i))
                };
                if got != want {
                    return differs(i, got, want);
                }
            }
        }
    }
    Ok(())
}

/// Where a thread reads, tile after tile of `ahead` vectors a thread.
fn places(
    thread: usize,
    block: usize,
    all: usize,
    ahead: usize,
) -> impl Iterator<Item = Vec<usize>> {
    let first = thread / block * ahead * block + thread % block;
    (0..).map(move |tile| {
        (0..ahead)
            .map(|a| first + tile * ahead * all + a * block)
            .collect()
    })
}

fn stream(
    number: Number,
    products: u32,
    input: &[u8],
    n: usize,
    (thread, block, all): (usize, usize, usize),
    lane: usize,
) -> f64 {
    const AHEAD: usize = 8;
    let lanes = if number == Number::F16 { 2 } else { 1 };
    let wide = number.wide() / lanes;
    let (by, plus) = (0.999_023_437_5, 0.000_976_562_5);
    let mut sums = vec![0.0; 2 * wide];
    for tile in places(thread, block, all, AHEAD).take_while(|tile| tile[0] < n) {
        for (a, i) in tile.into_iter().enumerate() {
            for w in 0..wide {
                let v = if i < n {
                    at(number, input, (i * wide + w) * lanes + lane)
                } else {
                    0.0
                };
                let sum = &mut sums[a % 2 * wide + w];
                if products == 0 {
                    *sum = add(number, *sum, v);
                    continue;
                }
                let v = (1..products).fold(v, |v, _| fma(number, v, by, plus));
                *sum = fma(number, v, by, *sum);
            }
        }
    }
    sums.into_iter().fold(0.0, |s, x| add(number, s, x))
}

/// Weighted sum of what lane holds of 4 x 4 products of 16 x 8 x k.
fn dmma(k: usize, input: &[u8], lane: usize) -> f64 {
    let of = |i: usize| at(Number::F64, input, i);
    let (g, t) = (lane / 4, lane % 4);
    // Element (row, x) of A's block i, and (x, column) of B's block j, where the lanes hold them.
    let a = |i: usize, row: usize, x: usize| {
        of((i * 8 + 2 * (x / 4) + row / 8) * 32 + row % 8 * 4 + x % 4)
    };
    let b =
        |j: usize, x: usize, column: usize| of(1024 + (j * 4 + x / 4) * 32 + column * 4 + x % 4);
    let mut sum = 0.0;
    for i in 0..4 {
        for j in 0..4 {
            for e in 0..4 {
                let (row, column) = (g + 8 * (e / 2), 2 * t + e % 2);
                let c: f64 = (0..k).map(|x| a(i, row, x) * b(j, x, column)).sum();
                sum += c * (1 + e + 4 * (j + 4 * i)) as f64;
            }
        }
    }
    sum
}

/// One element of the product of the four slices.
fn wgmma(o: Operand, input: &[u8], row: usize, column: usize) -> f64 {
    let k = 32 / o.bytes();
    // Byte of element x in line `line` of a block of lines: 8 lines of 16 bytes lie together.
    let element = |base: usize, line: usize, x: usize| {
        let byte = x * o.bytes();
        let place = base + line / 8 * 256 + byte / 16 * 128 + line % 8 * 16 + byte % 16;
        decode(o, &input[place..])
    };
    (0..4)
        .map(|s| {
            let (a, b) = (s * 8192, s * 8192 + 4096);
            (0..k)
                .map(|x| element(a, row, x) * element(b, column, x))
                .sum::<f64>()
        })
        .sum()
}
