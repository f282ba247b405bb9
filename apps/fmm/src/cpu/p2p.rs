//! L2P, M2P and P2P: results at the targets of leaves.

use super::Cpu;
use crate::operators::surface::{INNER, OUTER};
use crate::precision::{Real, Sums};
use greenup_device::SharedSlice;
use rayon::prelude::*;

impl<R: Real> Cpu<R> {
    fn leaves(&self) -> Vec<usize> {
        self.plan
            .tree
            .leaves()
            .filter(|&i| self.has_targets(i))
            .collect()
    }

    /// Adds the sums over some ranges of sources at the targets of a leaf.
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
        out: SharedSlice<'_, R>,
    ) {
        let t = &self.plan.tree.nodes[leaf].targets;
        let (from, share) = (t.start as usize, &self.plan.share);
        // SAFETY: the caller's promise; the targets of a leaf lie within the share, for which there is room.
        unsafe {
            self.sums(
                self.plan.options.gradient,
                &Sums {
                    targets: t.len() as _,
                    x: std::array::from_fn(|a| self.plan.targets[a][from..].as_ptr()),
                    out: out.at(from - share.start as usize),
                    stride: share.len() as _,
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

    /// L2P and M2P: equivalent charges of the leaf, and of its W list.
    pub(super) fn evaluate_expansions(&self, out: &mut [R]) {
        let to = SharedSlice::new(out);
        let m = self.plan.surface_values();
        let all = [0, self.plan.surface as u32];
        self.leaves().par_iter().for_each_init(
            || std::array::from_fn(|_| Vec::new()),
            |surface, &i| {
                if self.plan.tree.nodes[i].level >= 2 {
                    self.place_surface(i, OUTER, surface);
                    // SAFETY: a surface with its charges; each leaf belongs to one thread.
                    unsafe { self.at_points(i, &all, 0, surface, self.down[i * m..].as_ptr(), to) };
                }
                for &w in self.plan.lists.w.of_box(i) {
                    self.place_surface(w as usize, INNER, surface);
                    // SAFETY: as above.
                    unsafe {
                        self.at_points(i, &all, 0, surface, self.up[w as usize * m..].as_ptr(), to)
                    };
                }
            },
        );
    }

    /// P2P: U lists.
    pub(super) fn p2p(&self, out: &mut [R]) {
        let to = SharedSlice::new(out);
        self.leaves()
            .par_iter()
            .for_each_init(Vec::new, |ranges: &mut Vec<u32>, &i| {
                let list = self.plan.lists.u.of_box(i);
                ranges.clear();
                ranges.extend(list.iter().flat_map(|&b| self.plan.range(b)));
                let shared = usize::from(list.first() == Some(&(i as u32)));
                // SAFETY: ranges of boxes lie within the sources; each leaf belongs to one thread.
                unsafe {
                    self.at_points(
                        i,
                        ranges,
                        shared,
                        &self.plan.sources,
                        self.charges.as_ptr(),
                        to,
                    )
                };
            });
    }
}
