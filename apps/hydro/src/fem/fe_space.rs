//! The two finite-element spaces of a mesh: continuous for positions and velocities (Lagrange at Gauss–Lobatto points),
//! discontinuous for energies (Bernstein). Nodes are numbered in the order in which the zones visit them.

use crate::HydroError;
use crate::fem::element::{Element, Shape, node_positions};
use crate::fem::node_lattice::{entity, integer_positions};
use crate::mesh::{Bounds, Face, INNER, Mesh, Place, face};
use crate::problem::Wall;
use hashbrown::HashMap;
use rayon::prelude::*;

/// Numbering of the kinematic nodes, their initial positions, and the constrained dofs.
pub struct Space {
    /// The reference zone.
    pub element: Element,
    /// Dimension, 1 to 3.
    pub dim: usize,
    /// Number of zones.
    pub zones: usize,
    /// Number of kinematic nodes.
    pub nodes: usize,
    /// Nodes of each zone, `[zone][local]`.
    pub of_zone: Vec<u32>,
    /// (zone, local number) of each node: those of node n are `shares[begin[n]..begin[n + 1]]`.
    pub shares: Vec<(u32, u32)>,
    /// Offsets into `shares`, one per node and the total.
    pub begin: Vec<u32>,
    /// Initial positions of the nodes, `[component][node]`.
    pub start: Vec<f64>,
    /// Constrained dofs: whether a wall prescribes the velocity, `[component][node]`.
    pub constrained: Vec<bool>,
    /// Nonzero velocities that walls prescribe: (index into `constrained`, velocity).
    pub driven: Vec<(u32, f64)>,
}

/// Number of a node within its edge or face; all zones that share it agree.
fn within(shape: Shape, k: usize, at: &[usize], on: &[usize], own: &[u32]) -> usize {
    if !shape.tensor() {
        // Coordinates in the order of the corners' vertices.
        let mut order: Vec<usize> = on.to_vec();
        order.sort_unstable_by_key(|c| own[*c]);
        return order.iter().fold(0, |n, c| n * (k + 1) + at[*c]);
    }
    let Some(first) = on.iter().copied().min_by_key(|c| own[*c]) else {
        return 0;
    };
    // From the smallest vertex along the direction of the smaller neighbour.
    let mut ways: Vec<(u32, usize)> = (0..shape.dim())
        .filter(|g| at[*g] > 0 && at[*g] < k)
        .map(|g| {
            let steps = if first >> g & 1 == 1 {
                k - at[g]
            } else {
                at[g]
            };
            (own[first ^ (1 << g)], steps)
        })
        .collect();
    ways.sort_unstable();
    ways.iter().fold(0, |n, (_, steps)| n * (k + 1) + steps)
}

/// Nodes of each zone [zone][local], and the number of nodes.
pub(crate) fn number(mesh: &Mesh, k: usize) -> (Vec<u32>, usize) {
    let shape = mesh.shape;
    let positions: Vec<(Vec<usize>, Vec<usize>)> = integer_positions(shape, k)
        .into_iter()
        .map(|at| {
            let on = entity(shape, k, &at);
            (at, on)
        })
        .collect();
    let mut vertex = vec![u32::MAX; mesh.vertices.len()];
    let mut shared: HashMap<(Face, u32), u32> = HashMap::new();
    let mut count = 0;
    let mut next = || {
        count += 1;
        count - 1
    };
    let mut out = Vec::with_capacity(mesh.zones() * positions.len());
    for z in 0..mesh.zones() {
        let own = mesh.zone(z);
        for (at, on) in &positions {
            let n = match on[..] {
                [c] => {
                    let v = &mut vertex[own[c] as usize];
                    if *v == u32::MAX {
                        *v = next();
                    }
                    *v
                }
                _ if on.len() == own.len() => next(),
                _ => {
                    let key = face(on.iter().map(|c| own[*c]));
                    let i = within(shape, k, at, on, own) as u32;
                    *shared.entry((key, i)).or_insert_with(&mut next)
                }
            };
            out.push(n);
        }
    }
    (out, count as usize)
}

impl Space {
    /// Numbers the nodes of a mesh; `walls` define boundary attributes beyond the walls 1 to 3.
    ///
    /// # Errors
    /// A wall is not straight, or a boundary attribute has no definition.
    pub fn new(
        mesh: &Mesh,
        element: Element,
        walls: &HashMap<u32, Wall>,
    ) -> Result<Self, HydroError> {
        Self::within(mesh, element, walls, &mesh.bounds())
    }

    /// The same for a part of a mesh with these bounds.
    ///
    /// # Errors
    /// As [`Space::new`].
    pub fn within(
        mesh: &Mesh,
        element: Element,
        walls: &HashMap<u32, Wall>,
        bounds: &Bounds,
    ) -> Result<Self, HydroError> {
        let (dim, zones, k) = (mesh.dim(), mesh.zones(), element.order);
        let (of_zone, nodes) = number(mesh, k);
        let local = element.local;
        let (shares, begin) = Self::shares_of(&of_zone, nodes, local);
        let inner = node_positions(mesh.shape, k);
        // A node lies where its first zone has it.
        let places: Vec<Place> = (0..nodes)
            .into_par_iter()
            .map(|n| {
                let (z, i) = shares[begin[n] as usize];
                mesh.map(z as usize, &inner[i as usize])
            })
            .collect();
        let start = (0..dim)
            .flat_map(|c| places.iter().map(move |x| x[c]))
            .collect();
        let mut out = Self {
            element,
            dim,
            zones,
            nodes,
            of_zone,
            shares,
            begin,
            start,
            constrained: vec![false; dim * nodes],
            driven: Vec::new(),
        };
        out.hold(mesh, walls, bounds.range(0))?;
        Ok(out)
    }

    /// (zone, local number) of each node in the order of the zones, and their offsets, from the nodes of each zone.
    pub fn shares_of(of_zone: &[u32], nodes: usize, local: usize) -> (Vec<(u32, u32)>, Vec<u32>) {
        let mut begin = vec![0_u32; nodes + 1];
        for n in of_zone {
            begin[*n as usize + 1] += 1;
        }
        for n in 0..nodes {
            begin[n + 1] += begin[n];
        }
        let mut shares = vec![(0, 0); of_zone.len()];
        let mut at = begin.clone();
        for (i, n) in of_zone.iter().enumerate() {
            let to = &mut at[*n as usize];
            shares[*to as usize] = ((i / local) as u32, (i % local) as u32);
            *to += 1;
        }
        (shares, begin)
    }

    /// Marks the dofs that walls constrain.
    fn hold(
        &mut self,
        mesh: &Mesh,
        walls: &HashMap<u32, Wall>,
        (low, high): (f64, f64),
    ) -> Result<(), HydroError> {
        let (shape, k, local) = (mesh.shape, self.element.order, self.element.local);
        let positions = integer_positions(shape, k);
        let entities: Vec<Vec<usize>> = positions.iter().map(|at| entity(shape, k, at)).collect();
        let faces = shape.faces();
        // In the order of zones and faces.
        let held: Vec<(usize, usize, &u32)> = (0..self.zones)
            .into_par_iter()
            .flat_map_iter(|z| {
                let of = move |f| Some((z, f, mesh.boundary.get(&mesh.face_of(z, f))?));
                (0..faces.len()).filter_map(of)
            })
            .collect();
        for (z, f, number) in held {
            let corners = &faces[f];
            let (inner, number) = (*number & INNER > 0, *number & !INNER);
            let wall = match (walls.get(&number), number) {
                (Some(w), _) => w.clone(),
                (None, 1..=3) if number as usize <= self.dim => Wall::normal(number),
                _ if inner => continue,
                _ => {
                    return Err(HydroError::Mesh(format!(
                        "the boundary has faces of attribute {number}, which says nothing of them: 1, 2 and 3 are walls normal to x, y and z; name others in [walls] of a problem file"
                    )));
                }
            };
            let on: Vec<usize> = (0..local)
                .filter(|i| entities[*i].iter().all(|c| corners.contains(c)))
                .map(|i| self.of_zone[z * local + i] as usize)
                .collect();
            for (c, velocity) in wall.constrained.iter().enumerate().take(self.dim) {
                let Some(velocity) = velocity else { continue };
                let x: Vec<f64> = on.iter().map(|n| self.start[c * self.nodes + n]).collect();
                let spread = x.iter().fold(0.0_f64, |m, a| m.max((a - x[0]).abs()));
                if wall.straight && spread > 1e-9 * (high - low) {
                    return Err(HydroError::Mesh(format!(
                        "a wall normal to {} (attribute {number}) is not: its nodes lie from {} to {}",
                        ["x", "y", "z"][c],
                        x.iter().copied().fold(f64::INFINITY, f64::min),
                        x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
                    )));
                }
                for n in &on {
                    let i = c * self.nodes + n;
                    if !self.constrained[i] && *velocity != 0.0 {
                        self.driven.push((i as u32, *velocity));
                    }
                    self.constrained[i] = true;
                }
            }
        }
        Ok(())
    }

    /// Nodes of a zone, `[local]`.
    pub fn zone(&self, z: usize) -> &[u32] {
        let local = self.element.local;
        &self.of_zone[z * local..(z + 1) * local]
    }

    /// Values of a field `[component][node]` at the nodes of a zone, `[component][local]`.
    pub fn gather(&self, field: &[f64], z: usize) -> Vec<f64> {
        (0..field.len() / self.nodes)
            .flat_map(|c| {
                self.zone(z)
                    .iter()
                    .map(move |n| field[c * self.nodes + *n as usize])
            })
            .collect()
    }

    /// Length of the contributions of a zone to a vector field.
    pub fn zone_size(&self) -> usize {
        self.dim * self.element.local
    }

    /// (zone, local number) of a node, in the order of the zones.
    #[inline]
    pub fn shares_at(&self, node: usize) -> &[(u32, u32)] {
        &self.shares[self.begin[node] as usize..self.begin[node + 1] as usize]
    }

    /// Writes what zones contribute to a component of a field at some nodes, for each node in the order of its zones, from
    /// contributions `[zone][component][local]`.
    pub fn contributions(
        &self,
        own: &[f64],
        (components, component): (usize, usize),
        nodes: &[u32],
        to: &mut [f64],
    ) {
        let local = self.element.local;
        let shares = nodes.iter().flat_map(|n| self.shares_at(*n as usize));
        for (to, (z, i)) in to.iter_mut().zip(shares) {
            *to = own[(*z as usize * components + component) * local + *i as usize];
        }
    }

    /// Assembles a component of zone contributions `[zone][component][local]` at a range of nodes, in the order of the zones.
    pub fn sums(
        &self,
        own: &[f64],
        (components, component): (usize, usize),
        nodes: std::ops::Range<usize>,
        to: &mut [f64],
    ) {
        let local = self.element.local;
        for (n, to) in nodes.zip(to) {
            let terms = self.shares_at(n).iter();
            *to = terms
                .map(|(z, i)| own[(*z as usize * components + component) * local + *i as usize])
                .sum();
        }
    }

    /// Assembles zone contributions `[zone][component][local]` into a field `[component][node]`, in a fixed order of sums.
    pub fn scatter(&self, own: &[f64], components: usize) -> Vec<f64> {
        let mut out = vec![0.0; components * self.nodes];
        for (c, part) in out.chunks_mut(self.nodes).enumerate() {
            part.par_chunks_mut(PART).enumerate().for_each(|(i, to)| {
                let nodes = i * PART..i * PART + to.len();
                self.sums(own, (components, c), nodes, to);
            });
        }
        out
    }
}

/// Number of nodes that a task assembles.
const PART: usize = 1024;
