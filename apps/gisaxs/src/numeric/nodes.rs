//! A mesh as weighted points, of which every way but the exact one makes its sums.

use super::Rule;
use crate::mesh::Mesh;

/// Points on a surface about its centre, nm, with area times normal, nm².
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    pub place: Vec<[f64; 3]>,
    pub strength: Vec<[f64; 3]>,
    /// Second moments of each triangle about its centroid, xx xy xz yy yz zz: Σ p_k² = q·M·q over its
    /// corners; of centroids alone.
    pub second: Vec<[f64; 6]>,
    pub centre: [f64; 3],
    /// Farthest point of the surface from its centre.
    pub reach: f64,
    pub volume: f64,
    pub area: f64,
    /// Sum over triangles of the product of their two longest edges, nm²: what rounding of a normal is a share of.
    pub edges: f64,
    /// Points in a row of the largest rule.
    pub order: usize,
    /// Lowest and highest z of the surface, nm.
    pub z: [f64; 2],
    /// Bound of the sampling's error of F over the volume, for |q| up to the one it was made for.
    pub error: f64,
}

/// Shares of the corners, and weights.
type Points = Vec<([f64; 3], f64)>;

/// How points are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// The same for each triangle.
    Every(Rule),
    /// For each triangle the fewest points that keep the error of F below this share of the volume.
    Within(f64),
}

impl Nodes {
    /// Samples a closed surface for |q| up to `most`.
    pub fn new(mesh: &Mesh, most: f64, sampling: Sampling) -> Self {
        let centre = mesh.middle();
        let mut out = Self {
            centre,
            volume: mesh.volume(),
            reach: mesh.reach(centre),
            z: mesh.span_z(),
            ..Self::default()
        };
        out.area = mesh.triangles.iter().map(|t| mesh.face(*t).0).sum();
        // At least one each.
        out.place.reserve(mesh.triangles.len());
        out.strength.reserve(mesh.triangles.len());
        // |dF| ≤ Σ area × error / |q|; F's scale is the volume.
        let share = out.area / (most * out.volume).max(f64::MIN_POSITIVE);
        let mut kept: Vec<(Rule, Points)> = Vec::new();
        let mut worst = 0.0;
        for t in &mesh.triangles {
            let (area, normal) = mesh.face(*t);
            let v = t.map(|i| mesh.vertices[i]);
            let middle: [f64; 3] = std::array::from_fn(|k| (v[0][k] + v[1][k] + v[2][k]) / 3.0);
            let arm: [[f64; 3]; 3] = v.map(|p| std::array::from_fn(|k| p[k] - middle[k]));
            let longest = arm
                .iter()
                .map(|d| d.iter().map(|x| x * x).sum::<f64>().sqrt())
                .fold(0.0, f64::max);
            let phase = most * longest;
            let rule = match sampling {
                Sampling::Every(rule) => rule,
                Sampling::Within(accuracy) => Rule::within(accuracy / share, phase),
            };
            worst += area * rule.error(phase);
            // No edge is longer than twice the longest arm.
            out.edges += 4.0 * longest * longest;
            let n = kept.iter().position(|k| k.0 == rule).unwrap_or_else(|| {
                kept.push((rule, rule.points()));
                kept.len() - 1
            });
            for (s, w) in &kept[n].1 {
                out.place.push(std::array::from_fn(|k| {
                    s[0] * v[0][k] + s[1] * v[1][k] + s[2] * v[2][k] - centre[k]
                }));
                out.strength.push(normal.map(|x| x * area * w));
            }
            if sampling == Sampling::Every(Rule::Centroid) {
                let m = |a: usize, b: usize| arm.iter().map(|d| d[a] * d[b]).sum();
                out.second.reserve(mesh.triangles.len() - out.second.len());
                out.second
                    .push([m(0, 0), m(0, 1), m(0, 2), m(1, 1), m(1, 2), m(2, 2)]);
            }
        }
        let order = |k: &(Rule, Points)| match k.0 {
            Rule::Gauss(n) => n,
            _ => 1,
        };
        out.order = kept.iter().map(order).max().unwrap_or(1);
        out.error = worst / (most * out.volume).max(f64::MIN_POSITIVE);
        out
    }

    pub fn len(&self) -> usize {
        self.place.len()
    }

    pub fn is_empty(&self) -> bool {
        self.place.is_empty()
    }

    /// Largest |coordinate| of one axis.
    pub fn extent(&self, axis: usize) -> f64 {
        self.place.iter().fold(0.0, |m, p| p[axis].abs().max(m))
    }
}
