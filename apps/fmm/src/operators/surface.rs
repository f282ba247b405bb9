//! Points on the surface of a cube, p on an edge: where equivalent charges and check potentials are.

/// Equivalent charges of sources and check potentials of targets lie at this many half widths of a box,
pub const INNER: f64 = 1.05;
/// check potentials of sources and equivalent charges of targets at this many.
pub const OUTER: f64 = 2.95;

/// Grid places (ix p + iy) p + iz of the surface's points.
pub fn places(p: usize) -> Vec<usize> {
    let edge = |i: usize| i == 0 || i == p - 1;
    (0..p * p * p)
        .filter(|g| edge(g / (p * p)) || edge(g / p % p) || edge(g % p))
        .collect()
}

/// How many points: 6 (p - 1)² + 2.
pub fn count(p: usize) -> usize {
    6 * (p - 1) * (p - 1) + 2
}

/// The points of a cube of half width 1 about 0, by coordinate.
pub fn points(p: usize) -> [Vec<f64>; 3] {
    let places = places(p);
    let along = |stride: usize| {
        places
            .iter()
            .map(|g| 2.0 * (g / stride % p) as f64 / (p - 1) as f64 - 1.0)
            .collect()
    };
    [along(p * p), along(p), along(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_on_the_surface() {
        for p in 2..8 {
            let [x, y, z] = points(p);
            assert_eq!(x.len(), count(p));
            for i in 0..x.len() {
                let far = x[i].abs().max(y[i].abs()).max(z[i].abs());
                assert_eq!(far, 1.0);
            }
        }
    }
}
