//! Integer positions of the nodes in a zone, and the vertex, edge or face on which each lies.

use crate::fem::element::{Shape, along};

/// Integer coordinates of the nodes, 0 to k: Cartesian in tensor-product zones, barycentric in simplices (the first is
/// that of corner 0).
pub fn integer_positions(shape: Shape, k: usize) -> Vec<Vec<usize>> {
    if shape.tensor() {
        let counts = vec![k + 1; shape.dim()];
        return (0..shape.nodes(k)).map(|n| along(n, &counts)).collect();
    }
    crate::fem::simplex::powers(shape.dim(), k)
        .into_iter()
        .map(|p| {
            let (rest, first) = (p[shape.dim()], &p[..shape.dim()]);
            std::iter::once(rest).chain(first.iter().copied()).collect()
        })
        .collect()
}

/// Local corners of the vertex, edge, face or zone whose interior contains a node.
pub fn entity(shape: Shape, k: usize, at: &[usize]) -> Vec<usize> {
    if !shape.tensor() {
        return (0..at.len()).filter(|c| at[*c] > 0).collect();
    }
    (0..shape.corners())
        .filter(|c| {
            at.iter()
                .enumerate()
                .all(|(g, i)| (*i > 0 && *i < k) || *i == k * (c >> g & 1))
        })
        .collect()
}

/// Distance of a node on an edge from one end of the edge, in node intervals.
pub fn distance(shape: Shape, end: usize, at: &[usize], k: usize) -> usize {
    if !shape.tensor() {
        return k - at[end];
    }
    at.iter()
        .enumerate()
        .filter(|(_, i)| **i > 0 && **i < k)
        .map(|(g, i)| if end >> g & 1 == 1 { k - i } else { *i })
        .sum()
}
