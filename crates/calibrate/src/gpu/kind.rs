//! The microbenchmarks of a GPU, and the work of one launch of each.

use greenup_model::{Op, Work};
use std::fmt;

/// Type of the numbers of a stream or a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// Half precision, two numbers per instruction.
    F16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Number {
    /// Operation class of its arithmetic.
    pub fn op(self) -> Op {
        match self {
            Self::F16 => Op::F16,
            Self::F32 => Op::F32,
            Self::F64 => Op::F64,
        }
    }

    /// Numbers in 16 bytes.
    pub fn wide(self) -> usize {
        match self {
            Self::F16 => 8,
            Self::F32 => 4,
            Self::F64 => 2,
        }
    }
}

/// Operands of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// TF32 in 32 bits.
    Tf32,
    /// bfloat16.
    Bf16,
    /// FP8 (E4M3).
    Fp8,
    /// Signed 8-bit integers.
    Int8,
}

impl Operand {
    /// Operation class of the product.
    pub fn op(self) -> Op {
        match self {
            Self::Tf32 => Op::TensorTf32,
            Self::Bf16 => Op::TensorBf16,
            Self::Fp8 => Op::TensorFp8,
            Self::Int8 => Op::TensorInt8,
        }
    }

    /// Bytes of one number.
    pub fn bytes(self) -> usize {
        match self {
            Self::Tf32 => 4,
            Self::Bf16 => 2,
            Self::Fp8 | Self::Int8 => 1,
        }
    }
}

/// Where the lines of a table of random accesses lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GpuLevel {
    /// L1 of each multiprocessor.
    L1,
    /// L2.
    L2,
    /// Main memory.
    Dram,
}

impl GpuLevel {
    /// All levels.
    pub const ALL: [Self; 3] = [Self::L1, Self::L2, Self::Dram];

    /// Lines of the table, 64 bytes each.
    pub fn lines(self) -> i64 {
        match self {
            Self::L1 => 1 << 9,
            Self::L2 => 1 << 18,
            Self::Dram => 1 << 26,
        }
    }
}

impl fmt::Display for GpuLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::Dram => "DRAM",
        })
    }
}

/// What a microbenchmark does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GpuBenchmark {
    /// A stream from memory with this number of FMAs per number read; 0: one addition.
    Stream(Number, u32),
    /// FMAs in registers only.
    Peak(Number),
    /// Integer operations in registers.
    Integers,
    /// Reciprocal square roots in registers.
    Roots,
    /// Reads of shared memory.
    Shared,
    /// Reads of data that stay in L2.
    L2,
    /// Streaming reads of DRAM.
    Read,
    /// Streaming writes of DRAM.
    Write,
    /// By as many threads as multiprocessors hold, each many times.
    Copy,
    /// A vector a thread: blocks come and go.
    CopyOnce,
    /// Random reads: each thread follows four ways through a table.
    Random(GpuLevel),
    /// Dependent reads: one thread follows one way.
    Latency(GpuLevel),
    /// Products of doubles on the tensor cores, so deep each.
    Dmma(u32),
    /// Products of a warp group.
    Wgmma(Operand),
}

/// What the input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Standard normal numbers.
    Normal,
    /// Uniform numbers in 0…1.
    Uniform,
    /// All ones.
    Ones,
    /// All zeros.
    Zeros,
}

/// One microbenchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GpuBench {
    /// What it does.
    pub kind: GpuBenchmark,
    /// Multiprocessors that work; few stretch the time of the same work, which separates constant
    /// power, and leave the clock free.
    pub multiprocessors: u32,
    /// Contents of the input.
    pub fill: Fill,
}

impl fmt::Display for GpuBenchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(n, k) => {
                let per = if *k == 0 { 1.0 } else { 2.0 * f64::from(*k) };
                write!(f, "{} I={}", n.op(), per * n.wide() as f64 / 16.0)
            }
            Self::Peak(n) => write!(f, "{} peak", n.op()),
            Self::Integers => write!(f, "integer"),
            Self::Roots => write!(f, "reciprocal roots"),
            Self::Shared => write!(f, "read shared memory"),
            Self::L2 => write!(f, "read L2"),
            Self::Read => write!(f, "read DRAM"),
            Self::Write => write!(f, "write DRAM"),
            Self::Copy => write!(f, "copy DRAM, tile after tile"),
            Self::CopyOnce => write!(f, "copy DRAM"),
            Self::Random(level) => write!(f, "random {level}"),
            Self::Latency(level) => write!(f, "latency {level}"),
            Self::Dmma(k) => write!(f, "tensor_f64 16x8x{k}"),
            Self::Wgmma(o) => write!(f, "{}", o.op()),
        }
    }
}

impl GpuBenchmark {
    /// Ways through a table that a thread follows at once.
    pub(super) fn ways(self) -> u32 {
        match self {
            Self::Latency(_) => 1,
            _ => 4,
        }
    }
}

impl GpuBench {
    /// Name in records and tables.
    pub fn name(&self) -> String {
        match self.fill {
            Fill::Normal => self.kind.to_string(),
            Fill::Uniform => format!("{}, uniform data", self.kind),
            Fill::Ones => format!("{}, ones", self.kind),
            Fill::Zeros => format!("{}, zeros", self.kind),
        }
    }

    /// Its kernel in `SOURCE`.
    pub fn kernel(&self) -> &'static str {
        match self.kind {
            GpuBenchmark::Stream(..) => "intensity",
            GpuBenchmark::Peak(_) => "peak",
            GpuBenchmark::Integers => "integers",
            GpuBenchmark::Roots => "roots",
            GpuBenchmark::Shared => "shared_read",
            GpuBenchmark::L2 | GpuBenchmark::Read => "far_read",
            GpuBenchmark::Write => "write",
            GpuBenchmark::Copy => "copy",
            GpuBenchmark::CopyOnce => "copy_once",
            GpuBenchmark::Random(_) | GpuBenchmark::Latency(_) => "chase",
            GpuBenchmark::Dmma(_) => "dmma",
            GpuBenchmark::Wgmma(_) => "wgmma",
        }
    }

    /// Threads of a block; but for [`GpuBenchmark::CopyOnce`] the only one of a multiprocessor.
    pub fn threads(&self) -> u32 {
        match self.kind {
            GpuBenchmark::CopyOnce => 128,
            GpuBenchmark::Latency(_) => 1,
            GpuBenchmark::Dmma(_) => 256,
            GpuBenchmark::Wgmma(_) => 512,
            _ => 1024,
        }
    }

    /// The type of the input's numbers.
    pub fn number(&self) -> Number {
        match self.kind {
            GpuBenchmark::Stream(n, _) | GpuBenchmark::Peak(n) => n,
            GpuBenchmark::Dmma(_) => Number::F64,
            _ => Number::F32,
        }
    }

    /// The architecture it is compiled for: products of warp groups are a feature of one.
    pub fn arch(&self, gpu: &str) -> String {
        match self.kind {
            GpuBenchmark::Wgmma(_) => format!("{gpu}a"),
            _ => gpu.to_owned(),
        }
    }

    /// `-DNAME=value` with which the source is compiled.
    pub fn macros(&self) -> Vec<String> {
        let number = match self.number() {
            Number::F16 => 0,
            Number::F32 => 1,
            Number::F64 => 2,
        };
        let (products, depth, tensor) = match self.kind {
            GpuBenchmark::Stream(_, k) => (k, 8, 0),
            GpuBenchmark::Dmma(k) => (1, k, 0),
            GpuBenchmark::Wgmma(o) => (1, 8, o as u32),
            _ => (1, 8, 0),
        };
        vec![
            format!("-Dnumber={number}"),
            format!("-Dproducts={products}"),
            format!("-Ddepth={depth}"),
            format!("-Dtensor={tensor}"),
            format!("-Dways={}", self.kind.ways()),
        ]
    }
}

/// Work of one launch.
pub(super) fn work(kind: GpuBenchmark, n: i64, passes: f64, threads: f64) -> Work {
    let n = n as f64;
    let vectors = n * passes;
    let counts: Vec<(Op, f64)> = match kind {
        GpuBenchmark::Stream(number, products) => {
            let per = if products == 0 {
                1.0
            } else {
                2.0 * f64::from(products)
            };
            vec![
                (number.op(), per * number.wide() as f64 * vectors),
                (Op::Dram, 16.0 * vectors),
            ]
        }
        GpuBenchmark::Peak(number) => {
            let pair = if number == Number::F16 { 2.0 } else { 1.0 };
            vec![(number.op(), 2.0 * pair * 8.0 * vectors * threads)]
        }
        GpuBenchmark::Integers => vec![(Op::Int, 2.0 * 8.0 * vectors * threads)],
        GpuBenchmark::Roots => vec![
            (Op::Special, 8.0 * vectors * threads),
            (Op::F32, 8.0 * vectors * threads),
        ],
        // Two exclusive ors a vector (three operands each), and half its address.
        GpuBenchmark::Shared => vec![
            (Op::L1, 16.0 * vectors * threads),
            (Op::Int, 3.0 * vectors * threads),
        ],
        GpuBenchmark::L2 => vec![(Op::L2, 16.0 * vectors), (Op::Int, 2.0 * vectors)],
        GpuBenchmark::Read => vec![(Op::Dram, 16.0 * vectors), (Op::Int, 2.0 * vectors)],
        GpuBenchmark::Write => vec![(Op::Dram, 16.0 * vectors)],
        GpuBenchmark::Copy | GpuBenchmark::CopyOnce => vec![(Op::Dram, 32.0 * vectors)],
        GpuBenchmark::Random(_) | GpuBenchmark::Latency(_) => {
            vec![(Op::Random, f64::from(kind.ways()) * passes * threads)]
        }
        GpuBenchmark::Dmma(k) => vec![(
            Op::TensorF64,
            threads / 32.0 * passes * 16.0 * (2.0 * 16.0 * 8.0 * f64::from(k)),
        )],
        GpuBenchmark::Wgmma(o) => {
            let k = 32.0 / o.bytes() as f64;
            vec![(
                o.op(),
                threads / 128.0 * passes * 4.0 * (2.0 * 64.0 * 128.0 * k),
            )]
        }
    };
    let mut out = Work::new();
    for (op, count) in counts {
        // Counts of our own kernels are never negative.
        let _ = out.add(op, count);
    }
    out
}
