//! The semi-discrete equations: stresses at quadrature points, forces, accelerations, energy rates.

use crate::mass::Mass;
use crate::problem::Problem;
use crate::space::Space;
use crate::tensor::{M, adjugate, determinant, least_stretch, product, smallest};
use nalgebra::DMatrix;
use rayon::prelude::*;

/// Places and velocities [component][node], energies [zone][Bernstein].
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub x: Vec<f64>,
    pub v: Vec<f64>,
    pub e: Vec<f64>,
}

impl State {
    /// self + dt × rates.
    #[must_use]
    pub fn moved(&self, dt: f64, r: &Self) -> Self {
        let add = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + dt * b).collect();
        Self {
            x: add(&self.x, &r.x),
            v: add(&self.v, &r.v),
            e: add(&self.e, &r.e),
        }
    }
}

/// What a state has at the quadrature points.
pub struct Stresses {
    /// w |J| σ J⁻ᵀ of each point, [zone][point].
    pub stress: Vec<M>,
    /// Largest stable time step, s; 0 where a zone is inverted.
    pub dt: f64,
}

/// A problem on a mesh.
pub struct Hydro {
    pub space: Space,
    pub problem: Problem,
    /// Courant's number.
    pub cfl: f64,
    pub(crate) gamma: Vec<f64>,
    /// ρ₀ |J₀| w of each point.
    pub(crate) mass: Vec<f64>,
    /// J₀⁻¹ of each point.
    pub(crate) inverse: Vec<M>,
    pub(crate) h0: f64,
    pub(crate) velocity_mass: Mass,
    /// Inverse mass matrix of each zone's energies.
    pub(crate) energy_mass: Vec<DMatrix<f64>>,
    pub(crate) gravity: Option<Vec<f64>>,
}

impl Hydro {
    /// Stresses of a state, and the time step that it allows.
    pub fn stresses(&self, s: &State) -> Stresses {
        let (space, points) = (&self.space, self.space.points);
        let each: Vec<(Vec<M>, f64)> = (0..space.zones)
            .into_par_iter()
            .map(|z| {
                let (x, v) = (space.gather(&s.x, z), space.gather(&s.v, z));
                let e = &s.e[z * space.energies..(z + 1) * space.energies];
                let mut dt = f64::INFINITY;
                let stress = (0..points)
                    .map(|q| {
                        let (a, own) = self.at(z, q, &x, &v, e);
                        dt = dt.min(own);
                        a
                    })
                    .collect();
                (stress, dt)
            })
            .collect();
        let dt = each.iter().fold(f64::INFINITY, |m, e| m.min(e.1));
        Stresses {
            stress: each.into_iter().flat_map(|e| e.0).collect(),
            dt,
        }
    }

    /// w |J| σ J⁻ᵀ at a point, and its time step.
    fn at(&self, z: usize, q: usize, x: &[f64], v: &[f64], e: &[f64]) -> (M, f64) {
        let (space, d) = (&self.space, self.space.dim);
        let n = z * space.points + q;
        let j = jacobian(space, x, q);
        let det = determinant(&j, d);
        let adj = adjugate(&j, d);
        let rho = self.mass[n] / (space.weights[q] * det);
        let basis = &space.energy[q * space.energies..(q + 1) * space.energies];
        let energy = basis
            .iter()
            .zip(e)
            .map(|(b, e)| b * e)
            .sum::<f64>()
            .max(0.0);
        let gamma = self.gamma[z];
        let pressure = (gamma - 1.0) * rho * energy;
        let sound = (gamma * (gamma - 1.0) * energy).sqrt();
        let mut sigma = [[0.0; 3]; 3];
        for (c, row) in sigma.iter_mut().enumerate().take(d) {
            row[c] = -pressure;
        }
        let mut nu = 0.0;
        if self.problem.viscous() {
            let slopes = product(&jacobian(space, v, q), &adj, d).map(|r| r.map(|x| x / det));
            let mut eps = [[0.0; 3]; 3];
            for a in 0..d {
                for b in 0..d {
                    eps[a][b] = 0.5 * (slopes[a][b] + slopes[b][a]);
                }
            }
            let (mu, direction) = smallest(&eps, d);
            let stretch = product(&j, &self.inverse[n], d);
            let length = |w: &[f64; 3]| w.iter().map(|x| x * x).sum::<f64>().sqrt();
            let image: [f64; 3] =
                std::array::from_fn(|a| (0..d).map(|b| stretch[a][b] * direction[b]).sum());
            let h = self.h0 * length(&image) / length(&direction);
            nu = 2.0 * rho * h * h * mu.abs()
                + 0.5 * rho * h * sound * self.vorticity(&slopes) * compressing(mu);
            for a in 0..d {
                for b in 0..d {
                    sigma[a][b] += nu * eps[a][b];
                }
            }
        }
        let dt = if det < 0.0 {
            0.0
        } else {
            let h = least_stretch(&j, d) / space.order as f64;
            let inverse = sound / h + 2.5 * nu / (rho * h * h);
            if inverse > 0.0 {
                self.cfl / inverse
            } else {
                f64::INFINITY
            }
        };
        // σ (adj J)ᵀ w
        let mut a = [[0.0; 3]; 3];
        for c in 0..d {
            for g in 0..d {
                a[c][g] = space.weights[q] * (0..d).map(|k| sigma[c][k] * adj[g][k]).sum::<f64>();
            }
        }
        (a, dt)
    }

    /// Share of the linear viscosity that turning flow keeps.
    fn vorticity(&self, slopes: &M) -> f64 {
        if self.problem != Problem::RayleighTaylor {
            return 1.0;
        }
        let norm = slopes.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
        let trace = slopes[0][0] + slopes[1][1] + slopes[2][2];
        if norm > 0.0 { trace.abs() / norm } else { 1.0 }
    }

    /// dv/dt.
    pub fn accelerations(&self, s: &Stresses) -> Vec<f64> {
        let (space, d) = (&self.space, self.space.dim);
        let own: Vec<f64> = (0..space.zones)
            .into_par_iter()
            .flat_map_iter(|z| {
                let mut f = vec![0.0; d * space.local];
                for q in 0..space.points {
                    let a = &s.stress[z * space.points + q];
                    let slope = &space.slope[q * space.local * d..];
                    for (i, w) in slope.chunks(d).take(space.local).enumerate() {
                        for c in 0..d {
                            f[c * space.local + i] -= (0..d).map(|g| a[c][g] * w[g]).sum::<f64>();
                        }
                    }
                }
                f
            })
            .collect();
        let mut right = space.scatter(&own, d);
        if let Some(g) = &self.gravity {
            for (r, g) in right.iter_mut().zip(g) {
                *r += g;
            }
        }
        self.velocity_mass.solve(space, &right)
    }

    /// de/dt by the stresses of a state, with velocities that may be another's.
    pub fn energy_rates(&self, s: &Stresses, x: &[f64], v: &[f64]) -> Vec<f64> {
        let (space, d) = (&self.space, self.space.dim);
        (0..space.zones)
            .into_par_iter()
            .flat_map_iter(|z| {
                let own = space.gather(v, z);
                let places = space.gather(x, z);
                let mut right = nalgebra::DVector::zeros(space.energies);
                for q in 0..space.points {
                    let a = &s.stress[z * space.points + q];
                    let slopes = jacobian(space, &own, q);
                    let mut work: f64 = (0..d)
                        .map(|c| (0..d).map(|g| a[c][g] * slopes[c][g]).sum::<f64>())
                        .sum();
                    if let Some(rate) = self.problem.source(&point(space, &places, q)) {
                        work +=
                            rate * space.weights[q] * determinant(&jacobian(space, &places, q), d);
                    }
                    for (j, r) in right.iter_mut().enumerate() {
                        *r += space.energy[q * space.energies + j] * work;
                    }
                }
                let rates = &self.energy_mass[z] * right;
                rates.iter().copied().collect::<Vec<_>>()
            })
            .collect()
    }

    /// Internal and kinetic energy.
    pub fn energy(&self, s: &State) -> (f64, f64) {
        let (space, d) = (&self.space, self.space.dim);
        (0..space.zones)
            .map(|z| {
                let v = space.gather(&s.v, z);
                let e = &s.e[z * space.energies..(z + 1) * space.energies];
                let (mut inner, mut outer) = (0.0, 0.0);
                for q in 0..space.points {
                    let m = self.mass[z * space.points + q];
                    let basis = &space.energy[q * space.energies..(q + 1) * space.energies];
                    inner += m * basis.iter().zip(e).map(|(b, e)| b * e).sum::<f64>();
                    let u = point(space, &v, q);
                    outer += 0.5 * m * u[..d].iter().map(|u| u * u).sum::<f64>();
                }
                (inner, outer)
            })
            .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
    }
}

/// 1 in compression and at rest, 0 in expansion; smooth between.
fn compressing(mu: f64) -> f64 {
    let y = (mu - 2e-12 + 1e-12) / 2e-12;
    1.0 - if y < 0.0 {
        0.0
    } else if y > 1.0 {
        1.0
    } else {
        (3.0 - 2.0 * y) * y * y
    }
}

/// Slopes of a zone's field at a point: rows are components.
pub(crate) fn jacobian(space: &Space, field: &[f64], q: usize) -> M {
    let d = space.dim;
    let mut out = [[0.0; 3]; 3];
    let slope = &space.slope[q * space.local * d..(q + 1) * space.local * d];
    for (i, w) in slope.chunks(d).enumerate() {
        for c in 0..d {
            let x = field[c * space.local + i];
            for g in 0..d {
                out[c][g] += x * w[g];
            }
        }
    }
    out
}

/// A zone's field at a point.
pub(crate) fn point(space: &Space, field: &[f64], q: usize) -> Vec<f64> {
    let value = &space.value[q * space.local..(q + 1) * space.local];
    field
        .chunks(space.local)
        .map(|f| f.iter().zip(value).map(|(f, v)| f * v).sum())
        .collect()
}
