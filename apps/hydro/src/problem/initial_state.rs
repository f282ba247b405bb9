//! The initial state of a problem on a mesh: masses, Jacobians, fields.

use crate::HydroError;
use crate::engine::State;
use crate::fem::element::{Element, inner_positions};
use crate::fem::fe_space::Space;
use crate::fem::node_lattice::{entity, integer_positions};
use crate::fem::small_matrix::{adjugate, determinant};
use crate::hydro::Hydro;
use crate::mesh::{FREE, Mesh, PISTON};
use crate::problem::{Gas, Problem, Standard, Wall};
use rayon::prelude::*;
use std::borrow::Cow;

/// Orders of the finite-element spaces, and parameters of the solver.
#[derive(Clone, Copy, Debug)]
pub struct Orders {
    /// Kinematic order (positions and velocities), 1 to 8.
    pub kinematic: usize,
    /// Order of the energies, 0 to 7.
    pub energy: usize,
    /// Relative tolerance of the CG solves.
    pub cg_tol: f64,
    /// Maximum number of CG iterations.
    pub cg_max: usize,
    /// CFL number.
    pub cfl: f64,
}

/// Initial values of a zone.
struct Zone {
    gas: Gas,
    material: u32,
    e: Vec<f64>,
    mass: Vec<f64>,
    given: Vec<f64>,
    inverse: Vec<f64>,
    affine: bool,
    volume: f64,
}

impl Hydro {
    /// Discretises a problem on a mesh; returns it with its initial state. `e0` is the energy of the Sedov problem.
    ///
    /// # Errors
    /// Orders are out of range, the problem does not exist in this dimension, a zone is inverted, or a density is not
    /// positive.
    pub fn new(
        mesh: &Mesh,
        problem: Problem,
        o: &Orders,
        e0: f64,
    ) -> Result<(Self, State), HydroError> {
        if !(1..=8).contains(&o.kinematic) || o.energy >= 8 {
            return Err(HydroError::InitialState(format!(
                "orders {} and {}: the kinematic one is 1 to 8, the other 0 to 7",
                o.kinematic, o.energy
            )));
        }
        if o.energy > 3 * o.kinematic - 1 {
            return Err(HydroError::InitialState(format!(
                "orders {} and {}: the quadrature has too few points for the energies; use an --energy-order of at most {}",
                o.kinematic,
                o.energy,
                3 * o.kinematic - 1
            )));
        }
        let standard = problem.standard();
        if mesh.dim() == 1 && standard == Some(Standard::RayleighTaylor) {
            return Err(HydroError::InitialState(
                "problem 7 needs two dimensions".into(),
            ));
        }
        let element = Element::new(mesh.shape, o.kinematic, o.energy);
        let mut walls = problem.walls();
        let mut mesh = Cow::Borrowed(mesh);
        match standard {
            Some(Standard::Saltzman) => {
                mesh.to_mut().tilt();
                walls.extend([piston()]);
            }
            Some(Standard::Noh) => {
                mesh.to_mut().open_far_sides();
                walls.insert(FREE, Wall::free());
            }
            _ => {}
        }
        let mesh = &*mesh;
        let space = Space::new(mesh, element, &walls)?;
        let (dim, zones, points) = (space.dim, space.zones, space.element.points());
        let rewriting = space.element.rewriting();
        let inner = inner_positions(mesh.shape, o.energy);
        let all: Vec<Zone> = (0..zones)
            .into_par_iter()
            .map(|z| at_start(mesh, &space, &problem, z, (&inner, &rewriting)))
            .collect::<Result<_, _>>()?;
        let affine = all.iter().all(|z| z.affine);
        let volume: f64 = all.iter().map(|z| z.volume).sum();
        let same = all.iter().all(|z| {
            z.mass
                .iter()
                .zip(&z.given)
                .all(|(a, b)| (a - b).abs() <= 1e-13 * b.abs())
        });
        let pick = |f: fn(&Zone) -> &[f64], n: usize| -> Vec<f64> {
            let mut out = Vec::with_capacity(zones * n);
            for z in &all {
                out.extend_from_slice(&f(z)[..n]);
            }
            out
        };
        let mass = pick(|z| &z.given, points);
        let (mass, given) = if same {
            (mass, None)
        } else {
            (pick(|z| &z.mass, points), Some(mass))
        };
        let dd = dim * dim;
        let inverse = pick(|z| &z.inverse, if affine { dd } else { points * dd });
        let mut e = pick(|z| &z.e, space.element.energies);
        let gas = all.iter().map(|z| z.gas).collect();
        let material: Vec<u32> = all.iter().map(|z| z.material).collect();
        drop(all);
        if let Some(e0) = problem.point_energy(e0) {
            point_energy(&space, given.as_deref().unwrap_or(&mass), e0, &mut e)?;
        }
        let mut v = vec![0.0; dim * space.nodes];
        for n in 0..space.nodes {
            let x: Vec<f64> = (0..dim).map(|c| space.start[c * space.nodes + n]).collect();
            let first = space.shares[space.begin[n] as usize].0;
            let own = problem.velocity(material[first as usize], &x);
            for (c, own) in own.iter().enumerate().take(dim) {
                let i = c * space.nodes + n;
                v[i] = if space.constrained[i] { 0.0 } else { *own };
            }
        }
        for (i, velocity) in &space.driven {
            v[*i as usize] = *velocity;
        }
        let state = State {
            x: space.start.clone(),
            v,
            e,
        };
        if let Some(i) = [&state.v, &state.e]
            .iter()
            .flat_map(|f| f.iter())
            .position(|x| !x.is_finite())
        {
            return Err(HydroError::InitialState(format!(
                "number {i} of the velocities and energies at the start is not finite: an expression has no value there"
            )));
        }
        let h0 = mesh.shape.length(volume / zones as f64) / o.kinematic as f64;
        let gravity = problem.gravity();
        let hydro = Self {
            space,
            problem,
            cfl: o.cfl,
            cg_tol: o.cg_tol,
            cg_max: o.cg_max,
            gas,
            material,
            mass,
            prescribed_mass: given,
            inverse,
            affine,
            h0,
            gravity,
            first_mass: Vec::new(),
            whole_diagonal: None,
        };
        Ok((hydro, state))
    }
}

/// The left wall of the Saltzman problem, which moves at speed 1.
fn piston() -> (u32, Wall) {
    let wall = Wall {
        constrained: [Some(1.0), None, None],
        straight: false,
    };
    (PISTON, wall)
}

fn at_start(
    mesh: &Mesh,
    space: &Space,
    problem: &Problem,
    z: usize,
    (inner, rewriting): (&[Vec<f64>], &nalgebra::DMatrix<f64>),
) -> Result<Zone, HydroError> {
    let (el, dim) = (&space.element, space.dim);
    let points = el.points();
    let x = space.gather(&space.start, z);
    let position = |at: &[f64]| mesh.map(z, at)[..dim].to_vec();
    let center = if mesh.shape.tensor() {
        vec![0.5; dim]
    } else {
        vec![1.0 / (dim + 1) as f64; dim]
    };
    let centre = position(&center);
    let material = problem
        .user()
        .map_or(mesh.material[z], |u| u.material(mesh.material[z], &centre));
    let inner: Vec<Vec<f64>> = inner.iter().map(|at| position(at)).collect();
    let bernstein_of = |f: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
        let values = nalgebra::DVector::from_iterator(inner.len(), inner.iter().map(|x| f(x)));
        (rewriting * values).iter().copied().collect()
    };
    let rho = bernstein_of(&|x| problem.density(material, x));
    let mut out = Zone {
        gas: problem.gas(material, &centre),
        material,
        e: bernstein_of(&|x| problem.energy(material, x)),
        mass: Vec::with_capacity(points),
        given: Vec::with_capacity(points),
        inverse: Vec::with_capacity(points * dim * dim),
        affine: true,
        volume: 0.0,
    };
    for q in 0..points {
        let j = el.jacobian(&x, q);
        let det = determinant(&j, dim);
        if det == f64::INFINITY {
            return Err(HydroError::InitialState(format!(
                "zone {z} is too large: its volume is not finite; scale the mesh"
            )));
        }
        if det.is_nan() || det <= 0.0 {
            return Err(HydroError::InitialState(format!(
                "zone {z} is inverted at {:?}: its corners are in a wrong order, or it is folded",
                el.point(&x, q)
            )));
        }
        let volume = det * el.weights[q];
        let own = el
            .energy_at(q)
            .iter()
            .zip(&rho)
            .map(|(b, r)| b * r)
            .sum::<f64>();
        let at = el.point(&x, q);
        let given = problem.density(material, &at);
        if own.min(given) <= 0.0 || own.is_nan() || given.is_nan() {
            return Err(HydroError::InitialState(format!(
                "the density jumps within zone {z}, or is not above 0, at {at:?}: refine the mesh until faces lie where it jumps"
            )));
        }
        out.mass.push(volume * own);
        out.given.push(volume * given);
        out.volume += volume;
        let inverse = adjugate(&j, dim);
        for row in inverse.iter().take(dim) {
            out.inverse.extend(row.iter().take(dim).map(|a| a / det));
        }
        if q > 0 && out.affine {
            let dd = dim * dim;
            let (first, own) = (&out.inverse[..dd], &out.inverse[q * dd..]);
            let size = first.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
            out.affine = first
                .iter()
                .zip(own)
                .all(|(a, b)| (a - b).abs() <= 1e-12 * size);
        }
    }
    Ok(out)
}

/// Puts the energy of a point source into the corners at the origin; the mesh covers one of its 2^dim orthants.
fn point_energy(space: &Space, volume: &[f64], e0: f64, e: &mut [f64]) -> Result<(), HydroError> {
    let (d, el) = (space.dim, &space.element);
    let corner = |k: usize| -> Vec<(usize, usize)> {
        integer_positions(el.shape, k.max(1))
            .iter()
            .enumerate()
            .filter_map(|(i, at)| match entity(el.shape, k.max(1), at)[..] {
                [c] => Some((c, if k == 0 { 0 } else { i })),
                _ => None,
            })
            .collect()
    };
    let (nodes, energies) = (corner(el.order), corner(el.energy_order));
    let mut found = Vec::new();
    let mut integral = 0.0;
    for z in 0..space.zones {
        for (c, i) in &nodes {
            let node = space.zone(z)[*i] as usize;
            if (0..d).all(|c| space.start[c * space.nodes + node].abs() < 1e-12) {
                let j = energies.iter().find(|e| e.0 == *c).map_or(0, |e| e.1);
                // ρ is 1 all over.
                integral += (0..el.points())
                    .map(|q| volume[z * el.points() + q] * el.energy_at(q)[j])
                    .sum::<f64>();
                found.push(z * el.energies + j);
            }
        }
    }
    if found.is_empty() {
        return Err(HydroError::InitialState(
            "the energy of a point is put at the origin, where this mesh has no corner".into(),
        ));
    }
    for i in found {
        e[i] = e0 / f64::from(1 << d) / integral;
    }
    Ok(())
}
