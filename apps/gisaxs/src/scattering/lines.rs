//! F along a row of a flat detector, whose pixels differ slightly in q_z: interpolation between nodes in q_z.

use crate::mesh_form_factor::chebyshev;
use num_complex::Complex64;
use std::f64::consts::PI;

/// Interpolation nodes in q_z for each term of a row.
#[derive(Default)]
pub(super) struct Lines {
    /// The nodes, 1/nm, term after term.
    pub z: Vec<Complex64>,
    /// Number of nodes per term.
    nodes: usize,
    /// Centre and half-length of the line in q_z of each term.
    center: Vec<(Complex64, Complex64)>,
}

impl Lines {
    /// Nodes between the q_z of each term at the lowest and highest exit angle of the row: one if all pixels share it,
    /// otherwise enough for `error` relative to the volume of a particle within `reach` of the origin.
    pub fn new(ends: &[(Complex64, Complex64)], reach: f64, error: f64) -> Self {
        let widest = ends
            .iter()
            .map(|(low, high)| (high - low).norm())
            .fold(0.0, f64::max);
        // Pixels near a critical angle leave the line between the ends; twice its half-length allows for that.
        let nodes = if widest == 0.0 {
            1
        } else {
            chebyshev::terms(widest * reach, error).max(2)
        };
        let mut out = Self {
            nodes,
            ..Self::default()
        };
        for (low, high) in ends {
            let (center, half) = (0.5 * (low + high), 0.5 * (high - low));
            out.center.push((center, half));
            for node in 0..nodes {
                let away = if nodes == 1 {
                    0.0
                } else {
                    chebyshev::node(node, nodes)
                };
                out.z.push(center + half * away);
            }
        }
        out
    }

    /// The interpolating polynomial of a term at a q_z; `f` gives the value at a node.
    pub fn between(&self, term: usize, z: Complex64, f: impl Fn(usize) -> Complex64) -> Complex64 {
        let first = term * self.nodes;
        if self.nodes == 1 {
            return f(first);
        }
        let (center, half) = self.center[term];
        if half.norm_sqr() == 0.0 {
            return f(first);
        }
        let t = (z - center) / half;
        // Lagrange's polynomials in barycentric form; weights of Chebyshev's nodes.
        let (mut over, mut under) = (Complex64::ZERO, Complex64::ZERO);
        for k in 0..self.nodes {
            let away = t - chebyshev::node(k, self.nodes);
            if away.norm_sqr() < 1e-30 {
                return f(first + k);
            }
            let angle = PI * (k as f64 + 0.5) / self.nodes as f64;
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let weight = sign * angle.sin() / away;
            over += weight * f(first + k);
            under += weight;
        }
        over / under
    }
}
