//! The problem of a part: zones and nodes with numbers of their own, and the constants of the whole.

use super::Partition;
use crate::engine::State;
use crate::fem::fe_space::Space;
use crate::hydro::Hydro;

/// Which zones and nodes of the whole a part has.
#[derive(Clone, Debug)]
pub struct Map {
    /// The zone of the whole of each zone, ascending.
    pub zones: Vec<u32>,
    /// The node of the whole of each node.
    pub nodes: Vec<u32>,
    /// Whether the first zone of a node is in this part: each node belongs to one part.
    pub owned: Vec<bool>,
}

const NONE: u32 = u32::MAX;

impl Map {
    /// The part of a rank.
    pub fn new(space: &Space, partition: &Partition, rank: usize) -> Self {
        let zones: Vec<u32> = partition.zones(rank).iter().map(|z| *z as u32).collect();
        let (mut seen, mut nodes) = (vec![false; space.nodes], Vec::new());
        for z in &zones {
            for n in space.zone(*z as usize) {
                if !std::mem::replace(&mut seen[*n as usize], true) {
                    nodes.push(*n);
                }
            }
        }
        let owned = nodes
            .iter()
            .map(|n| owner(space, partition, *n as usize) == rank)
            .collect();
        Self {
            zones,
            nodes,
            owned,
        }
    }

    /// Values `[component][node]` of the whole at the nodes of the part.
    pub fn of_nodes<T: Copy>(&self, all: &[T], nodes: usize) -> Vec<T> {
        all.chunks(nodes)
            .flat_map(|part| self.nodes.iter().map(|n| part[*n as usize]))
            .collect()
    }

    /// Values `[zone][each]` of the whole in the zones of the part.
    pub fn of_zones<T: Copy>(&self, all: &[T], each: usize) -> Vec<T> {
        self.zones
            .iter()
            .flat_map(|z| {
                all[*z as usize * each..(*z as usize + 1) * each]
                    .iter()
                    .copied()
            })
            .collect()
    }

    /// The part of a state of the whole, of a space with `nodes` nodes and `energies` energies in a zone.
    pub fn state(&self, all: &State, nodes: usize, energies: usize) -> State {
        State {
            x: self.of_nodes(&all.x, nodes),
            v: self.of_nodes(&all.v, nodes),
            e: self.of_zones(&all.e, energies),
        }
    }
}

/// The rank of the first zone of a node.
pub fn owner(space: &Space, partition: &Partition, node: usize) -> usize {
    let (zone, _) = space.shares[space.begin[node] as usize];
    partition.rank_of[zone as usize] as usize
}

impl Hydro {
    /// The problem of a part.
    pub fn part(&self, map: &Map) -> Self {
        let points = self.space.element.points();
        let dd = self.space.dim * self.space.dim;
        Self {
            space: part_of_space(&self.space, map),
            problem: self.problem.clone(),
            cfl: self.cfl,
            cg_tol: self.cg_tol,
            cg_max: self.cg_max,
            gas: map.of_zones(&self.gas, 1),
            material: map.of_zones(&self.material, 1),
            mass: map.of_zones(&self.mass, points),
            prescribed_mass: (self.prescribed_mass.as_ref()).map(|m| map.of_zones(m, points)),
            inverse: map.of_zones(&self.inverse, if self.affine { dd } else { points * dd }),
            affine: self.affine,
            h0: self.h0,
            gravity: self.gravity,
            // Zones alike share the inverse of this one, whichever part they are in.
            first_mass: self.first_mass().to_vec(),
            whole_diagonal: Some(map.of_nodes(&self.diagonal(), self.space.nodes)),
        }
    }
}

fn part_of_space(space: &Space, map: &Map) -> Space {
    let mut local = vec![NONE; space.nodes];
    for (i, n) in map.nodes.iter().enumerate() {
        local[*n as usize] = i as u32;
    }
    let nodes = map.nodes.len();
    let each = space.element.local;
    let of_zone: Vec<u32> = (map.of_zones(&space.of_zone, each).iter())
        .map(|n| local[*n as usize])
        .collect();
    let (shares, begin) = Space::shares_of(&of_zone, nodes, each);
    let driven = space.driven.iter().filter_map(|(i, v)| {
        let (component, node) = (*i as usize / space.nodes, *i as usize % space.nodes);
        let here = local[node];
        (here != NONE).then_some(((component * nodes) as u32 + here, *v))
    });
    Space {
        element: space.element.clone(),
        dim: space.dim,
        zones: map.zones.len(),
        nodes,
        of_zone,
        shares,
        begin,
        start: map.of_nodes(&space.start, space.nodes),
        constrained: map.of_nodes(&space.constrained, space.nodes),
        driven: driven.collect(),
    }
}
