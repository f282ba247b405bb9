//! Quadrature nodes on a mesh, which all methods except the exact one sum over.

use super::Quadrature;
use crate::mesh::Mesh;

/// Quadrature nodes on a closed surface.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// Positions relative to the centre, nm.
    pub position: Vec<[f64; 3]>,
    /// Weight, nm², times outward normal of each node.
    pub strength: Vec<[f64; 3]>,
    /// Matrix M of each triangle, xx xy xz yy yz zz, nm²: Σ p_k² = q·M·q over the phases p_k of its corners about the
    /// centroid. Empty unless all nodes are centroids.
    pub second: Vec<[f64; 6]>,
    /// Centre of the bounding box, nm.
    pub centre: [f64; 3],
    /// Distance of the farthest vertex from the centre, nm.
    pub reach: f64,
    /// Volume inside the surface, nm³.
    pub volume: f64,
    /// Area of the surface, nm².
    pub area: f64,
    /// Bound of the sum over triangles of the product of their two longest edges, nm²; rounding of normals is
    /// proportional to it.
    pub edges: f64,
    /// Largest order n of a Gauss rule; 1 without one.
    pub order: usize,
    /// Lowest and highest z of the surface, nm.
    pub z: [f64; 2],
    /// Bound of the quadrature's error of F relative to the volume, up to the |q| for which the nodes were made.
    pub error: f64,
}

/// Barycentric coordinates and weights.
type Points = Vec<([f64; 3], f64)>;

/// How the quadrature rule of each triangle is selected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// The same rule for each triangle.
    Every(Quadrature),
    /// For each triangle the rule with the fewest points that keeps the error of F relative to the volume below this.
    Within(f64),
}

impl Nodes {
    /// The nodes of a closed surface for |q| up to `most`, 1/nm.
    pub fn new(mesh: &Mesh, most: f64, sampling: Sampling) -> Self {
        let centre = mesh.center();
        let mut out = Self {
            centre,
            volume: mesh.volume(),
            reach: mesh.reach(centre),
            z: mesh.span_z(),
            ..Self::default()
        };
        out.area = mesh.triangles.iter().map(|t| mesh.face(*t).0).sum();
        // At least one each.
        out.position.reserve(mesh.triangles.len());
        out.strength.reserve(mesh.triangles.len());
        // |dF| ≤ Σ area × error / |q|; the scale of F is the volume.
        let share = out.area / (most * out.volume).max(f64::MIN_POSITIVE);
        let mut kept: Vec<(Quadrature, Points)> = Vec::new();
        let mut worst = 0.0;
        for t in &mesh.triangles {
            let (area, normal) = mesh.face(*t);
            let v = t.map(|i| mesh.vertices[i]);
            let center: [f64; 3] = std::array::from_fn(|k| (v[0][k] + v[1][k] + v[2][k]) / 3.0);
            let arm: [[f64; 3]; 3] = v.map(|p| std::array::from_fn(|k| p[k] - center[k]));
            let longest = arm
                .iter()
                .map(|d| d.iter().map(|x| x * x).sum::<f64>().sqrt())
                .fold(0.0, f64::max);
            let phase = most * longest;
            let rule = match sampling {
                Sampling::Every(rule) => rule,
                Sampling::Within(accuracy) => Quadrature::within(accuracy / share, phase),
            };
            worst += area * rule.error(phase);
            // No edge is longer than twice the longest arm.
            out.edges += 4.0 * longest * longest;
            let n = kept.iter().position(|k| k.0 == rule).unwrap_or_else(|| {
                kept.push((rule, rule.points()));
                kept.len() - 1
            });
            for (s, w) in &kept[n].1 {
                out.position.push(std::array::from_fn(|k| {
                    s[0] * v[0][k] + s[1] * v[1][k] + s[2] * v[2][k] - centre[k]
                }));
                out.strength.push(normal.map(|x| x * area * w));
            }
            if sampling == Sampling::Every(Quadrature::Centroid) {
                let m = |a: usize, b: usize| arm.iter().map(|d| d[a] * d[b]).sum();
                out.second.reserve(mesh.triangles.len() - out.second.len());
                out.second
                    .push([m(0, 0), m(0, 1), m(0, 2), m(1, 1), m(1, 2), m(2, 2)]);
            }
        }
        let order = |k: &(Quadrature, Points)| match k.0 {
            Quadrature::Gauss(n) => n,
            _ => 1,
        };
        out.order = kept.iter().map(order).max().unwrap_or(1);
        out.error = worst / (most * out.volume).max(f64::MIN_POSITIVE);
        out
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Largest |coordinate| along an axis (0, 1, 2: x, y, z) relative to the centre, nm.
    pub fn extent(&self, axis: usize) -> f64 {
        self.position.iter().fold(0.0, |m, p| p[axis].abs().max(m))
    }
}
