//! The octree: boxes of sorted points, and their U, V, W and X lists.

mod lists;
mod morton;
mod slice;

pub use lists::Lists;
pub use morton::{DEPTH, key};
pub(crate) use morton::{cell, key_range, place};
pub use slice::{ListName, Slice, of_points, v_list};

use rayon::prelude::*;
use std::ops::Range;

/// No box.
pub const NONE: u32 = u32::MAX;

/// A box: a cube of the root cube [-1, 1]³ halved `level` times.
#[derive(Clone, Debug)]
pub struct Node {
    /// Level; 0 is the root.
    pub level: u8,
    /// Index of the cube along each axis of its level.
    pub at: [u32; 3],
    /// Its parent, or [`NONE`].
    pub parent: u32,
    /// Its first child; children lie together, those without points are missing.
    pub first_child: u32,
    /// Number of children.
    pub children: u8,
    /// Number of its sources on all ranks, at most `u32::MAX`.
    pub source_count: u32,
    /// Its sources of this rank, in the sorted order.
    pub sources: Range<u32>,
    /// Its targets, in the sorted order.
    pub targets: Range<u32>,
}

impl Node {
    /// Whether it has no children.
    pub fn is_leaf(&self) -> bool {
        self.children == 0
    }

    /// Whether it has sources, on any rank.
    pub fn has_sources(&self) -> bool {
        self.source_count > 0
    }

    /// Half width, in units of the root.
    pub fn half_width(&self) -> f64 {
        0.5f64.powi(i32::from(self.level))
    }

    /// Its center, in half widths of the root.
    pub fn center(&self) -> [f64; 3] {
        let h = self.half_width();
        self.at.map(|i| (2.0 * f64::from(i) + 1.0) * h - 1.0)
    }

    /// Which child of its parent: bit a is the side along axis a.
    pub fn octant(&self) -> usize {
        (self.at[0] & 1 | (self.at[1] & 1) << 1 | (self.at[2] & 1) << 2) as usize
    }
}

/// Boxes level by level, in the order of their keys within one.
#[derive(Clone, Debug)]
pub struct Tree {
    /// All boxes.
    pub nodes: Vec<Node>,
    /// Boxes of each level.
    pub levels: Vec<Range<usize>>,
    /// For each box its 27 neighbours in its level, [`NONE`] where there is none; 13 is itself.
    pub neighbours: Vec<[u32; 27]>,
}

/// Points sorted by Morton keys.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Morton keys, sorted.
    pub keys: Vec<u64>,
    /// Index of each point in the input.
    pub from: Vec<u32>,
}

impl Order {
    /// Sorts points of the root cube [-1, 1]³.
    pub fn of(n: usize, at: impl Fn(usize) -> [f64; 3] + Sync) -> Self {
        let mut pairs: Vec<(u64, u32)> = (0..n)
            .into_par_iter()
            .map(|i| (key(at(i)), i as u32))
            .collect();
        pairs.par_sort_unstable();
        let (keys, from) = rayon::join(
            || pairs.par_iter().map(|p| p.0).collect(),
            || pairs.par_iter().map(|p| p.1).collect(),
        );
        Self { keys, from }
    }
}

impl Tree {
    /// Halves boxes until none has more than `ncrit` sources or targets.
    pub fn new(sources: &Order, targets: &Order, ncrit: usize) -> Self {
        let root = Node {
            level: 0,
            at: [0; 3],
            parent: NONE,
            first_child: NONE,
            children: 0,
            source_count: sources.keys.len() as u32,
            sources: 0..sources.keys.len() as u32,
            targets: 0..targets.keys.len() as u32,
        };
        let mut nodes = vec![root];
        let mut levels: Vec<Range<usize>> = std::iter::once(0..1).collect();
        for level in 0..DEPTH {
            let now = levels[level].clone();
            let begin = nodes.len();
            for i in now {
                if nodes[i].sources.len().max(nodes[i].targets.len()) <= ncrit {
                    continue;
                }
                let children = split(&nodes[i], i as u32, sources, targets);
                nodes[i].first_child = nodes.len() as u32;
                nodes[i].children = children.len() as u8;
                nodes.extend(children);
            }
            if nodes.len() == begin {
                break;
            }
            levels.push(begin..nodes.len());
        }
        Self::of_nodes(nodes, levels)
    }

    /// The tree of these boxes, level by level.
    pub(crate) fn of_nodes(nodes: Vec<Node>, levels: Vec<Range<usize>>) -> Self {
        let neighbours = neighbours(&nodes, &levels);
        Self {
            nodes,
            levels,
            neighbours,
        }
    }

    /// Indices of the leaves.
    pub fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|&i| self.nodes[i].is_leaf())
    }

    /// Children of a box.
    pub fn children(&self, i: usize) -> Range<usize> {
        let n = &self.nodes[i];
        if n.is_leaf() {
            0..0
        } else {
            n.first_child as usize..n.first_child as usize + n.children as usize
        }
    }
}

/// The children of a box that have points.
fn split(node: &Node, me: u32, sources: &Order, targets: &Order) -> Vec<Node> {
    let shift = 3 * (DEPTH - 1 - node.level as usize);
    let cuts = |o: &Order, range: &Range<u32>| -> [u32; 9] {
        let keys = &o.keys[range.start as usize..range.end as usize];
        std::array::from_fn(|c| {
            let below = keys.partition_point(|k| ((k >> shift) & 7) < c as u64);
            range.start + below as u32
        })
    };
    let (s, t) = (cuts(sources, &node.sources), cuts(targets, &node.targets));
    (0..8)
        .filter(|&c| s[c + 1] > s[c] || t[c + 1] > t[c])
        .map(|c| Node {
            level: node.level + 1,
            at: std::array::from_fn(|a| 2 * node.at[a] + ((c >> a) & 1) as u32),
            parent: me,
            first_child: NONE,
            children: 0,
            source_count: s[c + 1] - s[c],
            sources: s[c]..s[c + 1],
            targets: t[c]..t[c + 1],
        })
        .collect()
}

/// Index of a neighbour among 27: (dx + 1) + 3 (dy + 1) + 9 (dz + 1).
pub fn direction(d: [i32; 3]) -> usize {
    ((d[0] + 1) + 3 * (d[1] + 1) + 9 * (d[2] + 1)) as usize
}

/// Offsets −1, 0, 1 of a neighbour along each axis.
pub fn offsets(direction: usize) -> [i32; 3] {
    let d = direction as i32;
    [d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1]
}

/// Which boxes of a level are neighbours of some of them.
pub(crate) fn needed(tree: &Tree, level: &Range<usize>, targets: &[u32]) -> Vec<bool> {
    let mut out = vec![false; level.len()];
    for &t in targets {
        let all = tree.neighbours[t as usize].iter().enumerate();
        for (_, &b) in all.filter(|(d, b)| *d != 13 && **b != NONE) {
            out[b as usize - level.start] = true;
        }
    }
    out
}

/// Neighbours of each box in its level: children of the neighbours of its parent.
fn neighbours(nodes: &[Node], levels: &[Range<usize>]) -> Vec<[u32; 27]> {
    let mut out = vec![[NONE; 27]; nodes.len()];
    out[0][13] = 0;
    // Children of a box by octant.
    let child = |parent: u32, octant: usize| -> u32 {
        let n = &nodes[parent as usize];
        (n.first_child..n.first_child.wrapping_add(u32::from(n.children)))
            .find(|&c| nodes[c as usize].octant() == octant)
            .unwrap_or(NONE)
    };
    for level in &levels[1..] {
        let (done, rest) = out.split_at_mut(level.start);
        rest[..level.len()]
            .par_iter_mut()
            .enumerate()
            .for_each(|(k, out)| {
                let node = &nodes[level.start + k];
                let parent = &done[node.parent as usize];
                for (d, out) in out.iter_mut().enumerate() {
                    let o = offsets(d);
                    let at: [i32; 3] = std::array::from_fn(|a| (node.at[a] & 1) as i32 + o[a]);
                    let next = parent[direction(at.map(|x| x.div_euclid(2)))];
                    if next != NONE && !nodes[next as usize].is_leaf() {
                        let octant = at.map(|x| x.rem_euclid(2) as usize);
                        *out = child(next, octant[0] | octant[1] << 1 | octant[2] << 2);
                    }
                }
            });
    }
    out
}
