//! The refined peak (thesis, section 3.4.4): rates of the P2P kernel's instructions without its traffic to memory.

use super::arguments::Mix;
use super::config::{Config, mix_source};
use crate::FmmError;
use crate::kernel::Kernel;
use crate::points::{Distribution, generate};
use crate::precision::Real;
use greenup_device::cuda::{Backend, CudaError, GpuBackend, Pointer, Shape};
use serde::Serialize;
use std::time::Instant;

/// The kernels of [`mix_source`](super::mix_source).
pub const MIX_KERNELS: [&str; 2] = ["mix_unrolled", "mix_loop"];

/// As in `mix.cu`.
const STEPS: usize = 8;
const STARTS: usize = 1024;
const TILE: usize = 128;

/// Pairs per second of the instructions of the P2P kernel.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MixRates {
    /// Arithmetic alone, fully unrolled.
    pub unrolled_pairs_per_s: f64,
    /// In the kernel's loop, with loads from shared memory, addresses and branches.
    pub loop_pairs_per_s: f64,
}

/// The instructions of the P2P kernel on a device.
pub struct InstructionMix<R: Real, B: Backend = GpuBackend> {
    config: Config,
    kernel: Kernel,
    outputs: usize,
    blocks: usize,
    positions: Pointer<R>,
    out: Pointer<R>,
    /// Dropped last: it owns the memory.
    backend: B,
}

impl<R: Real> InstructionMix<R> {
    /// Opens a GPU by its number.
    ///
    /// # Errors
    /// No driver, compiler or GPU; not enough memory.
    pub fn open(
        kernel: Kernel,
        gradient: bool,
        ordinal: usize,
        config: Config,
    ) -> Result<Self, FmmError> {
        let text = mix_source::<R>(kernel, gradient, &config);
        let options = ["--ftz=true".to_owned()];
        let kernels = MIX_KERNELS.map(|k| (k, 0));
        let backend = GpuBackend::open(ordinal, "mix.cu", &text, &options, &kernels)?;
        let multiprocessors = backend.gpu().multiprocessors.max(1) as usize;
        // As many warps as fit, a few times.
        let blocks = multiprocessors * 256 * 32 / config.threads;
        // SAFETY: compiled from the source of this kernel and config.
        Ok(unsafe { Self::on(backend, (kernel, gradient), config, blocks) }?)
    }
}

impl<R: Real, B: Backend> InstructionMix<R, B> {
    /// Puts so many blocks on a backend.
    ///
    /// # Safety
    /// The backend has the kernels of [`mix_source`](super::mix_source) for this kernel and config.
    ///
    /// # Errors
    /// Not enough memory.
    pub unsafe fn on(
        backend: B,
        (kernel, gradient): (Kernel, bool),
        config: Config,
        blocks: usize,
    ) -> Result<Self, CudaError> {
        let outputs = kernel.outputs(gradient);
        let positions: Vec<R> = positions().into_iter().flatten().map(R::of).collect();
        Ok(Self {
            positions: backend.alloc_with(&positions)?,
            out: backend.alloc(blocks * config.threads * config.targets * outputs)?,
            config,
            kernel,
            outputs,
            blocks,
            backend,
        })
    }

    fn launch(&self, kernel: &'static str, rounds: usize) -> Result<(), CudaError> {
        let shape = Shape::line(self.blocks as u32, self.config.threads as u32);
        let arguments = Mix {
            positions: self.positions,
            out: self.out,
            rounds: rounds as i64,
            parameter: self.kernel.parameter(1.0),
        };
        // SAFETY: the output holds the sums of all threads, the input what the kernels read.
        unsafe { self.backend.launch(kernel, &shape, &arguments) }
    }

    /// Sums of all targets after `rounds`, component by component of each, of both kernels.
    ///
    /// # Errors
    /// The device is lost.
    pub fn sums(&self, rounds: usize) -> Result<[Vec<R>; 2], CudaError> {
        let n = self.blocks * self.config.threads * self.config.targets * self.outputs;
        let mut of = MIX_KERNELS.map(|_| vec![R::default(); n]);
        for (kernel, out) in MIX_KERNELS.into_iter().zip(&mut of) {
            self.launch(kernel, rounds)?;
            self.backend.download(self.out, out)?;
        }
        Ok(of)
    }

    /// Median rates of launches of a few hundredths of a second.
    ///
    /// # Errors
    /// The device is lost.
    pub fn rates(&self) -> Result<MixRates, CudaError> {
        let targets = (self.blocks * self.config.threads * self.config.targets) as f64;
        let mut of = [0.0; 2];
        for ((kernel, each), rate) in MIX_KERNELS.into_iter().zip([STEPS, TILE]).zip(&mut of) {
            let pairs = |rounds: usize| targets * (each * rounds) as f64;
            let timed = |rounds: usize| {
                let start = Instant::now();
                self.launch(kernel, rounds)?;
                self.backend.wait()?;
                Ok::<_, CudaError>(start.elapsed().as_secs_f64())
            };
            // Until the clocks are up and a launch takes long enough.
            let mut rounds = 8;
            while timed(rounds)? < 0.03 && rounds < 1 << 24 {
                rounds *= 2;
            }
            let times = (0..9)
                .map(|_| timed(rounds))
                .collect::<Result<Vec<_>, _>>()?;
            *rate = pairs(rounds) / greenup_meter::stats::median(&times);
        }
        Ok(MixRates {
            unrolled_pairs_per_s: of[0],
            loop_pairs_per_s: of[1],
        })
    }
}

/// What the kernels read: steps of a closed walk in a small cube, targets away from it, sources; with charges.
pub fn positions() -> Vec<[f64; 4]> {
    let random = generate(Distribution::Cube, STEPS + STARTS + TILE, 1);
    let at = |i: usize, center: f64| [0, 1, 2].map(|a| center + 0.25 * random.x[a][i]);
    let steps = (0..STEPS).map(|j| {
        let (from, to) = (at(j, 0.0), at((j + 1) % STEPS, 0.0));
        [to[0] - from[0], to[1] - from[1], to[2] - from[2], 0.5]
    });
    let with = |[x, y, z]: [f64; 3], charge: f64| [x, y, z, charge];
    let starts = (STEPS..STEPS + STARTS).map(|i| with(at(i, 1.0), 0.0));
    let tile = (STEPS + STARTS..STEPS + STARTS + TILE).map(|i| with(at(i, 0.0), 0.25));
    steps.chain(starts).chain(tile).collect()
}
