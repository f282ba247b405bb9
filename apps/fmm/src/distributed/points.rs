//! Points on their way to the ranks that own them, and results on the way back.

use super::cut::Cut;
use crate::plan::Root;
use crate::points::Points;
use crate::precision::Real;
use crate::tree::Order;
use greenup_device::memory::{Plain, bytes, bytes_mut};
use greenup_ranks::Ranks;
use std::ops::Range;

/// The points of a rank, sorted by keys, then by number in the input.
pub(super) struct Owned {
    /// Positions in the units of the points.
    pub x: [Vec<f64>; 3],
    pub charges: Vec<f64>,
    pub route: Route,
}

/// Where points came from, and where those of this rank went to.
pub(super) struct Route {
    /// Number of each point of this rank among those that came, by rank.
    from: Vec<u32>,
    /// How many came from each rank.
    came: Vec<usize>,
    /// The points that this rank gave, in the order in which they went, by rank.
    gave: Vec<u32>,
}

/// Sends sorted points to their owners, with `d` charges each.
pub(super) fn to_owners<R: Real>(
    ranks: &dyn Ranks,
    cut: &Cut,
    (order, points, root): (Order, &Points, &Root),
    (charges, d): (&[f64], usize),
) -> Owned {
    let to = cut.pieces(&order.keys);
    let send = |x: &[f64]| -> Vec<f64> {
        let x: Vec<f64> = order.from.iter().map(|i| x[*i as usize]).collect();
        let to = to.iter().map(|r| ranges_of(&x, std::slice::from_ref(r), 1));
        let all = ranks.exchange(to.collect());
        all.iter().flat_map(|b| values(b)).collect()
    };
    let x = [0, 1, 2].map(|a| send(&points.x[a]));
    let messages: Vec<Vec<u8>> = (to.iter())
        .map(|r| {
            let which = &order.from[r.start as usize..r.end as usize];
            let of = |i: &u32| &charges[*i as usize * d..][..d];
            let own: Vec<f64> = which.iter().flat_map(of).copied().collect();
            bytes(&own).to_vec()
        })
        .collect();
    let messages = ranks.exchange(messages);
    let came: Vec<usize> = messages.iter().map(|m| m.len() / (8 * d)).collect();
    let charges: Vec<f64> = messages.iter().flat_map(|m| values(m)).collect();
    drop(messages);
    // Ranks gave their points in the order of the input, so the sorted order is that of all points.
    let Order { from, .. } = Order::of(x[0].len(), |i| {
        [0, 1, 2].map(|a| root.rounded::<R>(a, x[a][i]).wide())
    });
    Owned {
        x: x.map(|x| from.iter().map(|i| x[*i as usize]).collect()),
        charges: (from.iter())
            .flat_map(|i| &charges[*i as usize * d..][..d])
            .copied()
            .collect(),
        route: Route {
            from,
            came,
            gave: order.from,
        },
    }
}

impl Route {
    /// Results, `[component][point]`, at the points that this rank gave.
    pub fn back(&self, ranks: &dyn Ranks, results: &[f64], outputs: usize) -> Vec<f64> {
        let (n, gave) = (self.from.len(), self.gave.len());
        let mut out = vec![0.0; gave * outputs];
        for c in 0..outputs {
            let own = &results[c * n..(c + 1) * n];
            self.component(ranks, own, &mut out[c * gave..(c + 1) * gave]);
        }
        out
    }

    fn component(&self, ranks: &dyn Ranks, results: &[f64], out: &mut [f64]) {
        let mut arrived = vec![0.0; results.len()];
        for (i, x) in self.from.iter().zip(results) {
            arrived[*i as usize] = *x;
        }
        let mut rest = arrived.as_slice();
        let messages = (self.came.iter())
            .map(|n| {
                let (now, after) = rest.split_at(*n);
                rest = after;
                bytes(now).to_vec()
            })
            .collect();
        let all = ranks.exchange(messages);
        let all = all.iter().flat_map(|b| values::<f64>(b));
        for (i, x) in self.gave.iter().zip(all) {
            out[*i as usize] = x;
        }
    }
}

/// Values of some points, `each` for one, as bytes.
pub(super) fn ranges_of<T: Plain>(x: &[T], points: &[Range<u32>], each: usize) -> Vec<u8> {
    let mut out =
        Vec::with_capacity(points.iter().map(Range::len).sum::<usize>() * size_of::<T>() * each);
    for r in points {
        out.extend_from_slice(bytes(&x[r.start as usize * each..r.end as usize * each]));
    }
    out
}

/// Bytes of another rank as values.
pub fn values<T: Plain + Default>(from: &[u8]) -> Vec<T> {
    let n = from.len() / size_of::<T>();
    let mut out = vec![T::default(); n];
    bytes_mut(&mut out).copy_from_slice(&from[..n * size_of::<T>()]);
    out
}
