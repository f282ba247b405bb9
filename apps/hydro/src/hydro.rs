//! The semi-discrete equations: stresses at quadrature points, forces, accelerations, energy rates.

use crate::HydroError;
use crate::basis::{bernstein, gauss};
use crate::mass::Mass;
use crate::mesh::Mesh;
use crate::problem::Problem;
use crate::space::{Space, along, tensor};
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
    gamma: Vec<f64>,
    /// ρ₀ |J₀| w of each point.
    mass: Vec<f64>,
    /// J₀⁻¹ of each point.
    inverse: Vec<M>,
    h0: f64,
    velocity_mass: Mass,
    /// Inverse mass matrix of each zone's energies.
    energy_mass: Vec<DMatrix<f64>>,
    gravity: Option<Vec<f64>>,
}

/// How a step's rates are solved for.
#[derive(Clone, Copy, Debug)]
pub struct Orders {
    pub kinematic: usize,
    pub energy: usize,
    pub cg_tol: f64,
    pub cg_max: usize,
    pub cfl: f64,
}

impl Hydro {
    /// The problem and its state at the start; `e0` is the energy of Sedov's point.
    ///
    /// # Errors
    /// Orders that are none, or a problem that has not this dimension.
    pub fn new(
        mesh: &Mesh,
        problem: Problem,
        o: &Orders,
        e0: f64,
    ) -> Result<(Self, State), HydroError> {
        if !(1..=8).contains(&o.kinematic) || o.energy >= 8 {
            return Err(HydroError(format!(
                "orders {} and {}: the kinematic one is 1 to 8, the other 0 to 7",
                o.kinematic, o.energy
            )));
        }
        if mesh.dim() == 1 && problem == Problem::RayleighTaylor {
            return Err(HydroError("problem 7 needs two dimensions".into()));
        }
        let space = Space::new(mesh, o.kinematic, o.energy);
        let (dim, zones, points) = (space.dim, space.zones, space.points);
        let mut gamma = Vec::new();
        let (mut mass, mut analytic, mut inverse) = (Vec::new(), Vec::new(), Vec::new());
        let mut e = Vec::new();
        let (own, rewrite) = (places(&space, o.energy), rewriting(dim, o.energy));
        for z in 0..zones {
            let x = space.gather(&space.start, z);
            let corner = |last: bool| -> Vec<f64> {
                let i = if last { space.local - 1 } else { 0 };
                (0..dim).map(|c| x[c * space.local + i]).collect()
            };
            // Zones are boxes at the start.
            let (low, high) = (corner(false), corner(true));
            let at = |share: &[f64]| -> Vec<f64> {
                (0..dim)
                    .map(|c| low[c] + share[c] * (high[c] - low[c]))
                    .collect()
            };
            gamma.push(problem.gamma(&at(&[0.5; 3][..dim])));
            let bernstein_of = |f: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
                let values =
                    nalgebra::DVector::from_iterator(own.len(), own.iter().map(|s| f(&at(s))));
                (&rewrite * values).iter().copied().collect()
            };
            e.extend(bernstein_of(&|x| problem.energy(x)));
            let rho = bernstein_of(&|x| problem.density(x));
            for q in 0..points {
                let j = jacobian(&space, &x, q);
                let det = determinant(&j, dim);
                let volume = det * space.weights[q];
                let basis = &space.energy[q * space.energies..(q + 1) * space.energies];
                let own = basis.iter().zip(&rho).map(|(b, r)| b * r).sum::<f64>();
                if own <= 0.0 {
                    return Err(HydroError(format!(
                        "the density jumps within zone {z}, at {:?}, and is not above 0 between: refine the mesh until faces lie there",
                        point(&space, &x, q)
                    )));
                }
                mass.push(volume * own);
                analytic.push(volume * problem.density(&point(&space, &x, q)));
                inverse.push(adjugate(&j, dim).map(|r| r.map(|a| a / det)));
            }
        }
        if problem == Problem::Sedov {
            point_energy(&space, &analytic, e0, &mut e);
        }
        let velocity_mass = Mass::new(&space, &analytic, o.cg_tol, o.cg_max);
        let energy_mass = (0..zones)
            .map(|z| {
                let m = DMatrix::from_fn(space.energies, space.energies, |i, j| {
                    (0..points)
                        .map(|q| {
                            let b = &space.energy[q * space.energies..];
                            analytic[z * points + q] * b[i] * b[j]
                        })
                        .sum()
                });
                m.cholesky()
                    .map(|c| c.inverse())
                    .ok_or_else(|| HydroError(format!("zone {z} has no mass")))
            })
            .collect::<Result<_, _>>()?;
        let mut v = vec![0.0; dim * space.nodes];
        for n in 0..space.nodes {
            let x: Vec<f64> = (0..dim).map(|c| space.start[c * space.nodes + n]).collect();
            let own = problem.velocity(&x);
            for (c, own) in own.iter().enumerate().take(dim) {
                let i = c * space.nodes + n;
                v[i] = if space.held[i] { 0.0 } else { *own };
            }
        }
        let gravity = problem.gravity().map(|g| {
            let field: Vec<f64> = (0..dim).flat_map(|c| vec![g[c]; space.nodes]).collect();
            velocity_mass.times(&space, &field)
        });
        let h0 = (mesh.volume() / zones as f64).powf(1.0 / dim as f64) / o.kinematic as f64;
        let state = State {
            x: space.start.clone(),
            v,
            e,
        };
        let hydro = Self {
            space,
            problem,
            cfl: o.cfl,
            gamma,
            mass,
            inverse,
            h0,
            velocity_mass,
            energy_mass,
            gravity,
        };
        Ok((hydro, state))
    }

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
fn jacobian(space: &Space, field: &[f64], q: usize) -> M {
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
fn point(space: &Space, field: &[f64], q: usize) -> Vec<f64> {
    let value = &space.value[q * space.local..(q + 1) * space.local];
    field
        .chunks(space.local)
        .map(|f| f.iter().zip(value).map(|(f, v)| f * v).sum())
        .collect()
}

/// Shares of a zone where energies are evaluated.
fn places(space: &Space, order: usize) -> Vec<Vec<f64>> {
    let (x, _) = gauss(order + 1);
    (0..space.energies)
        .map(|n| {
            let at = along(n, &vec![order + 1; space.dim]);
            at.into_iter().map(|i| x[i]).collect()
        })
        .collect()
}

/// From values at Gauss's points to Bernstein's coefficients.
fn rewriting(dim: usize, order: usize) -> DMatrix<f64> {
    let (x, _) = gauss(order + 1);
    let values: Vec<Vec<f64>> = x.iter().map(|x| bernstein(order, *x)).collect();
    let size = (order + 1).pow(dim as u32);
    let mut m = DMatrix::zeros(size, size);
    for n in 0..size {
        let at = along(n, &vec![order + 1; dim]);
        let row = tensor(&at.iter().map(|i| values[*i].as_slice()).collect::<Vec<_>>());
        for (j, b) in row.iter().enumerate() {
            m[(n, j)] = *b;
        }
    }
    m.try_inverse()
        .unwrap_or_else(|| DMatrix::identity(size, size))
}

/// All of an energy in the corners at the origin, shared among 2^d quadrants of which one is computed.
fn point_energy(space: &Space, volume: &[f64], e0: f64, e: &mut [f64]) {
    let d = space.dim;
    let mut found = Vec::new();
    let mut integral = 0.0;
    for z in 0..space.zones {
        for corner in 0..1 << d {
            let pick = |n: usize| -> usize {
                (0..d)
                    .map(|g| (corner >> g & 1) * (n - 1) * n.pow(g as u32))
                    .sum()
            };
            let node = space.zone(z)[pick(space.order + 1)];
            if (0..d).all(|c| space.start[c * space.nodes + node].abs() < 1e-12) {
                let j = pick(space.energy_order + 1);
                // ρ is 1 all over.
                integral += (0..space.points)
                    .map(|q| volume[z * space.points + q] * space.energy[q * space.energies + j])
                    .sum::<f64>();
                found.push(z * space.energies + j);
            }
        }
    }
    for i in found {
        e[i] = e0 / f64::from(1 << d) / integral;
    }
}
