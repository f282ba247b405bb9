//! M2L by compressed matrices, for the children of some target parents at a time.

use super::m2l::ParentPairs;
use super::{CHUNK, Cpu};
use crate::operators::compressed::{Compressed, relative};
use crate::precision::Real;
use crate::tree::{NONE, offsets};
use greenup_device::SharedSlice;
use rayon::prelude::*;

/// Target parents per task.
const PARENTS: usize = 64;

impl<R: Real> Cpu<R> {
    pub(super) fn compressed(
        &self,
        m: &Compressed<R>,
        level: usize,
        c: &ParentPairs,
        check: SharedSlice<'_, R>,
    ) {
        let (tree, n) = (&self.plan.tree, self.plan.surface_values());
        let begin = tree.levels[level].start;
        let (from, to) = (m.into.rows, m.out.columns);
        // Coefficients of all boxes of the level in the source basis.
        let mut coefficients = vec![R::default(); tree.levels[level].len() * from];
        let boxes = self.boxes(level, |i| self.has_sources(i));
        let into = SharedSlice::new(&mut coefficients);
        boxes.par_chunks(CHUNK).for_each(|boxes| {
            // SAFETY: each box has separate values.
            unsafe {
                let x: Vec<*const R> = boxes.iter().map(|&i| self.up[i * n..].as_ptr()).collect();
                let y: Vec<*mut R> = boxes.iter().map(|&i| into.at((i - begin) * from)).collect();
                m.into.apply(self.kernels, &x, &y, false);
            }
        });
        c.targets.par_chunks(PARENTS).for_each(|parents| {
            let mine: Vec<usize> = parents
                .iter()
                .flat_map(|&i| tree.children(i as usize))
                .filter(|&c| self.has_targets(c))
                .collect();
            let mut got = vec![R::default(); mine.len() * to];
            let mut lists: Vec<(Vec<*const R>, Vec<*mut R>)> = vec![Default::default(); 343];
            for (k, &t) in mine.iter().enumerate() {
                let node = &tree.nodes[t];
                for (d, &b) in tree.neighbours[node.parent as usize].iter().enumerate() {
                    if b == NONE {
                        continue;
                    }
                    for s in tree.children(b as usize).filter(|&s| self.has_sources(s)) {
                        let (o, p) = (offsets(d), &tree.nodes[s]);
                        let at: [i32; 3] = std::array::from_fn(|a| {
                            2 * o[a] + (p.at[a] & 1) as i32 - (node.at[a] & 1) as i32
                        });
                        let list = &mut lists[relative(at)];
                        list.0.push(coefficients[(s - begin) * from..].as_ptr());
                        // SAFETY: within this box's numbers.
                        list.1.push(unsafe { got.as_mut_ptr().add(k * to) });
                    }
                }
            }
            for (small, (x, y)) in m.small.iter().zip(&lists) {
                if let Some(small) = small {
                    // SAFETY: x are `from` numbers of boxes, y `to` numbers of this thread.
                    unsafe { small.apply(self.kernels, x, y, true) };
                }
            }
            // SAFETY: a target box has one parent, which belongs to one thread.
            unsafe {
                let x: Vec<*const R> = got.chunks_exact(to).map(<[R]>::as_ptr).collect();
                let y: Vec<*mut R> = mine.iter().map(|&t| check.at(t * n)).collect();
                m.out.apply(self.kernels, &x, &y, true);
            }
        });
    }
}
