//! Evaluation on CPUs.
//!
//! | module | contents |
//! |---|---|
//! | `expansions` | P2M, M2M, P2L, L2L |
//! | `m2l`, `m2l_compressed` | V lists by FFT, or by compressed matrices |
//! | `p2p` | L2P, M2P and P2P at the targets of leaves |

mod expansions;
mod m2l;
mod m2l_compressed;
mod p2p;

use crate::FmmError;
use crate::engine::{Engine, PhaseTimes, Steps};
use crate::memory;
use crate::plan::{Plan, Upward};
use crate::precision::{Kernels, Real, Sums};
use greenup_setting::setting;
use m2l::Spectra;
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// A plan with the memory of its evaluation.
pub struct Cpu<R: Real> {
    plan: Arc<Plan<R>>,
    kernels: &'static Kernels<R>,
    /// Of each box: upward equivalent charges, downward check potentials, downward equivalent charges.
    up: Vec<R>,
    check: Vec<R>,
    down: Vec<R>,
    spectra: Spectra<R>,
    charges: Vec<R>,
    phases: PhaseTimes,
}

/// Bytes that [`Cpu::new`] allocates.
fn bytes<R: Real>(plan: &Plan<R>) -> u64 {
    let size = size_of::<R>() as u64;
    let charges = (plan.sources[0].len() * plan.options.kernel.inputs()) as u64 * size;
    if plan.levels.is_empty() {
        return charges;
    }
    let boxes = (plan.tree.nodes.len() * plan.surface_values()) as u64;
    3 * boxes * size + m2l::bytes(plan) + charges
}

/// Boxes per task.
const CHUNK: usize = 48;

/// Checks that an evaluation on this host fits into memory.
///
/// # Errors
/// It does not.
pub fn check_memory<R: Real>(plan: &Plan<R>) -> Result<(), FmmError> {
    let o = plan.options();
    let results = memory::bytes(
        plan.targets(),
        o.kernel.outputs(o.gradient) * (8 + 2 * size_of::<R>()),
    );
    let what = format!(
        "an evaluation of {} boxes with {} points on a surface",
        plan.tree().nodes.len(),
        plan.surface()
    );
    let fix = format!(
        "use fewer points, a larger {}, {}, or a lower accuracy",
        setting("ncrit"),
        setting("precision").to("f32")
    );
    memory::check(&what, bytes(plan).saturating_add(results), fix)
}

impl<R: Real> Engine for Cpu<R> {
    fn evaluate_into(&mut self, charges: &[f64], out: &mut Vec<f64>) -> Result<(), FmmError> {
        let clock = &mut Clock(Instant::now());
        let unit = self.plan.unit_of_charges(charges)?;
        self.charges = self.plan.ordered(charges, unit);
        let before = clock.lap();
        let sums = self.run(true);
        clock.lap();
        self.plan
            .results(&self.plan.restored(&sums), charges, unit, out);
        self.phases.permutation_s += before + clock.lap();
        Ok(())
    }

    fn phases(&self) -> PhaseTimes {
        self.phases
    }

    fn repeat(&mut self, times: usize) -> Result<(), FmmError> {
        for _ in 0..times {
            self.run(true);
        }
        Ok(())
    }
}

impl<R: Real> Steps<R> for Cpu<R> {
    fn begin(&mut self, fill: &mut dyn FnMut(&mut [R]), sent: &mut Vec<R>) -> Result<(), FmmError> {
        let clock = &mut Clock(Instant::now());
        fill(&mut self.charges);
        self.phases = PhaseTimes {
            permutation_s: clock.lap(),
            ..PhaseTimes::default()
        };
        sent.clear();
        if self.plan.levels.is_empty() {
            return Ok(());
        }
        self.upward(Upward::Own);
        self.phases.p2m_m2m_s = clock.lap();
        let m = self.plan.surface_values();
        for &b in self.plan.sent() {
            sent.extend_from_slice(&self.up[b as usize * m..][..m]);
        }
        self.phases.permutation_s += clock.lap();
        Ok(())
    }

    fn finish(&mut self, received: &[R], take: &mut dyn FnMut(&[R])) -> Result<(), FmmError> {
        let before = self.phases;
        let m = self.plan.surface_values();
        for (&b, values) in (self.plan.received().iter()).zip(received.chunks_exact(m)) {
            self.up[b as usize * m..][..m].copy_from_slice(values);
        }
        let sums = self.rest(true);
        let clock = &mut Clock(Instant::now());
        take(&sums);
        self.phases.p2m_m2m_s += before.p2m_m2m_s;
        self.phases.permutation_s += before.permutation_s + clock.lap();
        Ok(())
    }
}

impl<R: Real> Cpu<R> {
    /// Allocates the memory of an evaluation.
    pub fn new(plan: Arc<Plan<R>>) -> Self {
        let n = if plan.levels.is_empty() {
            0
        } else {
            plan.tree.nodes.len() * plan.surface_values()
        };
        Self {
            kernels: R::kernels(plan.isa),
            up: vec![R::default(); n],
            check: vec![R::default(); n],
            down: vec![R::default(); n],
            spectra: Spectra::new(&plan),
            charges: vec![R::default(); plan.sources[0].len() * plan.options.kernel.inputs()],
            phases: PhaseTimes::default(),
            plan,
        }
    }

    /// Orders the charges, in this unit, and evaluates all phases but P2P: sums in the order of the boxes, without the
    /// kernel's factor.
    pub(crate) fn far(&mut self, charges: &[f64], unit: f64) -> Vec<R> {
        let clock = &mut Clock(Instant::now());
        self.charges = self.plan.ordered(charges, unit);
        let before = clock.lap();
        let sums = self.run(false);
        self.phases.permutation_s += before;
        sums
    }

    /// Repeats the last [`Cpu::far`] without ordering the charges.
    pub(crate) fn repeat_far(&mut self) {
        self.run(false);
    }

    /// Evaluates the charges in the order and unit of the boxes, all phases or those but P2P; returns results in the order
    /// of the boxes.
    fn run(&mut self, with_p2p: bool) -> Vec<R> {
        let clock = &mut Clock(Instant::now());
        if !self.plan.levels.is_empty() {
            self.upward(Upward::Own);
        }
        let own_s = clock.lap();
        let out = self.rest(with_p2p);
        self.phases.p2m_m2m_s += own_s;
        out
    }

    /// What follows the upward pass of the boxes that this rank computes alone.
    fn rest(&mut self, with_p2p: bool) -> Vec<R> {
        let plan = Arc::clone(&self.plan);
        let clock = &mut Clock(Instant::now());
        let mut phases = PhaseTimes::default();
        let outputs = plan.options.kernel.outputs(plan.options.gradient);
        let mut out = vec![R::default(); plan.share.len() * outputs];
        phases.permutation_s = clock.lap();
        if !plan.levels.is_empty() {
            if plan.is_distributed() {
                self.upward(Upward::Shared);
            }
            phases.p2m_m2m_s = clock.lap();
            self.check.par_iter_mut().for_each(|c| *c = R::default());
            self.m2l(&mut phases);
            clock.lap();
            self.downward();
            phases.p2l_l2l_s = clock.lap();
            self.evaluate_expansions(&mut out);
            phases.l2p_m2p_s = clock.lap();
        }
        if with_p2p {
            self.p2p(&mut out);
            phases.p2p_s = clock.lap();
        }
        self.phases = phases;
        out
    }

    /// Adds the sums over sources to targets, without the factor of the kernel.
    ///
    /// # Safety
    /// The pointers of `s` are to arrays of the stated lengths, and no other thread uses its outputs.
    unsafe fn sums(&self, gradient: bool, s: &Sums<R>) {
        // SAFETY: the caller's promise.
        unsafe { (self.kernels.sums[self.plan.options.kernel.sums(gradient)])(s) }
    }

    fn parameter(&self) -> R {
        R::of(self.plan.options.kernel.parameter(self.plan.unit))
    }

    /// Points of the surface of a box at `radius` half widths.
    fn place_surface(&self, node: usize, radius: f64, to: &mut [Vec<R>; 3]) {
        let n = &self.plan.tree.nodes[node];
        let (half, center) = (n.half_width() * radius, n.center());
        for a in 0..3 {
            to[a].clear();
            to[a].extend(
                self.plan.unit_surface[a]
                    .iter()
                    .map(|x| R::of(x.wide() * half + center[a])),
            );
        }
    }

    /// Boxes of a level for which `keep` holds.
    fn boxes(&self, level: usize, keep: impl Fn(usize) -> bool) -> Vec<usize> {
        self.plan.tree.levels[level]
            .clone()
            .filter(|&i| keep(i))
            .collect()
    }

    fn has_sources(&self, i: usize) -> bool {
        self.plan.tree.nodes[i].has_sources()
    }

    fn has_targets(&self, i: usize) -> bool {
        !self.plan.tree.nodes[i].targets.is_empty()
    }
}

/// A stopwatch.
struct Clock(Instant);

impl Clock {
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let s = (now - self.0).as_secs_f64();
        self.0 = now;
        s
    }
}
