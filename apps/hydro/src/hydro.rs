//! A problem discretised on a mesh: masses, gases and initial Jacobians, from which operators are built.

use crate::engine::State;
use crate::fem::fe_space::Space;
use crate::fem::small_matrix::determinant;
use crate::problem::{Gas, Problem};
use rayon::prelude::*;
use std::ffi::c_longlong;

/// Constants of the equations at quadrature points, in the memory layout of the C and CUDA kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PointRules {
    /// Initial zone size divided by the kinematic order.
    pub h0: f64,
    /// Kinematic order.
    pub order: f64,
    /// 1 with artificial viscosity, else 0.
    pub viscous: c_longlong,
    /// 1 if the vorticity switch reduces the viscosity, else 0.
    pub vorticity: c_longlong,
    /// 1 if the energy equation has the Taylor–Green source, else 0.
    pub source: c_longlong,
}

/// A problem discretised on a mesh.
pub struct Hydro {
    /// The finite-element spaces.
    pub space: Space,
    /// The problem.
    pub problem: Problem,
    /// CFL number.
    pub cfl: f64,
    /// Relative tolerance of the CG solves.
    pub cg_tol: f64,
    /// Maximum number of CG iterations.
    pub cg_max: usize,
    /// Gas of each zone.
    pub gas: Vec<Gas>,
    /// Material number of each zone.
    pub material: Vec<u32>,
    /// ρ₀ |J₀| w of the polynomial initial density, `[zone][point]`; densities of the moved mesh follow from it.
    pub mass: Vec<f64>,
    /// ρ₀ |J₀| w of the prescribed initial density, `[zone][point]`, which mass matrices use; `None` if it equals `mass`.
    pub prescribed_mass: Option<Vec<f64>>,
    /// Inverse initial Jacobians J₀⁻¹, `[zone][point][dim][dim]`; `[zone][dim][dim]` if all zones are affine.
    pub inverse: Vec<f64>,
    /// Whether all zones are affine.
    pub affine: bool,
    /// Initial zone size (from the mean volume) divided by the kinematic order.
    pub h0: f64,
    /// Gravitational acceleration, per component; `None` without gravity.
    pub gravity: Option<[f64; 3]>,
    /// ρ₀ |J₀| w of the points of the first zone of the whole, for the matrices; empty: of the first zone here.
    pub first_mass: Vec<f64>,
    /// What the mesh's reader changed, and what the orders lose of the mesh, for the user.
    pub notes: Vec<String>,
    /// Diagonal of the velocity mass matrix of the whole at the nodes of a part.
    pub whole_diagonal: Option<Vec<f64>>,
}

impl Hydro {
    /// ρ₀ |J₀| w for the mass matrices, `[zone][point]`.
    pub fn matrix_mass(&self) -> &[f64] {
        self.prescribed_mass.as_deref().unwrap_or(&self.mass)
    }

    /// Constants of the equations for the kernels.
    pub fn rules(&self) -> PointRules {
        PointRules {
            h0: self.h0,
            order: self.space.element.order as f64,
            viscous: self.problem.viscous().into(),
            vorticity: self.problem.vorticity().into(),
            source: self.problem.source(self.space.dim).into(),
        }
    }

    /// J₀⁻¹ of point `q` of zone `z`, row-major.
    pub fn inverse_at(&self, z: usize, q: usize) -> &[f64] {
        let dd = self.space.dim * self.space.dim;
        let n = if self.affine {
            z
        } else {
            z * self.space.element.points() + q
        };
        &self.inverse[n * dd..(n + 1) * dd]
    }

    /// The most distorted zone of a state: its number, the minimum of |J| / |J₀|, and the position of that minimum.
    pub fn most_distorted_zone(&self, s: &State) -> (usize, f64, Vec<f64>) {
        let (space, e) = (&self.space, &self.space.element);
        let mut worst = (0, f64::INFINITY, Vec::new());
        for z in 0..space.zones {
            let (x, start) = (space.gather(&s.x, z), space.gather(&space.start, z));
            for q in 0..e.points() {
                let det = |x: &[f64]| determinant(&e.jacobian(x, q), space.dim);
                let ratio = det(&x) / det(&start);
                if ratio.is_nan() || ratio < worst.1 {
                    worst = (z, ratio, e.point(&x, q));
                }
            }
        }
        worst
    }

    /// ρ₀ |J₀| w of the points of the first zone of the whole, for the matrices.
    pub fn first_mass(&self) -> &[f64] {
        if self.first_mass.is_empty() {
            &self.matrix_mass()[..self.space.element.points()]
        } else {
            &self.first_mass
        }
    }

    /// Internal and kinetic energy of a zone.
    pub fn zone_energies(&self, s: &State, z: usize) -> (f64, f64) {
        let (space, e) = (&self.space, &self.space.element);
        let v = space.gather(&s.v, z);
        let own = &s.e[z * e.energies..(z + 1) * e.energies];
        let (mut inner, mut outer) = (0.0, 0.0);
        for q in 0..e.points() {
            let m = self.matrix_mass()[z * e.points() + q];
            let basis = e.energy_at(q).iter().zip(own);
            inner += m * basis.map(|(b, e)| b * e).sum::<f64>();
            outer += 0.5 * m * e.point(&v, q).iter().map(|u| u * u).sum::<f64>();
        }
        (inner, outer)
    }

    /// Inverse energy mass matrix of a zone, row-major; `None` if the zone has no mass.
    pub fn energy_inverse(&self, z: usize) -> Option<Vec<f64>> {
        let points = self.space.element.points();
        self.inverse_of(&self.matrix_mass()[z * points..(z + 1) * points])
    }

    /// The same for the masses of its points.
    fn inverse_of(&self, mass: &[f64]) -> Option<Vec<f64>> {
        let e = &self.space.element;
        let m = nalgebra::DMatrix::from_fn(e.energies, e.energies, |i, j| {
            mass.iter()
                .enumerate()
                .map(|(q, m)| m * e.energy_at(q)[i] * e.energy_at(q)[j])
                .sum()
        });
        // Of matrices near singular the inverse is not symmetric to all digits, and its transpose loses energy.
        m.cholesky()
            .map(|c| c.inverse().transpose().iter().copied().collect())
    }

    /// Computes the inverse energy mass matrix of every zone. Calls `put(zone, matrix, factor)`, where the inverse is
    /// `factor` times the row-major `matrix`: zones with proportional masses share one matrix.
    ///
    /// # Errors
    /// A zone has no mass.
    pub fn energy_inverses(
        &self,
        put: &(dyn Fn(usize, &[f64], f64) + Sync),
    ) -> Result<(), crate::HydroError> {
        let points = self.space.element.points();
        let mass = self.matrix_mass();
        let first = self.first_mass();
        let base = self.inverse_of(first);
        (0..self.space.zones).into_par_iter().try_for_each(|z| {
            let own = &mass[z * points..(z + 1) * points];
            let share = own[0] / first[0];
            let alike = own
                .iter()
                .zip(first)
                .all(|(a, b)| (a - share * b).abs() <= 1e-14 * a.abs());
            match (&base, alike) {
                (Some(base), true) if share > 0.0 => put(z, base, 1.0 / share),
                _ => {
                    let own = self.energy_inverse(z).ok_or_else(|| {
                        crate::HydroError::InitialState(format!("zone {z} has no mass"))
                    })?;
                    put(z, &own, 1.0);
                }
            }
            Ok(())
        })
    }

    /// Diagonal of the velocity mass matrix, `[node]`.
    pub fn diagonal(&self) -> Vec<f64> {
        if let Some(whole) = &self.whole_diagonal {
            return whole.clone();
        }
        self.space.scatter(&self.zone_diagonals(), 1)
    }

    /// Diagonal of the velocity mass matrix of each zone, `[zone][local]`.
    pub fn zone_diagonals(&self) -> Vec<f64> {
        let (space, e) = (&self.space, &self.space.element);
        let mass = self.matrix_mass();
        let mut out = vec![0.0; space.zones * e.local];
        out.par_chunks_mut(e.local)
            .enumerate()
            .for_each(|(z, out)| {
                for q in 0..e.points() {
                    let m = mass[z * e.points() + q];
                    for (to, v) in out.iter_mut().zip(&e.value[q * e.local..]) {
                        *to += m * v * v;
                    }
                }
            });
        out
    }

    /// Jacobi preconditioner: the inverse diagonal, 0 for constrained dofs, `[component][node]`.
    pub fn preconditioner(&self) -> Vec<f64> {
        let diagonal = self.diagonal();
        self.space
            .constrained
            .iter()
            .enumerate()
            .map(|(i, constrained)| {
                if *constrained {
                    0.0
                } else {
                    1.0 / diagonal[i % self.space.nodes]
                }
            })
            .collect()
    }
}
