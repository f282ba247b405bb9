//! Time against energy: the Pareto front, and for which weight of eq (2) each point of it wins.

use super::MeasuredConfig;
use serde::Serialize;

/// A point that no other beats in both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrontPoint {
    /// Row of the analysis.
    pub row: usize,
    /// The weights α for which it minimises α·t/t₀ + (1 − α)·e/e₀, where t₀ and e₀ are the least
    /// time and energy; `None` off the convex part.
    pub alpha: Option<(f64, f64)>,
}

/// From the fastest to the lowest-energy config.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Front {
    /// Points that no other one beats in both time and energy, by time.
    pub points: Vec<FrontPoint>,
}

/// The front of rows that have an energy; `None` without any.
pub fn front(rows: &[MeasuredConfig]) -> Option<Front> {
    let mut order: Vec<(f64, f64, usize)> = rows
        .iter()
        .enumerate()
        .filter_map(|(i, r)| Some((r.time_s, r.energy_j?, i)))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (t0, e0) = (
        order.first()?.0,
        order.iter().map(|o| o.1).fold(f64::INFINITY, f64::min),
    );
    let mut best = f64::INFINITY;
    let mut points: Vec<(f64, f64, usize)> = Vec::new();
    for o in order {
        if o.1 < best {
            best = o.1;
            points.push((o.0 / t0, o.1 / e0, o.2));
        }
    }
    // Along the lower convex hull the slope -de/dt falls; neighbours cost the same where
    // α·t + (1 − α)·e is equal, so the hull's slopes are the borders of α.
    let mut convex: Vec<usize> = Vec::new();
    for i in 0..points.len() {
        while convex.len() >= 2 {
            let (a, b, c) = (
                points[convex[convex.len() - 2]],
                points[convex[convex.len() - 1]],
                points[i],
            );
            if (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0) <= 0.0 {
                convex.pop();
            } else {
                break;
            }
        }
        convex.push(i);
    }
    let border = |a: usize, b: usize| {
        let (p, q) = (points[a], points[b]);
        let (dt, de) = (q.0 - p.0, p.1 - q.1);
        de / (dt + de)
    };
    let mut alpha = vec![None; points.len()];
    for (k, &i) in convex.iter().enumerate() {
        let high = if k == 0 {
            1.0
        } else {
            border(convex[k - 1], i)
        };
        let low = convex.get(k + 1).map_or(0.0, |&next| border(i, next));
        alpha[i] = Some((low, high));
    }
    Some(Front {
        points: points
            .iter()
            .zip(alpha)
            .map(|(p, alpha)| FrontPoint { row: p.2, alpha })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(time_s: f64, energy_j: f64) -> MeasuredConfig {
        MeasuredConfig {
            trial: 0,
            time_s,
            energy_j: Some(energy_j),
            performance: 1.0 / time_s,
            efficiency: Some(1.0 / energy_j),
        }
    }

    #[test]
    fn weights_pick_the_points_they_are_said_to() {
        let mut rng = fastrand::Rng::with_seed(4);
        let rows: Vec<MeasuredConfig> = (0..300)
            .map(|_| row(1.0 + rng.f64(), 1.0 + rng.f64()))
            .collect();
        let f = front(&rows).unwrap();
        let t0 = rows.iter().map(|r| r.time_s).fold(9.0, f64::min);
        let e0 = rows.iter().filter_map(|r| r.energy_j).fold(9.0, f64::min);
        for p in &f.points {
            let r = &rows[p.row];
            let beaten = rows.iter().any(|o| {
                o.time_s <= r.time_s
                    && o.energy_j <= r.energy_j
                    && (o.time_s, o.energy_j) != (r.time_s, r.energy_j)
            });
            assert!(!beaten);
            if let Some((lo, hi)) = p.alpha {
                assert!(lo <= hi);
                let a = 0.5 * (lo + hi);
                let m =
                    |r: &MeasuredConfig| a * r.time_s / t0 + (1.0 - a) * r.energy_j.unwrap() / e0;
                assert!(rows.iter().all(|o| m(o) >= m(r) - 1e-12));
            }
        }
        let ends: Vec<_> = f.points.iter().filter_map(|p| p.alpha).collect();
        assert_eq!((ends[0].1, ends[ends.len() - 1].0), (1.0, 0.0));
    }
}
