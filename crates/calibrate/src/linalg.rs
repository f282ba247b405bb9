//! Small dense problems: least squares, non-negative least squares, and minima by the crate levenberg-marquardt and by a
//! simplex search.

use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::storage::Owned;
use nalgebra::{DMatrix, DVector, Dyn};
use std::cell::Cell;
use std::cmp::Ordering;

/// Least squares min ‖Ax − b‖ by QR; `None` when A is rank deficient to working precision.
pub fn lstsq(a: &DMatrix<f64>, b: &[f64]) -> Option<Vec<f64>> {
    if a.nrows() < a.ncols() {
        return None;
    }
    let qr = a.clone().qr();
    let mut rhs = DVector::from_column_slice(b);
    qr.q_tr_mul(&mut rhs);
    let x = qr.r().solve_upper_triangular(&rhs.rows(0, a.ncols()))?;
    let x: Vec<f64> = x.iter().copied().collect();
    x.iter().all(|v| v.is_finite()).then_some(x)
}

/// Non-negative least squares by Lawson and Hanson on the normal equations G x = h, G = AᵀA,
/// h = Aᵀb.
pub fn nnls_gram(g: &DMatrix<f64>, h: &[f64]) -> Vec<f64> {
    let n = h.len();
    // Columns of one size, so that one tolerance fits all.
    let scale: Vec<f64> = (0..n)
        .map(|j| {
            if g[(j, j)] > 0.0 {
                g[(j, j)].sqrt()
            } else {
                1.0
            }
        })
        .collect();
    let g = DMatrix::from_fn(n, n, |i, j| g[(i, j)] / (scale[i] * scale[j]));
    let h: Vec<f64> = (0..n).map(|i| h[i] / scale[i]).collect();
    let tolerance = 1e-10 * h.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut x = vec![0.0; n];
    let mut passive = vec![false; n];
    // Columns that depend on the passive ones.
    let mut barred = vec![false; n];
    for _ in 0..3 * n + 10 {
        let gradient = |j: usize, x: &[f64]| h[j] - (0..n).map(|k| g[(j, k)] * x[k]).sum::<f64>();
        let next = (0..n)
            .filter(|&j| !passive[j] && !barred[j])
            .map(|j| (j, gradient(j, &x)))
            .filter(|&(_, w)| w > tolerance)
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((j, _)) = next else { break };
        passive[j] = true;
        loop {
            let set: Vec<usize> = (0..n).filter(|&j| passive[j]).collect();
            let sub = DMatrix::from_fn(set.len(), set.len(), |a, b| g[(set[a], set[b])]);
            let rhs = DVector::from_fn(set.len(), |a, _| h[set[a]]);
            let Some(z) = sub.full_piv_lu().solve(&rhs) else {
                // The new column adds nothing to the others.
                passive[j] = false;
                barred[j] = true;
                break;
            };
            if z.iter().all(|z| *z > 0.0) {
                x.fill(0.0);
                barred.fill(false);
                for (a, &j) in set.iter().enumerate() {
                    x[j] = z[a];
                }
                break;
            }
            // Step back to the first variable that would turn negative.
            let step = set
                .iter()
                .enumerate()
                .filter(|(a, _)| z[*a] <= 0.0)
                .map(|(a, &j)| x[j] / (x[j] - z[a]))
                .fold(1.0_f64, f64::min);
            for (a, &j) in set.iter().enumerate() {
                x[j] += step * (z[a] - x[j]);
                if x[j] <= 1e-14 || (z[a] <= 0.0 && step == 0.0) {
                    x[j] = 0.0;
                    passive[j] = false;
                }
            }
            if !passive.iter().any(|&p| p) {
                break;
            }
        }
    }
    x.iter().zip(&scale).map(|(x, s)| x / s).collect()
}

/// Non-negative least squares min ‖Ax − b‖, x ≥ 0.
pub fn nnls(a: &DMatrix<f64>, b: &[f64]) -> Vec<f64> {
    let g = a.transpose() * a;
    let h: Vec<f64> = (0..a.ncols())
        .map(|j| (0..a.nrows()).map(|i| a[(i, j)] * b[i]).sum())
        .collect();
    nnls_gram(&g, &h)
}

/// Non-negative x with A x ≈ b, of least sum of squared relative errors; b is positive.
pub fn nnls_relative(rows: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = rows.first().map_or(0, Vec::len);
    let a = DMatrix::from_fn(rows.len(), n, |i, j| rows[i][j] / b[i]);
    nnls(&a, &vec![1.0; b.len()])
}

/// Condition number of A with its columns scaled to length 1: how well the columns can be told
/// apart, whatever their units.
pub fn condition_number(a: &DMatrix<f64>) -> f64 {
    let scaled = unit_columns(a);
    if scaled.is_empty() {
        return f64::INFINITY;
    }
    let s = scaled.singular_values();
    s.max() / s.min()
}

/// Correlation of the estimates of columns i and j in a least-squares fit of A.
pub fn estimate_correlation(a: &DMatrix<f64>, i: usize, j: usize) -> f64 {
    let s = unit_columns(a);
    let g = s.transpose() * &s;
    let Some(inverse) = g.full_piv_lu().try_inverse() else {
        return 1.0;
    };
    let r = inverse[(i, j)] / (inverse[(i, i)] * inverse[(j, j)]).sqrt();
    if r.is_finite() { r } else { 1.0 }
}

fn unit_columns(a: &DMatrix<f64>) -> DMatrix<f64> {
    let norms: Vec<f64> = (0..a.ncols())
        .map(|j| {
            let s: f64 = (0..a.nrows()).map(|i| a[(i, j)].powi(2)).sum();
            if s > 0.0 { s.sqrt() } else { 1.0 }
        })
        .collect();
    DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] / norms[j])
}

/// Residuals over a point, with a forward-difference Jacobian.
struct Residuals<'a> {
    x: DVector<f64>,
    of: &'a dyn Fn(&[f64]) -> Vec<f64>,
    /// Jacobians that may still be computed.
    left: Cell<usize>,
}

impl LeastSquaresProblem<f64, Dyn, Dyn> for Residuals<'_> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;
    type ParameterStorage = Owned<f64, Dyn>;

    fn set_params(&mut self, x: &DVector<f64>) {
        self.x.copy_from(x);
    }

    fn params(&self) -> DVector<f64> {
        self.x.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        // Without residuals the solver would end at the invalid point; a large value makes it step back.
        let finite = |v: f64| if v.is_finite() { v } else { 1e100 };
        let r: Vec<f64> = (self.of)(self.x.as_slice())
            .into_iter()
            .map(finite)
            .collect();
        Some(r.into())
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        self.left.set(self.left.get().checked_sub(1)?);
        let step = 1e-6;
        let here = (self.of)(self.x.as_slice());
        let mut out = DMatrix::zeros(here.len(), self.x.len());
        for j in 0..self.x.len() {
            let mut y = self.x.clone();
            y[j] += step;
            for (i, (there, here)) in (self.of)(y.as_slice()).iter().zip(&here).enumerate() {
                out[(i, j)] = (there - here) / step;
            }
        }
        Some(out)
    }
}

/// Minimises ‖r(x)‖ from `x` with at most `iterations` Jacobians, by Levenberg and Marquardt's method with a trust
/// region (Moré 1978). Returns the best point and its sum of squares.
pub fn levenberg_marquardt(
    x: Vec<f64>,
    iterations: usize,
    residuals: &dyn Fn(&[f64]) -> Vec<f64>,
) -> (Vec<f64>, f64) {
    let problem = Residuals {
        x: x.into(),
        of: residuals,
        left: Cell::new(iterations),
    };
    let solver = LevenbergMarquardt::new().with_ftol(1e-10).with_xtol(1e-10);
    let (problem, _) = solver.minimize(problem);
    let x = problem.x.as_slice().to_vec();
    let cost = residuals(&x).iter().map(|r| r * r).sum();
    (x, cost)
}

/// Nelder–Mead simplex search from `start` with initial steps `step`, of at most `iterations` steps. Returns the best
/// point and its value; `None` when the function has no finite values around `start`.
pub fn nelder_mead(
    start: &[f64],
    step: &[f64],
    iterations: u64,
    f: &dyn Fn(&[f64]) -> f64,
) -> Option<(Vec<f64>, f64)> {
    let valued = |x: Vec<f64>| {
        let value = f(&x);
        (x, value)
    };
    let between = |from: &[f64], to: &[f64], share: f64| -> Vec<f64> {
        let pairs = from.iter().zip(to);
        pairs.map(|(a, b)| a + (b - a) * share).collect()
    };
    let by_value =
        |a: &(Vec<f64>, f64), b: &(Vec<f64>, f64)| a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal);
    let corner = |k: usize| {
        let mut x = start.to_vec();
        x[k] += step[k];
        x
    };
    let corners = std::iter::once(start.to_vec()).chain((0..start.len()).map(corner));
    let mut simplex: Vec<(Vec<f64>, f64)> = corners.map(valued).collect();
    simplex.sort_by(by_value);
    let (n, tolerance) = (start.len(), 1e-10 * f(start).abs());
    for _ in 0..iterations {
        let mean = simplex.iter().map(|c| c.1).sum::<f64>() / (n + 1) as f64;
        let squares = simplex.iter().map(|c| (c.1 - mean).powi(2)).sum::<f64>();
        if (1.0 / n as f64 * squares).sqrt() < tolerance {
            break;
        }
        let centre: Vec<f64> = (0..n)
            .map(|k| simplex[..n].iter().map(|c| c.0[k]).sum::<f64>() * (1.0 / n as f64))
            .collect();
        let worst = &simplex[n];
        let reflected = valued(between(&centre, &worst.0, -1.0));
        let found = if reflected.1 < simplex[0].1 {
            let expanded = valued(between(&centre, &reflected.0, 2.0));
            Some(if expanded.1 < reflected.1 {
                expanded
            } else {
                reflected
            })
        } else if reflected.1 < simplex[n - 1].1 {
            Some(reflected)
        } else if reflected.1 < worst.1 {
            let outside = valued(between(&centre, &reflected.0, 0.5));
            (outside.1 <= reflected.1).then_some(outside)
        } else if reflected.1 >= worst.1 {
            let inside = valued(between(&centre, &worst.0, 0.5));
            (inside.1 < worst.1).then_some(inside)
        } else {
            return None;
        };
        match found {
            Some(corner) => simplex[n] = corner,
            None => {
                let (best, others) = simplex.split_at_mut(1);
                for corner in others {
                    *corner = valued(between(&best[0].0, &corner.0, 0.5));
                }
            }
        }
        simplex.sort_by(by_value);
    }
    let best = simplex.swap_remove(0);
    best.1.is_finite().then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nnls_known_answer() {
        // scipy.optimize.nnls([[1, 0], [1, 0], [0, 1]], [2, 1, -1]) is [1.5, 0].
        let a = DMatrix::from_fn(3, 2, |i, j| f64::from(u8::from((i < 2) == (j == 0))));
        let x = nnls(&a, &[2.0, 1.0, -1.0]);
        assert!((x[0] - 1.5).abs() < 1e-12 && x[1] == 0.0);
    }

    #[test]
    fn a_dependent_column_does_not_keep_others_out() {
        // Column 4 is half the sum of columns 0 to 3; h belongs to no b, as after rounding, so that column 3 stays
        // wanted when 0, 1, 2 and 4 are in.
        let g = DMatrix::from_fn(6, 6, |i, j| match (i, j) {
            _ if i == j => 1.0,
            (4, 0..4) | (0..4, 4) => 0.5,
            _ => 0.0,
        });
        let x = nnls_gram(&g, &[1.0, 1.0, 1.0, 0.9, 1.75, 0.05]);
        assert_eq!((x[3], x[5]), (0.0, 0.05), "{x:?}");
    }

    proptest! {
        #[test]
        fn nnls_fulfils_its_optimality_conditions(
            values in prop::collection::vec(-1.0..1.0f64, 60),
            b in prop::collection::vec(-1.0..1.0f64, 12),
        ) {
            let a = DMatrix::from_fn(12, 5, |i, j| values[5 * i + j]);
            let x = nnls(&a, &b);
            for j in 0..5 {
                let gradient: f64 = (0..12)
                    .map(|i| {
                        let ax: f64 = (0..5).map(|k| a[(i, k)] * x[k]).sum();
                        a[(i, j)] * (b[i] - ax)
                    })
                    .sum();
                prop_assert!(x[j] >= 0.0);
                prop_assert!(gradient < 1e-7, "{gradient}");
                prop_assert!(x[j] == 0.0 || gradient.abs() < 1e-7);
            }
        }
    }

    #[test]
    fn lm_and_nelder_mead_find_a_minimum() {
        let r = |x: &[f64]| vec![x[0] - 1.0, 10.0 * (x[1] - x[0] * x[0])];
        let (x, _) = levenberg_marquardt(vec![-1.0, 2.0], 100, &r);
        assert!(
            (x[0] - 1.0).abs() < 1e-4 && (x[1] - 1.0).abs() < 1e-4,
            "{x:?}"
        );
        let (x, _) = nelder_mead(&[0.0, 0.0], &[0.5, 0.5], 500, &|x| {
            (x[0] - 3.0).powi(2) + (x[1] + 1.0).powi(2)
        })
        .unwrap();
        assert!((x[0] - 3.0).abs() < 1e-3 && (x[1] + 1.0).abs() < 1e-3);
    }

    #[test]
    fn lm_steps_back_from_invalid_points() {
        // The first full step leads far below 0, where the logarithm does not exist.
        let r = |x: &[f64]| vec![x[0].ln()];
        let (x, cost) = levenberg_marquardt(vec![20.0], 100, &r);
        assert!((x[0] - 1.0).abs() < 1e-6 && cost < 1e-10, "{x:?} {cost}");
    }

    #[test]
    fn collinear_columns_are_seen() {
        let a = DMatrix::from_fn(9, 2, |i, j| i as f64 + 1.0 + 1e-6 * (i * j) as f64);
        assert!(condition_number(&a) > 1e5);
        let b = DMatrix::from_fn(9, 2, |i, j| if j == 0 { 1.0 } else { i as f64 - 4.0 });
        assert!((condition_number(&b) - 1.0).abs() < 1e-12);
        assert!(estimate_correlation(&b, 0, 1).abs() < 1e-12);
    }
}
