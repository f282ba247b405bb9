//! Full assembly: stores the corner-force matrix F_z = A_z Bᵀ of each zone, the velocity mass matrix in CSR (of each zone, for
//! sums without rounding) and the inverse energy mass matrices. Its parts are BLAST's kernels 1 to 11 (table 2 of the paper). Works for all shapes of
//! zones, in plain Rust: the reference for the vectorised partial assembly.

use super::Operator;
use super::assembled::Mass;
use super::parts::Shared;
use super::rank_sums::RankSums;
use super::solve::Solver;
use crate::HydroError;
use crate::engine::State;
use crate::fem::fe_space::Space;
use crate::fem::small_matrix::{
    M, adjugate, determinant, product, smallest_eigenpair, smallest_singular_value,
};
use crate::hydro::Hydro;
use crate::part::halo::Terms;
use rayon::prelude::*;
use std::f64::consts::PI;
use std::sync::Arc;

/// The operator with full assembly.
pub struct FullAssembly {
    h: Arc<Hydro>,
    /// Corner-force matrices, [zone][component · local][energy].
    corner: Vec<f64>,
    /// Energy sources, [zone][energy].
    source: Vec<f64>,
    /// Inverse energy mass matrices, [zone][energy][energy].
    inverse: Vec<f64>,
    mass: Mass,
    gravity: Option<Vec<f64>>,
    solver: Solver,
}

/// Contributions of the zones here to a field, `[zone][component][local]`, and their sums.
struct Contributions<'a> {
    space: &'a Space,
    own: &'a [f64],
    /// `[component][node]`.
    sums: &'a [f64],
    by_zone: bool,
}

impl Terms for Contributions<'_> {
    fn terms(&self, component: usize, nodes: &[u32], to: &mut [f64]) {
        if self.by_zone {
            let of = (self.space.dim, component);
            return self.space.contributions(self.own, of, nodes, to);
        }
        let sums = &self.sums[component * self.space.nodes..];
        for (to, n) in to.iter_mut().zip(nodes) {
            *to = sums[*n as usize];
        }
    }
}

impl FullAssembly {
    /// Assembles the mass matrices of a problem.
    ///
    /// # Errors
    /// A zone has no mass, or the arrays of the problem are inconsistent.
    pub fn new(h: Arc<Hydro>) -> Result<Self, HydroError> {
        Self::by(h, None)
    }

    /// The same for a part of a problem, with the ranks that have the others.
    ///
    /// # Errors
    /// As [`FullAssembly::new`].
    pub fn of_part(h: Arc<Hydro>, team: RankSums) -> Result<Self, HydroError> {
        Self::by(h, Some(team))
    }

    fn by(h: Arc<Hydro>, team: Option<RankSums>) -> Result<Self, HydroError> {
        h.consistent()?;
        let (space, e) = (&h.space, &h.space.element);
        let mut inverse = vec![0.0; space.zones * e.energies * e.energies];
        let to = Shared::new(&mut inverse);
        let n = e.energies * e.energies;
        h.energy_inverses(&|z, m, by| {
            for (i, x) in m.iter().enumerate() {
                // SAFETY: each zone writes its own part.
                unsafe { *to.at(z * n + i) = x * by };
            }
        })?;
        let mut mass = Mass::new(&h, team.as_ref());
        let mut solver = Solver::new(h.preconditioner(), space.nodes, h.cg_tol, h.cg_max);
        solver.join(team);
        let gravity = h.gravity.map(|g| {
            let field = (0..space.dim).flat_map(|c| vec![g[c]; space.nodes]);
            mass.with(space, |m| solver.product(m, &mut field.collect::<Vec<_>>()))
        });
        Ok(Self {
            corner: vec![0.0; space.zones * space.dim * e.local * e.energies],
            source: vec![0.0; space.zones * e.energies],
            inverse,
            mass,
            gravity,
            solver,
            h,
        })
    }
}

/// Stress and rate of a point: kernels 1 (adjugate, determinant, eigenvectors, singular values) and 2 (gradients of the
/// velocity, equation of state, stress), then 5 and 6 (products with the adjugate): w |J| σ J⁻ᵀ.
fn at_point(h: &Hydro, z: usize, q: usize, j: &M, grad_v: &M, energy: f64) -> (M, f64) {
    let (d, e) = (h.space.dim, &h.space.element);
    let det = determinant(j, d);
    let adj = adjugate(j, d);
    let weight = e.weights[q];
    let rho = h.mass[z * e.points() + q] / (weight * det);
    let gas = h.gas[z];
    let own = energy.max(0.0);
    let pressure = (gas.gamma - 1.0) * rho * own - gas.gamma * gas.p_inf;
    let sound = (gas.gamma * (gas.gamma - 1.0) * (own - gas.p_inf / rho))
        .max(0.0)
        .sqrt();
    let mut sigma = [[0.0; 3]; 3];
    for (c, row) in sigma.iter_mut().enumerate().take(d) {
        row[c] = -pressure;
    }
    let mut nu = 0.0;
    if h.problem.viscous() {
        let gradients = product(grad_v, &adj, d).map(|r| r.map(|x| x / det));
        let mut eps = [[0.0; 3]; 3];
        for a in 0..d {
            for b in 0..d {
                eps[a][b] = 0.5 * (gradients[a][b] + gradients[b][a]);
            }
        }
        let (mu, direction) = smallest_eigenpair(&eps, d);
        let inverse = h.inverse_at(z, q);
        let mut first = [[0.0; 3]; 3];
        for a in 0..d {
            first[a][..d].copy_from_slice(&inverse[a * d..(a + 1) * d]);
        }
        let stretch = product(j, &first, d);
        let length = |w: &[f64; 3]| w.iter().map(|x| x * x).sum::<f64>().sqrt();
        let image: [f64; 3] =
            std::array::from_fn(|a| (0..d).map(|b| stretch[a][b] * direction[b]).sum());
        let size = h.h0 * length(&image) / length(&direction);
        let mut linear = compressing(mu);
        if h.problem.vorticity() {
            let norm = gradients
                .iter()
                .flatten()
                .map(|x| x * x)
                .sum::<f64>()
                .sqrt();
            let trace = gradients[0][0] + gradients[1][1] + gradients[2][2];
            linear *= if norm > 0.0 { trace.abs() / norm } else { 1.0 };
        }
        nu = 2.0 * rho * size * size * mu.abs() + 0.5 * rho * size * sound * linear;
        for a in 0..d {
            for b in 0..d {
                sigma[a][b] += nu * eps[a][b];
            }
        }
    }
    let length = smallest_singular_value(j, d) / e.order as f64;
    let rate = sound / length + 2.5 * nu / (rho * length * length);
    let rate = if det >= 0.0 && energy.is_finite() && rate < f64::INFINITY {
        rate
    } else {
        f64::INFINITY
    };
    let mut a = [[0.0; 3]; 3];
    for c in 0..d {
        for g in 0..d {
            a[c][g] = weight * (0..d).map(|k| sigma[c][k] * adj[g][k]).sum::<f64>();
        }
    }
    (a, rate)
}

/// 1 in compression and at rest, 0 in expansion, with a smooth transition.
fn compressing(mu: f64) -> f64 {
    let y = ((mu - 1e-12) / 2e-12).clamp(0.0, 1.0);
    1.0 - (3.0 - 2.0 * y) * y * y
}

/// Energy source of the Taylor–Green vortex per unit volume and time.
fn vortex(x: &[f64]) -> f64 {
    let c = |n: f64, x: f64| (n * PI * x).cos();
    0.375 * PI * (c(3.0, x[0]) * c(1.0, x[1]) - c(1.0, x[0]) * c(3.0, x[1]))
}

impl Operator for FullAssembly {
    fn stresses(&mut self, s: &State) -> f64 {
        let (h, space, e) = (&self.h, &self.h.space, &self.h.space.element);
        let d = space.dim;
        let has_source = h.problem.source(d);
        let rates: Vec<f64> = self
            .corner
            .par_chunks_mut(d * e.local * e.energies)
            .zip(self.source.par_chunks_mut(e.energies))
            .enumerate()
            .map(|(z, (corner, source))| {
                let (x, v) = (space.gather(&s.x, z), space.gather(&s.v, z));
                let energies = &s.e[z * e.energies..(z + 1) * e.energies];
                corner.fill(0.0);
                source.fill(0.0);
                let mut most = 0.0_f64;
                for q in 0..e.points() {
                    // Kernels 3 and 4: J and the gradients of v from the gradients of the basis, energies from theirs.
                    let (j, grad_v) = (e.jacobian(&x, q), e.jacobian(&v, q));
                    let basis = e.energy_at(q);
                    let energy = basis.iter().zip(energies).map(|(b, e)| b * e).sum();
                    let (a, rate) = at_point(h, z, q, &j, &grad_v, energy);
                    most = most.max(rate);
                    // Kernel 7: a column of A_z times a row of B.
                    let gradient = &e.gradient[q * e.local * d..(q + 1) * e.local * d];
                    for (c, a) in a.iter().enumerate().take(d) {
                        for (i, w) in gradient.chunks(d).enumerate() {
                            let force: f64 = a.iter().zip(w).map(|(a, w)| a * w).sum();
                            let row = (c * e.local + i) * e.energies;
                            for (to, b) in corner[row..row + e.energies].iter_mut().zip(basis) {
                                *to += force * b;
                            }
                        }
                    }
                    if has_source {
                        let own = vortex(&e.point(&x, q)) * e.weights[q] * determinant(&j, d);
                        for (to, b) in source.iter_mut().zip(basis) {
                            *to += own * b;
                        }
                    }
                }
                most
            })
            .collect();
        rates.into_iter().fold(0.0, f64::max)
    }

    fn accelerations(&mut self, out: &mut [f64]) {
        let (space, e) = (&self.h.space, &self.h.space.element);
        // Kernel 8: −F·1, the functions of energies being 1 together.
        let own: Vec<f64> = self
            .corner
            .par_chunks(e.energies)
            .map(|row| -row.iter().sum::<f64>())
            .collect();
        let here = space.scatter(&own, space.dim);
        self.solver.right().copy_from_slice(&here);
        self.solver.begin_assembly(&Contributions {
            space,
            own: &own,
            sums: &here,
            by_zone: self.solver.is_exact(),
        });
        self.solver.finish_right();
        if let Some(g) = &self.gravity {
            for (r, g) in self.solver.right().iter_mut().zip(g) {
                *r += g;
            }
        }
        // Kernel 9: conjugate gradients.
        let solver = &mut self.solver;
        self.mass.with(space, |m| solver.solve(m, out));
    }

    fn energy_rates(&mut self, v: &[f64], out: &mut [f64]) {
        let (space, e) = (&self.h.space, &self.h.space.element);
        let n = e.energies;
        out.par_chunks_mut(n).enumerate().for_each(|(z, to)| {
            let own = space.gather(v, z);
            let size = own.len() * n;
            // Kernel 10: Fᵀ v.
            let mut right = self.source[z * n..(z + 1) * n].to_vec();
            for (row, v) in self.corner[z * size..(z + 1) * size].chunks(n).zip(&own) {
                for (r, f) in right.iter_mut().zip(row) {
                    *r += f * v;
                }
            }
            // Kernel 11: times the inverse mass matrix.
            let inverse = &self.inverse[z * n * n..(z + 1) * n * n];
            for (to, row) in to.iter_mut().zip(inverse.chunks(n)) {
                *to = row.iter().zip(&right).map(|(m, r)| m * r).sum();
            }
        });
    }

    fn energies(&mut self, s: &State) -> (f64, f64) {
        let all: Vec<(f64, f64)> = (0..self.h.space.zones)
            .into_par_iter()
            .map(|z| self.h.zone_energies(s, z))
            .collect();
        all.iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
    }

    fn iterations(&self) -> (f64, u64) {
        (self.solver.iterations, self.solver.solves)
    }
}
