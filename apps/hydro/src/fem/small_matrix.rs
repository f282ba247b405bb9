//! Matrices up to 3 × 3: determinants, adjugates, eigenpairs, singular values.

use nalgebra::{Matrix3, SymmetricEigen};

/// A matrix up to 3 × 3, row-major; entries beyond the dimension are 0.
pub type M = [[f64; 3]; 3];

/// Determinant of the leading d × d block.
pub fn determinant(a: &M, d: usize) -> f64 {
    match d {
        1 => a[0][0],
        2 => a[0][0] * a[1][1] - a[0][1] * a[1][0],
        _ => {
            a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1])
                - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0])
                + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])
        }
    }
}

/// Adjugate |a| a⁻¹ of the leading d × d block.
pub fn adjugate(a: &M, d: usize) -> M {
    let mut out = [[0.0; 3]; 3];
    match d {
        1 => out[0][0] = 1.0,
        2 => {
            out[0] = [a[1][1], -a[0][1], 0.0];
            out[1] = [-a[1][0], a[0][0], 0.0];
        }
        _ => {
            for (i, row) in out.iter_mut().enumerate() {
                for (j, to) in row.iter_mut().enumerate() {
                    let (r, s) = ((j + 1) % 3, (j + 2) % 3);
                    let (c, e) = ((i + 1) % 3, (i + 2) % 3);
                    *to = a[r][c] * a[s][e] - a[r][e] * a[s][c];
                }
            }
        }
    }
    out
}

/// Product a b of the leading d × d blocks.
pub fn product(a: &M, b: &M, d: usize) -> M {
    let mut out = [[0.0; 3]; 3];
    for i in 0..d {
        for j in 0..d {
            out[i][j] = (0..d).map(|k| a[i][k] * b[k][j]).sum();
        }
    }
    out
}

/// Smallest eigenvalue of a symmetric matrix and its eigenvector (not normalised); e₁ for a zero matrix.
pub fn smallest_eigenpair(a: &M, d: usize) -> (f64, [f64; 3]) {
    match d {
        1 => (a[0][0], [1.0, 0.0, 0.0]),
        2 => {
            let (p, q, b) = (a[0][0], a[1][1], a[0][1]);
            if b == 0.0 {
                return if p <= q {
                    (p, [1.0, 0.0, 0.0])
                } else {
                    (q, [0.0, 1.0, 0.0])
                };
            }
            let half = 0.5 * (p - q);
            let root = half.hypot(b);
            // The larger of both forms of (a − λ) s = 0.
            let s = if half <= 0.0 {
                [root - half, -b, 0.0]
            } else {
                [b, -(half + root), 0.0]
            };
            // Far from the motion, gradients are so small that their squares underflow.
            let up = if root < 1e-140 { 2_f64.powi(600) } else { 1.0 };
            (0.5 * (p + q) - root, s.map(|x| x * up))
        }
        _ => {
            let e = SymmetricEigen::new(Matrix3::from_fn(|i, j| a[i][j]));
            let k = (1..3).fold(0, |k, n| {
                if e.eigenvalues[n] < e.eigenvalues[k] {
                    n
                } else {
                    k
                }
            });
            let s = e.eigenvectors.column(k);
            (e.eigenvalues[k], [s[0], s[1], s[2]])
        }
    }
}

/// Smallest singular value.
pub fn smallest_singular_value(a: &M, d: usize) -> f64 {
    let mut square = [[0.0; 3]; 3];
    for i in 0..d {
        for j in 0..d {
            square[i][j] = (0..d).map(|k| a[k][i] * a[k][j]).sum();
        }
    }
    if d == 2 {
        // |a| over the larger one keeps its digits.
        let (p, q, b) = (square[0][0], square[1][1], square[0][1]);
        let large = 0.5 * (p + q) + (0.5 * (p - q)).hypot(b);
        return determinant(a, d).abs() / large.sqrt().max(f64::MIN_POSITIVE);
    }
    smallest_eigenpair(&square, d).0.max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn directions_of_tiny_matrices_have_a_length() {
        for tiny in [1e-100, 1e-170, 1e-300, 1e-320] {
            for (p, q) in [(1.0, -2.0), (-2.0, 1.0), (0.0, 0.0)] {
                let a = |by: f64| [[p * by, by, 0.0], [by, q * by, 0.0], [0.0; 3]];
                let unit = |(_, s): (f64, [f64; 3])| {
                    let size = (s[0] * s[0] + s[1] * s[1]).sqrt();
                    [s[0] / size, s[1] / size]
                };
                let (small, large) = (
                    unit(smallest_eigenpair(&a(tiny), 2)),
                    unit(smallest_eigenpair(&a(1.0), 2)),
                );
                for (x, y) in small.iter().zip(large) {
                    assert!((x - y).abs() < 1e-3, "{tiny} {small:?} {large:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn inverses_eigenvectors_and_stretches(v in proptest::array::uniform9(-2.0..2.0f64), d in 1..4usize) {
            let mut a = [[0.0; 3]; 3];
            for i in 0..d {
                for j in 0..d {
                    a[i][j] = v[3 * i + j];
                }
            }
            let one = product(&a, &adjugate(&a, d), d);
            let det = determinant(&a, d);
            let mut s = [[0.0; 3]; 3];
            for i in 0..d {
                for j in 0..d {
                    let want = if i == j { det } else { 0.0 };
                    prop_assert!((one[i][j] - want).abs() < 1e-12);
                    s[i][j] = a[i][j] + a[j][i];
                }
            }
            let (l, x) = smallest_eigenpair(&s, d);
            let size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            prop_assert!(size > 0.0);
            for i in 0..d {
                let image: f64 = (0..d).map(|j| s[i][j] * x[j]).sum();
                prop_assert!((image - l * x[i]).abs() < 1e-9 * size, "{s:?} {l} {x:?}");
            }
            // No direction is stretched less.
            let least = smallest_singular_value(&a, d);
            for w in [[1.0, 0.0, 0.0], [0.6, if d > 1 { 0.8 } else { 0.0 }, 0.0], x.map(|x| x / size)] {
                let w_size = w.iter().map(|x| x * x).sum::<f64>().sqrt();
                let out: f64 = (0..d).map(|i| (0..d).map(|j| a[i][j] * w[j]).sum::<f64>().powi(2)).sum();
                prop_assert!(out.sqrt() >= least * w_size - 1e-7);
            }
        }
    }
}
