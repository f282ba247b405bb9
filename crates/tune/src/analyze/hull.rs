//! The convex hull of performance and efficiency, its arcs and chords.

use serde::Serialize;

/// Convex hull of the configs in the plane of performance (x) and efficiency (y), as indices of points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hull {
    /// Corners, counter-clockwise from the most efficient.
    pub corners: Vec<usize>,
    /// Upper arc: from the fastest over the most efficient to the slowest.
    pub upper: Vec<usize>,
    /// Lower arc, from the slowest to the fastest.
    pub lower: Vec<usize>,
}

/// Extent of the hull along one axis where the other coordinate is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The fixed coordinate: a performance or an efficiency.
    pub at: f64,
    /// Lower end of the hull in the other coordinate.
    pub low: f64,
    /// Upper end of the hull in the other coordinate.
    pub high: f64,
}

/// The hull of points in the plane; `None` for fewer than three or points on one line.
pub fn hull(points: &[(f64, f64)]) -> Option<Hull> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| {
        let (p, q) = (points[a], points[b]);
        p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1))
    });
    let turn = |a: usize, b: usize, c: usize| {
        let (a, b, c) = (points[a], points[b], points[c]);
        (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
    };
    let chain = |order: &mut dyn Iterator<Item = usize>| {
        let mut out: Vec<usize> = Vec::new();
        for i in order {
            while out.len() >= 2 && turn(out[out.len() - 2], out[out.len() - 1], i) <= 0.0 {
                out.pop();
            }
            out.push(i);
        }
        out
    };
    let lower = chain(&mut order.iter().copied());
    let upper = chain(&mut order.iter().rev().copied());
    if lower.len() + upper.len() < 5 {
        return None;
    }
    let mut corners: Vec<usize> = lower[..lower.len() - 1].to_vec();
    corners.extend_from_slice(&upper[..upper.len() - 1]);
    let top = (0..corners.len())
        .max_by(|&a, &b| points[corners[a]].1.total_cmp(&points[corners[b]].1))?;
    corners.rotate_left(top);
    Some(Hull {
        corners,
        upper,
        lower,
    })
}

impl Hull {
    /// Extent of the hull across the line where coordinate `axis` is `at`.
    pub fn spread(&self, points: &[(f64, f64)], axis: usize, at: f64) -> Option<Spread> {
        let pick = |i: usize| {
            let p = points[i];
            if axis == 0 { p } else { (p.1, p.0) }
        };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (k, &a) in self.corners.iter().enumerate() {
            let (p, q) = (pick(a), pick(self.corners[(k + 1) % self.corners.len()]));
            if (p.0 - at) * (q.0 - at) > 0.0 {
                continue;
            }
            let y = if p.0 == q.0 {
                high = high.max(q.1);
                low = low.min(q.1);
                p.1
            } else {
                p.1 + (q.1 - p.1) * (at - p.0) / (q.0 - p.0)
            };
            low = low.min(y);
            high = high.max(y);
        }
        (high >= low).then_some(Spread { at, low, high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_with_points_inside() {
        let p = [
            (0.0, 0.0),
            (2.0, 0.0),
            (2.0, 2.0),
            (0.0, 2.1),
            (1.0, 1.0),
            (1.0, 0.0),
        ];
        let h = hull(&p).unwrap();
        assert_eq!(h.corners, [3, 0, 1, 2]);
        let s = h.spread(&p, 0, 1.0).unwrap();
        assert!((s.low, s.high) == (0.0, 2.05), "{s:?}");
        assert!(hull(&p[..2]).is_none());
        assert!(hull(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]).is_none());
    }
}
