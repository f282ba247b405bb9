//! What a rank has of a cut: its boxes, those of others that it needs, and their lists. It depends on keys alone.

use super::boxes::{Assembled, Sent, assemble, own_boxes, received, sent};
use super::cut::{Cut, Leaf};
use super::points::values;
use crate::FmmError;
use crate::operators::surface;
use crate::options::Options;
use crate::plan::{MAX_POINTS, SetupTimes, leaf_work};
use crate::tree::{Lists, key_range};
use greenup_device::memory::bytes;
use greenup_ranks::Ranks;
use rayon::prelude::*;
use std::time::Instant;

/// Boxes of a rank by a cut.
pub(super) struct Local {
    /// What it sends to each rank.
    pub sent: Vec<Sent>,
    pub made: Assembled,
    pub lists: Lists,
    /// Work of its leaves.
    pub leaves: Vec<Leaf>,
}

impl Local {
    /// The boxes of all ranks by a cut; `keys` are the sorted keys of the points that this rank gave. All ranks call it.
    ///
    /// # Errors
    /// A rank has too many points.
    pub fn new(
        ranks: &dyn Ranks,
        cut: &Cut,
        keys: &[u64],
        (o, p): (&Options, usize),
        times: &mut SetupTimes,
    ) -> Result<Self, FmmError> {
        let begun = Instant::now();
        let me = ranks.rank();
        let messages = (cut.pieces(keys).into_iter())
            .map(|r| bytes(&keys[r.start as usize..r.end as usize]).to_vec())
            .collect();
        let mut own: Vec<u64> = (ranks.exchange(messages).iter())
            .flat_map(|m| values(m))
            .collect();
        own.par_sort_unstable();
        times.sort_s += begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let mut counts = vec![0i64; ranks.size()];
        counts[me] = own.len() as i64;
        ranks.sum_integers(&mut counts);
        if counts.iter().any(|n| *n > MAX_POINTS as i64) {
            return Err(FmmError::TooManyPoints(MAX_POINTS));
        }
        let first = counts[..me].iter().sum::<i64>() as u64;
        let boxes = own_boxes(&own, cut, o.ncrit);
        let surface = surface::count(p);
        let sent = sent(&boxes, cut, me, first, surface);
        let messages = sent.iter().map(|s| bytes(&s.boxes).to_vec()).collect();
        let others: Vec<_> = (ranks.exchange(messages).iter())
            .map(|m| received(&values::<u64>(m)))
            .collect();
        let made = assemble((&own, &boxes), cut, (me, first), &sent, &others);
        times.tree_s += begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let lists = Lists::new(&made.tree, surface);
        let nodes = &made.tree.nodes;
        let leaves = leaf_work(&made.tree, &lists, (o.kernel, p))
            .into_iter()
            .map(|(i, work)| {
                let first = own[nodes[i].targets.start as usize];
                (key_range(first, nodes[i].level), work as i64)
            })
            .collect();
        times.lists_s += begun.elapsed().as_secs_f64();
        Ok(Self {
            sent,
            made,
            lists,
            leaves,
        })
    }

    /// Work of this rank, in pairs of a source and a target.
    pub fn work(&self) -> i64 {
        self.leaves.iter().map(|l| l.1).sum()
    }
}
