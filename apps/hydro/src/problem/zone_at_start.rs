//! Values of a zone at the start: masses, inverse Jacobians, energies, material.

use crate::HydroError;
use crate::fem::element::Element;
use crate::fem::fe_space::Space;
use crate::fem::small_matrix::{M, adjugate, determinant};
use crate::mesh::Mesh;
use crate::problem::{Gas, Problem};
use greenup_setting::setting;

/// Initial values of a zone.
pub(super) struct Zone {
    pub gas: Gas,
    pub material: u32,
    pub affine: bool,
    pub same: bool,
    pub volume: f64,
}

/// Where the fields of a zone go.
pub(super) struct Fields<'a> {
    pub mass: &'a mut [f64],
    pub given: &'a mut [f64],
    /// The inverse Jacobian of the first point.
    pub inverse: &'a mut [f64],
    pub e: &'a mut [f64],
}

pub(super) fn inverse_of(j: &M, det: f64, dim: usize, out: &mut [f64]) {
    for (out, row) in out.chunks_mut(dim).zip(&adjugate(j, dim)) {
        for (out, a) in out.iter_mut().zip(row) {
            *out = a / det;
        }
    }
}

/// Material of a zone, whose centre an expression may ask for.
pub(crate) fn material(mesh: &Mesh, problem: &Problem, z: usize) -> u32 {
    problem.user().map_or(mesh.material[z], |u| {
        u.material(mesh.material[z], &centre(mesh, z))
    })
}

fn centre(mesh: &Mesh, z: usize) -> Vec<f64> {
    let dim = mesh.dim();
    let at = if mesh.shape.tensor() {
        vec![0.5; dim]
    } else {
        vec![1.0 / (dim + 1) as f64; dim]
    };
    mesh.map(z, &at)[..dim].to_vec()
}

pub(super) fn at_start(
    (mesh, space): (&Mesh, &Space),
    problem: &Problem,
    (z, number): (usize, usize),
    (inner, rewriting): (&[Vec<f64>], &nalgebra::DMatrix<f64>),
    to: Fields,
) -> Result<Zone, HydroError> {
    let (el, dim) = (&space.element, space.dim);
    let points = el.points();
    let x = space.gather(&space.start, z);
    let position = |at: &[f64]| mesh.map(z, at)[..dim].to_vec();
    if let Some(user) = problem.user() {
        let fits = user.fits(mesh.material[z], &centre(mesh, z));
        fits.map_err(|e| HydroError::InitialState(format!("zone {number}: {e}")))?;
    }
    let material = material(mesh, problem, z);
    let inner: Vec<Vec<f64>> = inner.iter().map(|at| position(at)).collect();
    let bernstein_of = |f: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
        let values = nalgebra::DVector::from_iterator(inner.len(), inner.iter().map(|x| f(x)));
        (rewriting * values).iter().copied().collect()
    };
    if let Some(user) = problem.user() {
        for x in &inner {
            let e = problem.energy(material, x);
            // Densities are checked below.
            let has_density = problem.density(material, x) > 0.0;
            if has_density && !(e >= 0.0 && e.is_finite()) {
                let energy = ("specific internal energy", e);
                let (key, value) = user.not_finite(material, x).unwrap_or(energy);
                let why = match value {
                    v if v.is_nan() => "an expression has no value there",
                    v if v.is_infinite() => "it must be finite",
                    _ => "it must be 0 or more, as must be pressure + gamma p_inf",
                };
                return Err(HydroError::InitialState(format!(
                    "the {key} of material {} in zone {number} at {x:?} is {value}: {why}",
                    material + 1
                )));
            }
        }
    }
    let rho = bernstein_of(&|x| problem.density(material, x));
    to.e.copy_from_slice(&bernstein_of(&|x| problem.energy(material, x)));
    let mut out = Zone {
        gas: problem.gas(material, &centre(mesh, z)),
        material,
        affine: true,
        same: true,
        volume: 0.0,
    };
    let mut own_inverse = [0.0; 9];
    let own_inverse = &mut own_inverse[..dim * dim];
    for q in 0..points {
        let j = el.jacobian(&x, q);
        let det = determinant(&j, dim);
        if det == f64::INFINITY {
            return Err(HydroError::InitialState(format!(
                "zone {number} is too large: its volume is not finite; scale the mesh"
            )));
        }
        if det.is_nan() || det <= 0.0 {
            let curved = mesh.curved.as_ref().filter(|c| c.order > el.order);
            let of_mesh = curved.map(|c| Element::new(mesh.shape, c.order, 0));
            let why = match of_mesh.filter(|e| curved_volume(mesh, e, z).1 > 0.0) {
                Some(e) => format!(
                    "{} flattens it, as the mesh has order {}. Fix: use {}",
                    setting("order").to(el.order),
                    e.order,
                    setting("order").to(e.order)
                ),
                None => "its corners are in a wrong order, or it is folded".to_owned(),
            };
            return Err(HydroError::InitialState(format!(
                "zone {number} is inverted at {:?}: {why}",
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
            return Err(HydroError::InitialState(match given {
                x if x.is_nan() || own.is_nan() => {
                    format!("the density of zone {number} has no value at {at:?}")
                }
                x if x <= 0.0 => {
                    format!("the density of zone {number} is {x}, not above 0, at {at:?}")
                }
                _ => format!(
                    "the density jumps within zone {number}, at {at:?}: refine the mesh until faces lie where it jumps"
                ),
            }));
        }
        let (own, given) = (volume * own, volume * given);
        (to.mass[q], to.given[q]) = (own, given);
        out.same &= (own - given).abs() <= 1e-13 * given.abs();
        out.volume += volume;
        if q == 0 {
            inverse_of(&j, det, dim, to.inverse);
        } else if out.affine {
            inverse_of(&j, det, dim, own_inverse);
            let size = to.inverse.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
            out.affine = (to.inverse.iter())
                .zip(&*own_inverse)
                .all(|(a, b)| (a - b).abs() <= 1e-12 * size);
        }
    }
    Ok(out)
}

/// Volume of a curved zone in its own order, and the least determinant of its Jacobian.
pub(super) fn curved_volume(mesh: &Mesh, of_mesh: &Element, z: usize) -> (f64, f64) {
    let Some(curved) = &mesh.curved else {
        return (0.0, f64::NAN);
    };
    let n = mesh.dim() * of_mesh.local;
    let own = &curved.points[z * n..(z + 1) * n];
    let dets = (0..of_mesh.points()).map(|q| determinant(&of_mesh.jacobian(own, q), mesh.dim()));
    (dets.zip(&of_mesh.weights)).fold((0.0, f64::INFINITY), |(sum, least), (det, w)| {
        (sum + det * w, least.min(det))
    })
}
