//! The microbenchmarks of a GPU: what each runs, on what data, how much work it is.

use super::twin;
use greenup_device::cuda::{
    Compiler, CudaError, Function, Gpu, Memory, Repeater, Session, Shape, Source,
};
use greenup_meter::Run;
use greenup_model::{Op, Work};
use std::ffi::c_void;
use std::fmt;

/// Type of the numbers of a stream or a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// Pairs of halves.
    F16,
    F32,
    F64,
}

impl Number {
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
    Tf32,
    Bf16,
    Fp8,
    Int8,
}

impl Operand {
    pub fn op(self) -> Op {
        match self {
            Self::Tf32 => Op::TensorTf32,
            Self::Bf16 => Op::TensorBf16,
            Self::Fp8 => Op::TensorFp8,
            Self::Int8 => Op::TensorInt8,
        }
    }

    pub fn bytes(self) -> usize {
        match self {
            Self::Tf32 => 4,
            Self::Bf16 => 2,
            Self::Fp8 | Self::Int8 => 1,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// So many FMAs on each number read from memory; 0: one add.
    Stream(Number, u32),
    /// FMAs in registers alone.
    Peak(Number),
    Integers,
    Roots,
    Shared,
    L2,
    Read,
    Write,
    Copy,
    Random,
    /// Products of doubles on the tensor cores, so deep each.
    Dmma(u32),
    /// Products of a warp group.
    Wgmma(Operand),
}

/// What the input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    Normal,
    Uniform,
    Ones,
    Zeros,
}

/// One microbenchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GpuBench {
    pub kind: Kind,
    /// Multiprocessors that work; few stretch the time of the same work, which separates constant
    /// power, and leave the clock free.
    pub multiprocessors: u32,
    pub fill: Fill,
}

impl fmt::Display for Kind {
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
            Self::Copy => write!(f, "copy DRAM"),
            Self::Random => write!(f, "random DRAM"),
            Self::Dmma(k) => write!(f, "tensor_f64 16x8x{k}"),
            Self::Wgmma(o) => write!(f, "{}", o.op()),
        }
    }
}

impl GpuBench {
    pub fn name(&self) -> String {
        match self.fill {
            Fill::Normal => self.kind.to_string(),
            Fill::Uniform => format!("{}, uniform data", self.kind),
            Fill::Ones => format!("{}, ones", self.kind),
            Fill::Zeros => format!("{}, zeros", self.kind),
        }
    }

    /// Its kernel in [`SOURCE`].
    pub fn kernel(&self) -> &'static str {
        match self.kind {
            Kind::Stream(..) => "intensity",
            Kind::Peak(_) => "peak",
            Kind::Integers => "integers",
            Kind::Roots => "roots",
            Kind::Shared => "shared_read",
            Kind::L2 | Kind::Read => "far_read",
            Kind::Write => "write",
            Kind::Copy => "copy",
            Kind::Random => "chase",
            Kind::Dmma(_) => "dmma",
            Kind::Wgmma(_) => "wgmma",
        }
    }

    /// Threads of its only block on a multiprocessor.
    pub fn threads(&self) -> u32 {
        match self.kind {
            Kind::Dmma(_) => 256,
            Kind::Wgmma(_) => 512,
            _ => 1024,
        }
    }

    /// The type of the input's numbers.
    pub fn number(&self) -> Number {
        match self.kind {
            Kind::Stream(n, _) | Kind::Peak(n) => n,
            Kind::Dmma(_) => Number::F64,
            _ => Number::F32,
        }
    }

    /// The architecture it is compiled for: products of warp groups are a feature of one.
    pub fn arch(&self, gpu: &str) -> String {
        match self.kind {
            Kind::Wgmma(_) => format!("{gpu}a"),
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
            Kind::Stream(_, k) => (k, 8, 0),
            Kind::Dmma(k) => (1, k, 0),
            Kind::Wgmma(o) => (1, 8, o as u32),
            _ => (1, 8, 0),
        };
        vec![
            format!("-Dnumber={number}"),
            format!("-Dproducts={products}"),
            format!("-Ddepth={depth}"),
            format!("-Dtensor={tensor}"),
        ]
    }
}

/// Source of all microbenchmarks.
pub const SOURCE: &str = include_str!("kernels.cu");

/// Dynamic shared memory of every block: more than half of a multiprocessor's, bytes.
const ALONE: u32 = 120 << 10;
/// Lines of the table of random accesses, 64 bytes each.
const LINES: i64 = 1 << 26;
/// Bytes of a stream: far beyond the last cache.
const FAR: usize = 4 << 30;
/// Bytes that stay in L2.
const NEAR: i64 = 16 << 20;

/// A GPU with the arrays of the microbenchmarks.
pub struct Bed {
    pub gpu: Gpu,
    pub session: Session,
    compiler: Compiler,
    input: Memory,
    output: Memory,
    /// What the input holds now.
    holds: Option<Holds>,
}

#[derive(Clone, Copy, PartialEq)]
enum Holds {
    Numbers(Number, Fill),
    Operands(Operand, Fill),
    Table,
}

/// A microbenchmark ready to run.
pub struct Prepared {
    session: Session,
    function: Function,
    shape: Shape,
    input: u64,
    output: u64,
    n: i64,
    passes: i32,
    repeater: Repeater,
    pub work: Work,
}

impl Bed {
    /// Takes a GPU and its memory.
    ///
    /// # Errors
    /// No compiler, no GPU, no memory.
    pub fn new(gpu: Gpu, cache: &std::path::Path) -> Result<Self, CudaError> {
        let compiler = Compiler::new(Some(cache))?;
        let session = Session::open(gpu.ordinal)?;
        let bytes = FAR.min(gpu.memory_bytes / 4);
        Ok(Self {
            input: session.alloc(bytes)?,
            output: session.alloc(bytes)?,
            compiler,
            session,
            gpu,
            holds: None,
        })
    }

    /// Whether this GPU has what the microbenchmark uses.
    pub fn can(&self, kind: Kind) -> bool {
        match kind {
            Kind::Wgmma(_) => self.gpu.arch == "sm_90",
            Kind::Dmma(k) => {
                let number: u32 = self.gpu.arch.trim_start_matches("sm_").parse().unwrap_or(0);
                // The deeper shapes came with Hopper.
                number >= 90 && k > 0
            }
            _ => true,
        }
    }

    fn function(&self, bench: &GpuBench, kernel: &str) -> Result<Function, CudaError> {
        let arch = bench.arch(&self.gpu.arch);
        let compiled = self.compiler.compile(&Source {
            name: "kernels.cu",
            text: SOURCE,
            arch: &arch,
            options: &bench.macros(),
        })?;
        self.session.load(&compiled.cubin)?.function(kernel)
    }

    fn fill(&mut self, bench: &GpuBench) -> Result<(), CudaError> {
        let wanted = match bench.kind {
            Kind::Random => Holds::Table,
            Kind::Wgmma(o) => Holds::Operands(o, bench.fill),
            _ => Holds::Numbers(bench.number(), bench.fill),
        };
        if self.holds == Some(wanted) {
            return Ok(());
        }
        match wanted {
            Holds::Table => {
                let make = self.function(bench, "table")?;
                launch(
                    &make,
                    &Shape::line(4096, 256),
                    (self.input.address(), self.input.address()),
                    LINES.min(self.input.len() as i64 / 64),
                    1,
                )?;
                self.session.synchronize()?;
            }
            Holds::Numbers(n, fill) => self.input.upload_repeated(&twin::numbers(n, fill))?,
            Holds::Operands(o, fill) => self.input.upload_repeated(&twin::operands(o, fill))?,
        }
        self.holds = Some(wanted);
        Ok(())
    }

    /// Compiles, fills the input, sizes the launch.
    ///
    /// # Errors
    /// The kernel does not compile, or the GPU is lost.
    pub fn prepare(&mut self, bench: &GpuBench) -> Result<Prepared, CudaError> {
        self.fill(bench)?;
        let function = self.function(bench, bench.kernel())?;
        // So much shared memory that a multiprocessor takes one block: then their number is that of
        // the multiprocessors that work.
        function.allow_shared(ALONE)?;
        let shape = Shape {
            shared: ALONE,
            ..Shape::line(bench.multiprocessors, bench.threads())
        };
        let threads = i64::from(bench.multiprocessors) * i64::from(bench.threads());
        let far = (self.input.len() / 16) as i64;
        let (n, passes) = match bench.kind {
            Kind::Stream(..) | Kind::Read | Kind::Write | Kind::Copy => (far, 1),
            Kind::Peak(_) => (8192, 1),
            Kind::Integers | Kind::Roots => (4096, 1),
            Kind::Shared => (16_384, 1),
            Kind::L2 => (NEAR / 16, 64),
            Kind::Random => (LINES.min(far / 4), 64),
            Kind::Dmma(k) => (0, 8192 / k as i32),
            Kind::Wgmma(_) => (0, 4096),
        };
        Ok(Prepared {
            session: self.session.clone(),
            function,
            shape,
            input: self.input.address(),
            output: self.output.address(),
            n,
            passes,
            repeater: Repeater::default(),
            work: work(bench.kind, n, f64::from(passes), threads as f64),
        })
    }

    /// Runs a microbenchmark on little and compares what some threads reach with the host.
    ///
    /// # Errors
    /// What differs, or that it does not run.
    pub fn check(&mut self, bench: &GpuBench) -> Result<(), String> {
        let full = self.prepare(bench).map_err(|e| e.to_string())?;
        let (n, passes, blocks) = twin::small(bench.kind);
        let small = Prepared {
            n,
            passes,
            shape: Shape {
                shared: ALONE,
                ..Shape::line(blocks, bench.threads())
            },
            ..full
        };
        small.enqueue().map_err(|e| e.to_string())?;
        let mut input = vec![0; twin::INPUT_BYTES.min(self.input.len())];
        self.input.download(&mut input).map_err(|e| e.to_string())?;
        let mut output = vec![0; twin::output_bytes(bench.kind, n, blocks * bench.threads())];
        self.output
            .download(&mut output)
            .map_err(|e| e.to_string())?;
        twin::compare(
            bench.kind,
            &input,
            &output,
            (n, passes),
            (blocks, bench.threads()),
        )
        .map_err(|m| format!("{}: {m}", bench.name()))
    }
}

fn launch(
    function: &Function,
    shape: &Shape,
    (mut input, mut output): (u64, u64),
    mut n: i64,
    mut passes: i32,
) -> Result<(), CudaError> {
    let mut arguments: [*mut c_void; 4] = [
        (&raw mut input).cast(),
        (&raw mut output).cast(),
        (&raw mut n).cast(),
        (&raw mut passes).cast(),
    ];
    // SAFETY: every kernel of the source takes two pointers, a long and an int; both arrays are as
    // long as the launch's sizes ask for.
    unsafe { function.launch(shape, &mut arguments) }
}

impl Prepared {
    fn enqueue(&self) -> Result<(), CudaError> {
        launch(
            &self.function,
            &self.shape,
            (self.input, self.output),
            self.n,
            self.passes,
        )
    }

    /// Repeats for about some seconds.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn run(&mut self, seconds: f64, times: &mut Vec<f64>) -> Result<Run, CudaError> {
        let (function, shape, at) = (&self.function, &self.shape, (self.input, self.output));
        let (n, passes) = (self.n, self.passes);
        let done = self.repeater.window(
            &self.session,
            seconds,
            &mut || launch(function, shape, at, n, passes),
            times,
        )?;
        Ok(Run {
            iterations: done.runs as f64,
            seconds: done.seconds,
        })
    }
}

/// Work of one launch.
fn work(kind: Kind, n: i64, passes: f64, threads: f64) -> Work {
    let n = n as f64;
    let vectors = n * passes;
    let counts: Vec<(Op, f64)> = match kind {
        Kind::Stream(number, products) => {
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
        Kind::Peak(number) => {
            let pair = if number == Number::F16 { 2.0 } else { 1.0 };
            vec![(number.op(), 2.0 * pair * 8.0 * vectors * threads)]
        }
        Kind::Integers => vec![(Op::Int, 2.0 * 8.0 * vectors * threads)],
        Kind::Roots => vec![
            (Op::Special, 8.0 * vectors * threads),
            (Op::F32, 8.0 * vectors * threads),
        ],
        // Two exclusive ors a vector (three operands each), and half its address.
        Kind::Shared => vec![
            (Op::L1, 16.0 * vectors * threads),
            (Op::Int, 3.0 * vectors * threads),
        ],
        Kind::L2 => vec![(Op::L2, 16.0 * vectors), (Op::Int, 2.0 * vectors)],
        Kind::Read => vec![(Op::Dram, 16.0 * vectors), (Op::Int, 2.0 * vectors)],
        Kind::Write => vec![(Op::Dram, 16.0 * vectors)],
        Kind::Copy => vec![(Op::Dram, 32.0 * vectors)],
        Kind::Random => vec![(Op::Random, 4.0 * passes * threads)],
        Kind::Dmma(k) => vec![(
            Op::TensorF64,
            threads / 32.0 * passes * 16.0 * (2.0 * 16.0 * 8.0 * f64::from(k)),
        )],
        Kind::Wgmma(o) => {
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
