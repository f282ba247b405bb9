//! Evaluation on CUDA GPUs.
//!
//! | module | contents |
//! |---|---|
//! | `config` | tuning parameters of the kernels, and their source |
//! | `arguments` | parameters of the kernels |
//! | `items` | work of the blocks of kernels over points |
//! | `layout` | the memory of a plan on the GPU |
//! | `launches` | launches of the phases |

mod arguments;
mod config;
mod items;
mod launches;
mod layout;

pub use config::{Config, ConfigError, shared_bytes, siblings, source};

use crate::FmmError;
use crate::engine::{Engine, PhaseTimes};
use crate::operators::fourier::frequencies;
use crate::plan::{M2lOperator, Plan};
use crate::precision::Real;
use greenup_device::cuda::{Backend, CudaError, GpuBackend};
use layout::Layout;
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// The kernels.
pub const KERNELS: [&str; 10] = [
    "p2p",
    "points_to_surfaces",
    "surfaces_to_points",
    "permute_charges",
    "permute_results",
    "clear",
    "apply",
    "m2l_fft",
    "m2l_inverse_fft",
    "m2l_hadamard",
];

/// A GPU with a plan on it.
pub struct Gpu<R: Real, B: Backend = GpuBackend> {
    plan: Arc<Plan<R>>,
    config: Config,
    layout: Layout<R>,
    siblings: usize,
    shared_bytes: usize,
    frequency_count: usize,
    phases: PhaseTimes,
    /// Dropped last: it owns the memory of the layout.
    backend: B,
}

impl<R: Real> Gpu<R> {
    /// Opens a GPU by its number.
    ///
    /// # Errors
    /// No driver, compiler or GPU; not enough memory; compressed M2L, which only CPUs have.
    pub fn open(plan: Arc<Plan<R>>, ordinal: usize, config: Config) -> Result<Self, FmmError> {
        let o = &plan.options;
        let text = source::<R>(o.kernel, o.gradient, plan.p, plan.surface, &config);
        let shared = shared_bytes::<R>(plan.p, siblings::<R>(plan.p));
        let kernels = KERNELS.map(|k| (k, if k.ends_with("fft") { shared } else { 0 }));
        let options = ["--ftz=true".to_owned()];
        let backend = GpuBackend::open(ordinal, "fmm.cu", &text, &options, &kernels)?;
        // SAFETY: compiled from the source of this plan and config.
        unsafe { Self::on(backend, plan, config) }
    }

    /// Name of the GPU.
    pub fn name(&self) -> &str {
        &self.backend.gpu().name
    }
}

impl<R: Real, B: Backend> Gpu<R, B> {
    /// Puts a plan on a backend.
    ///
    /// # Safety
    /// The backend has the kernels of [`source`] for this plan and config.
    ///
    /// # Errors
    /// Not enough memory; compressed M2L, which only CPUs have.
    pub unsafe fn on(backend: B, plan: Arc<Plan<R>>, config: Config) -> Result<Self, FmmError> {
        if matches!(plan.m2l.first(), Some(M2lOperator::Compressed(_))) {
            return Err(FmmError::CompressedOnGpu);
        }
        let siblings = siblings::<R>(plan.p);
        let panel = R::kernels(plan.isa).panel as usize;
        Ok(Self {
            layout: Layout::new(&backend, &plan, &config, panel)?,
            config,
            backend,
            siblings,
            shared_bytes: shared_bytes::<R>(plan.p, siblings),
            frequency_count: frequencies(plan.p),
            phases: PhaseTimes::default(),
            plan,
        })
    }

    /// Evaluates the charges on the GPU; waits after each phase where `timed`.
    fn run(&self, phases: &mut PhaseTimes, timed: bool) -> Result<(), CudaError> {
        let mut last = Instant::now();
        let mut lap = |to: &mut f64| -> Result<(), CudaError> {
            if timed {
                self.backend.wait()?;
                *to += last.elapsed().as_secs_f64();
                last = Instant::now();
            }
            Ok(())
        };
        let o = &self.plan.options;
        self.permute_charges()?;
        self.clear(
            self.layout.out,
            self.plan.targets[0].len() * o.kernel.outputs(o.gradient),
        )?;
        lap(&mut phases.permutation_s)?;
        if !self.plan.levels.is_empty() {
            self.upward()?;
            // It held check potentials of sources.
            self.clear(
                self.layout.check,
                self.plan.tree.nodes.len() * self.plan.surface_values(),
            )?;
            lap(&mut phases.p2m_m2m_s)?;
            for stage in &self.layout.stages {
                self.m2l_fft(stage)?;
                lap(&mut phases.m2l_fft_s)?;
                self.m2l_hadamard(stage)?;
                lap(&mut phases.m2l_hadamard_s)?;
                self.m2l_inverse_fft(stage)?;
                lap(&mut phases.m2l_inverse_fft_s)?;
            }
            self.downward()?;
            lap(&mut phases.p2l_l2l_s)?;
            self.evaluate_expansions()?;
            lap(&mut phases.l2p_m2p_s)?;
        }
        self.p2p()?;
        lap(&mut phases.p2p_s)?;
        self.permute_results()?;
        lap(&mut phases.permutation_s)
    }
}

impl<R: Real, B: Backend> Engine for Gpu<R, B> {
    fn evaluate(&mut self, charges: &[f64]) -> Result<Vec<f64>, FmmError> {
        let plan = Arc::clone(&self.plan);
        let unit = plan.unit_of_charges(charges)?;
        let start = Instant::now();
        let mut phases = PhaseTimes::default();
        let n = plan.target_from.len();
        let o = &plan.options;
        let mut out = vec![R::default(); n * o.kernel.outputs(o.gradient)];
        let scaled: Vec<R> = charges.par_iter().map(|&q| R::of(q / unit)).collect();
        self.backend.upload(self.layout.charges, &scaled)?;
        phases.permutation_s = start.elapsed().as_secs_f64();
        self.run(&mut phases, true)?;
        let start = Instant::now();
        self.backend.download(self.layout.result, &mut out)?;
        let out = plan.in_units(&out, unit);
        phases.permutation_s += start.elapsed().as_secs_f64();
        self.phases = phases;
        Ok(out)
    }

    fn phases(&self) -> PhaseTimes {
        self.phases
    }

    fn repeat(&mut self, times: usize) -> Result<(), FmmError> {
        for _ in 0..times {
            self.run(&mut PhaseTimes::default(), false)?;
        }
        Ok(self.backend.wait()?)
    }
}
