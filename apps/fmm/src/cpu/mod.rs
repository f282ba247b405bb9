//! The passes on CPUs: upward, V lists, downward, and the points of leaves.

mod compressed;
mod far;
mod near;
mod passes;

use crate::FmmError;
use crate::plan::Plan;
use crate::real::{Kernels, Real, Sums};
use far::Spectra;
use rayon::prelude::*;
use serde::Serialize;
use std::time::Instant;

/// Seconds of the phases of an evaluation.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Phases {
    /// Charges to equivalent charges, leaves to root.
    pub up_s: f64,
    /// V lists: transforms, products of frequencies (or small matrices), transforms back.
    pub forward_s: f64,
    pub product_s: f64,
    pub back_s: f64,
    /// X lists, and equivalent charges from root to leaves.
    pub down_s: f64,
    /// At points: own equivalent charges and W lists, then U lists.
    pub local_s: f64,
    pub direct_s: f64,
    /// Putting numbers into the order of boxes and back.
    pub order_s: f64,
}

impl Phases {
    pub fn total_s(&self) -> f64 {
        self.up_s
            + self.forward_s
            + self.product_s
            + self.back_s
            + self.down_s
            + self.local_s
            + self.direct_s
            + self.order_s
    }
}

/// A plan with the memory of its passes.
pub struct Cpu<'a, R: Real> {
    plan: &'a Plan<R>,
    kernels: &'static Kernels<R>,
    /// Of each box: equivalent charges of its sources, check potentials and equivalent charges of what is far.
    up: Vec<R>,
    check: Vec<R>,
    down: Vec<R>,
    spectra: Spectra<R>,
    charges: Vec<R>,
    pub phases: Phases,
}

/// Bytes that [`Cpu::new`] takes, and the charges in the order of the boxes.
pub(crate) fn bytes<R: Real>(plan: &Plan<R>) -> u64 {
    let size = size_of::<R>() as u64;
    let charges = (plan.source_from.len() * plan.options.kernel.inputs()) as u64 * size;
    if plan.levels.is_empty() {
        return charges;
    }
    let boxes = (plan.tree.nodes.len() * plan.shell_numbers()) as u64;
    3 * boxes * size + far::bytes(plan) + charges
}

/// Boxes that a thread takes at a time.
const TOGETHER: usize = 48;

impl<'a, R: Real> Cpu<'a, R> {
    pub fn new(plan: &'a Plan<R>) -> Self {
        let far = plan.levels.is_empty();
        let n = if far {
            0
        } else {
            plan.tree.nodes.len() * plan.shell_numbers()
        };
        Self {
            plan,
            kernels: R::kernels(plan.isa),
            up: vec![R::default(); n],
            check: vec![R::default(); n],
            down: vec![R::default(); n],
            spectra: Spectra::new(plan),
            charges: vec![R::default(); plan.source_from.len() * plan.options.kernel.inputs()],
            phases: Phases::default(),
        }
    }

    /// Sums at all targets, component by component, in the units of the points.
    ///
    /// # Errors
    /// Charges of another number than sources, or that are no numbers.
    pub fn evaluate(&mut self, charges: &[f64]) -> Result<Vec<f64>, FmmError> {
        let plan = self.plan;
        let unit = plan.unit_of_charges(charges)?;
        let clock = &mut Clock(Instant::now());
        self.charges = plan.ordered(charges, unit);
        let before = clock.lap();
        let out = self.repeat();
        clock.lap();
        let out = plan.in_units(&plan.restored(&out), unit);
        self.phases.order_s += before + clock.lap();
        Ok(out)
    }

    /// Sums of the charges that were last evaluated, in the order and unit of the boxes.
    pub(crate) fn repeat(&mut self) -> Vec<R> {
        let plan = self.plan;
        let own = std::mem::take(&mut self.charges);
        let clock = &mut Clock(Instant::now());
        let mut phases = Phases::default();
        let targets = plan.targets[0].len();
        let mut out =
            vec![R::default(); targets * plan.options.kernel.outputs(plan.options.gradient)];
        phases.order_s = clock.lap();
        if !plan.levels.is_empty() {
            self.upward(&own);
            phases.up_s = clock.lap();
            self.check.par_iter_mut().for_each(|c| *c = R::default());
            self.v_lists(&mut phases);
            clock.lap();
            self.downward(&own);
            phases.down_s = clock.lap();
            self.local(&mut out);
            phases.local_s = clock.lap();
        }
        self.direct(&own, &mut out);
        phases.direct_s = clock.lap();
        self.charges = own;
        self.phases = phases;
        out
    }

    /// Adds what sources give to targets, without the factor.
    ///
    /// # Safety
    /// The pointers of `s` are to as much as it says, and no other thread uses its outputs.
    unsafe fn sums(&self, gradient: bool, s: &Sums<R>) {
        // SAFETY: the caller's promise.
        unsafe { (self.kernels.sums[self.plan.options.kernel.sums(gradient)])(s) }
    }

    fn parameter(&self) -> R {
        R::of(self.plan.options.kernel.parameter(self.plan.unit))
    }

    /// The surface of a box at `radius` half widths.
    fn shell(&self, node: usize, radius: f64, to: &mut [Vec<R>; 3]) {
        let n = &self.plan.tree.nodes[node];
        let (half, middle) = (n.half() * radius, n.middle());
        for a in 0..3 {
            to[a].clear();
            to[a].extend(
                self.plan.shell[a]
                    .iter()
                    .map(|x| R::of(x.wide() * half + middle[a])),
            );
        }
    }

    /// Boxes of a level that a test keeps.
    fn boxes(&self, level: usize, keep: impl Fn(usize) -> bool) -> Vec<usize> {
        self.plan.tree.levels[level]
            .clone()
            .filter(|&i| keep(i))
            .collect()
    }

    fn has_sources(&self, i: usize) -> bool {
        !self.plan.tree.nodes[i].sources.is_empty()
    }

    fn has_targets(&self, i: usize) -> bool {
        !self.plan.tree.nodes[i].targets.is_empty()
    }
}

/// Time since the last look.
struct Clock(Instant);

impl Clock {
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let s = (now - self.0).as_secs_f64();
        self.0 = now;
        s
    }
}
