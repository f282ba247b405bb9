//! Points of ranks: consecutive Morton keys, cut between leaves.

use crate::tree::{DEPTH, cell, key_range};
use greenup_ranks::Ranks;
use std::collections::BTreeMap;
use std::ops::Range;

/// One beyond the largest key.
pub(super) const END: u64 = 1 << (3 * DEPTH);

/// The keys of each rank.
pub(super) struct Cut {
    /// The first key of each rank, and the end of the last.
    pub first: Vec<u64>,
    /// Points in each box that has points of several ranks, by level and smallest key.
    pub shared: BTreeMap<(u8, u64), u64>,
}

/// Work of a leaf, by its keys.
pub(super) type Leaf = (Range<u64>, i64);

impl Cut {
    /// Cuts sorted points of all ranks into about equal numbers. All ranks call it, and get the same. `keys` are sorted:
    /// those of any points of the ranks, each of which one has.
    pub fn by_points(ranks: &dyn Ranks, keys: &[u64], ncrit: usize) -> Self {
        let below = |key: u64| keys.partition_point(|k| *k < key) as i64;
        Self::new(ranks, keys, ncrit, below)
    }

    /// Cuts them into about equal work, as far as leaves stay whole. `leaves` are those of this rank, in the order of
    /// keys.
    pub fn by_work(ranks: &dyn Ranks, keys: &[u64], ncrit: usize, leaves: &[Leaf]) -> Self {
        let before: Vec<i64> = std::iter::once(0)
            .chain(leaves.iter().scan(0, |sum, (_, work)| {
                *sum += work;
                Some(*sum)
            }))
            .collect();
        // A leaf belongs to the rank in whose work its middle lies.
        Self::new(ranks, keys, ncrit, |key| {
            let n = leaves.partition_point(|(keys, _)| keys.start < key);
            match n.checked_sub(1).map(|last| (last, &leaves[last])) {
                Some((last, (keys, work))) if key < keys.end => before[last] + work / 2,
                _ => before[n],
            }
        })
    }

    /// Cuts where what lies below the keys, summed over the ranks, is about equal: `below` gives this rank's.
    fn new(
        ranks: &dyn Ranks,
        sorted: &[u64],
        ncrit: usize,
        weight_below: impl Fn(u64) -> i64,
    ) -> Self {
        let size = ranks.size();
        let mut all = [weight_below(END)];
        ranks.sum_integers(&mut all);
        let wanted = |rank: usize| (i128::from(all[0]) * rank as i128 / size as i128) as i64;
        // The smallest keys with at least so much below them, by bisection.
        let mut bounds = vec![(0u64, END); size - 1];
        for _ in 0..=3 * DEPTH {
            let middle = |b: &(u64, u64)| b.0 + (b.1 - b.0) / 2;
            let mut sums: Vec<i64> = bounds.iter().map(|b| weight_below(middle(b))).collect();
            ranks.sum_integers(&mut sums);
            for (i, (bound, sum)) in bounds.iter_mut().zip(sums).enumerate() {
                let at = middle(bound);
                if sum >= wanted(i + 1) {
                    bound.1 = at
                } else {
                    bound.0 = (at + 1).min(bound.1)
                }
            }
        }
        let below = |key: u64| sorted.partition_point(|k| *k < key) as i64;
        // Points of each box around these keys, which decide where leaves begin.
        let boxes = |key: u64| (0..=DEPTH as u8).map(move |l| (l, key_range(key, l)));
        let keys: Vec<u64> = bounds.iter().map(|b| b.1).collect();
        let inside: Vec<u64> = keys.iter().copied().filter(|k| *k < END).collect();
        let mut counts: Vec<i64> = inside
            .iter()
            .flat_map(|k| boxes(*k))
            .map(|(_, r)| below(r.end) - below(r.start))
            .collect();
        ranks.sum_integers(&mut counts);
        let mut counts = counts.chunks_exact(DEPTH + 1);
        let (mut first, mut shared) = (vec![0], BTreeMap::new());
        for key in keys {
            let Some(counts) = (key < END).then(|| counts.next()).flatten() else {
                first.push(END);
                continue;
            };
            let path: Vec<_> = boxes(key).zip(counts).collect();
            let leaf = path.iter().find(|(_, n)| **n <= ncrit as i64);
            let begin = leaf.or(path.last()).map_or(0, |((_, r), _)| r.start);
            let divided = path
                .iter()
                .filter(|((_, r), _)| r.start < begin && begin < r.end);
            shared.extend(divided.map(|((l, r), n)| ((*l, r.start), **n as u64)));
            first.push(begin);
        }
        first.push(END);
        Self { first, shared }
    }

    /// Where the keys of each rank are among sorted ones.
    pub fn pieces(&self, keys: &[u64]) -> Vec<Range<u32>> {
        let at = |key: &u64| keys.partition_point(|k| k < key) as u32;
        (self.first.windows(2))
            .map(|w| at(&w[0])..at(&w[1]))
            .collect()
    }

    /// Ranks that have keys of a box.
    pub fn owners(&self, at: [u32; 3], level: u8) -> impl Iterator<Item = usize> {
        let keys = key_range(cell(at, level), level);
        let from = self.first[1..].partition_point(|end| *end <= keys.start);
        let until = self.first[..self.first.len() - 1].partition_point(|first| *first < keys.end);
        (from..until).filter(|r| self.first[*r] < self.first[r + 1])
    }

    /// Other ranks than `me` with keys in a box or one of its neighbours.
    pub fn near(&self, at: [u32; 3], level: u8, me: usize) -> Vec<usize> {
        let cells = 1i64 << level;
        let mut out = Vec::new();
        for d in 0..27 {
            let to: [i64; 3] = [d % 3, d / 3 % 3, d / 9].map(|x| x - 1);
            let to: [i64; 3] = std::array::from_fn(|a| i64::from(at[a]) + to[a]);
            if to.iter().all(|x| (0..cells).contains(x)) {
                out.extend(self.owners(to.map(|x| x as u32), level));
            }
        }
        out.retain(|r| *r != me);
        out.sort_unstable();
        out.dedup();
        out
    }
}
