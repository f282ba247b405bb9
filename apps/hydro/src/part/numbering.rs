//! Where a part lies in the whole, and what all ranks do to show it: fields of the whole pass by the first rank piece by piece,
//! so that no rank holds them.

use crate::engine::State;
use greenup_ranks::Ranks;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

/// Numbers of the whole that pass by at a time.
const PIECE: usize = 1 << 16;

/// Numbers in the whole of what a part has.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// Number in the whole of each, by its number here.
    pub of: Vec<u32>,
    /// (number in the whole, number here) of those that are counted here, ascending: each of the whole on one rank.
    pub owned: Vec<(u32, u32)>,
    /// How many the whole has.
    pub all: usize,
}

impl Numbers {
    /// From the numbers of all here, and which of them are counted here.
    pub fn new(of: Vec<u32>, owned: impl Fn(usize) -> bool, all: usize) -> Self {
        let counted = (of.iter().enumerate())
            .filter(|(local, _)| owned(*local))
            .map(|(local, n)| (*n, local as u32));
        let mut owned: Vec<(u32, u32)> = counted.collect();
        owned.sort_unstable();
        Self { of, owned, all }
    }

    /// (number in the whole, number here) of all, ascending.
    pub fn ascending(&self) -> Vec<(u32, u32)> {
        let all = self.of.iter().enumerate();
        let mut out: Vec<(u32, u32)> = all.map(|(local, n)| (*n, local as u32)).collect();
        out.sort_unstable();
        out
    }
}

/// The whole of which this rank has a part. All ranks call the same methods.
pub struct Whole {
    /// The ranks.
    pub ranks: Arc<dyn Ranks>,
    /// Zones.
    pub zones: Numbers,
    /// Nodes.
    pub nodes: Numbers,
    /// Dimension.
    pub dim: usize,
    /// Energies in a zone.
    pub energies: usize,
}

impl Whole {
    /// Passes a field of the whole by `sink` on the first rank, in its order. The field has `each` numbers of each zone or
    /// node, together.
    ///
    /// # Errors
    /// That of `sink`; other ranks do not know it.
    pub fn pass<E>(
        ranks: &dyn Ranks,
        numbers: &Numbers,
        each: usize,
        field: &[f64],
        sink: &mut dyn FnMut(&[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        pieces(ranks, numbers, each, field, &mut |_, piece| {
            piece.map_or(Ok(()), |p| sink(&p))
        })
    }

    /// Passes the state of the whole by `sink` on the first rank: positions, velocities, energies.
    ///
    /// # Errors
    /// That of `sink`.
    pub fn pass_state<E>(
        &self,
        own: &State,
        sink: &mut dyn FnMut(&[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let n = self.nodes.of.len();
        for part in own.x.chunks(n).chain(own.v.chunks(n)) {
            Self::pass(&*self.ranks, &self.nodes, 1, part, sink)?;
        }
        Self::pass(&*self.ranks, &self.zones, self.energies, &own.e, sink)
    }

    /// The state of the whole on the first rank; `None` on the others.
    pub fn state(&self, own: &State) -> Option<State> {
        let mut all = Vec::new();
        let Ok(()) = self.pass_state(own, &mut |piece| {
            all.extend_from_slice(piece);
            Ok::<_, Infallible>(())
        });
        (self.ranks.rank() == 0).then(|| {
            let n = self.dim * self.nodes.all;
            let e = all.split_off(2 * n);
            let v = all.split_off(n);
            State { x: all, v, e }
        })
    }

    /// Sum of a number of each zone, in the order of the zones of the whole; the same bits on all ranks.
    pub fn sum(ranks: &dyn Ranks, zones: &Numbers, each: usize, of: &[f64]) -> f64 {
        let mut total = 0.0;
        let Ok(()) = Self::pass(ranks, zones, each, of, &mut |piece| {
            total = piece.iter().fold(total, |a, x| a + x);
            Ok::<_, Infallible>(())
        });
        from_first(ranks, &[total])[0]
    }
}

/// Calls `f` on all ranks with the range of each piece of the whole, and on the first rank with its values.
fn pieces<E>(
    ranks: &dyn Ranks,
    numbers: &Numbers,
    each: usize,
    field: &[f64],
    f: &mut dyn FnMut(Range<usize>, Option<Vec<f64>>) -> Result<(), E>,
) -> Result<(), E> {
    let mut left = &numbers.owned[..];
    for begin in (0..numbers.all).step_by(PIECE) {
        let end = (begin + PIECE).min(numbers.all);
        let (here, rest) = left.split_at(left.partition_point(|(n, _)| (*n as usize) < end));
        left = rest;
        let mut bytes = Vec::with_capacity(here.len() * (4 + 8 * each));
        for (n, local) in here {
            bytes.extend((n - begin as u32).to_ne_bytes());
            let at = *local as usize * each;
            bytes.extend(field[at..at + each].iter().flat_map(|x| x.to_ne_bytes()));
        }
        let piece = ranks.gather(&bytes).map(|all| {
            let mut piece = vec![0.0; (end - begin) * each];
            for one in all.iter().flat_map(|b| b.chunks_exact(4 + 8 * each)) {
                let (n, values) = one.split_at(4);
                let at = u32::from_ne_bytes(n.try_into().unwrap_or_default()) as usize * each;
                let (values, _) = values.as_chunks();
                for (to, x) in piece[at..at + each].iter_mut().zip(values) {
                    *to = f64::from_ne_bytes(*x);
                }
            }
            piece
        });
        f(begin..end, piece)?;
    }
    Ok(())
}

/// For each zone here the sum of a number over the zones of the whole before it, and the sum of all. Exact for integers.
pub(super) fn sums_before(ranks: &dyn Ranks, zones: &Numbers, of_zones: &[f64]) -> (Vec<f64>, f64) {
    let mut out = vec![0.0; of_zones.len()];
    let mut total = 0.0;
    let mut left = &zones.owned[..];
    let Ok(()) = pieces(ranks, zones, 1, of_zones, &mut |range, piece| {
        // Sums before each zone of the piece, and before the next piece.
        let mut sums = vec![total];
        for x in piece.unwrap_or_default() {
            total += x;
            sums.push(total);
        }
        let sums = from_first(ranks, &sums);
        let (here, rest) = left.split_at(left.partition_point(|(n, _)| (*n as usize) < range.end));
        left = rest;
        for (n, local) in here {
            out[*local as usize] = sums[*n as usize - range.start];
        }
        total = sums.last().copied().unwrap_or(total);
        Ok::<_, Infallible>(())
    });
    (out, total)
}

/// Numbers of the first rank on all ranks, bit by bit.
pub fn from_first(ranks: &dyn Ranks, x: &[f64]) -> Vec<f64> {
    let mut bytes = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
    ranks.broadcast(&mut bytes);
    let (words, _) = bytes.as_chunks();
    words.iter().map(|w| f64::from_ne_bytes(*w)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_ranks::threads;

    #[test]
    fn fields_pass_in_the_order_of_the_whole() {
        let all = 2 * PIECE + 5;
        let results = threads::run(3, |ranks| {
            let of: Vec<u32> = (0..all as u32)
                .filter(|n| n % 3 == ranks.rank() as u32)
                .collect();
            let field: Vec<f64> = of.iter().flat_map(|n| [f64::from(*n), -0.1]).collect();
            let numbers = Numbers::new(of, |_| true, all);
            let mut passed = Vec::new();
            let Ok(()) = Whole::pass(&*ranks, &numbers, 2, &field, &mut |piece| {
                passed.extend_from_slice(piece);
                Ok::<_, Infallible>(())
            });
            let sum = Whole::sum(&*ranks, &numbers, 2, &field);
            let tens = vec![10.0; numbers.of.len()];
            let (before, ten_times) = sums_before(&*ranks, &numbers, &tens);
            let want = numbers.of.iter().map(|n| 10.0 * f64::from(*n));
            assert!(want.eq(before) && ten_times == 10.0 * all as f64);
            Ok::<_, ()>((passed, sum))
        });
        let results = results.unwrap();
        let want: Vec<f64> = (0..all).flat_map(|n| [n as f64, -0.1]).collect();
        assert_eq!(results[0].0, want);
        assert!(results[1].0.is_empty());
        let sum: f64 = want.iter().sum();
        assert!(results.iter().all(|r| r.1.to_bits() == sum.to_bits()));
    }
}
