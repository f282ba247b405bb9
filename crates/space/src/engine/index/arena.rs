//! Nodes and edges of an index.

use crate::engine::Stop;
use crate::error::SpaceError;
use crate::plan::nest::tree::Tree;

/// No point below.
pub const DEAD: u32 = 0;

#[derive(Clone, Copy)]
pub struct NodeRecord {
    /// First of its values.
    first: u64,
    len: u32,
    /// Level whose values its edges are.
    pub level: u32,
    /// First child of its first edge; each edge has as many as the level has branches.
    children: u64,
}

/// Nodes and edges.
pub struct Arena {
    pub nodes: Vec<NodeRecord>,
    pub counts: Vec<u64>,
    values: Vec<u64>,
    children: Vec<u32>,
    /// Points up to and with each edge, of nodes that have children; as many as `children` allows.
    ends: Vec<u64>,
    /// Where the ends of each node start.
    first_end: Vec<u64>,
}

impl Arena {
    pub fn new() -> Self {
        Self {
            nodes: vec![NodeRecord {
                first: 0,
                len: 0,
                level: 0,
                children: 0,
            }],
            counts: vec![0],
            values: Vec::new(),
            children: Vec::new(),
            ends: Vec::new(),
            first_end: vec![0],
        }
    }

    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<NodeRecord>()
            + 8 * (self.counts.capacity()
                + self.values.capacity()
                + self.ends.capacity()
                + self.first_end.capacity())
            + 4 * self.children.capacity()
    }

    /// Adds a node; `children` holds those of each value in turn, none at the innermost levels.
    pub fn node(&mut self, level: usize, values: &[u64], children: &[u32]) -> Result<u32, Stop> {
        if values.is_empty() {
            return Ok(DEAD);
        }
        let record = NodeRecord {
            first: self.values.len() as u64,
            len: values.len() as u32,
            level: level as u32,
            children: self.children.len() as u64,
        };
        self.first_end.push(self.ends.len() as u64);
        self.values.extend_from_slice(values);
        let count = if children.is_empty() {
            values.len() as u64
        } else {
            let mut end = 0_u64;
            for edge in children.chunks(children.len() / values.len()) {
                let points = self.product(edge).ok_or_else(too_many)?;
                end = end.checked_add(points).ok_or_else(too_many)?;
                self.ends.push(end);
            }
            self.children.extend_from_slice(children);
            end
        };
        self.nodes.push(record);
        self.counts.push(count);
        if self.nodes.len() > u32::MAX as usize / 2 {
            return Err(Stop::Memory);
        }
        Ok(self.nodes.len() as u32 - 1)
    }

    /// Points of independent subspaces together.
    pub fn product(&self, nodes: &[u32]) -> Option<u64> {
        nodes
            .iter()
            .try_fold(1_u64, |a, &n| a.checked_mul(self.counts[n as usize]))
    }

    /// Takes in another arena; returns what to add to its node numbers other than [`DEAD`].
    pub fn append(&mut self, other: Self) -> u32 {
        let shift = self.nodes.len() as u32 - 1;
        let (values, children, ends) = (
            self.values.len() as u64,
            self.children.len() as u64,
            self.ends.len() as u64,
        );
        self.nodes
            .extend(other.nodes[1..].iter().map(|n| NodeRecord {
                first: n.first + values,
                children: n.children + children,
                ..*n
            }));
        self.first_end
            .extend(other.first_end[1..].iter().map(|e| e + ends));
        self.counts.extend_from_slice(&other.counts[1..]);
        self.values.extend_from_slice(&other.values);
        self.ends.extend_from_slice(&other.ends);
        self.children.extend(
            other
                .children
                .iter()
                .map(|&c| if c == DEAD { c } else { c + shift }),
        );
        shift
    }

    pub fn values(&self, node: u32) -> &[u64] {
        let r = self.nodes[node as usize];
        &self.values[r.first as usize..r.first as usize + r.len as usize]
    }

    /// Children of an edge of a node.
    pub fn children(&self, node: u32, edge: usize, tree: &Tree) -> &[u32] {
        let r = self.nodes[node as usize];
        let n = tree.children[r.level as usize].len();
        let from = r.children as usize + edge * n;
        &self.children[from..from + n]
    }

    pub fn has_children(&self, node: u32, tree: &Tree) -> bool {
        !tree.children[self.nodes[node as usize].level as usize].is_empty()
    }

    /// Points below the edges before this one.
    pub fn start(&self, node: u32, edge: usize, tree: &Tree) -> u64 {
        if !self.has_children(node, tree) {
            return edge as u64;
        }
        match edge {
            0 => 0,
            e => self.ends[self.first_end[node as usize] as usize + e - 1],
        }
    }

    /// The edge that holds point `i` of a node.
    pub fn edge_of(&self, node: u32, i: u64, tree: &Tree) -> usize {
        if !self.has_children(node, tree) {
            return i as usize;
        }
        let from = self.first_end[node as usize] as usize;
        let len = self.nodes[node as usize].len as usize;
        self.ends[from..from + len].partition_point(|&e| e <= i)
    }
}

pub fn too_many() -> SpaceError {
    SpaceError::new("the space has more than 1.8e19 points, too many to number")
}
