//! A space that can be addressed: point by number, number by point, uniform samples, neighbours.
//! Kept as a graph in which equal subspaces exist once and independent ones are multiplied, not as
//! a list of points.

use super::Stop;
use super::memo::Memo;
use super::parallel::{Limits, Task, place, share, tasks};
use super::walk::Walker;
use crate::error::SpaceError;
use crate::plan::Space;
use crate::plan::compile::Nest;
use crate::plan::tree::Tree;
use crate::value::Value;

/// No point below.
const DEAD: u32 = 0;

#[derive(Clone, Copy)]
struct NodeRecord {
    /// First of its values.
    first: u64,
    len: u32,
    /// Level whose values its edges are.
    level: u32,
    /// First child of its first edge; each edge has as many as the level has branches.
    children: u64,
}

/// Nodes and edges.
struct Arena {
    nodes: Vec<NodeRecord>,
    counts: Vec<u64>,
    values: Vec<u64>,
    children: Vec<u32>,
    /// Points up to and with each edge, of nodes that have children; as many as `children` allows.
    ends: Vec<u64>,
    /// Where the ends of each node start.
    first_end: Vec<u64>,
}

impl Arena {
    fn new() -> Self {
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

    fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<NodeRecord>()
            + 8 * (self.counts.capacity()
                + self.values.capacity()
                + self.ends.capacity()
                + self.first_end.capacity())
            + 4 * self.children.capacity()
    }

    /// Adds a node; `children` holds those of each value in turn, none at the innermost levels.
    fn node(&mut self, level: usize, values: &[u64], children: &[u32]) -> Result<u32, Stop> {
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
    fn product(&self, nodes: &[u32]) -> Option<u64> {
        nodes
            .iter()
            .try_fold(1_u64, |a, &n| a.checked_mul(self.counts[n as usize]))
    }

    /// Takes in another arena; returns what to add to its node numbers other than [`DEAD`].
    fn append(&mut self, other: Self) -> u32 {
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

    fn values(&self, node: u32) -> &[u64] {
        let r = self.nodes[node as usize];
        &self.values[r.first as usize..r.first as usize + r.len as usize]
    }

    /// Children of an edge of a node.
    fn children(&self, node: u32, edge: usize, tree: &Tree) -> &[u32] {
        let r = self.nodes[node as usize];
        let n = tree.children[r.level as usize].len();
        let from = r.children as usize + edge * n;
        &self.children[from..from + n]
    }

    fn has_children(&self, node: u32, tree: &Tree) -> bool {
        !tree.children[self.nodes[node as usize].level as usize].is_empty()
    }

    /// Points below the edges before this one.
    fn start(&self, node: u32, edge: usize, tree: &Tree) -> u64 {
        if !self.has_children(node, tree) {
            return edge as u64;
        }
        match edge {
            0 => 0,
            e => self.ends[self.first_end[node as usize] as usize + e - 1],
        }
    }

    /// The edge that holds point `i` of a node.
    fn edge_of(&self, node: u32, i: u64, tree: &Tree) -> usize {
        if !self.has_children(node, tree) {
            return i as usize;
        }
        let from = self.first_end[node as usize] as usize;
        let len = self.nodes[node as usize].len as usize;
        self.ends[from..from + len].partition_point(|&e| e <= i)
    }
}

fn too_many() -> SpaceError {
    SpaceError::new("the space has more than 1.8e19 points, too many to number")
}

/// An indexed space. Points are numbered from 0 in the order of the nest.
pub struct Index<'a> {
    space: &'a Space,
    tree: Tree,
    arena: Arena,
    /// Independent parts of the space; one [`DEAD`] when it is empty.
    roots: Vec<u32>,
    len: u64,
}

struct Builder<'a> {
    walker: Walker<'a>,
    memos: Vec<Memo<u32>>,
    buffers: Vec<Vec<u64>>,
    edges: Vec<(Vec<u64>, Vec<u32>)>,
    key: Vec<Vec<u64>>,
    arena: Arena,
    bytes: usize,
    cancelled: &'a (dyn Fn() -> bool + Sync),
    checked: u64,
}

impl<'a> Index<'a> {
    /// Builds the index.
    ///
    /// # Errors
    /// A fault of the space; more memory than allowed; the caller stopped it.
    pub fn build(space: &'a Space, limits: &Limits) -> Result<Self, Stop> {
        let nest = Nest::new(space, |_| true);
        let mut arena = Arena::new();
        let mut roots = Vec::new();
        let mut first = Walker::new(&nest);
        if first.constants_hold()? {
            for &root in &nest.tree.roots {
                let node = Self::group(&nest, root, &mut first, &mut arena, limits)?;
                roots.push(node);
                if node == DEAD {
                    break;
                }
            }
        } else {
            roots.push(DEAD);
        }
        let len = arena.product(&roots).ok_or_else(too_many)?;
        drop(first);
        Ok(Self {
            space,
            tree: nest.tree,
            arena,
            roots,
            len,
        })
    }

    /// Builds one independent group of levels.
    fn group(
        nest: &Nest,
        head: usize,
        first: &mut Walker,
        arena: &mut Arena,
        limits: &Limits,
    ) -> Result<u32, Stop> {
        let least = if limits.threads > 1 {
            16 * limits.threads
        } else {
            1
        };
        let tasks = tasks(first, head, least)?;
        let (states, roots) = share(
            limits.threads,
            tasks.len(),
            || Builder::new(nest, limits),
            |b, t| {
                place(&mut b.walker, &tasks[t]);
                tasks[t].next.map_or(Ok(DEAD), |k| b.below(k))
            },
        )?;
        let shifts: Vec<u32> = states.into_iter().map(|s| arena.append(s.arena)).collect();
        let subtrees: Vec<u32> = roots
            .into_iter()
            .map(|(owner, n)| if n == DEAD { n } else { n + shifts[owner] })
            .collect();
        join(&tasks, &subtrees, arena)
    }

    pub fn space(&self) -> &'a Space {
        self.space
    }

    /// Number of points.
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.arena.bytes()
    }

    /// Words of the levels of point `i`.
    fn words(&self, i: u64) -> Option<Vec<u64>> {
        if i >= self.len {
            return None;
        }
        let mut out = vec![0; self.space.levels.len()];
        self.spread(&self.roots, i, &mut out);
        Some(out)
    }

    /// Point `i` of independent nodes; the last of them runs fastest.
    fn spread(&self, nodes: &[u32], mut i: u64, out: &mut [u64]) {
        for &node in nodes.iter().rev() {
            let n = self.arena.counts[node as usize];
            let own = i % n;
            i /= n;
            let edge = self.arena.edge_of(node, own, &self.tree);
            out[self.arena.nodes[node as usize].level as usize] = self.arena.values(node)[edge];
            if self.arena.has_children(node, &self.tree) {
                let rest = own - self.arena.start(node, edge, &self.tree);
                self.spread(self.arena.children(node, edge, &self.tree), rest, out);
            }
        }
    }

    fn point(&self, words: &[u64]) -> Vec<Value> {
        self.space
            .params
            .iter()
            .enumerate()
            .map(|(p, param)| match (param.level, &param.list) {
                (Some(level), _) => self.space.decode(p, words[level]),
                (None, Some(list)) => list[0].1.clone(),
                (None, None) => Value::Int(0),
            })
            .collect()
    }

    /// Point `i`, parameters in declared order.
    pub fn get(&self, i: u64) -> Option<Vec<Value>> {
        self.words(i).map(|w| self.point(&w))
    }

    /// The number of a point; `None` when it is not in the space.
    pub fn position(&self, point: &[Value]) -> Option<u64> {
        if point.len() != self.space.params.len() {
            return None;
        }
        let mut words = vec![0; self.space.levels.len()];
        for (p, param) in self.space.params.iter().enumerate() {
            let word = self.space.encode(p, &point[p])?;
            if let Some(level) = param.level {
                words[level] = word;
            }
        }
        self.position_of(&words)
    }

    fn position_of(&self, words: &[u64]) -> Option<u64> {
        self.gather(&self.roots, words)
    }

    /// The number of a point among those of independent nodes.
    fn gather(&self, nodes: &[u32], words: &[u64]) -> Option<u64> {
        let mut at = 0;
        for &node in nodes {
            if node == DEAD {
                return None;
            }
            let word = words[self.arena.nodes[node as usize].level as usize];
            let edge = self.arena.values(node).iter().position(|&v| v == word)?;
            let mut own = self.arena.start(node, edge, &self.tree);
            if self.arena.has_children(node, &self.tree) {
                own += self.gather(self.arena.children(node, edge, &self.tree), words)?;
            }
            at = at * self.arena.counts[node as usize] + own;
        }
        Some(at)
    }

    /// Numbers of `n` different points, uniformly chosen; all of them in random order when the
    /// space has no more.
    pub fn sample(&self, n: usize, rng: &mut fastrand::Rng) -> Vec<u64> {
        let len = self.len();
        if n as u64 >= len / 2 {
            let mut all: Vec<u64> = (0..len).collect();
            rng.shuffle(&mut all);
            all.truncate(n);
            return all;
        }
        let mut seen = hashbrown::HashSet::with_capacity(n);
        let mut out = Vec::with_capacity(n);
        while out.len() < n {
            let i = rng.u64(..len);
            if seen.insert(i) {
                out.push(i);
            }
        }
        out
    }

    /// Points that differ from point `i` in one parameter.
    pub fn neighbours(&self, i: u64) -> Vec<u64> {
        let Some(words) = self.words(i) else {
            return Vec::new();
        };
        (0..words.len())
            .flat_map(|k| self.along(&words, k))
            .map(|(_, p)| p)
            .filter(|&p| p != i)
            .collect()
    }

    /// Of those, the ones with the next value above or below, among the values that parameter can
    /// have there.
    pub fn adjacent(&self, i: u64) -> Vec<u64> {
        let Some(words) = self.words(i) else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for k in 0..words.len() {
            let own = self.along(&words, k);
            let Some(at) = own.iter().position(|&(w, _)| w == words[k]) else {
                continue;
            };
            if at > 0 {
                out.push(own[at - 1].1);
            }
            if let Some(&(_, next)) = own.get(at + 1) {
                out.push(next);
            }
        }
        out
    }

    /// All points on the line through `words` in the direction of level `k`: value and number.
    fn along(&self, words: &[u64], k: usize) -> Vec<(u64, u64)> {
        let Some(node) = self.node_at(words, k) else {
            return Vec::new();
        };
        let mut moved = words.to_vec();
        self.arena
            .values(node)
            .iter()
            .filter_map(|&v| {
                moved[k] = v;
                self.position_of(&moved).map(|p| (v, p))
            })
            .collect()
    }

    /// Whether a point starts with these words of the outermost levels.
    pub(super) fn has_prefix(&self, words: &[u64]) -> bool {
        self.reaches(&self.roots, words)
    }

    fn reaches(&self, nodes: &[u32], words: &[u64]) -> bool {
        nodes.iter().all(|&node| {
            if node == DEAD {
                return false;
            }
            let level = self.arena.nodes[node as usize].level as usize;
            let Some(&word) = words.get(level) else {
                return true;
            };
            let edge = self.arena.values(node).iter().position(|&v| v == word);
            edge.is_some_and(|e| {
                !self.arena.has_children(node, &self.tree)
                    || self.reaches(self.arena.children(node, e, &self.tree), words)
            })
        })
    }

    /// The node whose edges are the values of level `k` above the point.
    fn node_at(&self, words: &[u64], k: usize) -> Option<u32> {
        let mut nodes: &[u32] = &self.roots;
        loop {
            let &node = nodes.iter().find(|&&n| {
                n != DEAD && self.tree.group[self.arena.nodes[n as usize].level as usize][k]
            })?;
            let level = self.arena.nodes[node as usize].level as usize;
            if level == k {
                return Some(node);
            }
            let edge = self
                .arena
                .values(node)
                .iter()
                .position(|&v| v == words[level])?;
            nodes = self.arena.children(node, edge, &self.tree);
        }
    }
}

/// Values chosen, and the node below them; `None` where all levels are chosen.
type Subtree<'t> = (&'t [(usize, u64)], Option<u32>);

/// Joins the subtrees of tasks under the values they chose, from the inside out.
fn join(tasks: &[Task], subtrees: &[u32], arena: &mut Arena) -> Result<u32, Stop> {
    let mut level: Vec<Subtree> = tasks
        .iter()
        .zip(subtrees)
        .map(|(t, &n)| (t.chosen.as_slice(), t.next.map(|_| n)))
        .collect();
    while level.first().is_some_and(|(p, _)| !p.is_empty()) {
        let mut up: Vec<Subtree> = Vec::new();
        let (mut values, mut children) = (Vec::new(), Vec::new());
        for i in 0..level.len() {
            let (p, node) = level[i];
            let (head, tail) = p.split_at(p.len() - 1);
            if node != Some(DEAD) {
                values.push(tail[0].1);
                children.extend(node);
            }
            let ends = level
                .get(i + 1)
                .is_none_or(|(q, _)| q[..q.len() - 1] != *head);
            if ends {
                up.push((head, Some(arena.node(tail[0].0, &values, &children)?)));
                values.clear();
                children.clear();
            }
        }
        level = up;
    }
    Ok(level.first().and_then(|&(_, n)| n).unwrap_or(DEAD))
}

impl<'a> Builder<'a> {
    fn new(nest: &'a Nest<'a>, limits: &Limits<'a>) -> Self {
        Self {
            walker: Walker::new(nest),
            memos: nest
                .levels
                .iter()
                .map(|l| Memo::new(l.key.as_deref()))
                .collect(),
            buffers: nest.levels.iter().map(|_| Vec::new()).collect(),
            edges: nest.levels.iter().map(|_| Default::default()).collect(),
            key: nest.levels.iter().map(|_| Vec::new()).collect(),
            arena: Arena::new(),
            bytes: limits.bytes / limits.threads.max(1),
            cancelled: limits.cancelled,
            checked: 0,
        }
    }

    /// The node of the group of levels headed by `k`.
    fn below(&mut self, k: usize) -> Result<u32, Stop> {
        let mut key = std::mem::take(&mut self.key[k]);
        if let Some(known) = self.memos[k].get(&self.walker.slots.words, &mut key) {
            self.key[k] = key;
            return Ok(known);
        }
        self.housekeeping()?;
        let node = self.fresh(k);
        if let Ok(node) = node {
            self.memos[k].insert(&key, node);
        }
        self.key[k] = key;
        node
    }

    fn fresh(&mut self, k: usize) -> Result<u32, Stop> {
        let nest = self.walker.nest;
        let branches = &nest.tree.children[k];
        let mut values = std::mem::take(&mut self.buffers[k]);
        let found = self.walker.survivors(k, &mut values);
        let node = found.and_then(|()| {
            if branches.is_empty() {
                return self.arena.node(k, &values, &[]);
            }
            let (mut kept, mut children) = std::mem::take(&mut self.edges[k]);
            kept.clear();
            children.clear();
            let matters = nest.levels[k].matters;
            'values: for (i, &v) in values.iter().enumerate() {
                let from = children.len();
                if i > 0 && !matters {
                    if from == 0 {
                        break;
                    }
                    children.extend_from_within(from - branches.len()..);
                } else {
                    self.walker.enter(k, v);
                    for &b in branches {
                        let child = self.below(b)?;
                        if child == DEAD {
                            children.truncate(from);
                            continue 'values;
                        }
                        children.push(child);
                    }
                }
                kept.push(v);
            }
            let node = self.arena.node(k, &kept, &children);
            self.edges[k] = (kept, children);
            node
        });
        self.buffers[k] = values;
        node
    }

    fn housekeeping(&mut self) -> Result<(), Stop> {
        if self.walker.looked < self.checked {
            return Ok(());
        }
        self.checked = self.walker.looked + 100_000;
        if (self.cancelled)() {
            return Err(Stop::Cancelled);
        }
        let memos = self.memos.iter().map(Memo::bytes).sum::<usize>();
        if self.arena.bytes() + memos > self.bytes {
            return Err(Stop::Memory);
        }
        Ok(())
    }
}
