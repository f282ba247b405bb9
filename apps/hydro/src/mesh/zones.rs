//! A mesh of zones: its vertices, corners and boundary, and where its nodes lie.

use crate::fem::element::{Shape, nodal, node_positions};
use hashbrown::HashMap;

/// A position in space; coordinates beyond the dimension are 0.
pub type Place = [f64; 3];

/// Node positions of curved zones.
#[derive(Clone, Debug, PartialEq)]
pub struct Curved {
    /// Order of the nodal basis.
    pub order: usize,
    /// Node positions, `[zone][component][node]`.
    pub points: Vec<f64>,
}

/// A mesh of zones of one shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Shape of the zones.
    pub shape: Shape,
    /// Positions of the vertices.
    pub vertices: Vec<Place>,
    /// Vertices of the corners, `[zone][corner]`; in tensor-product zones x varies fastest.
    pub corners: Vec<u32>,
    /// Material number (mesh attribute) of each zone.
    pub material: Vec<u32>,
    /// Attribute of each boundary face; 1, 2 and 3 are walls normal to x, y and z.
    pub boundary: HashMap<Face, u32>,
    /// Nodes of curved zones; `None` if the corners describe the zones.
    pub curved: Option<Curved>,
    /// What the reader changed or left out, for the user.
    pub notes: Vec<String>,
}

/// Sorted vertices of an edge or a face, padded with `u32::MAX`.
pub type Face = [u32; 4];

/// The key of an edge or a face with these vertices.
pub fn face(vertices: impl Iterator<Item = u32>) -> Face {
    let mut out = [u32::MAX; 4];
    for (to, v) in out.iter_mut().zip(vertices) {
        *to = v;
    }
    out.sort_unstable();
    out
}

/// Least and greatest coordinates of the vertices of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Dimension of the mesh, 1 to 3.
    pub dim: usize,
    /// Least coordinates.
    pub low: Place,
    /// Greatest coordinates.
    pub high: Place,
}

impl Bounds {
    /// Those of positions.
    pub(super) fn of<'a>(dim: usize, positions: impl Iterator<Item = &'a Place>) -> Self {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for x in positions {
            for c in 0..3 {
                low[c] = low[c].min(x[c]);
                high[c] = high[c].max(x[c]);
            }
        }
        Self { dim, low, high }
    }

    /// Least and greatest coordinate along an axis.
    pub fn range(&self, axis: usize) -> (f64, f64) {
        (self.low[axis], self.high[axis])
    }
}

impl Mesh {
    /// Dimension, 1 to 3.
    pub fn dim(&self) -> usize {
        self.shape.dim()
    }

    /// Number of zones.
    pub fn zones(&self) -> usize {
        self.corners.len() / self.shape.corners()
    }

    /// Vertices of the corners of a zone.
    pub fn zone(&self, z: usize) -> &[u32] {
        let n = self.shape.corners();
        &self.corners[z * n..(z + 1) * n]
    }

    /// Key of face `f` of zone `z`.
    pub fn face_of(&self, z: usize, f: usize) -> Face {
        let zone = self.zone(z);
        face(self.shape.faces()[f].iter().map(|c| zone[*c]))
    }

    /// Maps a reference position of zone `z` to space.
    pub fn map(&self, z: usize, at: &[f64]) -> Place {
        let mut out = [0.0; 3];
        if let Some(c) = &self.curved {
            let (value, _) = nodal(self.shape, c.order, at);
            let (n, d) = (value.len(), self.dim());
            let own = &c.points[z * d * n..(z + 1) * d * n];
            for (to, x) in out.iter_mut().zip(own.chunks(n)) {
                *to = value.iter().zip(x).map(|(v, x)| v * x).sum();
            }
            return out;
        }
        let zone = self.zone(z);
        let corner = |c: usize| self.vertices[zone[c] as usize];
        for (c, to) in out.iter_mut().enumerate().take(self.dim()) {
            if self.shape.tensor() {
                // Between equal ends exactly that, and at an end exactly the end.
                let between = |a: f64, b: f64, s: f64| if s == 1.0 { b } else { a + (b - a) * s };
                let mut values = [0.0; 8];
                for (i, v) in values.iter_mut().enumerate().take(zone.len()) {
                    *v = corner(i)[c];
                }
                for (g, s) in at.iter().enumerate() {
                    for i in 0..zone.len() >> (g + 1) {
                        values[i] = between(values[2 * i], values[2 * i + 1], *s);
                    }
                }
                *to = values[0];
            } else {
                let first = corner(0)[c];
                // The last barycentric coordinate belongs to the last of our functions, the first corner.
                *to = first
                    + at.iter()
                        .enumerate()
                        .map(|(g, s)| (corner(g + 1)[c] - first) * s)
                        .sum::<f64>();
            }
        }
        out
    }

    /// Positions of the nodes of an order in a zone.
    pub fn nodes(&self, z: usize, order: usize) -> Vec<Place> {
        node_positions(self.shape, order)
            .iter()
            .map(|at| self.map(z, at))
            .collect()
    }
}

/// Added to the attribute of faces within the mesh: they act as walls where a wall of this attribute is defined.
pub const INNER: u32 = 1 << 31;
/// Attribute that problems give to free sides of boxes.
pub const FREE: u32 = 1_000_001;
/// Attribute of the side that is the piston of the Saltzman problem.
pub const PISTON: u32 = 1_000_002;

impl Mesh {
    /// Least and greatest coordinates of the vertices.
    pub fn bounds(&self) -> Bounds {
        Bounds::of(self.dim(), self.vertices.iter())
    }

    /// Gives an attribute to the boundary faces all of whose vertices fit.
    fn renamed(&mut self, number: u32, fits: impl Fn(&Place, u32) -> bool) {
        let vertices = &self.vertices;
        for (f, n) in &mut self.boundary {
            let all = f.iter().filter(|v| **v != u32::MAX);
            if all.clone().all(|v| fits(&vertices[*v as usize], *n)) {
                *n = number;
            }
        }
    }

    /// Makes the sides away from the origin free, for the inflow of the Noh problem. `b` are the bounds of the whole.
    pub(crate) fn open_far_sides(&mut self, b: &Bounds) {
        for c in 0..self.dim() {
            let (low, high) = b.range(c);
            let size = high - low;
            for end in [low, high] {
                if end.abs() > 1e-9 * size {
                    self.renamed(FREE, |x, n| {
                        n == c as u32 + 1 && (x[c] - end).abs() < 1e-9 * size
                    });
                }
            }
        }
    }

    /// Makes a box the mesh of the Saltzman problem: skewed zones, and a piston on the left side. `b` are
    /// the bounds of the whole.
    pub(crate) fn tilt(&mut self, b: &Bounds) {
        let (low, high) = b.range(0);
        let size = high - low;
        self.renamed(PISTON, |x, n| n == 1 && (x[0] - low).abs() < 1e-9 * size);
        if self.dim() < 2 {
            return;
        }
        let (bottom, top) = b.range(1);
        for x in &mut self.vertices {
            let (s, h) = ((x[0] - low) / size, (x[1] - bottom) / (top - bottom));
            x[0] += (top - bottom) * (1.0 - h) * (std::f64::consts::PI * s).sin();
        }
    }
}
