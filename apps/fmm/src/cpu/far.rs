//! V lists: products of transforms, for the children of two parents at a time.

use super::{Clock, Cpu, Phases};
use crate::direct::Shared;
use crate::operators::fourier::{BLOCK, DIRECTIONS, Fourier, frequencies, place};
use crate::operators::surface;
use crate::plan::{Far, Plan};
use crate::real::Real;
use crate::tree::NONE;
use greenup_device::Buffer;
use rayon::prelude::*;
use std::time::Instant;

/// Target parents whose products stay in a cache.
const BLOCKED: usize = 256;

/// Parents whose children have V lists with each other.
pub(super) struct Couples {
    level: usize,
    sources: Vec<u32>,
    pub targets: Vec<u32>,
    /// Of each block of targets: where the couples of each direction begin among `couples`, (target, source) places.
    blocks: Vec<[u32; DIRECTIONS + 1]>,
    couples: Vec<u32>,
}

impl Couples {
    fn new<R: Real>(plan: &Plan<R>, level: usize) -> Self {
        let tree = &plan.tree;
        let parents = tree.levels[level - 1].clone();
        let some = |keep: &dyn Fn(usize) -> bool| -> Vec<u32> {
            parents
                .clone()
                .filter(|&i| tree.children(i).any(keep))
                .map(|i| i as u32)
                .collect()
        };
        let sources = some(&|c| !tree.nodes[c].sources.is_empty());
        let targets = some(&|c| !tree.nodes[c].targets.is_empty());
        let mut at = vec![NONE; parents.len()];
        for (k, &i) in sources.iter().enumerate() {
            at[i as usize - parents.start] = k as u32;
        }
        let mut couples = Vec::new();
        let blocks = (0..targets.len())
            .step_by(BLOCKED)
            .map(|from| {
                let to = (from + BLOCKED).min(targets.len());
                let mut first = [couples.len() as u32 / 2; DIRECTIONS + 1];
                for (d, end) in first.iter_mut().skip(1).enumerate() {
                    for (k, &t) in targets[from..to].iter().enumerate() {
                        let b = tree.beside[t as usize][place(d)];
                        if b != NONE && at[b as usize - parents.start] != NONE {
                            couples.extend([(from + k) as u32, at[b as usize - parents.start]]);
                        }
                    }
                    *end = couples.len() as u32 / 2;
                }
                first
            })
            .collect();
        Self {
            level,
            sources,
            targets,
            blocks,
            couples,
        }
    }

    /// Couples of parents.
    pub fn count(&self) -> usize {
        self.couples.len() / 2
    }
}

/// Memory for the spectra of a level.
pub(super) struct Spectra<R: Real> {
    pub levels: Vec<Couples>,
    from: Buffer<R>,
    to: Buffer<R>,
    /// Grid places of a surface's points.
    places: Vec<usize>,
}

impl<R: Real> Spectra<R> {
    pub fn new(plan: &Plan<R>) -> Self {
        let levels: Vec<_> = if plan.levels.is_empty() {
            Vec::new()
        } else {
            (2..plan.tree.levels.len())
                .map(|l| Couples::new(plan, l))
                .collect()
        };
        let each = numbers(plan);
        let most =
            |n: &dyn Fn(&Couples) -> usize| apart(levels.iter().map(n).max().unwrap_or(0)) * each;
        // SAFETY: `v_lists` writes all that it reads.
        let (from, to) = unsafe {
            (
                Buffer::unwritten(most(&|c| c.sources.len())),
                Buffer::unwritten(most(&|c| c.targets.len())),
            )
        };
        Self {
            levels,
            from,
            to,
            places: surface::places(plan.p),
        }
    }
}

/// Numbers of the spectra of a parent's children.
fn numbers<R: Real>(plan: &Plan<R>) -> usize {
    match plan.far.first() {
        Some(Far::Fft(_)) => plan.options.kernel.inputs() * frequencies(plan.p) * 16,
        _ => 0,
    }
}

/// Most bytes of the spectra of any level.
pub(super) fn bytes<R: Real>(plan: &Plan<R>) -> u64 {
    let tree = &plan.tree;
    let parents = |l: usize| {
        let boxes = &tree.nodes[tree.levels[l].clone()];
        boxes.iter().filter(|b| !b.is_leaf()).count()
    };
    let most = (1..tree.levels.len()).map(parents).max().unwrap_or(0);
    2 * (apart(most) * numbers(plan) * size_of::<R>()) as u64
}

/// Parents of a frequency with a gap: never a power of two, for which all frequencies would share a few places of a cache.
fn apart(parents: usize) -> usize {
    parents | 1
}

impl<R: Real> Cpu<'_, R> {
    pub(super) fn v_lists(&mut self, phases: &mut Phases) {
        let check = Shared(self.check.as_mut_ptr());
        let from = Shared(self.spectra.from.as_mut_ptr());
        let to = Shared(self.spectra.to.as_mut_ptr());
        let this = &*self;
        for c in this.spectra.levels.iter().filter(|c| c.count() > 0) {
            let clock = &mut Clock(Instant::now());
            match this.plan.far(c.level) {
                Far::Fft(f) => {
                    this.forward(f, c, from);
                    phases.forward_s += clock.lap();
                    this.products(f, c, from, to);
                    phases.product_s += clock.lap();
                    this.back(f, c, to, check);
                    phases.back_s += clock.lap();
                }
                Far::Compressed(m) => {
                    this.compressed(m, c.level, c, check);
                    phases.product_s += clock.lap();
                }
            }
        }
    }

    /// Spectra of the equivalent charges of all source parents' children: [component][frequency][parent][16].
    fn forward(&self, f: &Fourier<R>, c: &Couples, from: Shared<R>) {
        let (p, d, m) = (f.p, f.components, self.plan.shell_numbers());
        let n = 2 * p - 1;
        let parents = apart(c.sources.len());
        let slab = frequencies(p) * parents * 16;
        c.sources.par_iter().enumerate().for_each_init(
            || {
                (
                    vec![R::default(); p * p * p * 8],
                    vec![R::default(); (p * p * p + p * n * p) * 16],
                )
            },
            |(grid, work), (k, &parent)| {
                for comp in 0..d {
                    for g in &self.spectra.places {
                        grid[g * 8..g * 8 + 8].fill(R::default());
                    }
                    for child in self.plan.tree.children(parent as usize) {
                        if !self.has_sources(child) {
                            continue;
                        }
                        let lane = self.plan.tree.nodes[child].octant();
                        for (i, g) in self.spectra.places.iter().enumerate() {
                            grid[g * 8 + lane] = self.up[child * m + i * d + comp];
                        }
                    }
                    // SAFETY: the sizes that `forward` names; each parent has its own places.
                    unsafe {
                        (self.kernels.forward)(
                            p as _,
                            p as _,
                            f.turns.as_ptr(),
                            grid.as_ptr(),
                            from.at(comp * slab + k * 16),
                            parents as _,
                            work.as_mut_ptr(),
                        );
                    }
                }
            },
        );
    }

    fn products(&self, f: &Fourier<R>, c: &Couples, from: Shared<R>, to: Shared<R>) {
        let (d, count) = (f.components, frequencies(f.p));
        let (parents, sisters) = (apart(c.targets.len()) * 16, apart(c.sources.len()) * 16);
        (0..count).into_par_iter().for_each(|k| {
            let blocks = &f.blocks.as_slice()[k * d * d * BLOCK..];
            for a in 0..d {
                // SAFETY: slabs of this frequency lie within the spectra, and are this thread's.
                unsafe {
                    let y = to.at((a * count + k) * parents);
                    std::slice::from_raw_parts_mut(y, parents).fill(R::default());
                    for first in &c.blocks {
                        for b in 0..d {
                            (self.kernels.hadamard)(
                                DIRECTIONS as _,
                                first.as_ptr(),
                                c.couples.as_ptr(),
                                blocks[(a * d + b) * BLOCK..].as_ptr(),
                                from.at((b * count + k) * sisters),
                                y,
                            );
                        }
                    }
                }
            }
        });
    }

    /// Spectra to check potentials.
    fn back(&self, f: &Fourier<R>, c: &Couples, to: Shared<R>, check: Shared<R>) {
        let (p, d, m) = (f.p, f.components, self.plan.shell_numbers());
        let n = 2 * p - 1;
        let parents = apart(c.targets.len());
        let slab = frequencies(p) * parents * 16;
        c.targets.par_iter().enumerate().for_each_init(
            || {
                (
                    vec![R::default(); p * p * p * 8],
                    vec![R::default(); (p * p * p + p * n * p) * 16],
                )
            },
            |(grid, work), (k, &parent)| {
                for comp in 0..d {
                    // SAFETY: the sizes that `back` names.
                    unsafe {
                        (self.kernels.back)(
                            p as _,
                            f.turns.as_ptr(),
                            to.at(comp * slab + k * 16),
                            parents as _,
                            grid.as_mut_ptr(),
                            work.as_mut_ptr(),
                        );
                    }
                    for child in self.plan.tree.children(parent as usize) {
                        if !self.has_targets(child) {
                            continue;
                        }
                        let lane = self.plan.tree.nodes[child].octant();
                        for (i, g) in self.spectra.places.iter().enumerate() {
                            // SAFETY: a box has one parent, which one thread takes.
                            unsafe {
                                *check.at(child * m + comp * self.plan.surface + i) +=
                                    grid[g * 8 + lane];
                            }
                        }
                    }
                }
            },
        );
    }
}
