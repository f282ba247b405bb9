//! Checks of meshes from files, and zones turned into the orientation that the equations need.

use super::{Bounds, Face, INNER, Mesh, Place, face};
use crate::fem::element::{Shape, nodal};
use crate::fem::fe_space::number;
use crate::fem::small_matrix::determinant;
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// What is wrong with a mesh.
#[derive(Debug, thiserror::Error)]
pub(super) enum MeshError {
    /// A coordinate beyond the dimension varies.
    #[error(
        "the mesh leaves its {}: {} runs from {low} to {high}, and zones of {dim} dimensions need it constant. Fix: rotate the mesh", if *.dim == 1 { "line" } else { "plane" }, ["x", "y", "z"][*.axis]
    )]
    Embedded {
        dim: usize,
        axis: usize,
        low: f64,
        high: f64,
    },
    #[error("zone {zone} has corner {corner}, but there are {vertices} vertices")]
    Corner {
        zone: usize,
        corner: u32,
        vertices: usize,
    },
    #[error("zones {0} and {1} have the same corners: each zone must occur once")]
    Twice(usize, usize),
    #[error("{count} zones share the face around {at}")]
    Shared { count: u32, at: String },
    #[error("zones {0} and {1} lie on the same side of the edge around {2}: they overlap")]
    Overlap(usize, usize, String),
    #[error(
        "the face around {at} of zone {zone} belongs to that zone alone and is not a face of the boundary: a boundary element with its attribute (in Gmsh, a physical group) is missing there, or a node hangs (zones must meet at whole faces)"
    )]
    Open { zone: usize, at: String },
    #[error("the boundary element {0:?} is the face of no zone")]
    NoFace(Vec<u32>),
    #[error(
        "zones {zones:?} share a node, but it is at {at} in one and {distance:.3e} away in the other: positions must be continuous. Fix: join the nodes in the program that made the mesh"
    )]
    Torn {
        zones: [usize; 2],
        at: String,
        distance: f64,
    },
    #[error(
        "the mesh is periodic: zones {zones:?} are neighbours across its sides, {distance} apart. Periodic meshes are not read: sides are walls or free. Fix: save the mesh before its sides are joined"
    )]
    Periodic { zones: [usize; 2], distance: f64 },
    #[error("the boundary attribute {0} is too large: use a number below {INNER}")]
    Attribute(u32),
    #[error(
        "zone {0} is curved, and its corners run clockwise (its volume is negative); only straight zones are turned. Fix: reverse its corners and nodes in the program that made the mesh"
    )]
    Clockwise(usize),
}

/// Coordinates beyond the dimension that vary by less are constant, relative to the size of the mesh.
const FLAT: f64 = 1e-9;

/// Checks that positions lie in a plane (a line in 1D) of constant further coordinates.
pub(super) fn flat(dim: usize, positions: &[Place]) -> Result<(), MeshError> {
    let b = Bounds::of(dim, positions.iter());
    let size = (0..3).map(|c| b.high[c] - b.low[c]).fold(0.0, f64::max);
    match (dim..3).find(|c| b.high[*c] - b.low[*c] > FLAT * size) {
        None => Ok(()),
        Some(axis) => Err(MeshError::Embedded {
            dim,
            axis,
            low: b.low[axis],
            high: b.high[axis],
        }),
    }
}

/// Nodes that lie closer to each other are one, relative to the size of the mesh: files may have six digits.
const JOINED: f64 = 1e-5;

/// Checks that zones agree on the positions `[zone][node]` of the nodes that they share.
pub(super) fn continuous(mesh: &Mesh, order: usize, positions: &[Place]) -> Result<(), MeshError> {
    let (nodes, count) = number(mesh, order);
    let b = Bounds::of(mesh.dim(), positions.iter());
    let size = (0..3).map(|c| b.high[c] - b.low[c]).fold(0.0, f64::max);
    let mut first = vec![usize::MAX; count];
    // The places that are farthest apart, and their distance.
    let mut worst = ([0, 0], JOINED * size);
    for (i, node) in nodes.iter().enumerate() {
        let first = &mut first[*node as usize];
        if *first == usize::MAX {
            *first = i;
            continue;
        }
        let (p, q) = (positions[*first], positions[i]);
        let distance = (0..3).map(|c| (p[c] - q[c]).powi(2)).sum::<f64>().sqrt();
        if distance > worst.1 {
            worst = ([*first, i], distance);
        }
    }
    let (places, distance) = worst;
    if places[0] == places[1] {
        return Ok(());
    }
    let [p, q] = places.map(|i| positions[i]);
    let zones = places.map(|i| i / mesh.shape.nodes(order));
    // Joined sides are as far apart as the mesh is long.
    let along = positions
        .iter()
        .map(|x| (0..3).map(|c| x[c] * (q[c] - p[c])).sum::<f64>() / distance);
    let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    Err(if distance > 0.5 * (high - low) {
        MeshError::Periodic { zones, distance }
    } else {
        let at = format!("{:?}", &p[..mesh.dim()]);
        MeshError::Torn {
            zones,
            at,
            distance,
        }
    })
}

impl Mesh {
    /// Checks that corners exist, zones occur once, the mesh lies in its plane, boundary faces have attributes and no node
    /// hangs. Faces within the mesh get the mark [`INNER`].
    pub(super) fn check(&mut self) -> Result<(), MeshError> {
        let mut shared: HashMap<Face, (u32, usize)> = HashMap::new();
        let mut zones: HashMap<[u32; 8], usize> = HashMap::new();
        for z in 0..self.zones() {
            let vertices = self.vertices.len();
            if let Some(corner) = self.zone(z).iter().find(|v| **v as usize >= vertices) {
                return Err(MeshError::Corner {
                    zone: z,
                    corner: *corner,
                    vertices,
                });
            }
            if let Some(other) = zones.insert(sorted(self.zone(z)), z) {
                return Err(MeshError::Twice(other, z));
            }
            for f in 0..self.shape.faces().len() {
                shared.entry(self.face_of(z, f)).or_insert((0, z)).0 += 1;
            }
        }
        for (f, (count, zone)) in &shared {
            if *count > 2 {
                let at = self.centre(f);
                return Err(MeshError::Shared { count: *count, at });
            }
            if *count == 1 && !self.boundary.contains_key(f) {
                return Err(MeshError::Open {
                    zone: *zone,
                    at: self.centre(f),
                });
            }
        }
        let mut inner: BTreeMap<u32, usize> = BTreeMap::new();
        for (f, number) in &mut self.boundary {
            if *number >= INNER {
                return Err(MeshError::Attribute(*number));
            }
            match shared.get(f) {
                None => {
                    let own = f.iter().copied().filter(|v| *v != u32::MAX);
                    return Err(MeshError::NoFace(own.collect()));
                }
                Some((2, _)) => {
                    *inner.entry(*number).or_default() += 1;
                    *number |= INNER;
                }
                Some(_) => {}
            }
        }
        self.notes.extend(inner.into_iter().map(|(number, count)| {
            format!("{count} boundary elements of attribute {number} lie within the mesh: they act only if {number} is a wall of the problem")
        }));
        self.drop_unused();
        flat(self.dim(), &self.vertices)?;
        for x in &mut self.vertices {
            x[self.shape.dim()..].fill(0.0);
        }
        Ok(())
    }

    /// Leaves out the vertices of no zone: they would count for the extent of the mesh. Faces are those of zones.
    fn drop_unused(&mut self) {
        const UNUSED: u32 = u32::MAX;
        let mut number = vec![UNUSED; self.vertices.len()];
        for v in &self.corners {
            number[*v as usize] = 0;
        }
        if !number.contains(&UNUSED) {
            return;
        }
        let all = std::mem::take(&mut self.vertices);
        for (x, to) in all.iter().zip(&mut number).filter(|(_, to)| **to == 0) {
            *to = self.vertices.len() as u32;
            self.vertices.push(*x);
        }
        for v in &mut self.corners {
            *v = number[*v as usize];
        }
        self.boundary = (self.boundary.drain())
            .map(|(f, attribute)| {
                let own = f.iter().filter(|v| **v != UNUSED);
                (face(own.map(|v| number[*v as usize])), attribute)
            })
            .collect();
    }

    /// Position of the centre of a face, for messages.
    fn centre(&self, f: &Face) -> String {
        let all: Vec<&u32> = f.iter().filter(|v| **v != u32::MAX).collect();
        let n = all.len() as f64;
        let mean = |c| {
            all.iter()
                .map(|v| self.vertices[**v as usize][c])
                .sum::<f64>()
                / n
        };
        format!("{:?}", (0..self.dim()).map(mean).collect::<Vec<_>>())
    }

    /// Turns straight zones of negative volume, as MFEM does, and checks that neighbours do not overlap.
    pub(super) fn turn(&mut self) -> Result<(), MeshError> {
        self.straighten();
        let corners: Vec<Vec<f64>> = (0..self.shape.corners())
            .map(|c| self.shape.corner(c))
            .collect();
        let negative: Vec<usize> = (0..self.zones())
            .filter(|z| self.determinants(*z, &corners).all(|det| det < 0.0))
            .collect();
        if let (Some(z), Some(_)) = (negative.first(), &self.curved) {
            return Err(MeshError::Clockwise(*z));
        }
        for z in &negative {
            let n = self.shape.corners();
            let zone = &mut self.corners[z * n..(z + 1) * n];
            match self.shape {
                Shape::Segment | Shape::Triangle | Shape::Tet => zone.swap(0, 1),
                Shape::Quad => zone.swap(1, 2),
                Shape::Hex => zone.rotate_left(4),
            }
        }
        if let Some(first) = negative.first() {
            self.notes.push(format!(
                "{} of {} zones (the first is zone {first}) have negative volume, as their corners run clockwise: they are turned, as MFEM does",
                negative.len(),
                self.zones()
            ));
        }
        self.no_overlap()
    }

    /// Nodes of order 1 that are the corners say nothing more.
    fn straighten(&mut self) {
        let corners: Vec<Vec<f64>> = (0..self.shape.corners())
            .map(|c| self.shape.corner(c))
            .collect();
        let negative = |mesh: &Self, z| mesh.determinants(z, &corners).all(|det| det < 0.0);
        let of_corners = self.curved.as_ref().is_some_and(|c| c.order == 1)
            && (0..self.zones()).any(|z| negative(self, z))
            && (0..self.zones()).all(|z| {
                (self.zone(z).iter().zip(&corners))
                    .all(|(v, at)| self.map(z, at) == self.vertices[*v as usize])
            });
        if of_corners {
            self.curved = None;
        }
    }

    /// Determinants of the Jacobian of a zone at its corners.
    fn determinants<'a>(
        &'a self,
        z: usize,
        corners: &'a [Vec<f64>],
    ) -> impl Iterator<Item = f64> + 'a {
        let (dim, zone) = (self.dim(), self.zone(z));
        corners.iter().enumerate().map(move |(c, at)| {
            let mut j = [[0.0; 3]; 3];
            if let Some(curved) = &self.curved {
                let (_, gradient) = nodal(self.shape, curved.order, at);
                let n = gradient.len() / dim;
                for (row, x) in j
                    .iter_mut()
                    .zip(curved.points[z * dim * n..].chunks(n))
                    .take(dim)
                {
                    for (x, w) in x.iter().zip(gradient.chunks(dim)) {
                        for (to, w) in row.iter_mut().zip(w) {
                            *to += x * w;
                        }
                    }
                }
                return determinant(&j, dim);
            }
            for g in 0..dim {
                let (from, to) = if self.shape.tensor() {
                    (c & !(1 << g), c | 1 << g)
                } else {
                    (0, g + 1)
                };
                let (from, to) = (
                    self.vertices[zone[from] as usize],
                    self.vertices[zone[to] as usize],
                );
                for (i, row) in j.iter_mut().enumerate().take(dim) {
                    row[g] = to[i] - from[i];
                }
            }
            determinant(&j, dim)
        })
    }

    /// Checks that zones lie on both sides of each edge (2D), or vertex (1D), that they share.
    fn no_overlap(&self) -> Result<(), MeshError> {
        let loops: &[[usize; 2]] = match self.shape {
            Shape::Segment => &[[0, 0], [1, 1]],
            Shape::Triangle => &[[0, 1], [1, 2], [2, 0]],
            Shape::Quad => &[[0, 1], [1, 3], [3, 2], [2, 0]],
            Shape::Hex | Shape::Tet => return Ok(()),
        };
        let mut edges: HashMap<(u32, u32, usize), usize> = HashMap::new();
        for z in 0..self.zones() {
            let own = self.zone(z);
            for [a, b] in loops {
                let side = if a == b { *a } else { 0 };
                let (a, b) = (own[*a], own[*b]);
                if let Some(other) = edges.insert((a, b, side), z) {
                    let at = self.centre(&face([a, b].into_iter()));
                    return Err(MeshError::Overlap(other, z, at));
                }
            }
        }
        Ok(())
    }

    /// Rotates the corners of triangles until the longest side comes first, as MFEM does: the smallest singular value
    /// of the Jacobian, and so the time step, depends on the first corner.
    pub(crate) fn turn_triangles(&mut self) {
        if self.shape != Shape::Triangle || self.curved.is_some() {
            return;
        }
        for zone in self.corners.chunks_mut(3) {
            let length = |a: usize| -> f64 {
                let (p, q) = (
                    self.vertices[zone[a] as usize],
                    self.vertices[zone[(a + 1) % 3] as usize],
                );
                (0..3).map(|c| (p[c] - q[c]).powi(2)).sum()
            };
            let (a, b, c) = (length(0), length(1), length(2));
            let first = if a >= b && a >= c {
                0
            } else if b >= c {
                1
            } else {
                2
            };
            zone.rotate_left(first);
        }
    }
}

/// The corners of a zone in ascending order, padded with `u32::MAX`.
pub(super) fn sorted(zone: &[u32]) -> [u32; 8] {
    let mut out = [u32::MAX; 8];
    out[..zone.len()].copy_from_slice(zone);
    out.sort_unstable();
    out
}
