//! A problem on a mesh at its start: masses, shapes, initial fields.

use crate::HydroError;
use crate::basis::{bernstein, gauss};
use crate::hydro::{Hydro, State, jacobian, point};
use crate::mass::Mass;
use crate::mesh::Mesh;
use crate::problem::Problem;
use crate::space::{Space, along, tensor};
use crate::tensor::{adjugate, determinant};
use nalgebra::DMatrix;

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
