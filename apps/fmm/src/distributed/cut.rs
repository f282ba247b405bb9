//! Points of ranks: consecutive Morton keys, cut between leaves.

use crate::tree::{DEPTH, Order, cell, key_range};
use greenup_ranks::Ranks;
use std::collections::BTreeMap;

/// One beyond the largest key.
pub(super) const END: u64 = 1 << (3 * DEPTH);

/// The keys of each rank.
pub(super) struct Cut {
    /// The first key of each rank, and the end of the last.
    pub first: Vec<u64>,
    /// Points in each box that has points of several ranks, by level and smallest key.
    pub shared: BTreeMap<(u8, u64), u64>,
}

impl Cut {
    /// Cuts sorted points of all ranks into about equal numbers. All ranks call it, and get the same.
    pub fn new(ranks: &dyn Ranks, own: &Order, all: u64, ncrit: usize) -> Self {
        let size = ranks.size();
        let below = |key: u64| own.keys.partition_point(|k| *k < key) as i64;
        let wanted = |rank: usize| (u128::from(all) * rank as u128 / size as u128) as i64;
        // The smallest keys with at least so many points below them, by bisection.
        let mut bounds = vec![(0u64, END); size - 1];
        for _ in 0..=3 * DEPTH {
            let middle = |b: &(u64, u64)| b.0 + (b.1 - b.0) / 2;
            let mut counts: Vec<i64> = bounds.iter().map(|b| below(middle(b))).collect();
            ranks.sum_integers(&mut counts);
            for (i, (bound, count)) in bounds.iter_mut().zip(counts).enumerate() {
                let at = middle(bound);
                match count >= wanted(i + 1) {
                    true => bound.1 = at,
                    false => bound.0 = (at + 1).min(bound.1),
                }
            }
        }
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
