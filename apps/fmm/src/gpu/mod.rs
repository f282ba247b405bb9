//! Evaluation on CUDA GPUs.
//!
//! | module | contents |
//! |---|---|
//! | `config` | tuning parameters of the kernels, and their source |
//! | `arguments` | parameters of the kernels |
//! | `items` | work of the blocks of kernels over points |
//! | `layout` | the memory of a plan on the GPU |
//! | `launches` | launches of the phases |
//! | `staging` | memory of the host for copies |
//! | `mix` | the rate of the P2P kernel's instructions without memory |
//! | `near` | U lists alone, beside the host's cores |
//! | [`wisdom`] | tuning parameters of the nearest device |
//! | `steps` | evaluations in two steps, between which ranks exchange |

mod arguments;
mod config;
mod items;
mod launches;
mod layout;
mod mix;
mod near;
mod staging;
mod steps;
pub mod wisdom;

pub use config::{Config, ConfigError, mix_source, shared_bytes, siblings, source};
pub use mix::{InstructionMix, MIX_KERNELS, MixRates, positions as mix_positions};

use crate::FmmError;
use crate::engine::{Engine, PhaseTimes};
use crate::operators::fourier::frequencies;
use crate::plan::{M2lOperator, Plan};
use crate::precision::Real;
use greenup_device::cuda::{Backend, CudaError, GpuBackend};
use layout::Layout;
use rayon::prelude::*;
use staging::Staging;
use std::sync::Arc;
use std::time::Instant;

/// The kernels.
pub const KERNELS: [&str; 11] = [
    "p2p",
    "points_to_surfaces",
    "surfaces_to_points",
    "permute_charges",
    "permute_results",
    "clear",
    "copy_boxes",
    "apply",
    "m2l_fft",
    "m2l_inverse_fft",
    "m2l_hadamard",
];

/// Which lists a GPU evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lists {
    /// All of them.
    All,
    /// U lists: the memory of the others is not allocated.
    U,
}

/// A GPU with a plan on it.
pub struct Gpu<R: Real, B: Backend = GpuBackend> {
    plan: Arc<Plan<R>>,
    config: Config,
    layout: Layout<R>,
    siblings: usize,
    shared_bytes: usize,
    frequency_count: usize,
    phases: PhaseTimes,
    staging: Staging,
    /// Dropped last: it owns the memory of the layout.
    backend: B,
}

impl<R: Real> Gpu<R> {
    /// Opens a GPU by its number.
    ///
    /// # Errors
    /// No driver, compiler or GPU; not enough memory; compressed M2L, which only CPUs have.
    pub fn open(plan: Arc<Plan<R>>, ordinal: usize, config: Config) -> Result<Self, FmmError> {
        Self::open_for(plan, ordinal, config, Lists::All)
    }

    pub(crate) fn open_for(
        plan: Arc<Plan<R>>,
        ordinal: usize,
        config: Config,
        lists: Lists,
    ) -> Result<Self, FmmError> {
        let o = &plan.options;
        let text = source::<R>(o.kernel, o.gradient, plan.p, plan.surface, &config);
        let shared = shared_bytes::<R>(plan.p, siblings::<R>(plan.p));
        let kernels = KERNELS.map(|k| (k, if k.ends_with("fft") { shared } else { 0 }));
        let options = ["--ftz=true".to_owned()];
        let backend = GpuBackend::open(ordinal, "fmm.cu", &text, &options, &kernels)?;
        let number = backend.gpu().ordinal;
        let bytes = copied_bytes(&plan);
        // SAFETY: compiled from the source of this plan and config.
        let mut new = unsafe { Self::on_for(backend, plan, config, lists) }?;
        new.staging = Staging::pinned(number, bytes)?;
        Ok(new)
    }

    /// Name of the GPU.
    pub fn name(&self) -> &str {
        &self.backend.gpu().name
    }
}

/// Bytes of the largest copy of an evaluation.
fn copied_bytes<R: Real>(plan: &Plan<R>) -> usize {
    let o = &plan.options;
    let exchanged = plan.sent().len().max(plan.received().len()) * plan.surface_values();
    let charges = plan.sources[0].len() * o.kernel.inputs();
    let results = plan.share.len() * o.kernel.outputs(o.gradient);
    size_of::<R>() * charges.max(results).max(exchanged)
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
        // SAFETY: the caller's promise.
        unsafe { Self::on_for(backend, plan, config, Lists::All) }
    }

    /// # Safety
    /// As [`Gpu::on`].
    pub(crate) unsafe fn on_for(
        backend: B,
        plan: Arc<Plan<R>>,
        config: Config,
        lists: Lists,
    ) -> Result<Self, FmmError> {
        if lists == Lists::All && matches!(plan.m2l.first(), Some(M2lOperator::Compressed(_))) {
            return Err(FmmError::CompressedOnGpu);
        }
        let siblings = siblings::<R>(plan.p);
        let panel = R::kernels(plan.isa).panel as usize;
        Ok(Self {
            layout: Layout::new(&backend, &plan, (&config, lists), panel)?,
            config,
            backend,
            siblings,
            shared_bytes: shared_bytes::<R>(plan.p, siblings),
            frequency_count: frequencies(plan.p),
            phases: PhaseTimes::default(),
            staging: Staging::pageable(copied_bytes(&plan)),
            plan,
        })
    }

    /// Evaluates the charges on the GPU; waits after each phase where `timed`.
    fn run(&self, phases: &mut PhaseTimes, timed: bool) -> Result<(), CudaError> {
        let laps = &mut self.laps(timed);
        self.first(laps, phases)?;
        self.rest(laps, phases)?;
        self.permute_results()?;
        laps.lap(&mut phases.permutation_s)
    }

    fn laps(&self, timed: bool) -> Laps<'_, B> {
        Laps {
            backend: &self.backend,
            last: timed.then(Instant::now),
        }
    }

    /// The upward pass of the boxes that this rank computes alone.
    fn first(&self, laps: &mut Laps<'_, B>, phases: &mut PhaseTimes) -> Result<(), CudaError> {
        let o = &self.plan.options;
        self.permute_charges()?;
        let results = self.plan.share.len() * o.kernel.outputs(o.gradient);
        self.clear(self.layout.out, results)?;
        laps.lap(&mut phases.permutation_s)?;
        if self.plan.levels.is_empty() {
            return Ok(());
        }
        self.upward()?;
        laps.lap(&mut phases.p2m_m2m_s)
    }

    /// What follows it.
    fn rest(&self, laps: &mut Laps<'_, B>, phases: &mut PhaseTimes) -> Result<(), CudaError> {
        if !self.plan.levels.is_empty() {
            if self.plan.is_distributed() {
                self.upward_shared()?;
            }
            // It held check potentials of sources.
            let boxes = self.plan.tree.nodes.len();
            self.clear(self.layout.check, boxes * self.plan.surface_values())?;
            laps.lap(&mut phases.p2m_m2m_s)?;
            for stage in &self.layout.stages {
                self.m2l_fft(stage)?;
                laps.lap(&mut phases.m2l_fft_s)?;
                self.m2l_hadamard(stage)?;
                laps.lap(&mut phases.m2l_hadamard_s)?;
                self.m2l_inverse_fft(stage)?;
                laps.lap(&mut phases.m2l_inverse_fft_s)?;
            }
            self.downward()?;
            laps.lap(&mut phases.p2l_l2l_s)?;
            self.evaluate_expansions()?;
            laps.lap(&mut phases.l2p_m2p_s)?;
        }
        self.p2p()?;
        laps.lap(&mut phases.p2p_s)
    }
}

/// A stopwatch that waits for the GPU; without a time it does nothing.
struct Laps<'a, B> {
    backend: &'a B,
    last: Option<Instant>,
}

impl<B: Backend> Laps<'_, B> {
    fn lap(&mut self, to: &mut f64) -> Result<(), CudaError> {
        if let Some(last) = &mut self.last {
            self.backend.wait()?;
            *to += last.elapsed().as_secs_f64();
            *last = Instant::now();
        }
        Ok(())
    }
}

impl<R: Real, B: Backend> Engine for Gpu<R, B> {
    fn evaluate_into(&mut self, charges: &[f64], out: &mut Vec<f64>) -> Result<(), FmmError> {
        let plan = Arc::clone(&self.plan);
        let (mut phases, o) = (PhaseTimes::default(), &plan.options);
        let start = Instant::now();
        let unit = plan.unit_of_charges(charges)?;
        let scaled = self.staging.values::<R>(charges.len())?;
        (scaled.par_iter_mut().zip(charges))
            .with_min_len(1 << 14)
            .for_each(|(to, q)| *to = R::of(q / unit));
        let converted = Instant::now();
        self.backend.upload(self.layout.charges, scaled)?;
        phases.permutation_s = (converted - start).as_secs_f64();
        phases.transfers_s = converted.elapsed().as_secs_f64();
        self.run(&mut phases, true)?;
        let start = Instant::now();
        let results = plan.share.len() * o.kernel.outputs(o.gradient);
        let sums = self.staging.values::<R>(results)?;
        self.backend.download(self.layout.result, sums)?;
        let copied = Instant::now();
        plan.results(sums, charges, unit, out);
        phases.transfers_s += (copied - start).as_secs_f64();
        phases.permutation_s += copied.elapsed().as_secs_f64();
        self.phases = phases;
        Ok(())
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
