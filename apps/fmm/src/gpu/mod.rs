//! All passes on a CUDA GPU.
//!
//! | module | what it holds |
//! |---|---|
//! | [`config`] | choices of the kernels, and their source |
//! | [`items`] | what blocks over points take |
//! | [`layout`] | what of a plan lies on the GPU |
//! | [`passes`] | launches of the phases |
//! | [`place`] | a GPU, or what stands in for one |

mod config;
mod items;
mod layout;
mod passes;
mod place;

pub use config::{Config, room, sisters, source};
pub use place::{At, KERNELS, OnGpu, Place};

use crate::FmmError;
use crate::cpu::Phases;
use crate::engine::Engine;
use crate::operators::fourier::frequencies;
use crate::plan::{Far, Plan};
use crate::real::Real;
use greenup_device::cuda::CudaError;
use layout::{Layout, bytes, bytes_mut};
use rayon::prelude::*;
use std::time::Instant;

type Done = Result<(), CudaError>;

/// A GPU with a plan on it.
pub struct Gpu<'a, R: Real, P: Place = OnGpu> {
    plan: &'a Plan<R>,
    config: Config,
    place: P,
    on: Layout,
    sisters: usize,
    room: usize,
    waves: usize,
    phases: Phases,
}

fn wrong(e: &CudaError) -> FmmError {
    FmmError(e.words())
}

impl<'a, R: Real> Gpu<'a, R> {
    /// Takes a GPU by its number.
    ///
    /// # Errors
    /// No driver, compiler or GPU; not enough memory; compressed matrices, which CPUs alone work with.
    pub fn open(plan: &'a Plan<R>, ordinal: usize, config: Config) -> Result<Self, FmmError> {
        let o = &plan.options;
        let text = source::<R>(o.kernel, o.gradient, plan.p, plan.surface, &config);
        let bytes = room::<R>(plan.p, sisters::<R>(plan.p));
        let place =
            OnGpu::open(ordinal, &text, (&["forward", "back"], bytes)).map_err(|e| wrong(&e))?;
        // SAFETY: compiled from this very text.
        unsafe { Self::on(place, plan, config) }
    }

    pub fn name(&self) -> &str {
        &self.place.name
    }
}

impl<'a, R: Real, P: Place> Gpu<'a, R, P> {
    /// On a place of one's own.
    ///
    /// # Safety
    /// The place has the kernels of [`source`] for this plan and config, and memory as large as it was asked for.
    ///
    /// # Errors
    /// Not enough memory; compressed matrices, which CPUs alone work with.
    pub unsafe fn on(place: P, plan: &'a Plan<R>, config: Config) -> Result<Self, FmmError> {
        if matches!(plan.far.first(), Some(Far::Compressed(_))) {
            return Err(FmmError(
                "GPUs work V lists by transforms: take --m2l fft".to_owned(),
            ));
        }
        let sisters = sisters::<R>(plan.p);
        let panel = R::kernels(plan.isa).panel as usize;
        Ok(Self {
            plan,
            on: Layout::new(&place, plan, &config, panel).map_err(|e| wrong(&e))?,
            config,
            place,
            sisters,
            room: room::<R>(plan.p, sisters),
            waves: frequencies(plan.p),
            phases: Phases::default(),
        })
    }

    /// One evaluation of what lies on the GPU; waits after each phase where `timed`.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn passes(&self, phases: &mut Phases, timed: bool) -> Result<(), CudaError> {
        let mut last = Instant::now();
        let mut lap = |to: &mut f64| -> Done {
            if timed {
                self.place.wait()?;
                *to += last.elapsed().as_secs_f64();
                last = Instant::now();
            }
            Ok(())
        };
        let o = &self.plan.options;
        self.order(true)?;
        self.clear(
            &self.on.out,
            self.plan.targets[0].len() * o.kernel.outputs(o.gradient),
        )?;
        lap(&mut phases.order_s)?;
        if !self.plan.levels.is_empty() {
            self.upward()?;
            // Check potentials of sources were in the same place.
            self.clear(
                &self.on.check,
                self.plan.tree.nodes.len() * self.plan.shell_numbers(),
            )?;
            lap(&mut phases.up_s)?;
            for stage in &self.on.stages {
                self.forward(stage)?;
                lap(&mut phases.forward_s)?;
                self.products(stage)?;
                lap(&mut phases.product_s)?;
                self.back(stage)?;
                lap(&mut phases.back_s)?;
            }
            self.downward()?;
            lap(&mut phases.down_s)?;
            self.local()?;
            lap(&mut phases.local_s)?;
        }
        self.near()?;
        lap(&mut phases.direct_s)?;
        self.order(false)?;
        lap(&mut phases.order_s)
    }

    /// Waits for all launches.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn wait(&self) -> Result<(), FmmError> {
        self.place.wait().map_err(|e| wrong(&e))
    }
}

impl<R: Real, P: Place> Engine for Gpu<'_, R, P> {
    fn evaluate(&mut self, charges: &[f64]) -> Result<Vec<f64>, FmmError> {
        let plan = self.plan;
        let unit = plan.unit_of_charges(charges)?;
        let begun = Instant::now();
        let mut phases = Phases::default();
        let n = plan.target_from.len();
        let o = &plan.options;
        let mut out = vec![R::default(); n * o.kernel.outputs(o.gradient)];
        let mut work = || -> Done {
            let own: Vec<R> = charges.par_iter().map(|&q| R::of(q / unit)).collect();
            if !own.is_empty() {
                self.place.upload(self.on.charges, bytes(&own))?;
            }
            phases.order_s = begun.elapsed().as_secs_f64();
            self.passes(&mut phases, true)?;
            if !out.is_empty() {
                let t = Instant::now();
                self.place.download(self.on.result, bytes_mut(&mut out))?;
                phases.order_s += t.elapsed().as_secs_f64();
            }
            Ok(())
        };
        work().map_err(|e| wrong(&e))?;
        let t = Instant::now();
        let out = plan.in_units(&out, unit);
        phases.order_s += t.elapsed().as_secs_f64();
        self.phases = phases;
        Ok(out)
    }

    fn phases(&self) -> Phases {
        self.phases
    }

    fn again(&mut self, times: usize) -> Result<(), FmmError> {
        for _ in 0..times {
            self.passes(&mut Phases::default(), false)
                .map_err(|e| wrong(&e))?;
        }
        self.wait()
    }
}
