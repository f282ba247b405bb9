//! Triangulated surfaces.

mod ball;
mod bicontinuous;
mod check;
mod cut;
mod edges;
mod files;
mod level_set;
mod overlap;
mod tree;

pub use bicontinuous::Bicontinuous;
pub(crate) use check::{CHUNK, go_on};
pub use files::{ENDINGS, read};

use rayon::prelude::*;

/// A surface of triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Positions of the vertices, nm.
    pub vertices: Vec<[f64; 3]>,
    /// Indices of the three vertices of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[usize; 3]>,
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

/// a × b.
pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Six times the signed volume of the tetrahedron between a triangle and the zero point.
fn six_volume(v: [[f64; 3]; 3]) -> f64 {
    dot(v[0], cross(v[1], v[2]))
}

impl Mesh {
    /// Area, nm², and unit normal of the triangle with these vertices.
    pub fn face(&self, corners: [usize; 3]) -> (f64, [f64; 3]) {
        let v = corners.map(|i| self.vertices[i]);
        let n = cross(minus(v[1], v[0]), minus(v[2], v[0]));
        let length = dot(n, n).sqrt();
        (0.5 * length, n.map(|x| x / length.max(f64::MIN_POSITIVE)))
    }

    /// Signed volume, nm³: positive if the normals point outward.
    pub fn volume(&self) -> f64 {
        // From a vertex: far from the origin differences of large numbers would be left.
        let from = self.vertices.first().copied().unwrap_or_default();
        let one = |t: &[usize; 3]| six_volume(t.map(|i| minus(self.vertices[i], from))) / 6.0;
        // In chunks, so that the sum does not depend on the threads.
        let parts: Vec<f64> = self
            .triangles
            .par_chunks(1 << 14)
            .map(|some| some.iter().map(one).sum())
            .collect();
        parts.iter().sum()
    }

    /// Area of the surface, nm².
    pub fn area(&self) -> f64 {
        let parts: Vec<f64> = (self.triangles.par_chunks(1 << 14))
            .map(|some| some.iter().map(|t| self.face(*t).0).sum())
            .collect();
        parts.iter().sum()
    }

    /// Largest extent along x, y or z, nm.
    pub fn size(&self) -> f64 {
        (0..3)
            .map(|k| {
                let (lo, hi) = self.bounds(k);
                hi - lo
            })
            .fold(0.0, f64::max)
    }

    /// Centre of the bounding box, nm.
    pub fn center(&self) -> [f64; 3] {
        std::array::from_fn(|k| {
            let (lo, hi) = self.bounds(k);
            0.5 * (lo + hi)
        })
    }

    /// Distance of the farthest vertex from a position, nm.
    pub fn reach(&self, from: [f64; 3]) -> f64 {
        self.vertices
            .par_iter()
            .with_min_len(4096)
            .map(|v| {
                let d = minus(*v, from);
                dot(d, d).sqrt()
            })
            .reduce(|| 0.0, f64::max)
    }

    /// Lowest and highest z, nm.
    pub fn span_z(&self) -> [f64; 2] {
        self.bounds(2).into()
    }

    fn bounds(&self, axis: usize) -> (f64, f64) {
        self.vertices
            .par_iter()
            .with_min_len(4096)
            .map(|v| (v[axis], v[axis]))
            .reduce(|| (f64::MAX, f64::MIN), |a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The mesh with all coordinates multiplied by a factor.
    #[must_use]
    pub fn scaled(mut self, by: f64) -> Self {
        for v in &mut self.vertices {
            *v = v.map(|x| x * by);
        }
        self
    }

    /// Rotates the mesh by the smallest angle that takes one unit vector to another (Rodrigues' formula).
    pub(crate) fn turn(&mut self, from: [f64; 3], to: [f64; 3]) {
        let axis = cross(from, to);
        let (sine, cosine) = (dot(axis, axis).sqrt(), dot(from, to));
        if sine < 1e-15 {
            // A half turn about x, or none.
            if cosine < 0.0 {
                for v in &mut self.vertices {
                    *v = [v[0], -v[1], -v[2]];
                }
            }
            return;
        }
        let axis = axis.map(|x| x / sine);
        for v in &mut self.vertices {
            let (along, beside) = (dot(axis, *v), cross(axis, *v));
            *v = std::array::from_fn(|k| {
                v[k] * cosine + beside[k] * sine + axis[k] * along * (1.0 - cosine)
            });
        }
    }
}
