//! Operators of a plan: matrices between surfaces, their regularised inverses, transforms of the kernel.

pub(crate) mod compressed;
pub(crate) mod fourier;
mod packed;
pub mod surface;

pub use compressed::FINEST;
pub(crate) use packed::Packed;

use crate::FmmError;
use crate::kernel::Kernel;
use crate::precision::Real;
use faer::Mat;
use rayon::prelude::*;
use surface::{INNER, OUTER};

/// The kernel K(d) for the difference d of a target and a source, without its factor, row by row; 0 at d = 0.
pub fn block(kernel: Kernel, parameter: f64, d: [f64; 3]) -> [[f64; 3]; 3] {
    let r2: f64 = d.iter().map(|x| x * x).sum();
    let mut out = [[0.0; 3]; 3];
    if r2 == 0.0 {
        return out;
    }
    let r = r2.sqrt();
    match kernel {
        Kernel::Laplace => out[0][0] = 1.0 / r,
        Kernel::Yukawa { .. } => out[0][0] = (-parameter * r).exp() / r,
        Kernel::Helmholtz { .. } => {
            let (s, c) = (parameter * r).sin_cos();
            out[0][0] = c / r;
            out[0][1] = -s / r;
            out[1][0] = s / r;
            out[1][1] = c / r;
        }
        Kernel::Stokes { .. } => {
            for (a, row) in out.iter_mut().enumerate() {
                for (b, v) in row.iter_mut().enumerate() {
                    *v = (f64::from(u8::from(a == b)) + d[a] * d[b] / r2) / r;
                }
            }
        }
    }
    out
}

fn not_converged(what: &'static str, cause: &impl std::fmt::Debug) -> FmmError {
    FmmError::NotConverged {
        what,
        cause: format!("{cause:?}"),
    }
}

/// A cube's surface: half width of the surface, and its center.
#[derive(Clone, Copy)]
struct Cube(f64, [f64; 3]);

/// Potentials on one surface (component by component) of charges on another (point by point).
fn between(kernel: Kernel, parameter: f64, unit: &[Vec<f64>; 3], to: Cube, from: Cube) -> Mat<f64> {
    let (n, d) = (unit[0].len(), kernel.inputs());
    let at = |c: Cube, i: usize| -> [f64; 3] { std::array::from_fn(|a| c.1[a] + c.0 * unit[a][i]) };
    let columns: Vec<Vec<f64>> = (0..n)
        .into_par_iter()
        .map(|j| {
            let y = at(from, j);
            let mut out = vec![0.0; d * d * n];
            for i in 0..n {
                let x = at(to, i);
                let k = block(kernel, parameter, std::array::from_fn(|a| x[a] - y[a]));
                for b in 0..d {
                    for a in 0..d {
                        out[b * d * n + a * n + i] = k[a][b];
                    }
                }
            }
            out
        })
        .collect();
    Mat::from_fn(d * n, d * n, |i, j| columns[j / d][(j % d) * d * n + i])
}

/// A regularised inverse in two factors: x = second (first y).
struct Inverse {
    first: Mat<f64>,
    second: Mat<f64>,
}

impl Inverse {
    /// Singular values below `cut` of the largest are dropped; all of them where the largest is below `min`.
    fn of(m: &Mat<f64>, (cut, min): (f64, f64)) -> Result<Self, FmmError> {
        let svd = m
            .thin_svd()
            .map_err(|e| not_converged("singular values", &e))?;
        let s = svd.S().column_vector();
        let rank = (0..s.nrows()).take_while(|&i| s[i] > cut * s[0]).count();
        // A screened kernel vanishes across large boxes: they do not interact.
        let vanishes = rank == 0 || s[0] < min;
        let rank = if vanishes { 1 } else { rank };
        Ok(Self {
            first: Mat::from_fn(rank, m.nrows(), |i, j| {
                if vanishes {
                    0.0
                } else {
                    svd.U()[(j, i)] / s[i]
                }
            }),
            second: Mat::from_fn(m.ncols(), rank, |i, j| svd.V()[(i, j)]),
        })
    }

    /// The inverse of the transpose.
    fn transposed(&self) -> Self {
        Self {
            first: self.second.transpose().to_owned(),
            second: self.first.transpose().to_owned(),
        }
    }

    fn packed<R: Real>(&self, panel: usize) -> [Packed<R>; 2] {
        [
            Packed::of(&self.first, panel),
            Packed::of(&self.second, panel),
        ]
    }
}

/// Matrices of a level.
pub(crate) struct Level<R: Real> {
    /// Check potentials of sources to equivalent charges.
    pub up: [Packed<R>; 2],
    /// Check potentials of targets to equivalent charges.
    pub down: [Packed<R>; 2],
    /// Equivalent charges of a child of each octant to those of its parent, which is of this level.
    pub to_parent: Vec<Packed<R>>,
    /// Equivalent charges of a parent to check potentials of a child of each octant, which is of this level.
    pub to_child: Vec<Packed<R>>,
}

/// The center of an octant, in half widths of the octant.
pub fn octant(o: usize) -> [f64; 3] {
    std::array::from_fn(|a| if o >> a & 1 == 1 { 1.0 } else { -1.0 })
}

/// Relative cut of singular values, and the smallest largest value whose inverse stays in the precision. Forces normal to a
/// closed surface cause no flow inside, so the smallest singular value of Stokes is a discretisation error, which falls with p.
fn cut<R: Real>(kernel: Kernel, p: usize) -> (f64, f64) {
    let (rounding, min) = if R::DOUBLE {
        (1e-13, 1e-280)
    } else {
        (R::EPSILON, 1e-30)
    };
    match kernel {
        Kernel::Stokes { .. } => (rounding.max(0.1f64.powi(p as i32)), min),
        _ => (rounding, min),
    }
}

impl<R: Real> Level<R> {
    /// For boxes of half width `half`, with surfaces of order p.
    ///
    /// # Errors
    /// Singular values do not converge.
    pub fn new(
        kernel: Kernel,
        parameter: f64,
        p: usize,
        half: f64,
        panel: usize,
    ) -> Result<Self, FmmError> {
        let unit = surface::points(p);
        let k = |to: Cube, from: Cube| between(kernel, parameter, &unit, to, from);
        let around = |r: f64| Cube(r * half, [0.0; 3]);
        let up = Inverse::of(&k(around(OUTER), around(INNER)), cut::<R>(kernel, p))?;
        // For a real symmetric kernel the downward inverse is the transpose of the upward one.
        let down = match kernel {
            Kernel::Laplace | Kernel::Yukawa { .. } => up.transposed(),
            _ => Inverse::of(&k(around(INNER), around(OUTER)), cut::<R>(kernel, p))?,
        };
        let to_parent = (0..8)
            .into_par_iter()
            .map(|o| {
                let child = Cube(INNER * half / 2.0, octant(o).map(|x| x * half / 2.0));
                let m = &up.second * (&up.first * k(around(OUTER), child));
                Packed::of(&m, panel)
            })
            .collect();
        let to_child = (0..8)
            .into_par_iter()
            .map(|o| {
                let parent = Cube(OUTER * half * 2.0, octant(o).map(|x| -x * half));
                Packed::of(&k(around(INNER), parent), panel)
            })
            .collect();
        Ok(Self {
            up: up.packed(panel),
            down: down.packed(panel),
            to_parent,
            to_child,
        })
    }
}
