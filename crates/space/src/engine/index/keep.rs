//! The part of an index that a test keeps: for filters of which nothing is known but their answers.

use super::arena::{Arena, DEAD};
use super::{Index, LOOK};
use crate::engine::Stop;
use crate::engine::walk::parallel::Limits;
use crate::plan::nest::tree::Tree;
use crate::value::Value;
use hashbrown::HashMap;
use std::sync::Arc;

impl Index {
    /// The points for which `test` holds, in the same order. It is asked about each point once, one after the other.
    ///
    /// # Errors
    /// The first error of the test; more memory than allowed; the caller stopped it.
    pub fn keep<E: From<Stop>>(
        &self,
        limits: &Limits,
        mut test: impl FnMut(&[Value]) -> Result<bool, E>,
    ) -> Result<Self, E> {
        let mut order = Vec::with_capacity(self.space.levels.len());
        depth_first(&self.tree, &self.tree.roots, &mut order);
        let mut kept = Kept::new(order);
        let mut any = false;
        for i in 0..self.len {
            if (i as usize).is_multiple_of(LOOK) {
                kept.check(limits)?;
            }
            let words = self.words(i).unwrap_or_default();
            if test(&self.point(&words))? {
                any = true;
                kept.push(&words)?;
            }
        }
        let roots = match (any, kept.order.is_empty()) {
            (false, _) => vec![DEAD],
            (true, true) => Vec::new(),
            (true, false) => vec![kept.finish()?],
        };
        Ok(Self {
            space: Arc::clone(&self.space),
            tree: chain(&kept.order),
            len: kept.arena.product(&roots).unwrap_or(self.len),
            arena: kept.arena,
            roots,
        })
    }
}

/// Levels in the order in which the numbers of points run, the slowest first.
fn depth_first(tree: &Tree, heads: &[usize], out: &mut Vec<usize>) {
    for &head in heads {
        out.push(head);
        depth_first(tree, &tree.children[head], out);
    }
}

/// A tree without branches: the test may tie any levels.
fn chain(order: &[usize]) -> Tree {
    let n = order.len();
    let mut tree = Tree {
        roots: order.first().copied().into_iter().collect(),
        children: vec![Vec::new(); n],
        group: vec![vec![false; n]; n],
    };
    for (depth, &level) in order.iter().enumerate() {
        tree.children[level].extend(order.get(depth + 1));
        for &below in &order[depth..] {
            tree.group[level][below] = true;
        }
    }
    tree
}

/// Values of a node, and the children of each.
type Edges = (Vec<u64>, Vec<u32>);

/// Points so far, which come in ascending order.
struct Kept {
    order: Vec<usize>,
    arena: Arena,
    /// The nodes of the last point, by depth; its own edges have no child yet.
    open: Vec<Edges>,
    /// Equal nodes exist once.
    known: HashMap<(usize, Edges), u32>,
    known_bytes: usize,
    last: Vec<u64>,
}

impl Kept {
    fn new(order: Vec<usize>) -> Self {
        Self {
            open: vec![Edges::default(); order.len()],
            order,
            arena: Arena::new(),
            known: HashMap::new(),
            known_bytes: 0,
            last: Vec::new(),
        }
    }

    fn check(&self, limits: &Limits) -> Result<(), Stop> {
        if (limits.cancelled)() {
            return Err(Stop::Cancelled);
        }
        if self.arena.bytes() + self.known_bytes > limits.bytes {
            return Err(Stop::Memory);
        }
        Ok(())
    }

    fn push(&mut self, words: &[u64]) -> Result<(), Stop> {
        let new: Vec<u64> = self.order.iter().map(|&level| words[level]).collect();
        let same = new.iter().zip(&self.last).take_while(|(a, b)| a == b);
        let same = same.count();
        self.close(same + 1)?;
        for (edges, &word) in self.open.iter_mut().zip(&new).skip(same) {
            edges.0.push(word);
        }
        self.last = new;
        Ok(())
    }

    /// Ends the open nodes from this depth on, from the inside out.
    fn close(&mut self, from: usize) -> Result<(), Stop> {
        if self.last.is_empty() {
            return Ok(());
        }
        for depth in (from..self.order.len()).rev() {
            let node = self.node(depth)?;
            self.open[depth - 1].1.push(node);
        }
        Ok(())
    }

    fn node(&mut self, depth: usize) -> Result<u32, Stop> {
        let key = (depth, std::mem::take(&mut self.open[depth]));
        if let Some(&node) = self.known.get(&key) {
            return Ok(node);
        }
        let (values, children) = &key.1;
        let node = self.arena.node(self.order[depth], values, children)?;
        self.known_bytes += size_of_val(&key) + 8 * values.len() + 4 * children.len() + 8;
        self.known.insert(key, node);
        Ok(node)
    }

    fn finish(&mut self) -> Result<u32, Stop> {
        self.close(1)?;
        self.node(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Facts, Space};

    const TEXT: &str = "[parameters]\na = '1 : 6'\nb = [1, 2, 4]\nc = ['x', 'y']\nd = '1 : b'\ne = [7]\nf = '0 : 3'\n[hard]\nr = 'a + f < 8'\n";

    fn index(text: &str) -> Index {
        let space = Arc::new(Space::read(text, &Facts::new()).unwrap());
        Index::build(&space, &Limits::default()).unwrap()
    }

    fn keep(whole: &Index, mut test: impl FnMut(&[Value]) -> bool) -> Index {
        let limits = Limits::default();
        whole.keep::<Stop>(&limits, |p| Ok(test(p))).unwrap()
    }

    fn points(index: &Index) -> Vec<Vec<Value>> {
        (0..index.len()).map(|i| index.get(i).unwrap()).collect()
    }

    /// Whether two points differ in one parameter.
    fn near(p: &[Value], q: &[Value]) -> bool {
        p.iter().zip(q).filter(|(a, b)| a != b).count() == 1
    }

    #[test]
    fn kept_are_the_points_of_a_loop_in_order() {
        let whole = index(TEXT);
        let tests: [fn(&[i64]) -> bool; 4] = [
            |v| (v[0] * v[1] + v[2]) % 3 == 1,
            |v| v[0] == v[2],
            |_| true,
            |v| v[0] == 6 && v[1] == 4 && v[2] == 4,
        ];
        for test in tests {
            let holds = |p: &[Value]| {
                let int = |i: usize| p[i].as_int().unwrap();
                test(&[int(0), int(1), int(3)])
            };
            let kept = keep(&whole, holds);
            let wanted: Vec<_> = points(&whole).into_iter().filter(|p| holds(p)).collect();
            assert_eq!(points(&kept), wanted);
            for (i, p) in wanted.iter().enumerate() {
                assert_eq!(kept.position(p), Some(i as u64));
                let mut found = kept.neighbours(i as u64);
                found.sort_unstable();
                let by_hand: Vec<u64> = (0..wanted.len())
                    .filter(|&k| near(p, &wanted[k]))
                    .map(|k| k as u64)
                    .collect();
                assert_eq!(found, by_hand);
                assert!(kept.adjacent(i as u64).iter().all(|k| found.contains(k)));
            }
            let others = points(&whole).into_iter().filter(|p| !holds(p));
            assert!(others.into_iter().all(|p| kept.position(&p).is_none()));
        }
    }

    #[test]
    fn nothing_and_the_only_point_are_kept() {
        let none = keep(&index(TEXT), |_| false);
        assert!(none.is_empty() && none.get(0).is_none());
        let one = index("[parameters]\na = [3]\n");
        assert_eq!(keep(&one, |_| true).len(), 1);
        assert!(keep(&one, |_| false).is_empty());
    }

    #[test]
    fn errors_and_limits_end_it() {
        let whole = index(TEXT);
        let fault = || Stop::Fault(crate::SpaceError::new("no"));
        let limits = Limits::default();
        let ended = whole.keep::<Stop>(&limits, |_| Err(fault()));
        assert_eq!(ended.err(), Some(fault()));
        let few = Limits {
            bytes: 10,
            ..Limits::default()
        };
        assert_eq!(
            whole.keep::<Stop>(&few, |_| Ok(true)).err(),
            Some(Stop::Memory)
        );
        let stopped = Limits {
            cancelled: &|| true,
            ..Limits::default()
        };
        assert_eq!(
            whole.keep::<Stop>(&stopped, |_| Ok(true)).err(),
            Some(Stop::Cancelled)
        );
    }
}
