//! The targets of one of several ranks or GPUs: leaves in Morton order, cut by work. Each rank has the whole tree, so each box
//! adds its lists in the same order, and results have the same digits on any number of ranks.

use super::Plan;
use crate::kernel::Kernel;
use crate::operators::fourier::frequencies;
use crate::operators::surface;
use crate::precision::Real;
use crate::tree::{Lists, NONE, Tree};
use greenup_device::SharedSlice;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Work of the M2L of eight siblings for each frequency and neighbour of their parent, in pairs of a source and a target: 64
/// complex products, each of which costs about half a pair. It only balances.
const M2L_PAIRS: usize = 32;

/// Work of products of a box with six matrices for each entry, in quarters of a pair.
const MATRIX_PAIRS: usize = 3;

impl<R: Real> Plan<R> {
    /// The plan of a part of the targets, 0 to `of` - 1; what does not depend on the part is shared.
    pub fn part(&self, part: usize, of: usize) -> Self {
        let mut tree = self.tree.clone();
        let share = self.cut(part, of);
        for node in &mut tree.nodes {
            // Leaves lie within a share or outside; a parent keeps what its children keep.
            let begin = node.targets.start.max(share.start);
            node.targets = begin..node.targets.end.min(share.end).max(begin);
        }
        let (own_targets, places) = self.placed(&share);
        Self {
            tree,
            share,
            own_targets,
            places,
            essential: self.essential.clone(),
            lists: Arc::clone(&self.lists),
            close: Arc::clone(&self.close),
            sources: Arc::clone(&self.sources),
            source_from: Arc::clone(&self.source_from),
            targets: Arc::clone(&self.targets),
            target_from: Arc::clone(&self.target_from),
            levels: Arc::clone(&self.levels),
            m2l: Arc::clone(&self.m2l),
            unit_surface: self.unit_surface.clone(),
            ..*self
        }
    }

    /// Numbers of the targets that it evaluates in the input, ascending: the order of its results. `None` if it
    /// evaluates all.
    pub fn own_targets(&self) -> Option<&Arc<Vec<u32>>> {
        self.own_targets.as_ref()
    }

    /// The targets of a share in the order of the input, and the place of each of the share among them.
    fn placed(&self, share: &Range<u32>) -> (Option<Arc<Vec<u32>>>, Arc<Vec<u32>>) {
        if share.len() == self.target_from.len() {
            return (None, Arc::clone(&self.target_from));
        }
        let which = &self.target_from[share.start as usize..share.end as usize];
        let mut sorted: Vec<(u32, u32)> = (which.par_iter().zip(0..which.len() as u32))
            .map(|(i, k)| (*i, k))
            .collect();
        sorted.par_sort_unstable();
        let mut places = vec![0; which.len()];
        let to = SharedSlice::new(&mut places);
        (sorted.par_iter().enumerate()).for_each(|(place, (_, k))| {
            // SAFETY: each target of the share occurs once.
            unsafe { *to.at(*k as usize) = place as u32 };
        });
        let own = sorted.into_par_iter().map(|s| s.0).collect();
        (Some(Arc::new(own)), Arc::new(places))
    }

    fn cut(&self, part: usize, of: usize) -> Range<u32> {
        let mut cuts = cuts(&self.work(), of.max(1));
        cuts.swap_remove(part.min(of.max(1) - 1))
    }

    /// Targets of each leaf with targets, in their order, and its work in pairs of a source and a target.
    fn work(&self) -> Vec<(Range<u32>, usize)> {
        let nodes = &self.tree.nodes;
        leaf_work(&self.tree, &self.lists, (self.options.kernel, self.p))
            .into_iter()
            .map(|(i, work)| (nodes[i].targets.clone(), work))
            .collect()
    }
}

/// Leaves with targets, in the order of these, and the work of each in pairs of a source and a target, for surfaces of
/// order `p`.
pub(crate) fn leaf_work(
    tree: &Tree,
    lists: &Lists,
    (kernel, p): (Kernel, usize),
) -> Vec<(usize, usize)> {
    let (nodes, d) = (&tree.nodes, kernel.inputs());
    // Without boxes of level 2 there are only U lists.
    let has_expansions = tree.levels.len() > 2;
    let surface = surface::count(p);
    let sources =
        |list: &[u32]| -> usize { list.iter().map(|b| nodes[*b as usize].sources.len()).sum() };
    let of = |i: usize| {
        let n = nodes[i].targets.len();
        let near = n * sources(lists.u.of_box(i));
        if !has_expansions || nodes[i].level < 2 {
            return near + n * surface * lists.w.of_box(i).len();
        }
        // P2M, L2P and M2P; P2L; the products of a box with matrices; its share of the M2L of its siblings.
        let points = n * surface * (2 + lists.w.of_box(i).len());
        let x = surface * sources(lists.x.of_box(i));
        let matrices = MATRIX_PAIRS * (surface * d).pow(2) / 4;
        let parent = nodes[i].parent as usize;
        let neighbours = tree.neighbours[parent].iter().filter(|b| **b != NONE);
        let siblings = usize::from(nodes[parent].children).max(1);
        let m2l = M2L_PAIRS * neighbours.count() * frequencies(p) * d * d / siblings;
        near + points + x + matrices + m2l
    };
    let mut all: Vec<usize> = (tree.leaves())
        .filter(|i| !nodes[*i].targets.is_empty())
        .collect();
    all.sort_unstable_by_key(|i| nodes[*i].targets.start);
    all.into_par_iter().map(|i| (i, of(i))).collect()
}

/// Results at some of the targets.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// Their numbers in the input, ascending.
    pub targets: &'a [u32],
    /// Their results, component by component.
    pub results: &'a [f64],
}

/// Results per task of [`merge`].
const CHUNK: usize = 1 << 16;

/// Writes the results at the targets from number `begin` on, a slice for each component, out of those of the parts.
pub fn merge(parts: &[Part<'_>], begin: usize, to: &mut [&mut [f64]]) {
    for (c, to) in to.iter_mut().enumerate() {
        to.par_chunks_mut(CHUNK).enumerate().for_each(|(k, to)| {
            let first = begin + k * CHUNK;
            for part in parts {
                let n = part.targets.len();
                let of = &part.results[c * n..(c + 1) * n];
                let from = part.targets.partition_point(|i| (*i as usize) < first);
                let until = part
                    .targets
                    .partition_point(|i| (*i as usize) < first + to.len());
                for (i, x) in part.targets[from..until].iter().zip(&of[from..until]) {
                    to[*i as usize - first] = *x;
                }
            }
        });
    }
}

/// Cuts ranges into `parts` consecutive ones of about equal work; some are empty if there are fewer ranges.
fn cuts(work: &[(Range<u32>, usize)], parts: usize) -> Vec<Range<u32>> {
    let total: usize = work.iter().map(|w| w.1).sum();
    let end = work.last().map_or(0, |w| w.0.end);
    let (mut out, mut done, mut at, mut begin) = (Vec::with_capacity(parts), 0, 0, 0);
    for part in 1..=parts {
        let until = (total as u128 * part as u128 / parts as u128) as usize;
        // A range belongs to the part in which its middle lies.
        while at < work.len() && (part == parts || done + work[at].1 / 2 < until) {
            done += work[at].1;
            at += 1;
        }
        let to = work.get(at).map_or(end, |w| w.0.start);
        out.push(begin..to);
        begin = to;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_are_consecutive_whole_and_balanced(
            work in proptest::collection::vec((1u32..50, 1usize..1000), 0..80),
            parts in 1usize..9,
        ) {
            let mut end = 0;
            let work: Vec<_> = work
                .into_iter()
                .map(|(n, w)| {
                    end += n;
                    (end - n..end, w)
                })
                .collect();
            let cut = cuts(&work, parts);
            prop_assert_eq!(cut.len(), parts);
            prop_assert_eq!((cut[0].start, cut[parts - 1].end), (0, end));
            prop_assert!(cut.windows(2).all(|w| w[0].end == w[1].start));
            let total: usize = work.iter().map(|w| w.1).sum();
            let most = work.iter().map(|w| w.1).max().unwrap_or(0);
            for c in &cut {
                prop_assert!(c.start == end || work.iter().any(|w| w.0.start == c.start));
                let of: usize = work.iter().filter(|w| c.contains(&w.0.start)).map(|w| w.1).sum();
                prop_assert!(of <= total / parts + most + 1, "{of} of {total} in {parts}");
            }
        }
    }
}
