//! Shock tubes: problems whose initial fields are two constant states beside a plane x = const.

use super::riemann::{Riemann, Side};
use super::solution::{Exact, Solution};
use crate::hydro::Hydro;

/// Exact solution of a shock tube, until its waves meet a wall; `None` for other problems.
pub(super) fn tube(h: &Hydro, t: f64) -> Option<Solution> {
    let (problem, jump, (from, to)) = states(h)?;
    let (first, last) = problem.outer_speeds();
    if jump + first * t < from || jump + last * t > to {
        return None;
    }
    let fields = move |x: f64| {
        // At t = 0 the jump itself.
        let away = x - jump;
        let s = if t > 0.0 {
            problem.at(away / t)
        } else if away < 0.0 {
            problem.left
        } else {
            problem.right
        };
        Exact {
            density: s.density,
            pressure: s.pressure,
            speed: s.velocity.abs(),
            energy: s.pressure / ((s.gamma - 1.0) * s.density),
        }
    };
    Some(Solution {
        shock: None,
        planar: true,
        kinks: problem.kinks().map(|s| jump + s * t).to_vec(),
        unbounded: None,
        fields: Box::new(fields),
    })
}

/// A state, and the least and greatest x of its zones.
type ZoneState = (Side, f64, f64);

/// The Riemann problem, the position of its jump, and the ends of the tube.
fn states(h: &Hydro) -> Option<(Riemann, f64, (f64, f64))> {
    let (space, e) = (&h.space, &h.space.element);
    let d = space.dim;
    let p = &h.problem;
    if p.point_energy(1.0).is_some() || p.gravity().is_some() || p.source(d) {
        return None;
    }
    let mut found: Vec<ZoneState> = Vec::new();
    let mut volume = 0.0;
    for z in 0..space.zones {
        let (gas, material) = (h.gas[z], h.material[z]);
        let start = space.gather(&space.start, z);
        let mut own: Option<Side> = None;
        for q in 0..e.points() {
            let x = e.point(&start, q);
            let density = p.density(material, &x);
            let side = Side {
                density,
                velocity: 0.0,
                pressure: (gas.gamma - 1.0) * density * p.energy(material, &x),
                gamma: gas.gamma,
            };
            let still = p.velocity(material, &x)[..d].iter().all(|v| *v == 0.0);
            if !still || gas.p_inf != 0.0 || own.is_some_and(|o| !same(&o, &side)) {
                return None;
            }
            own = Some(side);
            volume += h.mass[z * e.points() + q] / density;
        }
        let own = own?;
        let x = &start[..e.local];
        let lo = x.iter().copied().fold(f64::INFINITY, f64::min);
        let hi = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        match found.iter().position(|f| same(&f.0, &own)) {
            Some(i) => {
                let f = &mut found[i];
                (f.1, f.2) = (f.1.min(lo), f.2.max(hi));
            }
            None if found.len() < 2 => found.push((own, lo, hi)),
            None => return None,
        }
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let [left, right] = found[..] else {
        return None;
    };
    let length = right.2 - left.1;
    if left.2 > right.1 + 1e-12 * length || !boxed(h, volume) {
        return None;
    }
    Some((Riemann::new(left.0, right.0)?, left.2, (left.1, right.2)))
}

fn same(a: &Side, b: &Side) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
    near(a.density, b.density) && near(a.pressure, b.pressure) && a.gamma == b.gamma
}

/// Whether the mesh is a box whose sides do not move outwards or inwards, and nothing else is constrained.
fn boxed(h: &Hydro, volume: f64) -> bool {
    let space = &h.space;
    let mut product = 1.0;
    for (c, x) in space.start.chunks(space.nodes).enumerate() {
        let lo = x.iter().copied().fold(f64::INFINITY, f64::min);
        let hi = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        product *= hi - lo;
        let held = &space.constrained[c * space.nodes..(c + 1) * space.nodes];
        if x.iter()
            .zip(held)
            .any(|(x, held)| (*x == lo || *x == hi) != *held)
        {
            return false;
        }
    }
    space.driven.is_empty() && (volume / product - 1.0).abs() < 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::problem::Problem;
    use crate::problem::initial_state::Orders;

    fn of(problem: &str, mesh: &str) -> Hydro {
        let mesh = Mesh::open(mesh, 1).unwrap();
        Hydro::new(
            &mesh,
            Problem::of(problem).unwrap(),
            &Orders::default(),
            1.0,
        )
        .unwrap()
        .0
    }

    #[test]
    fn sod_is_found_in_every_dimension() {
        for mesh in ["segment01", "square01_quad", "square01_tri", "cube01_hex"] {
            let h = of("sod", mesh);
            let s = tube(&h, 0.2).unwrap();
            assert_eq!(s.at(&[0.01, 0.3, 0.3]).density, 1.0, "{mesh}");
            assert_eq!(s.at(&[0.99, 0.3, 0.3]).density, 0.1, "{mesh}");
            let start = tube(&h, 0.0).unwrap();
            assert_eq!(start.at(&[0.49, 0.0, 0.0]).pressure, 1.0);
            // Later its waves meet the walls.
            assert!(tube(&h, 0.6).is_none());
        }
    }

    #[test]
    fn walls_within_the_tube_or_that_hold_the_gas_at_its_sides_end_it() {
        let two = |walls: &str| -> Option<Solution> {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("p.toml");
            let text = format!(
                "[[material]]\nwhere = \"x < 0.5\"\ngamma = 1.4\ndensity = 1\npressure = 1\n\
                 [[material]]\ngamma = 1.4\ndensity = 0.1\npressure = 0.1\n{walls}"
            );
            std::fs::write(&file, text).unwrap();
            let mesh = Mesh::open("8x2", 0).unwrap();
            let problem = Problem::of(file.to_str().unwrap()).unwrap();
            tube(
                &Hydro::new(&mesh, problem, &Orders::default(), 1.0)
                    .unwrap()
                    .0,
                0.1,
            )
        };
        assert!(two("").is_some());
        assert!(two("[walls]\n2 = \"fixed\"\n").is_none());
        assert!(two("[walls]\n2 = \"free\"\n").is_none());
        let mut mesh = Mesh::open("8x2", 0).unwrap();
        // A wall across the middle of the tube.
        let middle = |v: &u32| *v != u32::MAX && mesh.vertices[*v as usize][0] == 0.25;
        let faces: Vec<_> = (0..mesh.zones())
            .map(|z| mesh.face_of(z, 3))
            .filter(|f| f.iter().filter(|v| middle(v)).count() == 2)
            .collect();
        assert_eq!(faces.len(), 2);
        for f in faces {
            mesh.boundary.insert(f, 1 | crate::mesh::INNER);
        }
        let (h, _) =
            Hydro::new(&mesh, Problem::of("sod").unwrap(), &Orders::default(), 1.0).unwrap();
        assert!(tube(&h, 0.1).is_none());
    }

    #[test]
    fn other_problems_are_no_tubes() {
        for (problem, mesh) in [
            ("triple-point", "rectangle01_quad"),
            ("taylor-green", "square01_quad"),
            ("sedov", "segment01"),
            ("noh", "square01_quad"),
            ("riemann6", "square01_quad"),
            ("saltzman", "saltzman01_quad"),
        ] {
            assert!(tube(&of(problem, mesh), 0.01).is_none(), "{problem}");
        }
    }
}
