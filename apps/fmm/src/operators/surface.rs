//! Equivalent and check surfaces: points on the surface of a cube, p along each edge.

/// Radius, in half widths of the box, of the upward equivalent and downward check surfaces.
pub const INNER: f64 = 1.05;
/// Radius, in half widths of the box, of the upward check and downward equivalent surfaces.
pub const OUTER: f64 = 2.95;

/// Grid indices (ix p + iy) p + iz of the surface's points.
pub fn grid_indices(p: usize) -> Vec<usize> {
    let edge = |i: usize| i == 0 || i == p - 1;
    (0..p * p * p)
        .filter(|g| edge(g / (p * p)) || edge(g / p % p) || edge(g % p))
        .collect()
}

/// Number of points: 6 (p − 1)² + 2.
pub fn count(p: usize) -> usize {
    6 * (p - 1) * (p - 1) + 2
}

/// The points of a cube of half width 1 around 0, by coordinate.
pub fn points(p: usize) -> [Vec<f64>; 3] {
    let indices = grid_indices(p);
    let along = |stride: usize| {
        indices
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
