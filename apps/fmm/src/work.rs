//! Operations and bytes of each phase, from formulas (thesis, §6.2; the pair of Algorithm 3.4.1).

use crate::FmmError;
use crate::kernel::Kernel;
use crate::operators::fourier::frequencies;
use crate::plan::{Far, Plan};
use crate::real::Real;
use crate::tree::NONE;
use greenup_model::{Op, Work};
use serde::Serialize;

/// Flops of an interaction (an FMA two) without its root, roots and other special functions.
pub fn pair(kernel: Kernel, gradient: bool) -> (f64, f64) {
    // Differences 3, square of the distance 5, then what the kernel does with 1/r.
    let own = match (kernel, gradient) {
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
    (8.0 + own, special)
}

/// What a phase does.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Phase {
    pub name: &'static str,
    /// Interactions of two points (or points of surfaces).
    pub pairs: f64,
    pub flops: f64,
    pub special: f64,
    /// From and to memory, each number once a phase.
    pub bytes: f64,
}

/// Flops of a reciprocal root where no unit has it: an estimate and steps of Newton.
const ROOT: [f64; 2] = [4.0, 8.0];

impl Phase {
    /// As classes of operations; without a unit of `special` functions those are flops too.
    ///
    /// # Errors
    /// A count that is no number.
    pub fn work<R: Real>(&self, special: bool) -> Result<Work, FmmError> {
        let flop = if R::DOUBLE { Op::F64 } else { Op::F32 };
        let (flops, roots) = match special {
            true => (self.flops, self.special),
            false => (
                self.flops + ROOT[usize::from(R::DOUBLE)] * self.special,
                0.0,
            ),
        };
        let mut work = Work::new();
        for (op, n) in [(flop, flops), (Op::Special, roots), (Op::Dram, self.bytes)]
            .into_iter()
            .filter(|(_, n)| *n != 0.0)
        {
            work.add(op, n).map_err(|e| FmmError(e.to_string()))?;
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
pub fn phases<R: Real>(plan: &Plan<R>) -> Vec<Phase> {
    let o = &plan.options;
    let (tree, size) = (&plan.tree, size_of::<R>() as f64);
    let (d, s, m) = (o.kernel.inputs(), plan.surface as f64, plan.shell_numbers());
    let (at_points, at_shells) = (pair(o.kernel, o.gradient), pair(o.kernel, false));
    let named = |name| Phase {
        name,
        ..Phase::default()
    };
    let length = |i: usize, targets: bool| {
        let n = &tree.nodes[i];
        (if targets {
            n.targets.len()
        } else {
            n.sources.len()
        }) as f64
    };
    let (points, places) = (plan.sources[0].len() as f64, plan.targets[0].len() as f64);
    let outputs = o.kernel.outputs(o.gradient) as f64;
    let point_bytes = size * (points * (3 + d) as f64 + places * (3.0 + outputs));
    let mut near = named("U list");
    for leaf in tree.leaves() {
        let sources: f64 = plan
            .lists
            .u
            .of_box(leaf)
            .iter()
            .map(|&b| length(b as usize, false))
            .sum();
        near = near.interact(at_points, sources * length(leaf, true));
    }
    near.bytes = point_bytes;
    if plan.levels.is_empty() {
        return vec![near];
    }
    let (mut up, mut down, mut local) = (named("up"), named("down"), named("local"));
    let (mut with_sources, mut with_targets) = (0.0, 0.0);
    for (i, node) in tree.nodes.iter().enumerate().filter(|(_, n)| n.level >= 2) {
        let (level, _) = plan.level(node.level as usize);
        if !node.sources.is_empty() {
            with_sources += 1.0;
            if node.is_leaf() {
                up = up.interact(at_shells, s * length(i, false));
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
            down = down.interact(at_shells, s * x);
            if node.is_leaf() {
                let shells = 1.0 + plan.lists.w.of_box(i).len() as f64;
                local = local.interact(at_points, shells * s * length(i, true));
            }
        }
    }
    up.bytes = size * (points * (3 + d) as f64 + 2.0 * with_sources * m as f64);
    down.bytes = size * 3.0 * with_targets * m as f64;
    local.bytes = point_bytes + size * with_targets * m as f64;
    let mut all = vec![up];
    all.extend(far(plan, (with_sources, with_targets)));
    all.extend([down, local, near]);
    all
}

/// V lists.
fn far<R: Real>(plan: &Plan<R>, (with_sources, with_targets): (f64, f64)) -> Vec<Phase> {
    let (tree, size) = (&plan.tree, size_of::<R>() as f64);
    let (d, m) = (plan.options.kernel.inputs() as f64, plan.shell_numbers());
    let parents = |targets: bool| {
        tree.nodes
            .iter()
            .filter(|n| n.level >= 1 && !n.is_leaf())
            .filter(|n| !(if targets { &n.targets } else { &n.sources }).is_empty())
            .count() as f64
    };
    let (from, to) = (parents(false), parents(true));
    let couples: f64 = (0..tree.nodes.len())
        .filter(|&i| {
            tree.nodes[i].level >= 1
                && !tree.nodes[i].is_leaf()
                && !tree.nodes[i].targets.is_empty()
        })
        .map(|i| {
            let beside = tree.beside[i].iter().enumerate();
            beside
                .filter(|&(d, &b)| {
                    d != 13
                        && b != NONE
                        && !tree.nodes[b as usize].is_leaf()
                        && !tree.nodes[b as usize].sources.is_empty()
                })
                .count() as f64
        })
        .sum();
    match plan.far.first() {
        Some(Far::Fft(f)) => {
            let (p, n) = (f.p as f64, 2.0 * f.p as f64 - 1.0);
            // Lines along z (real), y and x; eight sisters each.
            let transform =
                8.0 * (4.0 * p.powi(4) + p * p * 8.0 * p * (p - 1.0) + p * n * 8.0 * p * (p - 1.0));
            let waves = frequencies(f.p) as f64;
            let spectrum = waves * 16.0 * size * d;
            let phase = |name, flops, bytes| Phase {
                name,
                flops,
                bytes,
                ..Phase::default()
            };
            vec![
                phase(
                    "forward",
                    d * from * transform,
                    from * (spectrum + 8.0 * m as f64 * size),
                ),
                phase(
                    "product",
                    couples * waves * d * d * 64.0 * 8.0,
                    (from + to) * spectrum + f.blocks.as_slice().len() as f64 * size,
                ),
                phase(
                    "back",
                    d * to * transform,
                    to * (spectrum + 16.0 * m as f64 * size),
                ),
            ]
        }
        Some(Far::Compressed(c)) => {
            let (into, out) = (c.into.rows, c.out.columns);
            // Of the 64 pairs of a couple's children those that are far: in a full neighbourhood 189 of 26 * 8.
            let pairs = couples * 64.0 * 189.0 / 208.0;
            let phase = Phase {
                name: "product",
                bytes: size
                    * (with_sources * (m + into) as f64 + with_targets * (out + 2 * m) as f64),
                ..Phase::default()
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
