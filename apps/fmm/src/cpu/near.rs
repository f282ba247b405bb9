//! What leaves' points get: equivalent charges of what is far, W and U lists.

use super::Cpu;
use crate::direct::Shared;
use crate::operators::surface::{INNER, OUTER};
use crate::real::{Real, Sums};
use rayon::prelude::*;

impl<R: Real> Cpu<'_, R> {
    fn leaves(&self) -> Vec<usize> {
        self.plan
            .tree
            .leaves()
            .filter(|&i| self.has_targets(i))
            .collect()
    }

    /// Sums at a leaf's points of some ranges of sources.
    ///
    /// # Safety
    /// The ranges lie within the sources; the leaf belongs to this thread.
    unsafe fn at_points(
        &self,
        leaf: usize,
        ranges: &[u32],
        shared: usize,
        sources: &[Vec<R>; 3],
        charge: *const R,
        out: Shared<R>,
    ) {
        let t = &self.plan.tree.nodes[leaf].targets;
        let from = t.start as usize;
        // SAFETY: the caller's promise; a leaf's targets are within theirs.
        unsafe {
            self.sums(
                self.plan.options.gradient,
                &Sums {
                    targets: t.len() as _,
                    x: std::array::from_fn(|a| self.plan.targets[a][from..].as_ptr()),
                    out: out.at(from),
                    stride: self.plan.targets[0].len() as _,
                    ranges: (ranges.len() / 2) as _,
                    shared: shared as _,
                    range: ranges.as_ptr(),
                    sources: std::array::from_fn(|a| sources[a].as_ptr()),
                    charge,
                    parameter: self.parameter(),
                },
            );
        }
    }

    /// Equivalent charges: those of all that is far, and those of W lists.
    pub(super) fn local(&self, out: &mut [R]) {
        let to = Shared(out.as_mut_ptr());
        let m = self.plan.shell_numbers();
        let own = [0, self.plan.surface as u32];
        self.leaves().par_iter().for_each_init(
            || std::array::from_fn(|_| Vec::new()),
            |shell, &i| {
                if self.plan.tree.nodes[i].level >= 2 {
                    self.shell(i, OUTER, shell);
                    // SAFETY: a surface with its charges; each leaf is taken once.
                    unsafe { self.at_points(i, &own, 0, shell, self.down[i * m..].as_ptr(), to) };
                }
                for &w in self.plan.lists.w.of_box(i) {
                    self.shell(w as usize, INNER, shell);
                    // SAFETY: as above.
                    unsafe {
                        self.at_points(i, &own, 0, shell, self.up[w as usize * m..].as_ptr(), to)
                    };
                }
            },
        );
    }

    /// U lists.
    pub(super) fn direct(&self, charges: &[R], out: &mut [R]) {
        let to = Shared(out.as_mut_ptr());
        self.leaves()
            .par_iter()
            .for_each_init(Vec::new, |ranges: &mut Vec<u32>, &i| {
                let list = self.plan.lists.u.of_box(i);
                ranges.clear();
                ranges.extend(list.iter().flat_map(|&b| self.plan.range(b)));
                let shared = usize::from(list.first() == Some(&(i as u32)));
                // SAFETY: ranges of boxes lie within the sources; each leaf is taken once.
                unsafe {
                    self.at_points(i, ranges, shared, &self.plan.sources, charges.as_ptr(), to)
                };
            });
    }
}
