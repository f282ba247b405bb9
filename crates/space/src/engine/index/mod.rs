//! A space that can be addressed: point by number, number by point, uniform samples, neighbours.
//! Kept as a graph in which equal subspaces exist once and independent ones are multiplied, not as
//! a list of points.

mod arena;
mod build;
mod keep;

use self::arena::{Arena, DEAD, too_many};
use self::build::group;
use super::Stop;
use super::walk::Walker;
use super::walk::parallel::Limits;
use crate::plan::Space;
use crate::plan::nest::compile::Nest;
use crate::plan::nest::tree::Tree;
use crate::value::Value;
use std::sync::Arc;

/// Points between two looks at whether to stop.
const LOOK: usize = 1 << 14;

/// An indexed space. Points are numbered from 0 in the order of the nest.
pub struct Index {
    space: Arc<Space>,
    tree: Tree,
    arena: Arena,
    /// Independent parts of the space; one [`DEAD`] when it is empty.
    roots: Vec<u32>,
    len: u64,
}

impl Index {
    /// Builds the index.
    ///
    /// # Errors
    /// A fault of the space; more memory than allowed; the caller stopped it.
    pub fn build(space: &Arc<Space>, limits: &Limits) -> Result<Self, Stop> {
        let nest = Nest::new(space, |_| true);
        let mut arena = Arena::new();
        let mut roots = Vec::new();
        let mut first = Walker::new(&nest);
        first.cancelled = limits.cancelled;
        if first.constants_hold()? {
            for &root in &nest.tree.roots {
                let node = group(&nest, root, &mut first, &mut arena, limits)?;
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
            space: Arc::clone(space),
            tree: nest.tree,
            arena,
            roots,
            len,
        })
    }

    /// The space.
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Number of points.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether no point passes the filters.
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

    /// The values that each parameter takes anywhere in the space, in declared order.
    pub fn values(&self) -> Vec<Vec<Value>> {
        let mut words: Vec<Vec<u64>> = vec![Vec::new(); self.space.levels.len()];
        let mut limits = vec![1 << 10; words.len()];
        for node in 1..self.arena.nodes.len() as u32 {
            let level = self.arena.nodes[node as usize].level as usize;
            let w = &mut words[level];
            w.extend_from_slice(self.arena.values(node));
            // Many nodes of a large space have the same values.
            if w.len() > limits[level] {
                w.sort_unstable();
                w.dedup();
                limits[level] = limits[level].max(2 * w.len());
            }
        }
        for w in &mut words {
            w.sort_unstable();
            w.dedup();
        }
        self.space
            .params
            .iter()
            .enumerate()
            .map(|(p, param)| match (param.level, &param.list) {
                (Some(level), _) => words[level]
                    .iter()
                    .map(|&w| self.space.decode(p, w))
                    .collect(),
                (None, Some(list)) => vec![list[0].1.clone()],
                (None, None) => Vec::new(),
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
    ///
    /// # Errors
    /// There is no memory for so many; the caller stopped it.
    pub fn sample(
        &self,
        n: usize,
        rng: &mut fastrand::Rng,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<u64>, Stop> {
        let len = self.len();
        let go_on = |i: usize| {
            if i.is_multiple_of(LOOK) && cancelled() {
                Err(Stop::Cancelled)
            } else {
                Ok(())
            }
        };
        let mut out: Vec<u64> = Vec::new();
        if n as u64 >= len / 2 {
            out.try_reserve_exact(usize::try_from(len).map_err(|_| Stop::Memory)?)
                .map_err(|_| Stop::Memory)?;
            out.extend(0..len);
            // As `Rng::shuffle` does.
            for i in 1..out.len() {
                go_on(i)?;
                out.swap(i, rng.usize(..=i));
            }
            out.truncate(n);
            return Ok(out);
        }
        let mut seen = hashbrown::HashSet::new();
        seen.try_reserve(n).map_err(|_| Stop::Memory)?;
        out.try_reserve_exact(n).map_err(|_| Stop::Memory)?;
        while out.len() < n {
            go_on(out.len())?;
            let i = rng.u64(..len);
            if seen.insert(i) {
                out.push(i);
            }
        }
        Ok(out)
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
    pub(in crate::engine) fn has_prefix(&self, words: &[u64]) -> bool {
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
