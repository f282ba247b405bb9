//! Quadrature nodes on a mesh, which all methods except the exact one sum over.

use super::Quadrature;
use crate::mesh::Mesh;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// Largest |coordinate| relative to the centre along each axis, nm.
    extents: [f64; 3],
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

/// Triangles of a chunk. Sums are made over chunks, then over them in order: they do not depend on the threads.
const CHUNK: usize = 1 << 14;

/// The choice of a rule for each triangle of a mesh.
pub(super) struct Rules<'a> {
    mesh: &'a Mesh,
    stop: &'a AtomicBool,
    most: f64,
    sampling: Sampling,
    centre: [f64; 3],
    /// |dF| ≤ Σ area × error / |q|; the scale of F is the volume.
    share: f64,
    pub volume: f64,
    pub area: f64,
    pub reach: f64,
}

/// The nodes of some triangles, and their shares of the sums of all.
#[derive(Default)]
pub(super) struct Sample {
    pub position: Vec<[f64; 3]>,
    pub strength: Vec<[f64; 3]>,
    second: Vec<[f64; 6]>,
    worst: f64,
    edges: f64,
    order: usize,
    extents: [f64; 3],
}

impl<'a> Rules<'a> {
    pub fn new(mesh: &'a Mesh, most: f64, sampling: Sampling, stop: &'a AtomicBool) -> Self {
        let centre = mesh.center();
        let volume = mesh.volume();
        let areas: Vec<f64> = mesh
            .triangles
            .par_chunks(CHUNK)
            .map(|some| some.iter().map(|t| mesh.face(*t).0).sum())
            .collect();
        let area = areas.iter().sum::<f64>();
        Self {
            mesh,
            stop,
            most,
            sampling,
            centre,
            share: area / (most * volume).max(f64::MIN_POSITIVE),
            volume,
            area,
            reach: mesh.reach(centre),
        }
    }

    /// Does something with the nodes of each chunk of triangles, which are none once stopped; the results are in the order of
    /// the chunks.
    pub fn chunks<T: Send>(&self, each: impl Fn(Sample) -> T + Sync) -> Vec<T> {
        self.mesh
            .triangles
            .par_chunks(CHUNK)
            .map(|some| {
                if self.stop.load(Ordering::Relaxed) {
                    each(self.some(&[]))
                } else {
                    each(self.some(some))
                }
            })
            .collect()
    }

    /// The error of F relative to the volume, from those of all chunks.
    pub fn error(&self, worst: f64) -> f64 {
        worst / (self.most * self.volume).max(f64::MIN_POSITIVE)
    }

    fn some(&self, triangles: &[[usize; 3]]) -> Sample {
        let mut out = Sample {
            order: 1,
            ..Sample::default()
        };
        // At least one each.
        out.position.reserve(triangles.len());
        out.strength.reserve(triangles.len());
        let centroids = self.sampling == Sampling::Every(Quadrature::Centroid);
        let mut kept: Vec<(Quadrature, Points)> = Vec::new();
        for t in triangles {
            let (area, normal) = self.mesh.face(*t);
            let v = t.map(|i| self.mesh.vertices[i]);
            let center: [f64; 3] = std::array::from_fn(|k| (v[0][k] + v[1][k] + v[2][k]) / 3.0);
            let arm: [[f64; 3]; 3] = v.map(|p| std::array::from_fn(|k| p[k] - center[k]));
            let longest = arm
                .iter()
                .map(|d| d.iter().map(|x| x * x).sum::<f64>().sqrt())
                .fold(0.0, f64::max);
            let phase = self.most * longest;
            let rule = match self.sampling {
                Sampling::Every(rule) => rule,
                Sampling::Within(accuracy) => Quadrature::within(accuracy / self.share, phase),
            };
            out.worst += area * rule.error(phase);
            // No edge is longer than twice the longest arm.
            out.edges += 4.0 * longest * longest;
            let n = kept.iter().position(|k| k.0 == rule).unwrap_or_else(|| {
                kept.push((rule, rule.points()));
                kept.len() - 1
            });
            for (s, w) in &kept[n].1 {
                let at: [f64; 3] = std::array::from_fn(|k| {
                    s[0] * v[0][k] + s[1] * v[1][k] + s[2] * v[2][k] - self.centre[k]
                });
                for (most, x) in out.extents.iter_mut().zip(at) {
                    *most = most.max(x.abs());
                }
                out.position.push(at);
                out.strength.push(normal.map(|x| x * area * w));
            }
            if centroids {
                let m = |a: usize, b: usize| arm.iter().map(|d| d[a] * d[b]).sum();
                out.second
                    .push([m(0, 0), m(0, 1), m(0, 2), m(1, 1), m(1, 2), m(2, 2)]);
            }
        }
        for (rule, _) in &kept {
            if let Quadrature::Gauss(n) = rule {
                out.order = out.order.max(*n);
            }
        }
        out
    }
}

impl Sample {
    /// Share of the error of F, see [`Rules::error`].
    pub fn worst(&self) -> f64 {
        self.worst
    }
}

/// The lists of all chunks as one.
fn joined<T: Copy + Default + Send + Sync>(parts: &[Sample], of: fn(&Sample) -> &Vec<T>) -> Vec<T> {
    let mut out = vec![T::default(); parts.iter().map(|p| of(p).len()).sum()];
    let mut rest = &mut out[..];
    let mut pairs = Vec::with_capacity(parts.len());
    for p in parts {
        let (own, after) = rest.split_at_mut(of(p).len());
        pairs.push((own, of(p)));
        rest = after;
    }
    pairs
        .into_par_iter()
        .for_each(|(to, from)| to.copy_from_slice(from));
    out
}

impl Nodes {
    /// The nodes of a closed surface for |q| up to `most`, 1/nm; only some of them if stopped.
    pub(super) fn new(mesh: &Mesh, most: f64, sampling: Sampling, stop: &AtomicBool) -> Self {
        let rules = Rules::new(mesh, most, sampling, stop);
        let parts = rules.chunks(|some| some);
        let largest = |k: usize| parts.iter().fold(0.0, |m: f64, p| m.max(p.extents[k]));
        Self {
            position: joined(&parts, |p| &p.position),
            strength: joined(&parts, |p| &p.strength),
            second: joined(&parts, |p| &p.second),
            centre: rules.centre,
            reach: rules.reach,
            volume: rules.volume,
            area: rules.area,
            edges: parts.iter().map(|p| p.edges).sum(),
            order: parts.iter().map(|p| p.order).max().unwrap_or(1),
            z: mesh.span_z(),
            error: rules.error(parts.iter().map(|p| p.worst).sum()),
            extents: std::array::from_fn(largest),
        }
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
        self.extents[axis]
    }
}
