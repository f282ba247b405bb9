//! M2L operators compressed by SVD: small matrices between the dominant singular vectors of all relative positions.

use super::surface::INNER;
use super::{Cube, Packed, between, surface};
use crate::FmmError;
use crate::kernel::Kernel;
use crate::precision::Real;
use faer::{Mat, Side};
use rayon::prelude::*;

/// The best relative accuracy: singular values come from squared matrices, so smaller ones are lost.
pub const FINEST: f64 = 1e-7;

/// Bases and small matrices of a level.
pub(crate) struct Compressed<R: Real> {
    /// Equivalent charges to coefficients in the source basis.
    pub into: Packed<R>,
    /// Coefficients in the target basis to check potentials.
    pub out: Packed<R>,
    /// By [`relative`] position; `None` for neighbours.
    pub small: Vec<Option<Packed<R>>>,
}

/// Index of a relative position (source minus target, in boxes), −3 to 3 along each axis.
pub fn relative(at: [i32; 3]) -> usize {
    ((at[0] + 3) + 7 * (at[1] + 3) + 49 * (at[2] + 3)) as usize
}

/// Eigenvectors of a symmetric matrix whose eigenvalues exceed `cut` times the largest, as columns.
fn largest(m: &Mat<f64>, cut: f64) -> Result<Mat<f64>, FmmError> {
    let e = m
        .self_adjoint_eigen(Side::Lower)
        .map_err(|e| super::not_converged("eigenvalues", &e))?;
    let (s, n) = (e.S().column_vector(), m.nrows());
    let top = s[n - 1];
    // At least one, even if the kernel vanishes at this distance.
    let rank = (0..n).filter(|&i| s[i] > cut * top).count().max(1);
    Ok(Mat::from_fn(n, rank, |i, j| e.U()[(i, n - 1 - j)]))
}

impl<R: Real> Compressed<R> {
    /// For boxes of half width `half`.
    ///
    /// # Errors
    /// Eigenvalues do not converge.
    pub fn new(
        kernel: Kernel,
        parameter: f64,
        p: usize,
        half: f64,
        tolerance: f64,
        panel: usize,
    ) -> Result<Self, FmmError> {
        let unit = surface::points(p);
        let target = Cube(INNER * half, [0.0; 3]);
        let all: Vec<Option<Mat<f64>>> = (0..343)
            .into_par_iter()
            .map(|i: i32| {
                let at = [i % 7 - 3, i / 7 % 7 - 3, i / 49 - 3];
                at.iter().any(|x| x.abs() > 1).then(|| {
                    let from = Cube(target.0, at.map(|x| 2.0 * half * f64::from(x)));
                    between(kernel, parameter, &unit, target, from)
                })
            })
            .collect();
        let m = surface_values(p, kernel);
        let squares = |transposed: bool| -> Mat<f64> {
            // In fixed parts, so that sums do not depend on the number of threads.
            let parts: Vec<Mat<f64>> = all
                .par_chunks(16)
                .map(|part| {
                    part.iter().flatten().fold(Mat::zeros(m, m), |sum, k| {
                        sum + if transposed {
                            k.transpose() * k
                        } else {
                            k * k.transpose()
                        }
                    })
                })
                .collect();
            parts.into_iter().fold(Mat::zeros(m, m), |a, b| a + b)
        };
        // A tenth of the tolerance, since errors of many boxes add.
        let cut = (0.1 * tolerance).powi(2).max(1e-16);
        let (u, v) = (
            largest(&squares(false), cut)?,
            largest(&squares(true), cut)?,
        );
        let small = all
            .par_iter()
            .map(|k| {
                k.as_ref()
                    .map(|k| Packed::of(&(u.transpose() * (k * &v)), panel))
            })
            .collect();
        Ok(Self {
            into: Packed::of(&v.transpose().to_owned(), panel),
            out: Packed::of(&u, panel),
            small,
        })
    }
}

fn surface_values(p: usize, kernel: Kernel) -> usize {
    surface::count(p) * kernel.inputs()
}
