//! Drawings of plane meshes: zones with their degrees of freedom, the parts of ranks, the nodes that ranks share.

use crate::HydroError;
use crate::engine::State;
use crate::fem::element::{Shape, inner_positions, nodal};
use crate::hydro::Hydro;
use crate::mesh::Mesh;
use crate::part::Partition;
use greenup_report::mesh_figure::{MeshFigure, MeshNodes, MeshPanel, MeshZone, Places};
use greenup_setting::setting;
use std::sync::Arc;

/// Points on each side of a curved zone.
const SIDE: usize = 24;

fn round(x: f64) -> f64 {
    (x * 1e5).round() / 1e5
}

/// The position of a reference position in each zone.
fn placed(h: &Hydro, s: &State, z: usize, at: &[Vec<f64>]) -> Places {
    let e = &h.space.element;
    let own = h.space.gather(&s.x, z);
    at.iter()
        .map(|at| {
            let weights = nodal(e.shape, e.order, at).0;
            let mut c = own.chunks(e.local).map(|f| {
                let x: f64 = f.iter().zip(&weights).map(|(f, w)| f * w).sum();
                round(x)
            });
            (c.next().unwrap_or(0.0), c.next().unwrap_or(0.0))
        })
        .collect()
}

/// Reference positions around a plane zone.
fn around(shape: Shape, parts: usize) -> Vec<Vec<f64>> {
    let corners: &[[f64; 2]] = match shape {
        Shape::Triangle => &[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
        _ => &[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
    };
    let side = |k: usize| {
        let (a, b) = (corners[k], corners[(k + 1) % corners.len()]);
        (0..parts).map(move |i| {
            let t = i as f64 / parts as f64;
            vec![a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]
        })
    };
    (0..corners.len()).flat_map(side).collect()
}

fn outlines(h: &Hydro, s: &State, side: usize) -> Vec<Places> {
    let at = around(h.space.element.shape, side);
    (0..h.space.zones).map(|z| placed(h, s, z, &at)).collect()
}

fn node(h: &Hydro, s: &State, n: usize) -> (f64, f64) {
    (round(s.x[n]), round(s.x[h.space.nodes + n]))
}

/// A plane mesh is needed.
///
/// # Errors
/// The mesh has another dimension.
pub fn plane(mesh: &Mesh) -> Result<(), HydroError> {
    match mesh.dim() {
        2 => Ok(()),
        d => Err(HydroError::Output(format!(
            "a mesh is drawn in 2D, and this one has {d} dimensions. Fix: name a mesh such as square01_quad or 8x8"
        ))),
    }
}

/// Zones with the degrees of freedom of both spaces, a panel for each state of a moved mesh.
pub fn degrees_of_freedom(title: &str, states: &[(Arc<Hydro>, State)]) -> MeshFigure {
    let panels = states.iter().map(|(h, s)| {
        let e = &h.space.element;
        let side = if e.order == 1 { 1 } else { SIDE };
        let zones = outlines(h, s, side).into_iter().map(|outline| MeshZone {
            outline,
            group: None,
        });
        let inner = inner_positions(e.shape, e.energy_order);
        let energies = (0..h.space.zones).flat_map(|z| placed(h, s, z, &inner));
        MeshPanel {
            title: format!("Q{}Q{}", e.order, e.energy_order),
            zones: zones.collect(),
            nodes: vec![
                MeshNodes {
                    group: 0,
                    size: 7.0,
                    at: (0..h.space.nodes).map(|n| node(h, s, n)).collect(),
                },
                MeshNodes {
                    group: 1,
                    size: 5.0,
                    at: energies.collect(),
                },
            ],
        }
    });
    MeshFigure {
        title: title.to_owned(),
        groups: vec![
            "positions and velocities (continuous)".into(),
            "energies (of a zone)".into(),
        ],
        of_nodes: true,
        panels: panels.collect(),
    }
}

/// The parts of ranks, a panel for each number of refinements.
///
/// # Errors
/// There are fewer zones than ranks.
pub fn parts(meshes: &[(usize, Mesh)], n: usize) -> Result<MeshFigure, HydroError> {
    let mut panels = Vec::new();
    for (refine, mesh) in meshes {
        plane(mesh)?;
        let cut = Partition::new(mesh, n)?;
        let at = around(mesh.shape, if mesh.curved.is_some() { SIDE } else { 1 });
        let zones = (0..mesh.zones()).map(|z| MeshZone {
            outline: (at.iter())
                .map(|at| mesh.map(z, at))
                .map(|x| (round(x[0]), round(x[1])))
                .collect(),
            group: Some(cut.rank_of[z] as usize),
        });
        let zones: Vec<MeshZone> = zones.collect();
        panels.push(MeshPanel {
            title: match refine {
                0 => format!("{} zones", zones.len()),
                n => format!("refined {n} ×: {} zones", zones.len()),
            },
            zones,
            nodes: Vec::new(),
        });
    }
    Ok(MeshFigure {
        title: format!("Zones of {n} ranks"),
        groups: (0..n).map(|r| format!("rank {r}")).collect(),
        of_nodes: false,
        panels,
    })
}

/// Zones and nodes of a rank; the nodes that it shares with others; and the sets of ranks that share nodes.
///
/// # Errors
/// There is no such rank, or there are fewer zones than ranks.
pub fn shared(
    mesh: &Mesh,
    (h, s): (&Hydro, &State),
    (n, rank): (usize, usize),
) -> Result<MeshFigure, HydroError> {
    plane(mesh)?;
    if rank >= n {
        return Err(HydroError::Setting(format!(
            "{}: there are {n} ranks, counted from 0",
            setting("rank").to(rank)
        )));
    }
    let cut = Partition::new(mesh, n)?;
    // Sides of a mesh that has not moved are straight.
    let lines = outlines(h, s, if mesh.curved.is_some() { SIDE } else { 1 });
    let zones = |coloured: bool| -> Vec<MeshZone> {
        (lines.iter().zip(&cut.rank_of))
            .map(|(outline, r)| MeshZone {
                outline: outline.clone(),
                group: (coloured && *r as usize == rank).then_some(0),
            })
            .collect()
    };
    let of_node: Vec<Vec<u32>> = (0..h.space.nodes)
        .map(|n| {
            let of = h.space.shares_at(n).iter();
            let mut all: Vec<u32> = of.map(|(z, _)| cut.rank_of[*z as usize]).collect();
            all.sort_unstable();
            all.dedup();
            all
        })
        .collect();
    let mine = |n: &usize| of_node[*n].contains(&(rank as u32));
    let places = |nodes: &dyn Fn(usize) -> bool| -> Places {
        (0..h.space.nodes)
            .filter(mine)
            .filter(|n| nodes(*n))
            .map(|n| node(h, s, n))
            .collect()
    };
    // Sets of ranks that share nodes with this one.
    let mut sets: Vec<&Vec<u32>> = (0..h.space.nodes)
        .filter(mine)
        .map(|n| &of_node[n])
        .collect();
    sets.sort_by_key(|s| (s.len(), s.first().copied(), s.last().copied()));
    sets.dedup();
    // Colours: the zones, their nodes, the shared ones, and then a colour a set.
    let mut groups = vec![
        format!("zones of rank {rank}"),
        "their nodes".into(),
        "nodes of other ranks too".into(),
    ];
    let first = groups.len();
    groups.extend(sets.iter().map(|set| {
        let others = set.iter().filter(|r| **r as usize != rank);
        let all: Vec<String> = others.map(u32::to_string).collect();
        match all.len() {
            0 => "of no other rank".into(),
            _ => format!("also of {}", all.join(", ")),
        }
    }));
    let own = |group: usize, at: Places| MeshNodes {
        group,
        size: 5.0,
        at,
    };
    let all = places(&|_| true);
    let on_cuts = places(&|n| of_node[n].len() > 1);
    let titles = [
        format!("rank {rank} of {n}: {} nodes", all.len()),
        format!("{} of them shared", on_cuts.len()),
        format!("{} groups", sets.len()),
    ];
    let by_set: Vec<MeshNodes> = (sets.iter().enumerate())
        .map(|(k, set)| own(first + k, places(&|n| of_node[n] == **set)))
        .collect();
    let nodes = [vec![own(1, all)], vec![own(2, on_cuts)], by_set];
    let panels = (titles.into_iter().zip(nodes).enumerate())
        .map(|(k, (title, nodes))| MeshPanel {
            title,
            zones: zones(k == 0),
            nodes,
        })
        .collect();
    Ok(MeshFigure {
        title: format!("Degrees of freedom of one of {n} ranks"),
        groups,
        of_nodes: true,
        panels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;
    use crate::problem::initial_state::Orders;

    fn start(mesh: &Mesh, order: usize) -> (Hydro, State) {
        let orders = Orders {
            kinematic: order,
            energy: order - 1,
            cg_tol: 1e-8,
            cg_max: 100,
            cfl: 0.5,
        };
        Hydro::new(mesh, Problem::of("0").unwrap(), &orders, 1.0).unwrap()
    }

    #[test]
    fn all_degrees_of_freedom_are_drawn() {
        for (name, kinematic, energies) in [("2x1", 15, 8), ("square01_tri", 25, 24)] {
            let mesh = Mesh::open(name, 0).unwrap();
            let (h, s) = start(&mesh, 2);
            let f = degrees_of_freedom("t", &[(Arc::new(h), s)]);
            let counts: Vec<usize> = f.panels[0].nodes.iter().map(|n| n.at.len()).collect();
            assert_eq!(counts, [kinematic, energies], "{name}");
            assert_eq!(f.panels[0].zones.len(), mesh.zones());
            // Corners of the zones are among the nodes.
            let nodes = &f.panels[0].nodes[0].at;
            let corner =
                |z: &MeshZone| nodes.contains(&z.outline[0]) && nodes.contains(&z.outline[SIDE]);
            assert!(f.panels[0].zones.iter().all(corner), "{name}");
        }
    }

    #[test]
    fn every_zone_has_the_colour_of_its_rank() {
        let meshes: Vec<(usize, Mesh)> = (0..2)
            .map(|n| (n, Mesh::open("rectangle01_quad", n).unwrap()))
            .collect();
        let f = parts(&meshes, 4).unwrap();
        for (panel, zones) in f.panels.iter().zip([21, 84]) {
            assert_eq!(panel.zones.len(), zones);
            for rank in 0..4 {
                let own = panel.zones.iter().filter(|z| z.group == Some(rank)).count();
                assert!(own.abs_diff(zones / 4) <= 1, "{own}");
            }
        }
        assert!(parts(&meshes, 22).is_err());
        let cube = Mesh::open("cube01_hex", 0).unwrap();
        let e = parts(&[(0, cube)], 2).unwrap_err().to_string();
        assert!(e.contains("2D"), "{e}");
    }

    #[test]
    fn shared_nodes_lie_on_the_cuts() {
        // 4 x 4 zones by 4 ranks: each has 2 x 2 zones with 5 x 5 nodes, of which 9 lie on the cuts.
        let mesh = Mesh::open("4x4", 0).unwrap();
        let (h, s) = start(&mesh, 2);
        let f = shared(&mesh, (&h, &s), (4, 1)).unwrap();
        let of =
            |k: usize| -> Vec<usize> { f.panels[k].nodes.iter().map(|n| n.at.len()).collect() };
        assert_eq!((of(0), of(1)), (vec![25], vec![9]));
        // Alone, with each of two neighbours, and the point of all four.
        assert_eq!(of(2), [16, 4, 4, 1]);
        assert_eq!(f.groups.len(), 3 + 4);
        let filled = f.panels[0].zones.iter().filter(|z| z.group.is_some());
        assert_eq!(filled.count(), 4);
        assert!(shared(&mesh, (&h, &s), (4, 4)).is_err());
    }
}
