//! Cost model: operations and bytes of each phase (thesis, §6.2; the pair of Algorithm 3.4.1).

use crate::FmmError;
use crate::engine::Phase;
use crate::kernel::Kernel;
use crate::operators::fourier::frequencies;
use crate::plan::{M2lOperator, Plan};
use crate::precision::Real;
use crate::tree::NONE;
use greenup_model::{Op, Work};
use serde::Serialize;

/// Flops of an interaction (an FMA two) without its root, roots and other special functions.
pub fn pair(kernel: Kernel, gradient: bool) -> (f64, f64) {
    // Differences 3, square of the distance 5, then what the kernel does with 1/r.
    let arithmetic = match (kernel, gradient) {
        (Kernel::Laplace, false) => 2.0,
        (Kernel::Laplace, true) => 10.0,
        (Kernel::Yukawa { .. }, false) => 5.0,
        (Kernel::Yukawa { .. }, true) => 15.0,
        (Kernel::Helmholtz { .. }, false) => 12.0,
        (Kernel::Helmholtz { .. }, true) => 33.0,
        (Kernel::Stokes { .. }, _) => 19.0,
    };
    let special = match kernel {
        Kernel::Laplace | Kernel::Stokes { .. } => 1.0,
        Kernel::Yukawa { .. } => 2.0,
        Kernel::Helmholtz { .. } => 3.0,
    };
    (8.0 + arithmetic, special)
}

/// Work of a phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseWork {
    /// The phase.
    #[serde(rename = "name")]
    pub phase: Phase,
    /// Interactions of two points (or points of surfaces).
    pub pairs: f64,
    /// Floating-point operations (an FMA counts as two), without special functions.
    pub flops: f64,
    /// Special functions: reciprocal roots, exponentials, sines and cosines.
    pub special: f64,
    /// Bytes from and to memory, each value once per phase.
    pub bytes: f64,
}

/// Flops of a reciprocal root where no unit has it: an estimate and steps of Newton.
const ROOT: [f64; 2] = [4.0, 8.0];

impl PhaseWork {
    fn of(phase: Phase) -> Self {
        Self {
            phase,
            pairs: 0.0,
            flops: 0.0,
            special: 0.0,
            bytes: 0.0,
        }
    }

    /// The work by operation classes; without a `special` function unit, special functions count as flops.
    ///
    /// # Errors
    /// A count is not finite.
    pub fn work<R: Real>(&self, special: bool) -> Result<Work, FmmError> {
        let flop = if R::DOUBLE { Op::F64 } else { Op::F32 };
        let (flops, roots) = if special {
            (self.flops, self.special)
        } else {
            (
                self.flops + ROOT[usize::from(R::DOUBLE)] * self.special,
                0.0,
            )
        };
        let mut work = Work::new();
        for (op, n) in [(flop, flops), (Op::Special, roots), (Op::Dram, self.bytes)]
            .into_iter()
            .filter(|(_, n)| *n != 0.0)
        {
            work.add(op, n)?;
        }
        Ok(work)
    }

    fn interact(mut self, (flops, special): (f64, f64), pairs: f64) -> Self {
        self.pairs += pairs;
        self.flops += pairs * flops;
        self.special += pairs * special;
        self
    }

    fn multiply(mut self, rows: usize, columns: usize, times: f64) -> Self {
        self.flops += 2.0 * (rows * columns) as f64 * times;
        self
    }
}

/// Work of all phases of an evaluation.
pub fn phases<R: Real>(plan: &Plan<R>) -> Vec<PhaseWork> {
    let o = &plan.options;
    let (tree, size) = (&plan.tree, size_of::<R>() as f64);
    let (d, s, m) = (
        o.kernel.inputs(),
        plan.surface as f64,
        plan.surface_values(),
    );
    let (at_points, at_surfaces) = (pair(o.kernel, o.gradient), pair(o.kernel, false));
    let length = |i: usize, targets: bool| {
        let n = &tree.nodes[i];
        (if targets {
            n.targets.len()
        } else {
            n.sources.len()
        }) as f64
    };
    let (points, targets) = (plan.sources[0].len() as f64, plan.targets[0].len() as f64);
    let outputs = o.kernel.outputs(o.gradient) as f64;
    let point_bytes = size * (points * (3 + d) as f64 + targets * (3.0 + outputs));
    let mut p2p = PhaseWork::of(Phase::P2p);
    for leaf in tree.leaves() {
        let sources: f64 = plan
            .lists
            .u
            .of_box(leaf)
            .iter()
            .map(|&b| length(b as usize, false))
            .sum();
        p2p = p2p.interact(at_points, sources * length(leaf, true));
    }
    p2p.bytes = point_bytes;
    if plan.levels.is_empty() {
        return vec![p2p];
    }
    let [mut up, mut down, mut expansions] =
        [Phase::Upward, Phase::Downward, Phase::Expansions].map(PhaseWork::of);
    let (mut with_sources, mut with_targets) = (0.0, 0.0);
    for (i, node) in tree.nodes.iter().enumerate().filter(|(_, n)| n.level >= 2) {
        let (level, _) = plan.level(node.level as usize);
        if node.has_sources() && plan.upward(i).is_here() {
            with_sources += 1.0;
            if node.is_leaf() {
                up = up.interact(at_surfaces, s * length(i, false));
                up = up.multiply(level.up[0].rows, 2 * m, 1.0);
            }
            if node.level > 2 {
                up = up.multiply(m, m, 1.0);
            }
        }
        if !node.targets.is_empty() {
            with_targets += 1.0;
            down = down.multiply(level.down[0].rows, 2 * m, 1.0);
            if node.level > 2 {
                down = down.multiply(m, m, 1.0);
            }
            let x: f64 = plan
                .lists
                .x
                .of_box(i)
                .iter()
                .map(|&b| length(b as usize, false))
                .sum();
            down = down.interact(at_surfaces, s * x);
            if node.is_leaf() {
                let surfaces = 1.0 + plan.lists.w.of_box(i).len() as f64;
                expansions = expansions.interact(at_points, surfaces * s * length(i, true));
            }
        }
    }
    up.bytes = size * (points * (3 + d) as f64 + 2.0 * with_sources * m as f64);
    down.bytes = size * 3.0 * with_targets * m as f64;
    expansions.bytes = point_bytes + size * with_targets * m as f64;
    let mut all = vec![up];
    all.extend(m2l(plan, (with_sources, with_targets)));
    all.extend([down, expansions, p2p]);
    all
}

/// M2L.
fn m2l<R: Real>(plan: &Plan<R>, (with_sources, with_targets): (f64, f64)) -> Vec<PhaseWork> {
    let (tree, size) = (&plan.tree, size_of::<R>() as f64);
    let (d, m) = (plan.options.kernel.inputs() as f64, plan.surface_values());
    let parents = |targets: bool| {
        tree.nodes
            .iter()
            .filter(|n| n.level >= 1 && !n.is_leaf())
            .filter(|n| {
                if targets {
                    !n.targets.is_empty()
                } else {
                    n.has_sources()
                }
            })
            .count() as f64
    };
    let (from, to) = (parents(false), parents(true));
    let parent_pairs: f64 = (0..tree.nodes.len())
        .filter(|&i| {
            tree.nodes[i].level >= 1
                && !tree.nodes[i].is_leaf()
                && !tree.nodes[i].targets.is_empty()
        })
        .map(|i| {
            let neighbours = tree.neighbours[i].iter().enumerate();
            neighbours
                .filter(|&(d, &b)| {
                    d != 13
                        && b != NONE
                        && !tree.nodes[b as usize].is_leaf()
                        && tree.nodes[b as usize].has_sources()
                })
                .count() as f64
        })
        .sum();
    match plan.m2l.first() {
        Some(M2lOperator::Fft(f)) => {
            let (p, n) = (f.p as f64, 2.0 * f.p as f64 - 1.0);
            // Lines along z (real), y and x; eight siblings each.
            let transform =
                8.0 * (4.0 * p.powi(4) + p * p * 8.0 * p * (p - 1.0) + p * n * 8.0 * p * (p - 1.0));
            let frequency_count = frequencies(f.p) as f64;
            let spectrum = frequency_count * 16.0 * size * d;
            let phase = |phase, flops, bytes| PhaseWork {
                flops,
                bytes,
                ..PhaseWork::of(phase)
            };
            vec![
                phase(
                    Phase::M2lFft,
                    d * from * transform,
                    from * (spectrum + 8.0 * m as f64 * size),
                ),
                phase(
                    Phase::M2lHadamard,
                    parent_pairs * frequency_count * d * d * 64.0 * 8.0,
                    (from + to) * spectrum + f.blocks.as_slice().len() as f64 * size,
                ),
                phase(
                    Phase::M2lInverseFft,
                    d * to * transform,
                    to * (spectrum + 16.0 * m as f64 * size),
                ),
            ]
        }
        Some(M2lOperator::Compressed(c)) => {
            let (into, out) = (c.into.rows, c.out.columns);
            // Of the 64 pairs of children, those in V lists: in a full neighbourhood 189 of 26 * 8.
            let pairs = parent_pairs * 64.0 * 189.0 / 208.0;
            let phase = PhaseWork {
                bytes: size
                    * (with_sources * (m + into) as f64 + with_targets * (out + 2 * m) as f64),
                ..PhaseWork::of(Phase::M2lCompressed)
            };
            vec![
                phase
                    .multiply(into, m, with_sources)
                    .multiply(out, into, pairs)
                    .multiply(m, out, with_targets),
            ]
        }
        None => Vec::new(),
    }
}
