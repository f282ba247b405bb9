//! Uniform refinement: every zone is split into 2^dim zones.

use super::{Curved, Face, Mesh, Place, face};
use crate::fem::element::{Shape, node_positions};
use hashbrown::HashMap;

/// Corners of the children in doubled reference coordinates of the parent, [child][corner][dim].
fn children(shape: Shape) -> Vec<Vec<Vec<usize>>> {
    let dim = shape.dim();
    if shape.tensor() {
        return (0..1 << dim)
            .map(|child| {
                (0..1 << dim)
                    .map(|c| (0..dim).map(|g| (child >> g & 1) + (c >> g & 1)).collect())
                    .collect()
            })
            .collect();
    }
    let unit = |g: usize, by: usize| -> Vec<usize> {
        (0..dim).map(|i| if i + 1 == g { by } else { 0 }).collect()
    };
    let sum = |a: &[usize], b: &[usize]| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<_>>();
    let corner = |c: usize| unit(c, 2);
    let center = |a: usize, b: usize| sum(&unit(a, 1), &unit(b, 1));
    let mut out: Vec<Vec<Vec<usize>>> = (0..=dim)
        .map(|c| {
            (0..=dim)
                .map(|o| if o == c { corner(c) } else { center(c, o) })
                .collect()
        })
        .collect();
    if dim == 2 {
        out.push(vec![center(1, 2), center(0, 2), center(0, 1)]);
    } else {
        // The octahedron in the center, cut along the diagonal between the middles of edges 01 and 23.
        let (a, b) = (center(0, 1), center(2, 3));
        let ring = [center(0, 2), center(1, 2), center(1, 3), center(0, 3)];
        for i in 0..4 {
            let tet = [&a, &b, &ring[i], &ring[(i + 1) % 4]]
                .map(Clone::clone)
                .to_vec();
            out.push(tet);
        }
    }
    for child in &mut out {
        if dim == 3 && volume(child) < 0 {
            child.swap(2, 3);
        }
    }
    out
}

/// Six times the volume of a tetrahedron.
fn volume(tet: &[Vec<usize>]) -> i64 {
    let e = |i: usize, c: usize| tet[i][c] as i64 - tet[0][c] as i64;
    e(1, 0) * (e(2, 1) * e(3, 2) - e(2, 2) * e(3, 1))
        - e(1, 1) * (e(2, 0) * e(3, 2) - e(2, 2) * e(3, 0))
        + e(1, 2) * (e(2, 0) * e(3, 1) - e(2, 1) * e(3, 0))
}

/// Corners of the parent whose mean is a position, given in doubled parent coordinates.
fn parents(shape: Shape, at: &[usize]) -> Vec<usize> {
    if shape.tensor() {
        return (0..shape.corners())
            .filter(|c| {
                at.iter()
                    .enumerate()
                    .all(|(g, x)| *x == 1 || *x == 2 * (c >> g & 1))
            })
            .collect();
    }
    let rest = 2 - at.iter().sum::<usize>();
    std::iter::once(rest)
        .chain(at.iter().copied())
        .enumerate()
        .filter(|(_, x)| *x > 0)
        .map(|(c, _)| c)
        .collect()
}

impl Mesh {
    /// The mesh with each zone halved along each direction.
    #[must_use]
    pub fn refined(&self) -> Self {
        let (shape, dim) = (self.shape, self.dim());
        let children = children(shape);
        let mut vertices = self.vertices.clone();
        // The center of an edge, a face or a zone by its sorted vertices; of a hexahedron by two opposite ones.
        let mut middles: HashMap<Face, u32> = HashMap::new();
        let mut out = Self {
            shape,
            vertices: Vec::new(),
            corners: Vec::new(),
            material: Vec::new(),
            boundary: HashMap::new(),
            curved: self.curved.as_ref().map(|c| Curved {
                order: c.order,
                points: Vec::new(),
            }),
            notes: self.notes.clone(),
        };
        for z in 0..self.zones() {
            let zone = self.zone(z);
            for child in &children {
                let own: Vec<u32> = child
                    .iter()
                    .map(|at| {
                        let from = parents(shape, at);
                        if let [one] = from[..] {
                            return zone[one];
                        }
                        let key = if from.len() == 8 {
                            [u32::MAX, u32::MAX, u32::MAX, z as u32]
                        } else {
                            face(from.iter().map(|c| zone[*c]))
                        };
                        *middles.entry(key).or_insert_with(|| {
                            let half: Vec<f64> = at.iter().map(|x| 0.5 * *x as f64).collect();
                            vertices.push(self.map(z, &half));
                            (vertices.len() - 1) as u32
                        })
                    })
                    .collect();
                out.boundaries(self, z, &own, child);
                if let (Some(to), Some(c)) = (&mut out.curved, &self.curved) {
                    let positions: Vec<Place> = node_positions(shape, c.order)
                        .iter()
                        .map(|at| self.map(z, &within(shape, child, at)))
                        .collect();
                    to.points
                        .extend((0..dim).flat_map(|g| positions.iter().map(move |p| p[g])));
                }
                out.corners.extend(own);
                out.material.push(self.material[z]);
            }
        }
        out.vertices = vertices;
        out
    }

    /// Copies boundary attributes to the faces of a child that lie on faces of its parent.
    fn boundaries(&mut self, parent: &Self, z: usize, own: &[u32], child: &[Vec<usize>]) {
        for (f, face_corners) in self.shape.faces().iter().enumerate() {
            let Some(number) = parent.boundary.get(&parent.face_of(z, f)) else {
                continue;
            };
            // A child has a face there when enough of its corners are made of the face's corners alone.
            let on: Vec<u32> = child
                .iter()
                .zip(own)
                .filter(|(at, _)| {
                    parents(self.shape, at)
                        .iter()
                        .all(|c| face_corners.contains(c))
                })
                .map(|(_, v)| *v)
                .collect();
            if on.len() == face_corners.len() {
                self.boundary.insert(face(on.into_iter()), *number);
            }
        }
    }
}

/// Maps a reference position of a child to the reference coordinates of its parent.
fn within(shape: Shape, child: &[Vec<usize>], at: &[f64]) -> Vec<f64> {
    (0..shape.dim())
        .map(|g| {
            let first = child[0][g] as f64;
            let edge = |c: usize| child[c][g] as f64 - first;
            let along: f64 = at
                .iter()
                .enumerate()
                .map(|(a, s)| s * edge(if shape.tensor() { 1 << a } else { a + 1 }))
                .sum();
            0.5 * (first + along)
        })
        .collect()
}
