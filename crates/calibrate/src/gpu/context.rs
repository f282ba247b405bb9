//! A GPU with the data of the microbenchmarks: preparing, checking and running them.

use super::host_reference::Difference;
use super::kind::{Fill, GpuBench, GpuBenchmark, GpuLevel, Number, Operand, work};
use super::{data, host_reference};
use greenup_device::cuda::{
    Compiled, Compiler, CudaError, Function, Gpu, Memory, Repeater, Session, Shape, Source,
};
use greenup_meter::Run;
use greenup_model::Work;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Source of all microbenchmarks.
pub const SOURCE: &str = include_str!("kernels.cu");

/// Dynamic shared memory of every block: more than half of a multiprocessor's, bytes.
const ALONE: u32 = 120 << 10;
/// Bytes of a stream: far beyond the last cache.
const FAR: usize = 4 << 30;
/// Bytes that stay in L2.
const NEAR: i64 = 16 << 20;

/// A GPU with the arrays of the microbenchmarks.
pub struct BenchContext {
    /// The device.
    pub gpu: Gpu,
    /// Its context and stream.
    pub session: Session,
    compiler: Compiler,
    input: Memory,
    output: Memory,
    /// Current contents of the input.
    holds: Option<Contents>,
}

#[derive(Clone, Copy, PartialEq)]
enum Contents {
    Numbers(Number, Fill),
    Operands(Operand, Fill),
    /// Lines.
    Table(i64),
}

/// A microbenchmark that cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It cannot be compiled or run.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// Its results differ from the host's.
    #[error("{bench}: {difference}")]
    Wrong {
        /// Name of the microbenchmark.
        bench: String,
        /// The first difference.
        difference: Difference,
    },
}

/// A microbenchmark ready to run on the context's memory.
pub struct Prepared<'context> {
    context: PhantomData<&'context BenchContext>,
    session: Session,
    function: Function,
    shape: Shape,
    input: u64,
    output: u64,
    n: i64,
    passes: i32,
    repeater: Repeater,
    /// Operations of one launch.
    pub work: Work,
}

fn compiled(compiler: &Compiler, arch: &str, bench: &GpuBench) -> Result<Compiled, CudaError> {
    compiler.compile(&Source {
        name: "kernels.cu",
        text: SOURCE,
        arch: &bench.arch(arch),
        options: &bench.macros(),
    })
}

impl BenchContext {
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
    pub fn can(&self, kind: GpuBenchmark) -> bool {
        match kind {
            GpuBenchmark::Wgmma(_) => self.gpu.arch == "sm_90",
            GpuBenchmark::Dmma(k) => {
                let number: u32 = self.gpu.arch.trim_start_matches("sm_").parse().unwrap_or(0);
                // The deeper shapes came with Hopper.
                number >= 90 && k > 0
            }
            _ => true,
        }
    }

    /// Compiles the microbenchmarks into the cache, on all processors. What does not compile is left to its check.
    pub fn compile(&self, plan: &[GpuBench]) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        let (compiler, arch) = (&self.compiler, &self.gpu.arch);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(plan.len()) {
                scope.spawn(|| {
                    while let Some(bench) = plan.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let _ = compiled(compiler, arch, bench);
                    }
                });
            }
        });
    }

    /// Lines of a table that fits into the input.
    fn lines(&self, level: GpuLevel) -> i64 {
        level.lines().min(self.input.len() as i64 / 64)
    }

    fn function(&self, bench: &GpuBench, kernel: &str) -> Result<Function, CudaError> {
        let compiled = compiled(&self.compiler, &self.gpu.arch, bench)?;
        self.session.load(&compiled.cubin)?.function(kernel)
    }

    fn fill(&mut self, bench: &GpuBench) -> Result<(), CudaError> {
        let wanted = match bench.kind {
            GpuBenchmark::Random(level) | GpuBenchmark::Latency(level) => {
                Contents::Table(self.lines(level))
            }
            GpuBenchmark::Wgmma(o) => Contents::Operands(o, bench.fill),
            _ => Contents::Numbers(bench.number(), bench.fill),
        };
        if self.holds == Some(wanted) {
            return Ok(());
        }
        match wanted {
            Contents::Table(lines) => {
                let make = self.function(bench, "table")?;
                launch(
                    &make,
                    &Shape::line(4096, 256),
                    (self.input.address(), self.input.address()),
                    lines,
                    1,
                )?;
                self.session.synchronize()?;
            }
            Contents::Numbers(n, fill) => self.input.upload_repeated(&data::numbers(n, fill))?,
            Contents::Operands(o, fill) => self.input.upload_repeated(&data::operands(o, fill))?,
        }
        self.holds = Some(wanted);
        Ok(())
    }

    /// Compiles, fills the input, sizes the launch.
    ///
    /// # Errors
    /// The kernel does not compile, or the GPU is lost.
    pub fn prepare(&mut self, bench: &GpuBench) -> Result<Prepared<'_>, CudaError> {
        self.fill(bench)?;
        let function = self.function(bench, bench.kernel())?;
        // So much shared memory that a multiprocessor takes one block: then their number is that of
        // the multiprocessors that work.
        function.allow_shared(ALONE)?;
        let alone = Shape {
            shared: ALONE,
            ..Shape::line(bench.multiprocessors, bench.threads())
        };
        let threads = i64::from(bench.multiprocessors) * i64::from(bench.threads());
        let far = (self.input.len() / 16) as i64;
        let shape = match bench.kind {
            GpuBenchmark::CopyOnce => {
                let blocks = far.cast_unsigned().div_ceil(u64::from(bench.threads()));
                Shape::line(u32::try_from(blocks).unwrap_or(u32::MAX), bench.threads())
            }
            _ => alone,
        };
        let (n, passes) = match bench.kind {
            GpuBenchmark::Stream(..)
            | GpuBenchmark::Read
            | GpuBenchmark::Write
            | GpuBenchmark::Copy
            | GpuBenchmark::CopyOnce => (far, 1),
            GpuBenchmark::Peak(_) => (8192, 1),
            GpuBenchmark::Integers | GpuBenchmark::Roots => (4096, 1),
            GpuBenchmark::Shared => (16_384, 1),
            GpuBenchmark::L2 => (NEAR / 16, 64),
            GpuBenchmark::Random(level) => (self.lines(level), 64),
            GpuBenchmark::Latency(level) => (self.lines(level), 1 << 14),
            GpuBenchmark::Dmma(k) => (0, 8192 / k as i32),
            GpuBenchmark::Wgmma(_) => (0, 4096),
        };
        Ok(Prepared {
            context: PhantomData,
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
    /// [`CheckError::Wrong`] with the first difference; [`CheckError::Cuda`] if it does not run.
    pub fn check(&mut self, bench: &GpuBench) -> Result<(), CheckError> {
        let full = self.prepare(bench)?;
        let (n, passes, blocks) = host_reference::small(bench.kind);
        let small = Prepared {
            n,
            passes,
            shape: Shape {
                shared: ALONE,
                ..Shape::line(blocks, bench.threads())
            },
            ..full
        };
        small.enqueue()?;
        // It borrows the memory.
        drop(small);
        let mut input = vec![0; data::INPUT_BYTES.min(self.input.len())];
        self.input.download(&mut input)?;
        let mut output =
            vec![0; host_reference::output_bytes(bench.kind, n, blocks * bench.threads())];
        self.output.download(&mut output)?;
        host_reference::compare(
            bench.kind,
            &input,
            &output,
            (n, passes),
            (blocks, bench.threads()),
        )
        .map_err(|difference| CheckError::Wrong {
            bench: bench.name(),
            difference,
        })
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

impl Prepared<'_> {
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
        let one = &mut || launch(function, shape, at, n, passes);
        // SAFETY: the context, and with it the memory, outlives this; the launch is always the same.
        let done = unsafe { self.repeater.window(&self.session, seconds, one, times) }?;
        Ok(Run {
            iterations: done.runs as f64,
            seconds: done.seconds,
        })
    }
}
