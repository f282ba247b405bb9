//! Which levels still decide each other once some are chosen: the nest as a tree. Levels in
//! different branches are independent, so that their counts multiply.

use hashbrown::HashSet;

/// The tree of a nest; each level is the head of one group of levels.
pub struct Tree {
    /// Heads of the groups that are independent from the start.
    pub roots: Vec<usize>,
    /// Heads of the groups that are independent once the level, and all above it, are chosen.
    pub children: Vec<Vec<usize>>,
    /// The levels of the group that a level heads, as marks.
    pub group: Vec<Vec<bool>>,
}

impl Tree {
    /// `together` lists levels that a filter or a dependent range ties.
    pub fn new(n: usize, together: impl IntoIterator<Item = Vec<usize>>) -> Self {
        let edges: Vec<Vec<usize>> = together
            .into_iter()
            .filter(|e| e.len() > 1)
            .collect::<HashSet<_>>()
            .into_iter()
            .collect();
        let mut tree = Self {
            roots: Vec::new(),
            children: vec![Vec::new(); n],
            group: vec![Vec::new(); n],
        };
        let all: Vec<usize> = (0..n).collect();
        let mut stack = Vec::new();
        for group in groups(&all, &edges, n) {
            tree.roots.push(group[0]);
            stack.push(group);
        }
        tree.roots.sort_unstable();
        while let Some(group) = stack.pop() {
            let head = group[0];
            let mut marks = vec![false; n];
            group.iter().for_each(|&l| marks[l] = true);
            tree.group[head] = marks;
            for part in groups(&group[1..], &edges, n) {
                tree.children[head].push(part[0]);
                stack.push(part);
            }
            tree.children[head].sort_unstable();
        }
        tree
    }
}

/// Splits levels into groups that no edge ties, each in ascending order.
fn groups(levels: &[usize], edges: &[Vec<usize>], n: usize) -> Vec<Vec<usize>> {
    const OUT: usize = usize::MAX;
    let mut root = vec![OUT; n];
    levels.iter().for_each(|&l| root[l] = l);
    fn find(root: &mut [usize], mut l: usize) -> usize {
        while root[l] != l {
            root[l] = root[root[l]];
            l = root[l];
        }
        l
    }
    for e in edges {
        let mut first = None;
        for &l in e.iter().filter(|&&l| l < n) {
            if root[l] == OUT {
                continue;
            }
            let own = find(&mut root, l);
            match first {
                None => first = Some(own),
                Some(f) => {
                    let f = find(&mut root, f);
                    root[own.max(f)] = own.min(f);
                }
            }
        }
    }
    let mut out: Vec<Vec<usize>> = Vec::new();
    let mut at = vec![OUT; n];
    for &l in levels {
        let r = find(&mut root, l);
        if at[r] == OUT {
            at[r] = out.len();
            out.push(Vec::new());
        }
        out[at[r]].push(l);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_levels_tie_nothing() {
        // 0 ties 1 and 2, which are independent once 0 is chosen; 3 is alone.
        let t = Tree::new(4, [vec![0, 1], vec![0, 2]]);
        assert_eq!(t.roots, [0, 3]);
        assert_eq!(t.children[0], [1, 2]);
        assert_eq!(t.group[0], [true, true, true, false]);
        assert!(t.children[1].is_empty());
    }

    #[test]
    fn a_chain_stays_one() {
        let t = Tree::new(3, [vec![0, 1], vec![1, 2]]);
        assert_eq!(
            (t.roots, t.children),
            (vec![0], vec![vec![1], vec![2], vec![]])
        );
    }
}
