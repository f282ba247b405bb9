//! M2L by FFT: products in Fourier space, for the children of two parents at a time.

use super::{Clock, Cpu};
use crate::engine::PhaseTimes;
use crate::operators::fourier::{BLOCK, DIRECTIONS, Fourier, direction_index, frequencies};
use crate::operators::surface;
use crate::plan::{M2lOperator, Plan};
use crate::precision::Real;
use crate::tree::{NONE, needed};
use greenup_device::{Buffer, SharedSlice};
use rayon::prelude::*;
use std::time::Instant;

/// Target parents whose products stay in a cache.
const BLOCKED: usize = 256;

/// Parents whose children have V lists with each other.
pub(super) struct ParentPairs {
    level: usize,
    sources: Vec<u32>,
    pub targets: Vec<u32>,
    /// For each block of targets: the first pair of each direction among `pairs`.
    blocks: Vec<[u32; DIRECTIONS + 1]>,
    /// Indices of (target, source).
    pairs: Vec<u32>,
}

impl ParentPairs {
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
        let targets = some(&|c| !tree.nodes[c].targets.is_empty());
        let needed = needed(tree, &parents, &targets);
        let mut sources = some(&|c| tree.nodes[c].has_sources());
        sources.retain(|i| needed[*i as usize - parents.start]);
        let mut at = vec![NONE; parents.len()];
        for (k, &i) in sources.iter().enumerate() {
            at[i as usize - parents.start] = k as u32;
        }
        let mut pairs = Vec::new();
        let blocks = (0..targets.len())
            .step_by(BLOCKED)
            .map(|from| {
                let to = (from + BLOCKED).min(targets.len());
                let mut first = [pairs.len() as u32 / 2; DIRECTIONS + 1];
                for (d, end) in first.iter_mut().skip(1).enumerate() {
                    for (k, &t) in targets[from..to].iter().enumerate() {
                        let b = tree.neighbours[t as usize][direction_index(d)];
                        if b != NONE && at[b as usize - parents.start] != NONE {
                            pairs.extend([(from + k) as u32, at[b as usize - parents.start]]);
                        }
                    }
                    *end = pairs.len() as u32 / 2;
                }
                first
            })
            .collect();
        Self {
            level,
            sources,
            targets,
            blocks,
            pairs,
        }
    }

    /// Number of pairs.
    pub fn count(&self) -> usize {
        self.pairs.len() / 2
    }
}

/// Memory for the spectra of a level.
pub(super) struct Spectra<R: Real> {
    pub levels: Vec<ParentPairs>,
    from: Buffer<R>,
    to: Buffer<R>,
    /// Grid indices of the points of a surface.
    grid: Vec<usize>,
}

impl<R: Real> Spectra<R> {
    pub fn new(plan: &Plan<R>) -> Self {
        let levels: Vec<_> = if plan.levels.is_empty() {
            Vec::new()
        } else {
            (2..plan.tree.levels.len())
                .map(|l| ParentPairs::new(plan, l))
                .collect()
        };
        let each = spectrum_values(plan);
        let max = |n: &dyn Fn(&ParentPairs) -> usize| {
            padded(levels.iter().map(n).max().unwrap_or(0)) * each
        };
        // SAFETY: `m2l` writes all that it reads.
        let (from, to) = unsafe {
            (
                Buffer::unwritten(max(&|c| c.sources.len())),
                Buffer::unwritten(max(&|c| c.targets.len())),
            )
        };
        Self {
            levels,
            from,
            to,
            grid: surface::grid_indices(plan.p),
        }
    }
}

/// Values in the spectra of a parent's children.
fn spectrum_values<R: Real>(plan: &Plan<R>) -> usize {
    match plan.m2l.first() {
        Some(M2lOperator::Fft(_)) => plan.options.kernel.inputs() * frequencies(plan.p) * 16,
        _ => 0,
    }
}

/// Maximum bytes of the spectra of a level.
pub(super) fn bytes<R: Real>(plan: &Plan<R>) -> u64 {
    let tree = &plan.tree;
    let parents = |l: usize| {
        let boxes = &tree.nodes[tree.levels[l].clone()];
        boxes.iter().filter(|b| !b.is_leaf()).count()
    };
    let max = (1..tree.levels.len()).map(parents).max().unwrap_or(0);
    2 * (padded(max) * spectrum_values(plan) * size_of::<R>()) as u64
}

/// Stride between frequencies, in parents: odd, so that frequencies do not map to the same cache sets.
fn padded(parents: usize) -> usize {
    parents | 1
}

impl<R: Real> Cpu<R> {
    /// M2L of all levels.
    pub(super) fn m2l(&mut self, phases: &mut PhaseTimes) {
        let mut check_values = std::mem::take(&mut self.check);
        let check = SharedSlice::new(&mut check_values);
        let (from, to) = (&mut self.spectra.from, &mut self.spectra.to);
        // SAFETY: the buffers live as long as this call, which alone uses them.
        let (from, to) = unsafe {
            (
                SharedSlice::from_raw(from.as_mut_ptr(), from.len()),
                SharedSlice::from_raw(to.as_mut_ptr(), to.len()),
            )
        };
        let this = &*self;
        for c in this.spectra.levels.iter().filter(|c| c.count() > 0) {
            let clock = &mut Clock(Instant::now());
            match this.plan.m2l(c.level) {
                M2lOperator::Fft(f) => {
                    this.fft(f, c, from);
                    phases.m2l_fft_s += clock.lap();
                    this.hadamard(f, c, from, to);
                    phases.m2l_hadamard_s += clock.lap();
                    this.inverse_fft(f, c, to, check);
                    phases.m2l_inverse_fft_s += clock.lap();
                }
                M2lOperator::Compressed(m) => {
                    this.compressed(m, c.level, c, check);
                    phases.m2l_compressed_s += clock.lap();
                }
            }
        }
        self.check = check_values;
    }

    /// Spectra of the equivalent charges of all source parents' children: [component][frequency][parent][16].
    fn fft(&self, f: &Fourier<R>, c: &ParentPairs, from: SharedSlice<'_, R>) {
        let (p, d, m) = (f.p, f.components, self.plan.surface_values());
        let n = 2 * p - 1;
        let parents = padded(c.sources.len());
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
                    for g in &self.spectra.grid {
                        grid[g * 8..g * 8 + 8].fill(R::default());
                    }
                    for child in self.plan.tree.children(parent as usize) {
                        if !self.has_sources(child) {
                            continue;
                        }
                        let lane = self.plan.tree.nodes[child].octant();
                        for (i, g) in self.spectra.grid.iter().enumerate() {
                            grid[g * 8 + lane] = self.up[child * m + i * d + comp];
                        }
                    }
                    // SAFETY: the sizes that `forward` states; each parent has its own values.
                    unsafe {
                        (self.kernels.forward)(
                            p as _,
                            p as _,
                            f.twiddles.as_ptr(),
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

    /// Products of spectra and operators, frequency by frequency.
    fn hadamard(
        &self,
        f: &Fourier<R>,
        c: &ParentPairs,
        from: SharedSlice<'_, R>,
        to: SharedSlice<'_, R>,
    ) {
        let (d, count) = (f.components, frequencies(f.p));
        let (parents, siblings) = (padded(c.targets.len()) * 16, padded(c.sources.len()) * 16);
        (0..count).into_par_iter().for_each(|k| {
            let blocks = &f.blocks.as_slice()[k * d * d * BLOCK..];
            for a in 0..d {
                // SAFETY: the slabs of this frequency lie within the spectra and belong to this thread.
                unsafe {
                    let y = to.at((a * count + k) * parents);
                    std::slice::from_raw_parts_mut(y, parents).fill(R::default());
                    for first in &c.blocks {
                        for b in 0..d {
                            (self.kernels.hadamard)(
                                DIRECTIONS as _,
                                first.as_ptr(),
                                c.pairs.as_ptr(),
                                blocks[(a * d + b) * BLOCK..].as_ptr(),
                                from.at((b * count + k) * siblings),
                                y,
                            );
                        }
                    }
                }
            }
        });
    }

    /// Spectra to check potentials.
    fn inverse_fft(
        &self,
        f: &Fourier<R>,
        c: &ParentPairs,
        to: SharedSlice<'_, R>,
        check: SharedSlice<'_, R>,
    ) {
        let (p, d, m) = (f.p, f.components, self.plan.surface_values());
        let n = 2 * p - 1;
        let parents = padded(c.targets.len());
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
                    // SAFETY: the sizes that `back` states.
                    unsafe {
                        (self.kernels.back)(
                            p as _,
                            f.twiddles.as_ptr(),
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
                        for (i, g) in self.spectra.grid.iter().enumerate() {
                            // SAFETY: a box has one parent, which belongs to one thread.
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
