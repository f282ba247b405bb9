//! Zones and nodes of a part, with numbers of their own. They are cut out of the space of its zones and those that touch them,
//! which has all that contributes to a node of the part, in the order of the whole.

use super::Partition;
use crate::fem::fe_space::Space;

/// Which zones and nodes of a larger space a part has.
#[derive(Clone, Debug)]
pub struct Map {
    /// The zone of that space of each zone, ascending.
    pub zones: Vec<u32>,
    /// The node of that space of each node.
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

    /// Values `[component][node]` of that space at the nodes of the part.
    pub fn of_nodes<T: Copy>(&self, all: &[T], nodes: usize) -> Vec<T> {
        all.chunks(nodes)
            .flat_map(|part| self.nodes.iter().map(|n| part[*n as usize]))
            .collect()
    }

    /// Values `[zone][each]` of that space in the zones of the part.
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

    /// The space of the part.
    pub fn space(&self, around: &Space) -> Space {
        part_of_space(around, self)
    }
}

/// The rank of the first zone of a node.
pub fn owner(space: &Space, partition: &Partition, node: usize) -> usize {
    let (zone, _) = space.shares[space.begin[node] as usize];
    partition.rank_of[zone as usize] as usize
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
