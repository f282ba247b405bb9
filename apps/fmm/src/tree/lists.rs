//! U, V, W and X lists (thesis, §6.1): which boxes contribute to a box, and how.

use super::{NONE, Node, Tree};
use rayon::prelude::*;

/// Lists of boxes, concatenated.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Begin of each list, and the end of the last.
    pub first: Vec<u32>,
    /// All lists.
    pub items: Vec<u32>,
}

impl Rows {
    fn of(rows: &[Vec<u32>]) -> Self {
        let mut first = Vec::with_capacity(rows.len() + 1);
        let mut items = Vec::with_capacity(rows.iter().map(Vec::len).sum());
        first.push(0);
        for r in rows {
            items.extend_from_slice(r);
            first.push(items.len() as u32);
        }
        Self { first, items }
    }

    /// The list of a box.
    pub fn of_box(&self, i: usize) -> &[u32] {
        &self.items[self.first[i] as usize..self.first[i + 1] as usize]
    }
}

/// Lists of the boxes with targets. V is not stored: it follows from [`Tree::neighbours`] of the parent.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// U: leaves adjacent to a leaf, itself first (P2P).
    pub u: Rows,
    /// W: descendants of neighbours of a leaf that are not adjacent to it (M2P).
    pub w: Rows,
    /// X: leaves adjacent to the parent of a box but not to the box (P2L).
    pub x: Rows,
}

/// Whether two boxes of any levels are adjacent.
pub(super) fn touch(a: &Node, b: &Node) -> bool {
    let (fine, coarse) = if a.level >= b.level { (a, b) } else { (b, a) };
    let shift = fine.level - coarse.level;
    (0..3).all(|k| {
        let low = i64::from(coarse.at[k]) << shift;
        let high = (i64::from(coarse.at[k]) + 1) << shift;
        let at = i64::from(fine.at[k]);
        at + 1 >= low && at <= high
    })
}

impl Lists {
    /// Boxes of at most `few` points are evaluated by P2P, which costs less than a surface.
    pub fn new(tree: &Tree, few: usize) -> Self {
        let n = tree.nodes.len();
        // Larger leaves that touch each box, level by level from its parent's.
        let mut coarse: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut x: Vec<Vec<u32>> = vec![Vec::new(); n];
        for level in &tree.levels[1..] {
            let (done, rest) = coarse.split_at_mut(level.start);
            rest[..level.len()]
                .par_iter_mut()
                .zip(x[level.clone()].par_iter_mut())
                .enumerate()
                .for_each(|(k, (near, far))| {
                    let node = &tree.nodes[level.start + k];
                    let parent = node.parent as usize;
                    let leaves = tree.neighbours[parent]
                        .iter()
                        .filter(|&&b| b != NONE && tree.nodes[b as usize].is_leaf());
                    for &b in done[parent].iter().chain(leaves) {
                        if touch(node, &tree.nodes[b as usize]) {
                            near.push(b);
                        } else if !node.targets.is_empty() && tree.nodes[b as usize].has_sources() {
                            far.push(b);
                        }
                    }
                });
        }
        let (u, w): (Vec<_>, Vec<_>) = x
            .par_iter_mut()
            .enumerate()
            .map(|(i, x)| {
                let node = &tree.nodes[i];
                if !node.is_leaf() || node.targets.is_empty() {
                    return (Vec::new(), Vec::new());
                }
                let with = |b: &&u32| tree.nodes[**b as usize].has_sources();
                let mut u = Vec::with_capacity(27);
                let mut w = Vec::new();
                // Itself first, so that only the first can hold coincident points.
                if node.has_sources() {
                    u.push(i as u32);
                }
                u.extend(coarse[i].iter().filter(with));
                for (d, &b) in tree.neighbours[i].iter().enumerate() {
                    if d != 13 && b != NONE {
                        descend(tree, i, b, few, &mut u, &mut w);
                    }
                }
                if node.targets.len() <= few {
                    u.append(x);
                }
                (u, w)
            })
            .unzip();
        Self {
            u: Rows::of(&u),
            w: Rows::of(&w),
            x: Rows::of(&x),
        }
    }
}

/// Sorts a box that touches leaf `i`, or its descendants, into U and W.
fn descend(tree: &Tree, i: usize, b: u32, few: usize, u: &mut Vec<u32>, w: &mut Vec<u32>) {
    let node = &tree.nodes[b as usize];
    if !node.has_sources() {
        return;
    }
    if node.is_leaf() {
        u.push(b);
        return;
    }
    for c in tree.children(b as usize) {
        let child = &tree.nodes[c];
        if touch(&tree.nodes[i], child) {
            descend(tree, i, c as u32, few, u, w);
        } else if child.source_count as usize > few {
            w.push(c as u32);
        } else if child.has_sources() {
            u.push(c as u32);
        }
    }
}
