//! Upward and downward: equivalent charges between levels.

use super::{Cpu, TOGETHER};
use crate::direct::Shared;
use crate::operators::surface::{INNER, OUTER};
use crate::operators::{Level, Packed};
use crate::real::{Real, Sums};
use rayon::prelude::*;

/// Memory of a thread.
#[derive(Default)]
struct Scratch<R> {
    shell: [Vec<R>; 3],
    checks: Vec<R>,
    between: Vec<R>,
}

/// Takes vectors through both factors of an inverse.
///
/// # Safety
/// As [`Packed::apply`].
unsafe fn inverse<R: Real>(
    cpu: &Cpu<'_, R>,
    m: &[Packed<R>; 2],
    between: &mut Vec<R>,
    x: &[*const R],
    y: &[*mut R],
) {
    let rank = m[0].rows;
    between.resize(x.len() * rank, R::default());
    let to: Vec<*mut R> = between
        .chunks_exact_mut(rank)
        .map(<[R]>::as_mut_ptr)
        .collect();
    let from: Vec<*const R> = to.iter().map(|p| p.cast_const()).collect();
    // SAFETY: `between` holds `rank` numbers for each; x and y as the caller says.
    unsafe {
        m[0].apply(cpu.kernels, x, &to, false);
        m[1].apply(cpu.kernels, &from, y, false);
    }
}

impl<R: Real> Cpu<'_, R> {
    pub(super) fn upward(&mut self, charges: &[R]) {
        let up = Shared(self.up.as_mut_ptr());
        let this = &*self;
        for level in (2..this.plan.tree.levels.len()).rev() {
            let boxes = this.boxes(level, |i| this.has_sources(i));
            let (leaves, others): (Vec<_>, Vec<_>) = boxes
                .iter()
                .partition(|&&i| this.plan.tree.nodes[i].is_leaf());
            let (operators, scale) = this.plan.level(level);
            leaves
                .par_chunks(TOGETHER)
                .for_each_init(Scratch::default, |s, boxes| {
                    this.charge_leaves(boxes, charges, operators, scale, s, up);
                });
            others
                .par_chunks(TOGETHER)
                .for_each(|boxes| this.charge_parents(boxes, operators, up));
        }
    }

    /// Charges of leaves to potentials at their outer surface, to equivalent charges.
    fn charge_leaves(
        &self,
        boxes: &[usize],
        charges: &[R],
        operators: &Level<R>,
        scale: f64,
        s: &mut Scratch<R>,
        up: Shared<R>,
    ) {
        let m = self.plan.shell_numbers();
        s.checks.clear();
        s.checks.resize(boxes.len() * m, R::default());
        for (check, &i) in s.checks.chunks_exact_mut(m).zip(boxes) {
            let ranges = self.plan.range(i as u32);
            self.at_shell(i, OUTER, &ranges, charges, scale, &mut s.shell, check);
        }
        let x: Vec<*const R> = s.checks.chunks_exact(m).map(<[R]>::as_ptr).collect();
        // SAFETY: each box has m numbers, and belongs to one thread.
        unsafe {
            let y: Vec<*mut R> = boxes.iter().map(|&i| up.at(i * m)).collect();
            inverse(self, &operators.up, &mut s.between, &x, &y);
        }
    }

    /// Potentials, times `scale`, of ranges of sources at the surface of a box, added to `check`.
    #[allow(clippy::too_many_arguments)]
    fn at_shell(
        &self,
        node: usize,
        radius: f64,
        ranges: &[u32],
        charges: &[R],
        scale: f64,
        shell: &mut [Vec<R>; 3],
        check: &mut [R],
    ) {
        self.shell(node, radius, shell);
        assert_eq!(check.len(), self.plan.shell_numbers());
        assert_eq!(
            charges.len(),
            self.plan.sources[0].len() * self.plan.options.kernel.inputs()
        );
        // SAFETY: the surface lies in its arrays, ranges of boxes among the sources, and potentials are the caller's.
        unsafe {
            self.sums(
                false,
                &Sums {
                    targets: self.plan.surface as _,
                    x: std::array::from_fn(|a| shell[a].as_ptr()),
                    out: check.as_mut_ptr(),
                    stride: self.plan.surface as _,
                    ranges: (ranges.len() / 2) as _,
                    shared: 0,
                    range: ranges.as_ptr(),
                    sources: std::array::from_fn(|a| self.plan.sources[a].as_ptr()),
                    charge: charges.as_ptr(),
                    parameter: self.parameter(),
                },
            );
        }
        scaled(check, scale);
    }

    fn charge_parents(&self, boxes: &[usize], operators: &Level<R>, up: Shared<R>) {
        let m = self.plan.shell_numbers();
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

    pub(super) fn downward(&mut self, charges: &[R]) {
        let check = Shared(self.check.as_mut_ptr());
        let down = Shared(self.down.as_mut_ptr());
        let this = &*self;
        for level in 2..this.plan.tree.levels.len() {
            let (operators, scale) = this.plan.level(level);
            // From parents, which themselves have something from afar.
            if level > 2 {
                let parents = this.boxes(level - 1, |i| {
                    this.has_targets(i) && !this.plan.tree.nodes[i].is_leaf()
                });
                parents
                    .par_chunks(TOGETHER)
                    .for_each(|boxes| this.to_children(boxes, operators, check, down));
            }
            let boxes = this.boxes(level, |i| this.has_targets(i));
            boxes
                .par_chunks(TOGETHER)
                .for_each_init(Scratch::default, |s, boxes| {
                    this.x_lists(boxes, charges, scale, s, check);
                    let m = this.plan.shell_numbers();
                    // SAFETY: each box has m numbers, and belongs to one thread.
                    unsafe {
                        let x: Vec<*const R> = boxes
                            .iter()
                            .map(|&i| check.at(i * m).cast_const())
                            .collect();
                        let y: Vec<*mut R> = boxes.iter().map(|&i| down.at(i * m)).collect();
                        inverse(this, &operators.down, &mut s.between, &x, &y);
                    }
                });
        }
    }

    fn to_children(
        &self,
        parents: &[usize],
        operators: &Level<R>,
        check: Shared<R>,
        down: Shared<R>,
    ) {
        let m = self.plan.shell_numbers();
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

    /// Points of X lists at the inner surface.
    fn x_lists(
        &self,
        boxes: &[usize],
        charges: &[R],
        scale: f64,
        s: &mut Scratch<R>,
        check: Shared<R>,
    ) {
        let m = self.plan.shell_numbers();
        for &i in boxes {
            let list = self.plan.lists.x.of_box(i);
            if list.is_empty() {
                continue;
            }
            let ranges: Vec<u32> = list.iter().flat_map(|&b| self.plan.range(b)).collect();
            s.checks.clear();
            s.checks.resize(m, R::default());
            self.at_shell(
                i,
                INNER,
                &ranges,
                charges,
                scale,
                &mut s.shell,
                &mut s.checks,
            );
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
