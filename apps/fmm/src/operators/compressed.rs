//! The kernel between boxes of a V list, compressed: small matrices between the largest singular vectors of all of them.

use super::surface::INNER;
use super::{Cube, Packed, between, surface};
use crate::FmmError;
use crate::kernel::Kernel;
use crate::real::Real;
use faer::{Mat, Side};
use rayon::prelude::*;

/// Singular values come from squares: what is less than this part of the largest is lost.
pub const FINEST: f64 = 1e-7;

/// Bases and small matrices of a level.
pub(crate) struct Compressed<R: Real> {
    /// Equivalent charges to their parts in the basis of sources.
    pub into: Packed<R>,
    /// Parts in the basis of targets to check potentials.
    pub out: Packed<R>,
    /// By [`relative`] position; near ones have none.
    pub small: Vec<Option<Packed<R>>>,
}

/// Place of a relative position (source minus target, in boxes) of -3 to 3 each way.
pub fn relative(at: [i32; 3]) -> usize {
    ((at[0] + 3) + 7 * (at[1] + 3) + 49 * (at[2] + 3)) as usize
}

/// Vectors of a symmetric matrix's eigenvalues above `cut` of the largest, as columns.
fn largest(m: &Mat<f64>, cut: f64) -> Result<Mat<f64>, FmmError> {
    let e = m
        .self_adjoint_eigen(Side::Lower)
        .map_err(|e| FmmError(format!("no eigenvalues: {e:?}")))?;
    let (s, n) = (e.S().column_vector(), m.nrows());
    let top = s[n - 1];
    // At least one, also of a kernel that vanishes at this distance.
    let rank = (0..n).filter(|&i| s[i] > cut * top).count().max(1);
    Ok(Mat::from_fn(n, rank, |i, j| e.U()[(i, n - 1 - j)]))
}

impl<R: Real> Compressed<R> {
    /// For boxes of this half width.
    ///
    /// # Errors
    /// Eigenvalues that do not converge.
    pub fn new(
        kernel: Kernel,
        parameter: f64,
        p: usize,
        half: f64,
        tolerance: f64,
        panel: usize,
    ) -> Result<Self, FmmError> {
        let unit = surface::points(p);
        let own = Cube(INNER * half, [0.0; 3]);
        let all: Vec<Option<Mat<f64>>> = (0..343)
            .into_par_iter()
            .map(|i: i32| {
                let at = [i % 7 - 3, i / 7 % 7 - 3, i / 49 - 3];
                at.iter().any(|x| x.abs() > 1).then(|| {
                    let from = Cube(own.0, at.map(|x| 2.0 * half * f64::from(x)));
                    between(kernel, parameter, &unit, own, from)
                })
            })
            .collect();
        let m = p_numbers(p, kernel);
        let squares = |turned: bool| -> Mat<f64> {
            all.par_iter()
                .flatten()
                .fold(
                    || Mat::zeros(m, m),
                    |mut sum: Mat<f64>, k| {
                        sum += if turned {
                            k.transpose() * k
                        } else {
                            k * k.transpose()
                        };
                        sum
                    },
                )
                .reduce(|| Mat::zeros(m, m), |a, b| a + b)
        };
        // A tenth of what is wanted, since errors of many boxes add.
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

fn p_numbers(p: usize, kernel: Kernel) -> usize {
    surface::count(p) * kernel.inputs()
}
