//! P2M, M2M, P2L and L2L: charges and potentials at the surfaces of boxes.

use super::{CHUNK, Cpu};
use crate::operators::surface::{INNER, OUTER};
use crate::operators::{Level, Packed};
use crate::plan::Upward;
use crate::precision::{Real, Sums};
use greenup_device::SharedSlice;
use rayon::prelude::*;

/// Scratch memory of a thread.
#[derive(Default)]
struct Scratch<R> {
    surface: [Vec<R>; 3],
    checks: Vec<R>,
    product: Vec<R>,
}

/// Applies both factors of an inverse.
///
/// # Safety
/// As [`Packed::apply`].
unsafe fn inverse<R: Real>(
    cpu: &Cpu<R>,
    m: &[Packed<R>; 2],
    scratch: &mut Vec<R>,
    x: &[*const R],
    y: &[*mut R],
) {
    let rank = m[0].rows;
    scratch.resize(x.len() * rank, R::default());
    let to: Vec<*mut R> = scratch
        .chunks_exact_mut(rank)
        .map(<[R]>::as_mut_ptr)
        .collect();
    let from: Vec<*const R> = to.iter().map(|p| p.cast_const()).collect();
    // SAFETY: `scratch` holds `rank` values for each; x and y by the caller's promise.
    unsafe {
        m[0].apply(cpu.kernels, x, &to, false);
        m[1].apply(cpu.kernels, &from, y, false);
    }
}

impl<R: Real> Cpu<R> {
    /// P2M and M2M of some boxes, from the leaves to the root.
    pub(super) fn upward(&mut self, which: Upward) {
        let mut values = std::mem::take(&mut self.up);
        let up = SharedSlice::new(&mut values);
        let this = &*self;
        for level in (2..this.plan.tree.levels.len()).rev() {
            let boxes = this.boxes(level, |i| {
                this.has_sources(i) && this.plan.upward(i) == which
            });
            let (leaves, others): (Vec<_>, Vec<_>) = boxes
                .iter()
                .partition(|&&i| this.plan.tree.nodes[i].is_leaf());
            let (operators, scale) = this.plan.level(level);
            leaves
                .par_chunks(CHUNK)
                .for_each_init(Scratch::default, |s, boxes| {
                    this.p2m(boxes, operators, scale, s, up);
                });
            others
                .par_chunks(CHUNK)
                .for_each(|boxes| this.m2m(boxes, operators, up));
        }
        self.up = values;
    }

    /// P2M: charges of leaves to potentials at their check surfaces, to equivalent charges.
    fn p2m(
        &self,
        boxes: &[usize],
        operators: &Level<R>,
        scale: f64,
        s: &mut Scratch<R>,
        up: SharedSlice<'_, R>,
    ) {
        let m = self.plan.surface_values();
        s.checks.clear();
        s.checks.resize(boxes.len() * m, R::default());
        for (check, &i) in s.checks.chunks_exact_mut(m).zip(boxes) {
            let ranges = self.plan.range(i as u32);
            self.potentials_at_surface(i, OUTER, &ranges, scale, &mut s.surface, check);
        }
        let x: Vec<*const R> = s.checks.chunks_exact(m).map(<[R]>::as_ptr).collect();
        // SAFETY: each box has m numbers, and belongs to one thread.
        unsafe {
            let y: Vec<*mut R> = boxes.iter().map(|&i| up.at(i * m)).collect();
            inverse(self, &operators.up, &mut s.product, &x, &y);
        }
    }

    /// Potentials, times `scale`, of ranges of sources at the surface of a box, added to `check`.
    fn potentials_at_surface(
        &self,
        node: usize,
        radius: f64,
        ranges: &[u32],
        scale: f64,
        surface: &mut [Vec<R>; 3],
        check: &mut [R],
    ) {
        self.place_surface(node, radius, surface);
        assert_eq!(check.len(), self.plan.surface_values());
        assert_eq!(
            self.charges.len(),
            self.plan.sources[0].len() * self.plan.options.kernel.inputs()
        );
        // SAFETY: the surface lies in its arrays, ranges of boxes among the sources, and potentials are the caller's.
        unsafe {
            self.sums(
                false,
                &Sums {
                    targets: self.plan.surface as _,
                    x: std::array::from_fn(|a| surface[a].as_ptr()),
                    out: check.as_mut_ptr(),
                    stride: self.plan.surface as _,
                    ranges: (ranges.len() / 2) as _,
                    shared: 0,
                    range: ranges.as_ptr(),
                    sources: std::array::from_fn(|a| self.plan.sources[a].as_ptr()),
                    charge: self.charges.as_ptr(),
                    parameter: self.parameter(),
                },
            );
        }
        scaled(check, scale);
    }

    /// M2M: equivalent charges of children to those of their parents.
    fn m2m(&self, boxes: &[usize], operators: &Level<R>, up: SharedSlice<'_, R>) {
        let m = self.plan.surface_values();
        for &i in boxes {
            // SAFETY: m numbers of a box that belongs to this thread.
            unsafe { std::slice::from_raw_parts_mut(up.at(i * m), m) }.fill(R::default());
        }
        for octant in 0..8 {
            let (x, y) = self.families(boxes, octant, |c| self.has_sources(c));
            // SAFETY: children are of the level below, written before; parents belong to this thread.
            unsafe {
                let x: Vec<*const R> = x.iter().map(|&c| up.at(c * m).cast_const()).collect();
                let y: Vec<*mut R> = y.iter().map(|&i| up.at(i * m)).collect();
                operators.to_parent[octant].apply(self.kernels, &x, &y, true);
            }
        }
    }

    /// Children of an octant with their parents.
    fn families(
        &self,
        parents: &[usize],
        octant: usize,
        keep: impl Fn(usize) -> bool,
    ) -> (Vec<usize>, Vec<usize>) {
        let tree = &self.plan.tree;
        parents
            .iter()
            .filter_map(|&i| {
                tree.children(i)
                    .find(|&c| tree.nodes[c].octant() == octant && keep(c))
                    .map(|c| (c, i))
            })
            .unzip()
    }

    /// P2L and L2L, from the root to the leaves.
    pub(super) fn downward(&mut self) {
        let mut check_values = std::mem::take(&mut self.check);
        let mut down_values = std::mem::take(&mut self.down);
        let check = SharedSlice::new(&mut check_values);
        let down = SharedSlice::new(&mut down_values);
        let this = &*self;
        for level in 2..this.plan.tree.levels.len() {
            let (operators, scale) = this.plan.level(level);
            // Boxes of level 2 have no parents with downward equivalent charges.
            if level > 2 {
                let parents = this.boxes(level - 1, |i| {
                    this.has_targets(i) && !this.plan.tree.nodes[i].is_leaf()
                });
                parents
                    .par_chunks(CHUNK)
                    .for_each(|boxes| this.l2l(boxes, operators, check, down));
            }
            let boxes = this.boxes(level, |i| this.has_targets(i));
            boxes
                .par_chunks(CHUNK)
                .for_each_init(Scratch::default, |s, boxes| {
                    this.p2l(boxes, scale, s, check);
                    let m = this.plan.surface_values();
                    // SAFETY: each box has m numbers, and belongs to one thread.
                    unsafe {
                        let x: Vec<*const R> = boxes
                            .iter()
                            .map(|&i| check.at(i * m).cast_const())
                            .collect();
                        let y: Vec<*mut R> = boxes.iter().map(|&i| down.at(i * m)).collect();
                        inverse(this, &operators.down, &mut s.product, &x, &y);
                    }
                });
        }
        self.check = check_values;
        self.down = down_values;
    }

    /// L2L: equivalent charges of parents to check potentials of their children.
    fn l2l(
        &self,
        parents: &[usize],
        operators: &Level<R>,
        check: SharedSlice<'_, R>,
        down: SharedSlice<'_, R>,
    ) {
        let m = self.plan.surface_values();
        for octant in 0..8 {
            let (y, x) = self.families(parents, octant, |c| self.has_targets(c));
            // SAFETY: parents are of the level above, done before; children have one parent, of this thread.
            unsafe {
                let x: Vec<*const R> = x.iter().map(|&i| down.at(i * m).cast_const()).collect();
                let y: Vec<*mut R> = y.iter().map(|&c| check.at(c * m)).collect();
                operators.to_child[octant].apply(self.kernels, &x, &y, true);
            }
        }
    }

    /// P2L: sources of X lists at the inner surface.
    fn p2l(&self, boxes: &[usize], scale: f64, s: &mut Scratch<R>, check: SharedSlice<'_, R>) {
        let m = self.plan.surface_values();
        for &i in boxes {
            let list = self.plan.lists.x.of_box(i);
            if list.is_empty() {
                continue;
            }
            let ranges: Vec<u32> = list.iter().flat_map(|&b| self.plan.range(b)).collect();
            s.checks.clear();
            s.checks.resize(m, R::default());
            self.potentials_at_surface(i, INNER, &ranges, scale, &mut s.surface, &mut s.checks);
            for (k, &c) in s.checks.iter().enumerate() {
                // SAFETY: m numbers of a box that belongs to this thread.
                unsafe { *check.at(i * m + k) += c };
            }
        }
    }
}

fn scaled<R: Real>(numbers: &mut [R], by: f64) {
    if by != 1.0 {
        for x in numbers {
            *x = *x * R::of(by);
        }
    }
}
