//! Points per leaf with which the GPU and the host's cores need equal times. A first evaluation gives the rate of each
//! phase; the cost model gives its work for other trees.

use super::{Hybrid, Sides};
use crate::FmmError;
use crate::cost_model::{self, PhaseWork};
use crate::engine::{Engine as _, Phase, PhaseTimes};
use crate::plan::Plan;
use crate::precision::Real;
use greenup_device::cuda::Backend;
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// `ncrit` of the first evaluation, where the user gives none.
pub const FIRST_NCRIT: usize = 512;

/// Values of `ncrit` among which to choose: 32 · 2^(k / 2).
const RUNGS: usize = 21;

fn rung(k: usize) -> usize {
    (32.0 * (k as f64 / 2.0).exp2()).round() as usize
}

/// Evaluations at most: the rates of a tree that is far from balanced hardly hold for another.
const ROUNDS: usize = 3;

/// One evaluation on the way to a balanced tree.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Trial {
    /// Maximum number of points per leaf.
    pub ncrit: usize,
    /// Number of leaves.
    pub leaves: usize,
    /// By the rates of the evaluation before; none of the first.
    pub predicted: Option<Sides>,
    /// Measured times of both sides.
    pub measured: Sides,
    /// Time of the evaluation, s.
    pub evaluation_s: f64,
}

/// Measured seconds of the phases for their work.
struct Rates {
    /// Seconds for a unit of work of each phase on the cores.
    far: Vec<(Phase, f64)>,
    /// Seconds of a pair on the GPU.
    pair_s: f64,
    /// What does not depend on the tree: ordering the charges, copies.
    fixed: Sides,
}

/// Flops, and special functions as the flops that they take without a unit.
fn load(work: &PhaseWork) -> f64 {
    work.flops + 8.0 * work.special
}

impl Rates {
    fn of(work: &[PhaseWork], phases: &PhaseTimes, sides: Sides) -> Self {
        let far: Vec<&PhaseWork> = (work.iter())
            .filter(|w| w.phase != Phase::P2p && load(w) > 0.0)
            .collect();
        let tree_s: f64 = far.iter().map(|w| phases.of(w.phase)).sum();
        let pairs: f64 = (work.iter())
            .filter(|w| w.phase == Phase::P2p)
            .map(|w| w.pairs)
            .sum();
        Self {
            far: (far.iter())
                .map(|w| (w.phase, phases.of(w.phase) / load(w)))
                .collect(),
            pair_s: phases.p2p_s / pairs.max(1.0),
            fixed: Sides {
                cpu_s: (sides.cpu_s - tree_s).max(0.0),
                gpu_s: (sides.gpu_s - phases.p2p_s).max(0.0),
            },
        }
    }

    fn predict(&self, work: &[PhaseWork]) -> Sides {
        let mut out = self.fixed;
        for w in work {
            if w.phase == Phase::P2p {
                out.gpu_s += w.pairs * self.pair_s;
            } else if let Some((_, s)) = self.far.iter().find(|(phase, _)| *phase == w.phase) {
                out.cpu_s += load(w) * s;
            }
        }
        out
    }
}

/// The value of `ncrit` with the shortest longer side. Larger leaves give the GPU more work and the cores less.
fn choose<E>(mut predict: impl FnMut(usize) -> Result<Sides, E>) -> Result<(usize, Sides), E> {
    let (mut low, mut high) = (0, RUNGS - 1);
    let mut best: Option<(usize, Sides)> = None;
    let mut at = |k: usize| {
        let sides = predict(rung(k))?;
        if best.is_none_or(|b| sides.longest_s() < b.1.longest_s()) {
            best = Some((rung(k), sides));
        }
        Ok(sides)
    };
    while low < high {
        let middle = (low + high) / 2;
        let sides = at(middle)?;
        if sides.gpu_s < sides.cpu_s {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let last = at(low)?;
    Ok(best.unwrap_or((rung(low), last)))
}

/// Balances a plan of all points: the plan with which an evaluation was fastest, and all evaluations. `open` opens an
/// engine; `between` is called after each evaluation, and may end the search by an error.
///
/// # Errors
/// Those of engines, plans, and of `between`.
pub fn balance<R: Real, B: Backend, E: From<FmmError>>(
    first: Plan<R>,
    charges: &[f64],
    mut open: impl FnMut(Arc<Plan<R>>) -> Result<Hybrid<R, B>, E>,
    mut between: impl FnMut(&Trial) -> Result<(), E>,
) -> Result<(Arc<Plan<R>>, Vec<Trial>), E> {
    let mut plan = Arc::new(first);
    let mut best = (Arc::clone(&plan), f64::INFINITY);
    let mut trials: Vec<Trial> = Vec::new();
    let (mut predicted, mut out) = (None, Vec::new());
    loop {
        let mut engine = open(Arc::clone(&plan))?;
        // The first evaluation touches all memory and starts the clocks.
        engine.evaluate_into(charges, &mut out)?;
        let start = Instant::now();
        engine.evaluate_into(charges, &mut out)?;
        let trial = Trial {
            ncrit: plan.options().ncrit,
            leaves: plan.tree().leaves().count(),
            predicted,
            measured: engine.sides(),
            evaluation_s: start.elapsed().as_secs_f64(),
        };
        trials.push(trial);
        between(&trial)?;
        if trial.evaluation_s < best.1 {
            best = (Arc::clone(&plan), trial.evaluation_s);
        }
        // Without boxes of level 2 there is no work for the cores.
        if trials.len() == ROUNDS || plan.tree().levels.len() <= 2 {
            break;
        }
        let rates = Rates::of(&cost_model::phases(&plan), &engine.phases(), engine.sides());
        let (ncrit, sides) = choose(|ncrit| {
            let other = plan.with_ncrit(ncrit)?;
            Ok::<_, FmmError>(rates.predict(&cost_model::phases(&other)))
        })?;
        let next = plan.with_ncrit(ncrit)?;
        let leaves = next.tree().leaves().count();
        if trials.iter().any(|t| t.leaves == leaves) {
            break;
        }
        (plan, predicted) = (Arc::new(next), Some(sides));
    }
    Ok((best.0, trials))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_leaves_balance_both_sides() {
        // Pairs grow with the points of a leaf, the tree shrinks with them.
        let predict = |cpu: f64, gpu: f64| {
            move |ncrit: usize| {
                Ok::<_, FmmError>(Sides {
                    cpu_s: 0.01 + cpu / ncrit as f64,
                    gpu_s: gpu * ncrit as f64,
                })
            }
        };
        let all = |f: &dyn Fn(usize) -> Result<Sides, FmmError>| {
            (0..RUNGS)
                .map(|k| f(rung(k)).unwrap().longest_s())
                .fold(f64::INFINITY, f64::min)
        };
        for (cpu, gpu) in [
            (1.0, 1e-4),
            (100.0, 1e-6),
            (1e6, 1e-9),
            (1e-3, 1.0),
            (5.0, 3e-5),
        ] {
            let f = predict(cpu, gpu);
            let (_, sides) = choose(f).unwrap();
            assert_eq!(sides.longest_s(), all(&f), "{cpu} {gpu}");
        }
    }

    #[test]
    fn rates_give_back_the_times_that_they_come_from() {
        let work = |phase, flops, pairs| PhaseWork {
            phase,
            pairs,
            flops,
            special: pairs,
            bytes: 0.0,
        };
        let first = [
            work(Phase::Upward, 1e9, 1e7),
            work(Phase::M2lHadamard, 4e9, 0.0),
            work(Phase::P2p, 1e10, 1e9),
        ];
        let phases = PhaseTimes {
            p2m_m2m_s: 0.1,
            m2l_hadamard_s: 0.4,
            p2p_s: 0.2,
            ..PhaseTimes::default()
        };
        let sides = Sides {
            cpu_s: 0.55,
            gpu_s: 0.22,
        };
        let rates = Rates::of(&first, &phases, sides);
        let same = rates.predict(&first);
        assert!((same.cpu_s - 0.55).abs() < 1e-12 && (same.gpu_s - 0.22).abs() < 1e-12);
        let other = [
            work(Phase::Upward, 1e9, 1e7),
            work(Phase::M2lHadamard, 1e9, 0.0),
            work(Phase::P2p, 4e10, 4e9),
        ];
        let other = rates.predict(&other);
        assert!((other.cpu_s - 0.25).abs() < 1e-12 && (other.gpu_s - 0.82).abs() < 1e-12);
    }
}
