//! A problem on a mesh: masses, gases, shapes at the start; what operators are made of.

use crate::engine::State;
use crate::problem::{Gas, Problem};
use crate::space::Space;
use crate::tensor::determinant;

/// A problem on a mesh.
pub struct Hydro {
    pub space: Space,
    pub problem: Problem,
    /// Courant's number.
    pub cfl: f64,
    /// Relative tolerance of the solves for accelerations, and their most iterations.
    pub cg_tol: f64,
    pub cg_max: usize,
    /// Of each zone.
    pub gas: Vec<Gas>,
    pub material: Vec<u32>,
    /// ρ₀ |J₀| w of each point, [zone][point]: of the polynomial density, by which densities follow, and of the given
    /// one, by which mass matrices are made, where they differ.
    pub mass: Vec<f64>,
    pub given: Option<Vec<f64>>,
    /// J₀⁻¹, [zone][point or 1][dim dim], of one point where zones are affine.
    pub inverse: Vec<f64>,
    pub affine: bool,
    /// Length of a zone at the start over the order.
    pub h0: f64,
    /// Whether there is a field of gravity, per component.
    pub gravity: Option<[f64; 3]>,
}

impl Hydro {
    /// ρ₀ |J₀| w by which mass matrices are made.
    pub fn given_mass(&self) -> &[f64] {
        self.given.as_deref().unwrap_or(&self.mass)
    }

    /// What holds for all points.
    pub fn rules(&self) -> crate::cpu::Rules {
        crate::cpu::Rules {
            h0: self.h0,
            order: self.space.element.order as f64,
            viscous: self.problem.viscous().into(),
            turning: self.problem.turning().into(),
            source: self.problem.source(self.space.dim).into(),
        }
    }

    /// J₀⁻¹ of a point.
    pub fn inverse_at(&self, z: usize, q: usize) -> &[f64] {
        let dd = self.space.dim * self.space.dim;
        let n = if self.affine {
            z
        } else {
            z * self.space.element.points() + q
        };
        &self.inverse[n * dd..(n + 1) * dd]
    }

    /// The most distorted zone of a state: where |J| over its start is least, that ratio and the place.
    pub fn narrowest(&self, s: &State) -> (usize, f64, Vec<f64>) {
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

    /// The inverse mass matrix of a zone's energies, row by row; none where a zone has no mass.
    pub fn energy_inverse(&self, z: usize) -> Option<Vec<f64>> {
        let e = &self.space.element;
        let mass = &self.given_mass()[z * e.points()..(z + 1) * e.points()];
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

    /// Inverse mass matrices of all zones' energies. Those whose mass is spread alike are multiples of each other.
    ///
    /// # Errors
    /// A zone has no mass.
    pub fn energy_inverses(
        &self,
        put: &(dyn Fn(usize, &[f64], f64) + Sync),
    ) -> Result<(), crate::HydroError> {
        use rayon::prelude::*;
        let points = self.space.element.points();
        let mass = self.given_mass();
        let first = &mass[..points];
        let base = self.energy_inverse(0);
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
                    let own = self
                        .energy_inverse(z)
                        .ok_or_else(|| crate::HydroError(format!("zone {z} has no mass")))?;
                    put(z, &own, 1.0);
                }
            }
            Ok(())
        })
    }

    /// The diagonal of the mass matrix of velocities, [node].
    pub fn diagonal(&self) -> Vec<f64> {
        let (space, e) = (&self.space, &self.space.element);
        let mass = self.given_mass();
        let own: Vec<f64> = (0..space.zones)
            .flat_map(|z| {
                let mut out = vec![0.0; e.local];
                for q in 0..e.points() {
                    let m = mass[z * e.points() + q];
                    for (to, v) in out.iter_mut().zip(&e.value[q * e.local..]) {
                        *to += m * v * v;
                    }
                }
                out
            })
            .collect();
        space.scatter(&own, 1)
    }

    /// One over the diagonal, 0 where a wall holds, [component][node].
    pub fn preconditioner(&self) -> Vec<f64> {
        let diagonal = self.diagonal();
        self.space
            .held
            .iter()
            .enumerate()
            .map(|(i, held)| {
                if *held {
                    0.0
                } else {
                    1.0 / diagonal[i % self.space.nodes]
                }
            })
            .collect()
    }
}
