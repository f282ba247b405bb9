//! Zones around the origin: how much of the space there a mesh covers.

use crate::fem::element::{Shape, nodal};
use crate::fem::fe_space::Space;
use crate::fem::node_lattice::{entity, integer_positions};
use crate::fem::small_matrix::{M, determinant};
use std::f64::consts::PI;

/// Shares within this of a whole number of orthants are that number.
const WHOLE: f64 = 1e-6;

/// A corner of a zone at the origin.
pub(crate) struct AtOrigin {
    /// The zone.
    pub zone: usize,
    /// The corner.
    pub corner: usize,
    /// Share of the space around the origin that it covers, 0 to 1.
    pub share: f64,
}

/// Number in a zone of the node at each corner, `(corner, node)`; of order 0 there is one node for all.
pub(crate) fn corner_nodes(shape: Shape, order: usize) -> Vec<(usize, usize)> {
    let k = order.max(1);
    (integer_positions(shape, k).iter().enumerate())
        .filter_map(|(i, at)| match entity(shape, k, at)[..] {
            [c] => Some((c, if order == 0 { 0 } else { i })),
            _ => None,
        })
        .collect()
}

/// The corners of zones at the origin, in the order of the zones.
pub(crate) fn corners_at_origin(space: &Space) -> Vec<AtOrigin> {
    let nodes = corner_nodes(space.element.shape, space.element.order);
    let is_at_origin =
        |node: usize| (0..space.dim).all(|c| space.start[c * space.nodes + node].abs() < 1e-12);
    let mut out = Vec::new();
    for zone in 0..space.zones {
        for (corner, i) in &nodes {
            if is_at_origin(space.zone(zone)[*i] as usize) {
                out.push(AtOrigin {
                    zone,
                    corner: *corner,
                    share: share(space, zone, *corner),
                });
            }
        }
    }
    out
}

/// Number of orthants that shares of the space cover together.
pub(crate) fn orthants(dim: usize, share: f64) -> f64 {
    let number = f64::from(1_u32 << dim) * share;
    let whole = number.round();
    if (number - whole).abs() < WHOLE {
        whole
    } else {
        number
    }
}

/// Angle of a zone at a corner over that of the whole space, from the tangents of its edges.
fn share(space: &Space, zone: usize, corner: usize) -> f64 {
    let (el, dim) = (&space.element, space.dim);
    let (shape, at) = (el.shape, el.shape.corner(corner));
    let (_, gradient) = nodal(shape, el.order, &at);
    let x = space.gather(&space.start, zone);
    let mut j: M = [[0.0; 3]; 3];
    for (i, w) in gradient.chunks(dim).enumerate() {
        for (c, row) in j.iter_mut().enumerate().take(dim) {
            for (to, w) in row.iter_mut().zip(w) {
                *to += x[c * el.local + i] * w;
            }
        }
    }
    let tangents: Vec<[f64; 3]> = (0..shape.corners())
        .filter(|o| {
            if shape.tensor() {
                (o ^ corner).is_power_of_two()
            } else {
                *o != corner
            }
        })
        .map(|o| {
            let end = shape.corner(o);
            std::array::from_fn(|c| (0..dim).map(|g| j[c][g] * (end[g] - at[g])).sum())
        })
        .collect();
    let dot = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|c| a[c] * b[c]).sum::<f64>();
    let mut t: M = [[0.0; 3]; 3];
    for (row, tangent) in t.iter_mut().zip(&tangents) {
        *row = *tangent;
    }
    let size = determinant(&t, dim).abs().copysign(determinant(&j, dim));
    let (angle, whole) = match &tangents[..] {
        [a, b] => (size.atan2(dot(a, b)), 2.0 * PI),
        [a, b, c] => {
            // Van Oosterom and Strackee (1983), equation 8.
            let [la, lb, lc] = [a, b, c].map(|t| dot(t, t).sqrt());
            let below = la * lb * lc + dot(a, b) * lc + dot(a, c) * lb + dot(b, c) * la;
            (2.0 * size.atan2(below), 4.0 * PI)
        }
        _ => return 0.5,
    };
    if angle < 0.0 {
        1.0 + angle / whole
    } else {
        angle / whole
    }
}

#[cfg(test)]
mod tests {
    use crate::hydro::Hydro;
    use crate::mesh::Mesh;
    use crate::problem::initial_state::Orders;
    use crate::problem::{Problem, Standard};

    /// Total energy of the Sedov problem at the start.
    fn energy(mesh: &Mesh, orders: &Orders) -> f64 {
        energy_of(Standard::Sedov.into(), mesh, orders)
    }

    fn energy_of(problem: Problem, mesh: &Mesh, orders: &Orders) -> f64 {
        let (h, state) = Hydro::new(mesh, problem, orders, 1.0).unwrap();
        (0..h.space.zones)
            .map(|z| h.zone_energies(&state, z).0)
            .sum()
    }

    #[test]
    fn the_energy_of_a_point_is_that_of_the_space_around_it() {
        let (half, both) = (vec![0.0, 0.5, 1.0], vec![-1.0, -0.5, 0.0, 0.5, 1.0]);
        for (faces, want) in [
            (vec![&half], 0.5),
            (vec![&both], 1.0),
            (vec![&half, &half], 0.25),
            (vec![&both, &half], 0.5),
            (vec![&both, &both], 1.0),
            (vec![&half, &half, &half], 0.125),
            (vec![&half, &both, &half], 0.25),
            (vec![&both, &both, &half], 0.5),
            (vec![&both, &both, &both], 1.0),
        ] {
            let faces: Vec<Vec<f64>> = faces.into_iter().cloned().collect();
            let mesh = Mesh::of_box(&faces);
            for (kinematic, energies) in [(1, 0), (2, 1)] {
                let orders = Orders {
                    kinematic,
                    energy: energies,
                    ..Orders::default()
                };
                let got = energy(&mesh, &orders);
                assert!((got - want).abs() < 1e-13, "{faces:?}: {got}");
            }
        }
    }

    #[test]
    fn skewed_zones_and_simplices_cover_what_their_angles_say() {
        let both = vec![-1.0, -0.5, 0.0, 0.5, 1.0];
        let mut mesh = Mesh::of_box(&[both.clone(), both.clone()]);
        for x in &mut mesh.vertices {
            let inside = (1.0 - x[0] * x[0]) * (1.0 - x[1] * x[1]);
            // The origin stays.
            x[0] += 0.3 * inside * x[1];
            x[1] += 0.2 * inside * x[0] * x[0];
        }
        let got = energy(&mesh, &Orders::default());
        assert!((got - 1.0).abs() < 1e-13, "{got}");
        let triangles = Mesh::open("square01_tri", 1).unwrap();
        let got = energy(&triangles, &Orders::default());
        assert!((got - 0.25).abs() < 1e-13, "{got}");
        let tets = include_str!("../../tests/data/cube_tet.mesh");
        let got = energy(
            &Mesh::parse("cube_tet.mesh", tets).unwrap(),
            &Orders::default(),
        );
        assert!((got - 0.125).abs() < 1e-13, "{got}");
    }

    #[test]
    fn the_energy_of_a_point_adds_to_the_gas_there() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("p.toml");
        for (mesh, orthants) in [("4", 2.0), ("4x4", 4.0), ("2x2x2", 8.0)] {
            for (source, density) in [(0.0, 1), (4.0, 1), (4.0, 3)] {
                let text = format!(
                    "point_energy = {source}\n[[material]]\ngamma = 1.4\ndensity = {density}\npressure = 1\n"
                );
                std::fs::write(&file, text).unwrap();
                let problem = Problem::of(file.to_str().unwrap()).unwrap();
                let got = energy_of(problem, &Mesh::open(mesh, 0).unwrap(), &Orders::default());
                // p / (γ − 1) over a unit box.
                let want = 2.5 + source / orthants;
                assert!((got - want).abs() < 1e-12, "{mesh} {source}: {got} {want}");
            }
        }
    }
}
