//! One thread's share of a microbenchmark: its data and its passes.

use super::{HostBenchmark, Level, per_element};
use crate::kernels::{Chain, GRAIN_BYTES, Kernels};
use greenup_device::Buffer;
use greenup_model::Op;

enum Data {
    F64(Buffer<f64>, i32),
    F32(Buffer<f32>, i32),
    Integer(Buffer<u32>),
    One(HostBenchmark, Buffer<f64>),
    Two(HostBenchmark, Buffer<f64>, Buffer<f64>),
    Three(Buffer<f64>, Buffer<f64>, Buffer<f64>),
    Chain(Chain, u64),
}

/// One thread's data and how much of it one pass touches.
pub struct Worker {
    kernels: Kernels,
    data: Data,
    level: Level,
    /// Bytes of each array that one call touches, and where the next call starts.
    chunk: usize,
    offset: usize,
    total: usize,
    /// Calls a pass.
    calls: usize,
    sink: f64,
}

/// Integer rounds on each element.
const INTEGER_ROUNDS: i32 = 192;
const CHASE_STEPS: usize = 10_000;
/// Aimed length of one pass, s: far above the barrier's cost, short enough for many passes.
const PASS_S: f64 = 3e-3;

impl Worker {
    /// `None` if `go` says no before its data, up to gigabytes, are written.
    pub fn new(
        kind: HostBenchmark,
        level: Level,
        bytes: usize,
        rank: usize,
        go: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let mut rng = fastrand::Rng::with_seed(0x6265_6e63 ^ rank as u64);
        // Arrays share the working set of a cache; in slow memory each is as large as it.
        let split = |arrays: usize| {
            let each = if level == Level::Dram {
                bytes
            } else {
                bytes / arrays
            };
            (each / GRAIN_BYTES).max(1) * GRAIN_BYTES
        };
        let mut doubles = |n: usize| Buffer::from_fn_while(n / 8, go, |_| 0.5 + 0.5 * rng.f64());
        let (data, total) = match kind {
            HostBenchmark::F64(k) => (Data::F64(doubles(bytes)?, k), bytes),
            HostBenchmark::F32(k) => (
                Data::F32(
                    Buffer::from_fn_while(bytes / 4, go, |_| 0.5 + 0.5 * rng.f32())?,
                    k,
                ),
                bytes,
            ),
            HostBenchmark::Integer => (
                Data::Integer(Buffer::from_fn_while(bytes / 4, go, |_| rng.u32(..))?),
                bytes,
            ),
            HostBenchmark::Read | HostBenchmark::Write => (Data::One(kind, doubles(bytes)?), bytes),
            HostBenchmark::SquareRoots | HostBenchmark::Copy => {
                let each = split(2);
                (Data::Two(kind, doubles(each)?, doubles(each)?), each)
            }
            HostBenchmark::Triad => {
                let each = split(3);
                (
                    Data::Three(doubles(each)?, doubles(each)?, doubles(each)?),
                    each,
                )
            }
            HostBenchmark::Chase => (Data::Chain(cycle(bytes / 64, &mut rng, go)?, 0), bytes),
        };
        let mut worker = Self {
            kernels: Kernels::best(),
            data,
            level,
            chunk: total,
            offset: 0,
            total,
            calls: 1,
            sink: 0.0,
        };
        // Seconds one call on everything would take, roughly.
        let seconds: f64 = worker
            .work()
            .iter()
            .map(|&(op, n)| n / typical_rate(op))
            .fold(0.0, f64::max);
        if matches!(worker.data, Data::Chain(..)) {
            // Accesses to caches are short.
            worker.calls = match level {
                Level::L1 => 128,
                Level::L2 => 32,
                Level::L3 => 8,
                Level::Dram => 1,
            };
        } else {
            if seconds > PASS_S {
                // Whole chunks, so that the passes go round all of the data.
                let chunks = (seconds / PASS_S).ceil() as usize;
                worker.chunk = (total / GRAIN_BYTES / chunks).max(1) * GRAIN_BYTES;
            } else {
                worker.calls = (PASS_S / seconds).ceil() as usize;
            }
        }
        Some(worker)
    }

    /// Work of one pass.
    pub fn work(&self) -> Vec<(Op, f64)> {
        let n = (self.calls * self.chunk) as f64;
        let level = self.level.op();
        match &self.data {
            Data::F64(_, k) => vec![(Op::F64, n / 8.0 * per_element(*k)), (level, n)],
            Data::F32(_, k) => vec![(Op::F32, n / 4.0 * per_element(*k)), (level, n)],
            Data::Integer(_) => vec![
                (Op::Int, n / 4.0 * 2.0 * f64::from(INTEGER_ROUNDS)),
                (level, n),
            ],
            Data::One(..) => vec![(level, n)],
            Data::Two(HostBenchmark::SquareRoots, ..) => {
                vec![(Op::Special, n / 8.0), (level, 2.0 * n)]
            }
            Data::Two(..) => vec![(level, 2.0 * n)],
            Data::Three(..) => vec![(Op::F64, n / 8.0 * 2.0), (level, 3.0 * n)],
            Data::Chain(..) => vec![(Op::Random, (self.calls * CHASE_STEPS) as f64)],
        }
    }

    pub fn pass(&mut self) {
        for _ in 0..self.calls {
            self.call();
        }
    }

    fn call(&mut self) {
        let k = self.kernels;
        if self.offset + self.chunk > self.total {
            self.offset = 0;
        }
        let range = |width: usize| self.offset / width..(self.offset + self.chunk) / width;
        match &mut self.data {
            Data::F64(x, rounds) => {
                self.sink += k.intensity_f64(&x.as_slice()[range(8)], *rounds);
            }
            Data::F32(x, rounds) => {
                self.sink += k.intensity_f32(&x.as_slice()[range(4)], *rounds);
            }
            Data::Integer(x) => {
                self.sink += k.integer(&x.as_slice()[range(4)], INTEGER_ROUNDS) as f64;
            }
            Data::One(HostBenchmark::Read, x) => {
                self.sink += k.read(&x.as_slice()[range(8)]) as f64
            }
            Data::One(_, x) => k.write(&mut x.as_mut_slice()[range(8)]),
            Data::Two(HostBenchmark::SquareRoots, a, b) => {
                k.square_roots(&b.as_slice()[range(8)], &mut a.as_mut_slice()[range(8)]);
            }
            Data::Two(_, a, b) => k.copy(&mut a.as_mut_slice()[range(8)], &b.as_slice()[range(8)]),
            Data::Three(a, b, c) => k.triad(
                &mut a.as_mut_slice()[range(8)],
                &b.as_slice()[range(8)],
                &c.as_slice()[range(8)],
                3.0,
            ),
            Data::Chain(next, at) => *at = k.chase(next, *at, CHASE_STEPS),
        }
        std::hint::black_box(self.sink);
        self.offset += self.chunk;
    }
}

/// Operations a second that one core of today does, roughly: only sizes passes.
fn typical_rate(op: Op) -> f64 {
    match op {
        Op::L1 => 200e9,
        Op::L2 => 100e9,
        Op::L3 => 50e9,
        Op::Dram => 15e9,
        Op::Special => 2e9,
        Op::F64 => 50e9,
        _ => 100e9,
    }
}

/// One random cycle through `lines` cache lines (Sattolo), as u64 indices of line starts; `None` if `go` says no before its end.
pub fn cycle(lines: usize, rng: &mut fastrand::Rng, go: &dyn Fn() -> bool) -> Option<Chain> {
    let n = lines.max(2);
    let mut order: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        if i % (1 << 16) == 0 && !go() {
            return None;
        }
        order.swap(i, rng.usize(..i));
    }
    // `order` is a cyclic permutation: line i is followed by line order[i].
    let next = |i: usize| 8 * u64::from(order[i / 8]);
    Some(Chain::new(Buffer::from_fn_while(8 * n, go, next)?))
}
