//! A plane through a tree, with the lists of one of its boxes: what a figure of them shows.

use super::lists::touch;
use super::{Lists, NONE, Tree};
use crate::plan::{Root, extents, sorted};
use crate::points::Points;
use rayon::prelude::*;

/// The list of a box to which another belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListName {
    /// P2P.
    U,
    /// M2L.
    V,
    /// M2P.
    W,
    /// P2L.
    X,
}

impl ListName {
    /// All lists.
    pub const ALL: [Self; 4] = [Self::U, Self::V, Self::W, Self::X];
}

/// A leaf, and the lists of it whose boxes are cut by a plane through it, across z.
#[derive(Clone, Debug)]
pub struct Slice {
    /// The leaf.
    pub of: usize,
    /// Boxes of the lists, each once: the leaf itself is in none.
    pub listed: Vec<(usize, ListName)>,
    /// All leaves that the plane cuts.
    pub leaves: Vec<usize>,
}

/// The tree of points that are sources and targets, and its lists, with boxes of few points in the lists of their places.
pub fn of_points(points: &Points, ncrit: usize) -> (Tree, Lists) {
    let (order, _) = sorted::<f64>(points, &Root::around(&[extents(points)]));
    let tree = Tree::new(&order, &order, ncrit);
    let lists = Lists::new(&tree, 0);
    (tree, lists)
}

/// V list of a box: children of the neighbours of its parent that are not adjacent to it.
pub fn v_list(tree: &Tree, i: usize) -> Vec<u32> {
    let node = &tree.nodes[i];
    if node.parent == NONE {
        return Vec::new();
    }
    let near = tree.neighbours[node.parent as usize].iter();
    near.filter(|b| **b != NONE)
        .flat_map(|b| tree.children(*b as usize))
        .filter(|c| tree.nodes[*c].has_sources() && !touch(node, &tree.nodes[*c]))
        .map(|c| c as u32)
        .collect()
}

fn listed(tree: &Tree, lists: &Lists, i: usize) -> Vec<(usize, ListName)> {
    let v = v_list(tree, i);
    let rows = [lists.u.of_box(i), &v, lists.w.of_box(i), lists.x.of_box(i)];
    (rows.iter().zip(ListName::ALL))
        .flat_map(|(row, name)| row.iter().map(move |b| (*b as usize, name)))
        .filter(|(b, _)| *b != i && cuts(tree, i, *b))
        .collect()
}

/// Where the plane cuts a box, in half widths above its center: the center is on the faces of smaller boxes.
const ABOVE: f64 = 0.31;

/// Whether the plane of a box cuts another.
fn cuts(tree: &Tree, i: usize, other: usize) -> bool {
    let (own, n) = (&tree.nodes[i], &tree.nodes[other]);
    let z = own.center()[2] + ABOVE * own.half_width();
    (n.center()[2] - z).abs() < n.half_width()
}

impl Slice {
    /// The plane through a leaf.
    pub fn through(tree: &Tree, lists: &Lists, leaf: usize) -> Self {
        Self {
            of: leaf,
            listed: listed(tree, lists, leaf),
            leaves: tree.leaves().filter(|b| cuts(tree, leaf, *b)).collect(),
        }
    }

    /// The plane through the leaf whose shortest list in its plane is the longest; of these the largest leaf. `None` if there
    /// are no leaves.
    pub fn richest(tree: &Tree, lists: &Lists) -> Option<Self> {
        let leaves: Vec<usize> = tree.leaves().collect();
        let best = leaves.par_iter().max_by_key(|i| {
            let all = listed(tree, lists, **i);
            let count = |name| all.iter().filter(|(_, n)| *n == name).count();
            let shortest = ListName::ALL.map(count).into_iter().min();
            (shortest, u8::MAX - tree.nodes[**i].level, usize::MAX - **i)
        });
        Some(Self::through(tree, lists, *best?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::{Distribution, generate};
    use std::collections::BTreeSet;

    #[test]
    fn lists_of_a_slice_are_apart_and_in_the_plane() {
        let points = generate(Distribution::Clusters, 5000, 2);
        let (tree, lists) = of_points(&points, 20);
        let s = Slice::richest(&tree, &lists).unwrap();
        for name in ListName::ALL {
            assert!(s.listed.iter().any(|(_, n)| *n == name), "{name:?}");
        }
        let own = &tree.nodes[s.of];
        let apart: BTreeSet<usize> = s.listed.iter().map(|(b, _)| *b).collect();
        assert!(apart.len() == s.listed.len() && !apart.contains(&s.of));
        for (b, name) in &s.listed {
            let node = &tree.nodes[*b];
            assert_eq!(touch(own, node), *name == ListName::U, "{name:?}");
            match name {
                ListName::U | ListName::X => assert!(node.is_leaf()),
                ListName::V => assert_eq!(node.level, own.level),
                ListName::W => assert!(node.level > own.level),
            }
            assert!(cuts(&tree, s.of, *b));
        }
        assert!(s.leaves.contains(&s.of));
    }

    #[test]
    fn every_source_is_in_one_list_of_a_leaf_or_of_an_ancestor() {
        let points = generate(Distribution::Plummer, 2000, 3);
        let (tree, lists) = of_points(&points, 15);
        for leaf in tree.leaves() {
            let mut seen = vec![0; 2000];
            let mut add = |b: u32| {
                let of = &tree.nodes[b as usize].sources;
                seen[of.start as usize..of.end as usize]
                    .iter_mut()
                    .for_each(|n| *n += 1);
            };
            lists
                .u
                .of_box(leaf)
                .iter()
                .chain(lists.w.of_box(leaf))
                .for_each(|b| add(*b));
            let mut at = leaf;
            while tree.nodes[at].parent != NONE {
                v_list(&tree, at).into_iter().for_each(&mut add);
                lists.x.of_box(at).iter().for_each(|b| add(*b));
                at = tree.nodes[at].parent as usize;
            }
            assert!(seen.iter().all(|n| *n == 1), "leaf {leaf}");
        }
    }
}
