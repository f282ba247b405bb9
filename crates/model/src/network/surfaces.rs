//! Zones and shared nodes of the parts of a box of equal zones, cut by [`super::bisect`].
//!
//! A node shared with another part costs a contribution of each of the part's zones around it, as a sum in the order of zones
//! needs them. Parts are boxes where each cut falls between planes of zones; they are then counted by products of ranges.
//! Others are counted node by node up to [`MAX_ZONES`] zones; beyond, their cuts are moved to the nearest plane for the
//! surfaces alone: the numbers of zones stay exact.

use super::bisection::{bisect, longest};
use std::collections::HashMap;

/// Most zones of a box whose parts are counted node by node.
pub const MAX_ZONES: usize = 1 << 20;

/// A box of equal zones, with nodes of a continuous space on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxMesh {
    /// Zones along each direction; 1 in directions that the mesh does not have.
    pub zones: [usize; 3],
    /// Number of dimensions, 1 to 3.
    pub dim: usize,
    /// Lengths of a zone.
    pub size: [f64; 3],
    /// Order of the space: intervals between nodes along the side of a zone.
    pub order: usize,
}

impl BoxMesh {
    /// A box of cubes.
    pub fn cubes(zones: &[usize], order: usize) -> Self {
        let mut all = [1; 3];
        all[..zones.len().min(3)].copy_from_slice(&zones[..zones.len().min(3)]);
        Self {
            zones: all,
            dim: zones.len().clamp(1, 3),
            size: [1.0; 3],
            order,
        }
    }

    /// Number of zones.
    pub fn count(&self) -> usize {
        self.zones.iter().product()
    }
}

/// Contributions that a part sends to other parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contributions {
    /// Most other parts that a part sends to.
    pub peers: usize,
    /// Most contributions that a part sends.
    pub busiest: f64,
    /// Contributions that all parts send.
    pub total: f64,
}

/// The parts of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surfaces {
    /// Zones of the largest part.
    pub busiest_zones: usize,
    /// Mean zones of a part.
    pub mean_zones: f64,
    /// To parts of the same node.
    pub within: Contributions,
    /// To parts of other nodes.
    pub between: Contributions,
    /// Whether the surfaces are those of cuts moved to the nearest plane of zones.
    pub moved: bool,
}

type Range3 = [(usize, usize); 3];

/// Cuts a box into parts and counts their surfaces; `group` consecutive parts are on a node. Without a zone for each part,
/// the parts that have none send nothing.
pub fn surfaces(mesh: &BoxMesh, parts: usize, group: usize) -> Surfaces {
    let parts = parts.max(1);
    let whole: Range3 = mesh.zones.map(|n| (0, n));
    let mut tree = Tree {
        mesh,
        leaves: Vec::with_capacity(parts),
        nodes: Vec::new(),
        clean: true,
    };
    let root = tree.cut(whole, mesh.count(), (0, parts));
    let zones = tree.leaves.iter().map(|l| l.1);
    let busiest_zones = zones.max().unwrap_or(0);
    let mean_zones = mesh.count() as f64 / parts as f64;
    let mut count = Counter::new(parts, group);
    let moved = !tree.clean && mesh.count() > MAX_ZONES;
    if tree.clean || moved {
        for (rank, (own, _)) in tree.leaves.iter().enumerate() {
            tree.neighbours(root, own, &mut |other, theirs| {
                if other != rank {
                    count.add(rank, other, pairs(mesh, own, theirs));
                }
            });
        }
    } else {
        by_node(mesh, &bisect(&centres(mesh), parts), &mut count);
    }
    let [within, between] = count.finish();
    Surfaces {
        busiest_zones,
        mean_zones,
        within,
        between,
        moved,
    }
}

/// Centres of the zones, the first direction fastest.
fn centres(mesh: &BoxMesh) -> Vec<[f64; 3]> {
    let [nx, ny, nz] = mesh.zones;
    let at = |c: usize, i: usize| {
        if c < mesh.dim {
            (i as f64 + 0.5) * mesh.size[c]
        } else {
            0.0
        }
    };
    (0..nz)
        .flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| (i, j, k))))
        .map(|(i, j, k)| [at(0, i), at(1, j), at(2, k)])
        .collect()
}

/// A node of the tree of cuts.
enum CutNode {
    /// The part of this number.
    Part(usize),
    /// Two halves, by the numbers of their nodes.
    Cut(usize, usize),
}

/// The cuts as a tree, whose leaves are the parts.
struct Tree<'a> {
    mesh: &'a BoxMesh,
    /// Box and number of zones of each part.
    leaves: Vec<(Range3, usize)>,
    /// Box, and either a part or two halves.
    nodes: Vec<(Range3, CutNode)>,
    /// Whether all cuts fall between planes of zones.
    clean: bool,
}

impl Tree<'_> {
    fn cut(&mut self, own: Range3, zones: usize, (first, count): (usize, usize)) -> usize {
        if count == 1 {
            self.leaves.push((own, zones));
            self.nodes.push((own, CutNode::Part(first)));
            return self.nodes.len() - 1;
        }
        let length = |c: usize| own[c].1 - own[c].0;
        let side = |c: usize| length(c).saturating_sub(1) as f64 * self.mesh.size[c];
        let within = |c: usize| if c < self.mesh.dim { side(c) } else { 0.0 };
        let longest = longest([within(0), within(1), within(2)]);
        let left = count / 2;
        let middle = zones * left / count;
        let plane: usize = (0..3).filter(|c| *c != longest).map(length).product();
        let in_box: usize = (0..3).map(length).product();
        self.clean &= zones == in_box && (plane == 0 || middle.is_multiple_of(plane));
        let planes = match plane {
            0 => 0,
            _ => ((middle as f64 / plane as f64).round() as usize).min(length(longest)),
        };
        let at = own[longest].0 + planes;
        let (mut low, mut high) = (own, own);
        low[longest].1 = at;
        high[longest].0 = at;
        let a = self.cut(low, middle, (first, left));
        let b = self.cut(high, zones - middle, (first + left, count - left));
        self.nodes.push((own, CutNode::Cut(a, b)));
        self.nodes.len() - 1
    }

    /// Calls `found` with each part whose box touches another box.
    fn neighbours(&self, node: usize, of: &Range3, found: &mut dyn FnMut(usize, &Range3)) {
        let (own, kind) = &self.nodes[node];
        let touches = |(a, b): (&(usize, usize), &(usize, usize))| a.0 <= b.1 && b.0 <= a.1;
        if !own.iter().zip(of).all(touches) {
            return;
        }
        match kind {
            CutNode::Part(part) => found(*part, own),
            CutNode::Cut(a, b) => {
                self.neighbours(*a, of, found);
                self.neighbours(*b, of, found);
            }
        }
    }
}

/// Zone–node pairs of a part at the nodes that it shares with another.
fn pairs(mesh: &BoxMesh, own: &Range3, other: &Range3) -> f64 {
    let along = |c: usize| {
        let ((a, b), (p, q)) = (own[c], other[c]);
        if a == b || p == q {
            return 0;
        }
        let (from, to) = (a.max(p), b.min(q));
        // Zones that reach into the common range have all its nodes of theirs, those that end there one.
        let ends = usize::from(from > a) + usize::from(to < b);
        match from.cmp(&to) {
            std::cmp::Ordering::Less => (to - from) * (mesh.order + 1) + ends,
            std::cmp::Ordering::Equal => usize::from(from > a) + usize::from(to < b),
            std::cmp::Ordering::Greater => 0,
        }
    };
    (0..mesh.dim).map(|c| along(c) as f64).product()
}

/// Counts the pairs of any partition: by the vertices, edges, faces of the zones, on which nodes lie.
fn by_node(mesh: &BoxMesh, rank_of: &[u32], count: &mut Counter) {
    let n = mesh.zones;
    // Along a direction an entity is a grid line between zones (even), or the inside of a zone (odd).
    let extent = |c: usize| if c < mesh.dim { 2 * n[c] + 1 } else { 1 };
    let zones_at = |c: usize, e: usize| -> [Option<usize>; 2] {
        if c >= mesh.dim {
            return [Some(0), None];
        }
        match e % 2 {
            1 => [Some(e / 2), None],
            _ => [(e / 2).checked_sub(1), Some(e / 2).filter(|i| *i < n[c])],
        }
    };
    let mut here: Vec<(u32, usize)> = Vec::new();
    for ez in 0..extent(2) {
        for ey in 0..extent(1) {
            for ex in 0..extent(0) {
                let entity = [ex, ey, ez];
                let odd = entity[..mesh.dim].iter().filter(|e| *e % 2 == 1).count();
                let nodes = mesh.order.saturating_sub(1).pow(odd as u32);
                if nodes == 0 {
                    continue;
                }
                here.clear();
                for k in zones_at(2, ez).into_iter().flatten() {
                    for j in zones_at(1, ey).into_iter().flatten() {
                        for i in zones_at(0, ex).into_iter().flatten() {
                            let rank = rank_of[(k * n[1] + j) * n[0] + i];
                            match here.iter_mut().find(|(r, _)| *r == rank) {
                                Some((_, zones)) => *zones += 1,
                                None => here.push((rank, 1)),
                            }
                        }
                    }
                }
                for (rank, zones) in &here {
                    for (other, _) in here.iter().filter(|(r, _)| r != rank) {
                        count.add(*rank as usize, *other as usize, (zones * nodes) as f64);
                    }
                }
            }
        }
    }
}

/// Sums of what parts send.
struct Counter {
    group: usize,
    sent: HashMap<(usize, usize), f64>,
    parts: usize,
}

impl Counter {
    fn new(parts: usize, group: usize) -> Self {
        Self {
            group: group.max(1),
            sent: HashMap::new(),
            parts,
        }
    }

    fn add(&mut self, from: usize, to: usize, n: f64) {
        if n > 0.0 {
            *self.sent.entry((from, to)).or_default() += n;
        }
    }

    /// Within nodes, and between them.
    fn finish(&self) -> [Contributions; 2] {
        let mut each = vec![[(0usize, 0.0f64); 2]; self.parts];
        for ((from, to), n) in &self.sent {
            let kind = usize::from(from / self.group != to / self.group);
            let (peers, sum) = &mut each[*from][kind];
            *peers += 1;
            *sum += n;
        }
        [0, 1].map(|kind| Contributions {
            peers: each.iter().map(|e| e[kind].0).max().unwrap_or(0),
            busiest: each.iter().map(|e| e[kind].1).fold(0.0, f64::max),
            total: each.iter().map(|e| e[kind].1).sum(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The pairs of each two parts, from the node numbers of each zone.
    fn slowly(mesh: &BoxMesh, parts: usize, group: usize) -> [Contributions; 2] {
        let rank_of = bisect(&centres(mesh), parts);
        let k = mesh.order;
        let [nx, ny, _] = mesh.zones;
        let mut at: HashMap<[usize; 3], Vec<u32>> = HashMap::new();
        for (z, rank) in rank_of.iter().enumerate() {
            let cell = [z % nx, z / nx % ny, z / nx / ny];
            let steps = |c: usize| if c < mesh.dim { k } else { 0 };
            for a in 0..=steps(0) {
                for b in 0..=steps(1) {
                    for c in 0..=steps(2) {
                        let node = [cell[0] * k + a, cell[1] * k + b, cell[2] * k + c];
                        at.entry(node).or_default().push(*rank);
                    }
                }
            }
        }
        let mut count = Counter::new(parts, group);
        for ranks in at.values() {
            let mut all = ranks.clone();
            all.sort_unstable();
            all.dedup();
            for from in ranks {
                for to in all.iter().filter(|to| *to != from) {
                    count.add(*from as usize, *to as usize, 1.0);
                }
            }
        }
        count.finish()
    }

    proptest! {
        #[test]
        fn surfaces_are_those_of_the_bisected_zones(
            (nx, ny, nz) in (1usize..7, 1usize..7, 1usize..7), dim in 1usize..=3, order in 1usize..=4,
            parts in 1usize..=9, group in 1usize..=4,
        ) {
            let mesh = BoxMesh::cubes(&[nx, ny, nz][..dim], order);
            prop_assume!(parts <= mesh.count());
            let s = surfaces(&mesh, parts, group);
            prop_assert_eq!([s.within, s.between], slowly(&mesh, parts, group));
            let rank_of = bisect(&centres(&mesh), parts);
            let most = (0..parts as u32).map(|r| rank_of.iter().filter(|x| **x == r).count()).max();
            prop_assert_eq!(Some(s.busiest_zones), most);
            prop_assert!(!s.moved);
        }
    }

    #[test]
    fn a_large_box_is_counted_without_its_zones() {
        // 4,096 parts of 8³ zones: an inner part has 6 faces, 12 edges, 8 corners.
        let mesh = BoxMesh::cubes(&[128, 128, 128], 2);
        let s = surfaces(&mesh, 4096, 1);
        assert_eq!(
            (s.busiest_zones, s.between.peers, s.moved),
            (512, 26, false)
        );
        let inner = 6.0 * 64.0 * 9.0 + 12.0 * 8.0 * 3.0 + 8.0;
        assert_eq!(s.between.busiest, inner);
        assert_eq!(s.within.total, 0.0);
        // Eight parts on a node exchange within it.
        let eight = surfaces(&mesh, 4096, 8);
        assert_eq!(eight.within.total + eight.between.total, s.between.total);
        assert!(eight.within.total > 0.0);
    }

    #[test]
    fn uneven_cuts_of_large_boxes_keep_the_numbers_of_zones() {
        let mesh = BoxMesh::cubes(&[129, 129, 129], 2);
        let s = surfaces(&mesh, 7, 1);
        assert!(s.moved && s.busiest_zones >= mesh.count() / 7);
        assert!((s.busiest_zones as f64 / s.mean_zones) < 1.0001);
        assert!(s.between.busiest > 0.0);
    }
}
