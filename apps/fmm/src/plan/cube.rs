//! The root cube, and points in its units.

use crate::points::Points;
use crate::precision::Real;
use crate::tree::Order;
use rayon::prelude::*;

/// The extent of no points.
const NOTHING: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

/// Smallest and largest coordinate.
fn extent(x: &[f64]) -> (f64, f64) {
    let both = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    x.par_iter()
        .map(|x| (*x, *x))
        .with_min_len(1 << 14)
        .reduce(|| NOTHING, both)
}

/// Smallest and largest coordinate along each axis.
pub(crate) fn extents(points: &Points) -> [(f64, f64); 3] {
    std::array::from_fn(|a| extent(&points.x[a]))
}

/// Center and half width of the smallest cube that contains these extents, slightly enlarged.
fn cube(all: &[[(f64, f64); 3]]) -> ([f64; 3], f64) {
    let mut half = 0.0f64;
    let center = std::array::from_fn(|a| {
        let (low, high) = (all.iter())
            .map(|p| p[a])
            .fold(NOTHING, |a, b| (a.0.min(b.0), a.1.max(b.1)));
        if low > high {
            return 0.0;
        }
        half = half.max(0.5 * high - 0.5 * low);
        0.5 * low + 0.5 * high
    });
    let largest = center.iter().fold(half, |m: f64, x| m.max(x.abs()));
    // All points coincide: any cube around them will do.
    let half = if half > 0.0 { half } else { largest.max(1.0) };
    (center, half * (1.0 + 1e-9))
}

/// The root cube of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    pub center: [f64; 3],
    /// Half width.
    pub unit: f64,
    /// Whether rounded positions are on the grid of [`close`](super::close).
    pub on_grid: bool,
}

impl Root {
    /// The cube around these extents.
    pub fn around(all: &[[(f64, f64); 3]]) -> Self {
        let (center, unit) = cube(all);
        Self {
            center,
            unit,
            on_grid: false,
        }
    }

    /// A coordinate along axis `a` in the cube, rounded.
    pub fn rounded<R: Real>(&self, a: usize, x: f64) -> R {
        let x = ((x - self.center[a]) / self.unit).clamp(-1.0, 1.0);
        // Without the sign of zero, so that equal positions have equal keys.
        R::of(if self.on_grid {
            (x / grid::<R>()).round() * grid::<R>() + 0.0
        } else {
            x
        })
    }
}

/// Sorts points by the Morton keys of their rounded positions: points that round to one position must share a box.
pub(crate) fn sorted<R: Real>(points: &Points, root: &Root) -> (Order, [Vec<R>; 3]) {
    let along = |a: usize, i: usize| root.rounded::<R>(a, points.x[a][i]);
    let order = Order::of(points.len(), |i| {
        std::array::from_fn(|a| along(a, i).wide())
    });
    let x = std::array::from_fn(|a| {
        order
            .from
            .par_iter()
            .map(|&i| along(a, i as usize))
            .collect()
    });
    (order, x)
}

/// Distance of numbers on the grid of rounded positions.
pub(crate) fn grid<R: Real>() -> f64 {
    R::EPSILON / 2.0
}
