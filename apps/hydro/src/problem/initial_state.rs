//! The initial state of a problem on a mesh: masses, Jacobians, fields.

use super::zone_at_start::{Fields, Zone, at_start, curved_volume, inverse_of};
use crate::HydroError;
use crate::engine::State;
use crate::fem::element::{Element, inner_positions};
use crate::fem::fe_space::Space;
use crate::fem::small_matrix::determinant;
use crate::hydro::Hydro;
use crate::mesh::{Bounds, FREE, Mesh, PISTON};
use crate::problem::origin::{corner_nodes, corners_at_origin, orthants};
use crate::problem::{Defaults, Gas, Problem, Standard, Wall};
use greenup_setting::setting;
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

impl Default for Orders {
    fn default() -> Self {
        let kinematic = Defaults::GENERAL.order;
        Self {
            kinematic,
            energy: kinematic - 1,
            cg_tol: 1e-12,
            cg_max: 300,
            cfl: 0.5,
        }
    }
}

/// Facts of all zones of a problem, from those of the zones here. With several ranks all call the same methods.
pub(crate) trait Facts {
    /// Number of zones.
    fn zones(&self) -> usize;

    /// Number of a zone here among all.
    fn number(&self, zone: usize) -> usize;

    /// Whether something holds for the zones of all ranks.
    fn all(&self, here: bool) -> bool;

    /// Sum of a number of each zone here over all zones, in their order.
    fn sum(&self, of_zones: &[f64]) -> f64;

    /// Number and sum of terms `(zone here, term)`, in the order of all zones.
    fn sum_of(&self, terms: &[(usize, f64)]) -> (usize, f64);
}

/// All zones are here.
struct AllHere(usize);

impl Facts for AllHere {
    fn zones(&self) -> usize {
        self.0
    }

    fn number(&self, zone: usize) -> usize {
        zone
    }

    fn all(&self, here: bool) -> bool {
        here
    }

    fn sum(&self, of_zones: &[f64]) -> f64 {
        of_zones.iter().sum()
    }

    fn sum_of(&self, terms: &[(usize, f64)]) -> (usize, f64) {
        (terms.len(), terms.iter().map(|t| t.1).sum())
    }
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
        check_boundary(!mesh.boundary.is_empty())?;
        let (mesh, space) = spaces(mesh, &mesh.bounds(), &problem, o)?;
        let facts = AllHere(space.zones);
        let zones: Vec<u32> = (0..space.zones as u32).collect();
        let values = values((&mesh, &space), &zones, &problem, &facts)?;
        drop(mesh);
        let first = |n: usize| space.shares[space.begin[n] as usize].0 as usize;
        let of_nodes = (0..space.nodes)
            .map(|n| values.material[first(n)])
            .collect();
        assembled(space, values, of_nodes, (problem, o, e0), &facts)
    }
}

/// Checks that a mesh has walls.
pub(crate) fn check_boundary(has: bool) -> Result<(), HydroError> {
    if has {
        return Ok(());
    }
    Err(HydroError::Mesh(
        "the mesh has no boundary elements with attributes 1, 2 and 3 (walls normal to x, y and z)"
            .into(),
    ))
}

/// The mesh as the problem changes it, and its spaces. `bounds` are those of the whole mesh.
pub(crate) fn spaces<'a>(
    mesh: &'a Mesh,
    bounds: &Bounds,
    problem: &Problem,
    o: &Orders,
) -> Result<(Cow<'a, Mesh>, Space), HydroError> {
    if !(1..=8).contains(&o.kinematic) || o.energy >= 8 {
        return Err(HydroError::InitialState(format!(
            "orders {} and {}: the kinematic one is 1 to 8, the other 0 to 7",
            o.kinematic, o.energy
        )));
    }
    if o.energy > 3 * o.kinematic - 1 {
        return Err(HydroError::InitialState(format!(
            "orders {} and {}: the quadrature has too few points for the energies; use an {} of at most {}",
            o.kinematic,
            o.energy,
            setting("energy_order"),
            3 * o.kinematic - 1
        )));
    }
    if let Some(user) = problem.user() {
        let fits = user.fits_dimension(mesh.dim());
        fits.map_err(|e| HydroError::Problem(e.to_string()))?;
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
            mesh.to_mut().tilt(bounds);
            walls.extend([piston()]);
        }
        Some(Standard::Noh) => {
            mesh.to_mut().open_far_sides(bounds);
            walls.insert(FREE, Wall::free());
        }
        _ => {}
    }
    let space = Space::within(&mesh, element, &walls, bounds)?;
    Ok((mesh, space))
}

/// Initial values of zones.
pub(crate) struct Values {
    gas: Vec<Gas>,
    /// Material of each zone.
    pub(crate) material: Vec<u32>,
    mass: Vec<f64>,
    prescribed_mass: Option<Vec<f64>>,
    inverse: Vec<f64>,
    affine: bool,
    volume: f64,
    e: Vec<f64>,
    notes: Vec<String>,
}

/// The initial values of some zones of a mesh.
pub(crate) fn values(
    (mesh, space): (&Mesh, &Space),
    zones: &[u32],
    problem: &Problem,
    facts: &dyn Facts,
) -> Result<Values, HydroError> {
    let points = space.element.points();
    let rewriting = space.element.rewriting();
    let inner = inner_positions(mesh.shape, space.element.energy_order);
    let numbers: Vec<usize> = (0..zones.len()).map(|z| facts.number(z)).collect();
    let (energies, dd) = (space.element.energies, space.dim * space.dim);
    let field = |n: usize| vec![0.0; zones.len() * n];
    let (mut mass, mut given) = (field(points), field(points));
    let (mut inverse, mut e) = (field(dd), field(energies));
    // Straight into the fields: of millions of zones, vectors of each would take most of the time.
    let all: Vec<Zone> = (zones.par_iter().zip(numbers))
        .zip(
            mass.par_chunks_mut(points)
                .zip(given.par_chunks_mut(points)),
        )
        .zip(inverse.par_chunks_mut(dd).zip(e.par_chunks_mut(energies)))
        .map(|(((z, number), (mass, given)), (inverse, e))| {
            at_start(
                (mesh, space),
                problem,
                (*z as usize, number),
                (&inner, &rewriting),
                Fields {
                    mass,
                    given,
                    inverse,
                    e,
                },
            )
        })
        .collect::<Result<_, _>>()?;
    let affine = facts.all(all.iter().all(|z| z.affine));
    if !affine {
        inverse = field(points * dd);
        (zones.par_iter())
            .zip(inverse.par_chunks_mut(points * dd))
            .for_each(|(z, out)| inverse_jacobians(space, *z as usize, out));
    }
    let volumes: Vec<f64> = all.iter().map(|z| z.volume).collect();
    let volume = facts.sum(&volumes);
    let mut notes = mesh.notes.clone();
    notes.extend(flattened((mesh, space), zones, volume, facts));
    let (mass, prescribed_mass) = if facts.all(all.iter().all(|z| z.same)) {
        (given, None)
    } else {
        (mass, Some(given))
    };
    Ok(Values {
        gas: all.iter().map(|z| z.gas).collect(),
        material: all.iter().map(|z| z.material).collect(),
        mass,
        prescribed_mass,
        inverse,
        affine,
        volume,
        e,
        notes,
    })
}

/// What a mesh of higher order than the run loses; `volume` is that of its zones in the run.
fn flattened(
    (mesh, space): (&Mesh, &Space),
    zones: &[u32],
    volume: f64,
    facts: &dyn Facts,
) -> Option<String> {
    let (of_mesh, order) = (mesh.curved.as_ref()?.order, space.element.order);
    if of_mesh <= order {
        return None;
    }
    let element = Element::new(mesh.shape, of_mesh, 0);
    let exact: Vec<f64> = (zones.par_iter())
        .map(|z| curved_volume(mesh, &element, *z as usize).0)
        .collect();
    let exact = facts.sum(&exact);
    let what = ["length", "area", "volume"][space.dim - 1];
    let lost = 100.0 * (1.0 - volume / exact);
    (lost.abs() > 1e-10).then(|| {
        let verb = if lost > 0.0 { "loses" } else { "gains" };
        format!(
            "the mesh has order {of_mesh}, and {} flattens its zones: it {verb} {:.2e} % of its {what}. Fix: use {}",
            setting("order").to(order),
            lost.abs(),
            setting("order").to(of_mesh)
        )
    })
}

/// Inverse Jacobians of all points of a zone at the start, `[point][dim][dim]`.
fn inverse_jacobians(space: &Space, z: usize, out: &mut [f64]) {
    let dim = space.dim;
    let x = space.gather(&space.start, z);
    for (q, out) in out.chunks_mut(dim * dim).enumerate() {
        let j = space.element.jacobian(&x, q);
        inverse_of(&j, determinant(&j, dim), dim, out);
    }
}

/// The problem of the zones here, and its initial state. `of_nodes` is the material of the first zone of each node.
pub(crate) fn assembled(
    space: Space,
    values: Values,
    of_nodes: Vec<u32>,
    (problem, o, e0): (Problem, &Orders, f64),
    facts: &dyn Facts,
) -> Result<(Hydro, State), HydroError> {
    let dim = space.dim;
    let mut e = values.e;
    if let Some(e0) = problem.point_energy(e0) {
        let mass = values.prescribed_mass.as_deref().unwrap_or(&values.mass);
        point_energy(&space, mass, e0, &mut e, facts)?;
    }
    let mut v = vec![0.0; dim * space.nodes];
    for (n, material) in of_nodes.into_iter().enumerate() {
        let x: Vec<f64> = (0..dim).map(|c| space.start[c * space.nodes + n]).collect();
        let own = problem.velocity(material, &x);
        if let Some(c) = (dim..3).find(|c| own[*c].abs() > 0.0) {
            return Err(HydroError::InitialState(format!(
                "the velocity of material {} at {x:?} is {} along {}, which a mesh of {dim} dimensions does not have",
                material + 1,
                own[c],
                ["x", "y", "z"][c]
            )));
        }
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
    let at =
        |n: usize| -> Vec<f64> { (0..dim).map(|c| space.start[c * space.nodes + n]).collect() };
    if let Some(i) = state.v.iter().position(|x| !x.is_finite()) {
        return Err(HydroError::InitialState(format!(
            "the velocity at {:?} at the start is {}: an expression has no value there",
            at(i % space.nodes),
            state.v[i]
        )));
    }
    if let Some(i) = state.e.iter().position(|x| !x.is_finite()) {
        return Err(HydroError::InitialState(format!(
            "the energy of zone {} at the start is {}: an expression has no value there",
            facts.number(i / space.element.energies),
            state.e[i]
        )));
    }
    let shape = space.element.shape;
    let h0 = shape.length(values.volume / facts.zones() as f64) / o.kinematic as f64;
    let gravity = problem.gravity();
    let hydro = Hydro {
        space,
        problem,
        cfl: o.cfl,
        cg_tol: o.cg_tol,
        cg_max: o.cg_max,
        gas: values.gas,
        material: values.material,
        mass: values.mass,
        prescribed_mass: values.prescribed_mass,
        inverse: values.inverse,
        affine: values.affine,
        h0,
        gravity,
        notes: values.notes,
        first_mass: Vec::new(),
        whole_diagonal: None,
    };
    Ok((hydro, state))
}

/// The left wall of the Saltzman problem, which moves at speed 1.
fn piston() -> (u32, Wall) {
    let wall = Wall {
        constrained: [Some(1.0), None, None],
        straight: false,
    };
    (PISTON, wall)
}

/// Adds the energy of a point source to the corners at the origin: the share of it that belongs to the space that the mesh
/// covers there. `mass` is that of the points.
fn point_energy(
    space: &Space,
    mass: &[f64],
    e0: f64,
    e: &mut [f64],
    facts: &dyn Facts,
) -> Result<(), HydroError> {
    let (d, el) = (space.dim, &space.element);
    let energies = corner_nodes(el.shape, el.energy_order);
    let mut found = Vec::new();
    let (mut terms, mut shares) = (Vec::new(), Vec::new());
    for at in corners_at_origin(space) {
        let (z, corner) = (at.zone, at.corner);
        let j = energies.iter().find(|e| e.0 == corner).map_or(0, |e| e.1);
        let term = (0..el.points())
            .map(|q| mass[z * el.points() + q] * el.energy_at(q)[j])
            .sum::<f64>();
        terms.push((z, term));
        shares.push((z, at.share));
        found.push(z * el.energies + j);
    }
    let (count, integral) = facts.sum_of(&terms);
    let (_, share) = facts.sum_of(&shares);
    if count == 0 {
        return Err(HydroError::InitialState(
            "the energy of a point is put at the origin, where this mesh has no corner".into(),
        ));
    }
    let covered = orthants(d, share);
    if covered.is_nan() || covered <= 0.0 {
        return Err(HydroError::InitialState(
            "the energy of a point is put at the origin, where the zones of this mesh have no angle".into(),
        ));
    }
    for i in found {
        e[i] += e0 * covered / f64::from(1 << d) / integral;
    }
    Ok(())
}
