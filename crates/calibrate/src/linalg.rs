//! Small dense problems: least squares, non-negative least squares, Levenberg–Marquardt,
//! Nelder–Mead. Matrices are column-major [`faer::Mat`].

use faer::Mat;
use faer::linalg::solvers::{Solve as _, SolveLstsq as _};

/// Least squares min ‖Ax − b‖ by QR; `None` when A is rank deficient to working precision.
pub fn lstsq(a: &Mat<f64>, b: &[f64]) -> Option<Vec<f64>> {
    if a.nrows() < a.ncols() {
        return None;
    }
    let rhs = Mat::from_fn(b.len(), 1, |i, _| b[i]);
    let x = a.qr().solve_lstsq(&rhs);
    let x: Vec<f64> = (0..a.ncols()).map(|j| x[(j, 0)]).collect();
    x.iter().all(|v| v.is_finite()).then_some(x)
}

/// Non-negative least squares by Lawson and Hanson on the normal equations G x = h, G = AᵀA,
/// h = Aᵀb.
pub fn nnls_gram(g: &Mat<f64>, h: &[f64]) -> Vec<f64> {
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
    let g = Mat::from_fn(n, n, |i, j| g[(i, j)] / (scale[i] * scale[j]));
    let h: Vec<f64> = (0..n).map(|i| h[i] / scale[i]).collect();
    let tolerance = 1e-10 * h.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut x = vec![0.0; n];
    let mut passive = vec![false; n];
    for _ in 0..3 * n + 10 {
        let gradient = |j: usize, x: &[f64]| h[j] - (0..n).map(|k| g[(j, k)] * x[k]).sum::<f64>();
        let next = (0..n)
            .filter(|&j| !passive[j])
            .map(|j| (j, gradient(j, &x)))
            .filter(|&(_, w)| w > tolerance)
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((j, _)) = next else { break };
        passive[j] = true;
        loop {
            let set: Vec<usize> = (0..n).filter(|&j| passive[j]).collect();
            let sub = Mat::from_fn(set.len(), set.len(), |a, b| g[(set[a], set[b])]);
            let rhs = Mat::from_fn(set.len(), 1, |a, _| h[set[a]]);
            let z = sub.full_piv_lu().solve(&rhs);
            if (0..set.len()).all(|a| z[(a, 0)] > 0.0) {
                x.fill(0.0);
                for (a, &j) in set.iter().enumerate() {
                    x[j] = z[(a, 0)];
                }
                break;
            }
            // Step back to the first variable that would turn negative.
            let step = set
                .iter()
                .enumerate()
                .filter(|(a, _)| z[(*a, 0)] <= 0.0)
                .map(|(a, &j)| x[j] / (x[j] - z[(a, 0)]))
                .fold(1.0_f64, f64::min);
            for (a, &j) in set.iter().enumerate() {
                x[j] += step * (z[(a, 0)] - x[j]);
                if x[j] <= 1e-14 || (z[(a, 0)] <= 0.0 && step == 0.0) {
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
pub fn nnls(a: &Mat<f64>, b: &[f64]) -> Vec<f64> {
    let g = a.transpose() * a;
    let h: Vec<f64> = (0..a.ncols())
        .map(|j| (0..a.nrows()).map(|i| a[(i, j)] * b[i]).sum())
        .collect();
    nnls_gram(&g, &h)
}

/// Condition number of A with its columns scaled to length 1: how well the columns can be told
/// apart, whatever their units.
pub fn condition_number(a: &Mat<f64>) -> f64 {
    let scaled = unit_columns(a);
    match scaled.singular_values() {
        Ok(s) if !s.is_empty() => {
            let max = s.iter().copied().fold(0.0, f64::max);
            let min = s.iter().copied().fold(f64::INFINITY, f64::min);
            max / min
        }
        _ => f64::INFINITY,
    }
}

/// Correlation of the estimates of columns i and j in a least-squares fit of A.
pub fn estimate_correlation(a: &Mat<f64>, i: usize, j: usize) -> f64 {
    let s = unit_columns(a);
    let g = s.transpose() * &s;
    let n = g.ncols();
    let inverse = g.full_piv_lu().solve(Mat::<f64>::identity(n, n));
    let r = inverse[(i, j)] / (inverse[(i, i)] * inverse[(j, j)]).sqrt();
    if r.is_finite() { r } else { 1.0 }
}

fn unit_columns(a: &Mat<f64>) -> Mat<f64> {
    let norms: Vec<f64> = (0..a.ncols())
        .map(|j| {
            let s: f64 = (0..a.nrows()).map(|i| a[(i, j)].powi(2)).sum();
            if s > 0.0 { s.sqrt() } else { 1.0 }
        })
        .collect();
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] / norms[j])
}

/// Levenberg–Marquardt with a forward-difference Jacobian: minimises ‖r(x)‖ from `x`.
///
/// Returns the best point and its sum of squares after at most `iterations` accepted steps.
pub fn levenberg_marquardt(
    mut x: Vec<f64>,
    iterations: usize,
    residuals: &dyn Fn(&[f64]) -> Vec<f64>,
) -> (Vec<f64>, f64) {
    let square = |r: &[f64]| r.iter().map(|v| v * v).sum::<f64>();
    let mut r = residuals(&x);
    let mut cost = square(&r);
    let mut damping = 1e-3;
    let n = x.len();
    for _ in 0..iterations {
        let mut jacobian = Mat::<f64>::zeros(r.len(), n);
        for j in 0..n {
            let h = 1e-6;
            let mut y = x.clone();
            y[j] += h;
            for (i, (a, b)) in residuals(&y).iter().zip(&r).enumerate() {
                jacobian[(i, j)] = (a - b) / h;
            }
        }
        let g = jacobian.transpose() * &jacobian;
        let slope: Vec<f64> = (0..n)
            .map(|j| (0..r.len()).map(|i| jacobian[(i, j)] * r[i]).sum())
            .collect();
        let mut improved = false;
        for _ in 0..8 {
            let lhs = Mat::from_fn(n, n, |i, j| {
                g[(i, j)]
                    + if i == j {
                        damping * g[(i, i)].max(1e-9)
                    } else {
                        0.0
                    }
            });
            let rhs = Mat::from_fn(n, 1, |i, _| -slope[i]);
            let step = lhs.full_piv_lu().solve(&rhs);
            // Parameters are logarithms here: a step of 2 is a factor of 7.
            let y: Vec<f64> = (0..n)
                .map(|j| x[j] + step[(j, 0)].clamp(-2.0, 2.0))
                .collect();
            let trial = residuals(&y);
            let c = square(&trial);
            if c.is_finite() && c < cost {
                let gain = (cost - c) / cost.max(f64::MIN_POSITIVE);
                (x, r, cost) = (y, trial, c);
                damping = (damping * 0.2).max(1e-12);
                improved = gain > 1e-10;
                break;
            }
            damping *= 5.0;
        }
        if !improved {
            break;
        }
    }
    (x, cost)
}

/// Nelder–Mead simplex search from `start` with initial steps `step`, after at most `evaluations`.
pub fn nelder_mead(
    start: &[f64],
    step: &[f64],
    evaluations: usize,
    f: &mut dyn FnMut(&[f64]) -> f64,
) -> (Vec<f64>, f64) {
    let n = start.len();
    let mut simplex: Vec<(Vec<f64>, f64)> = Vec::with_capacity(n + 1);
    for k in 0..=n {
        let mut x = start.to_vec();
        if k > 0 {
            x[k - 1] += step[k - 1];
        }
        let v = f(&x);
        simplex.push((x, v));
    }
    let mut used = n + 1;
    while used < evaluations {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        if simplex[n].1 - simplex[0].1 <= 1e-9 * simplex[0].1.abs() {
            break;
        }
        let centre: Vec<f64> = (0..n)
            .map(|j| simplex[..n].iter().map(|s| s.0[j]).sum::<f64>() / n as f64)
            .collect();
        let along = |t: f64, s: &[(Vec<f64>, f64)]| -> Vec<f64> {
            (0..n)
                .map(|j| centre[j] + t * (s[n].0[j] - centre[j]))
                .collect()
        };
        let mut eval = |x: Vec<f64>| {
            used += 1;
            let v = f(&x);
            (x, v)
        };
        let reflected = eval(along(-1.0, &simplex));
        if reflected.1 < simplex[0].1 {
            let expanded = eval(along(-2.0, &simplex));
            simplex[n] = if expanded.1 < reflected.1 {
                expanded
            } else {
                reflected
            };
        } else if reflected.1 < simplex[n - 1].1 {
            simplex[n] = reflected;
        } else {
            let contracted = eval(along(0.5, &simplex));
            if contracted.1 < simplex[n].1 {
                simplex[n] = contracted;
            } else {
                let best = simplex[0].0.clone();
                for s in simplex.iter_mut().skip(1) {
                    let x = (0..n).map(|j| 0.5 * (best[j] + s.0[j])).collect();
                    *s = eval(x);
                }
            }
        }
    }
    simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
    simplex.swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nnls_known_answer() {
        // scipy.optimize.nnls([[1, 0], [1, 0], [0, 1]], [2, 1, -1]) is [1.5, 0].
        let a = Mat::from_fn(3, 2, |i, j| f64::from(u8::from((i < 2) == (j == 0))));
        let x = nnls(&a, &[2.0, 1.0, -1.0]);
        assert!((x[0] - 1.5).abs() < 1e-12 && x[1] == 0.0);
    }

    proptest! {
        #[test]
        fn nnls_fulfils_its_optimality_conditions(
            values in prop::collection::vec(-1.0..1.0f64, 60),
            b in prop::collection::vec(-1.0..1.0f64, 12),
        ) {
            let a = Mat::from_fn(12, 5, |i, j| values[5 * i + j]);
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
        let (x, _) = nelder_mead(&[0.0, 0.0], &[0.5, 0.5], 500, &mut |x| {
            (x[0] - 3.0).powi(2) + (x[1] + 1.0).powi(2)
        });
        assert!((x[0] - 3.0).abs() < 1e-3 && (x[1] + 1.0).abs() < 1e-3);
    }

    #[test]
    fn collinear_columns_are_seen() {
        let a = Mat::from_fn(9, 2, |i, j| i as f64 + 1.0 + 1e-6 * (i * j) as f64);
        assert!(condition_number(&a) > 1e5);
        let b = Mat::from_fn(9, 2, |i, j| if j == 0 { 1.0 } else { i as f64 - 4.0 });
        assert!((condition_number(&b) - 1.0).abs() < 1e-12);
        assert!(estimate_correlation(&b, 0, 1).abs() < 1e-12);
    }
}
