//! The two spaces on a mesh: continuous for places and velocities (Lagrange at Gauss–Lobatto points), discontinuous
//! for energies (Bernstein). Nodes are numbered as zones first meet them.

use crate::HydroError;
use crate::element::{Element, Shape, along, node_places};
use crate::mesh::{Face, Mesh, face};
use crate::problem::Wall;
use hashbrown::HashMap;

/// Numbering of the nodes, and what walls hold.
pub struct Space {
    pub element: Element,
    pub dim: usize,
    pub zones: usize,
    /// Kinematic nodes.
    pub nodes: usize,
    /// Nodes of each zone, [zone][local].
    pub of_zone: Vec<u32>,
    /// Zones and local numbers of each node: `shares[begin[n]..begin[n + 1]]`.
    pub shares: Vec<(u32, u32)>,
    pub begin: Vec<u32>,
    /// Places of the nodes at the start, [component][node].
    pub start: Vec<f64>,
    /// Whether a wall holds a component of a node, [component][node].
    pub held: Vec<bool>,
    /// What velocity a wall gives, where it is not 0.
    pub driven: Vec<(u32, f64)>,
}

/// Places of the nodes as whole numbers to k: of tensor zones each coordinate, of simplices the barycentric ones
/// beginning with that of corner 0.
pub fn integer_places(shape: Shape, k: usize) -> Vec<Vec<usize>> {
    if shape.tensor() {
        let counts = vec![k + 1; shape.dim()];
        return (0..shape.nodes(k)).map(|n| along(n, &counts)).collect();
    }
    crate::simplex::powers(shape.dim(), k)
        .into_iter()
        .map(|p| {
            let (rest, first) = (p[shape.dim()], &p[..shape.dim()]);
            std::iter::once(rest).chain(first.iter().copied()).collect()
        })
        .collect()
}

/// Corners of the corner, edge, face or zone in which a node lies.
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

/// Steps of a node on an edge from one of its ends.
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

/// A node's number within its edge or face, the same from each zone.
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

/// Nodes of each zone, and how many there are.
fn number(mesh: &Mesh, k: usize) -> (Vec<u32>, usize) {
    let shape = mesh.shape;
    let places: Vec<(Vec<usize>, Vec<usize>)> = integer_places(shape, k)
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
    let mut out = Vec::with_capacity(mesh.zones() * places.len());
    for z in 0..mesh.zones() {
        let own = mesh.zone(z);
        for (at, on) in &places {
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
    /// # Errors
    /// A wall that is not straight, or a number of the boundary that stands for nothing.
    pub fn new(
        mesh: &Mesh,
        element: Element,
        walls: &HashMap<u32, Wall>,
    ) -> Result<Self, HydroError> {
        let (dim, zones, k) = (mesh.dim(), mesh.zones(), element.order);
        let (of_zone, nodes) = number(mesh, k);
        let local = element.local;
        let mut begin = vec![0_u32; nodes + 1];
        for n in &of_zone {
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
        let mut start = vec![0.0; dim * nodes];
        let mut placed = vec![false; nodes];
        let inner = node_places(mesh.shape, k);
        for z in 0..zones {
            for (i, n) in of_zone[z * local..(z + 1) * local].iter().enumerate() {
                let n = *n as usize;
                if !placed[n] {
                    placed[n] = true;
                    let x = mesh.map(z, &inner[i]);
                    for c in 0..dim {
                        start[c * nodes + n] = x[c];
                    }
                }
            }
        }
        let mut out = Self {
            element,
            dim,
            zones,
            nodes,
            of_zone,
            shares,
            begin,
            start,
            held: vec![false; dim * nodes],
            driven: Vec::new(),
        };
        out.hold(mesh, walls)?;
        Ok(out)
    }

    /// Marks what walls hold.
    fn hold(&mut self, mesh: &Mesh, walls: &HashMap<u32, Wall>) -> Result<(), HydroError> {
        if mesh.boundary.is_empty() {
            return Err(HydroError(
                "the mesh has no boundary elements with attributes 1, 2 and 3 (walls normal to x, y and z)".into(),
            ));
        }
        let (shape, k, local) = (mesh.shape, self.element.order, self.element.local);
        let places = integer_places(shape, k);
        let entities: Vec<Vec<usize>> = places.iter().map(|at| entity(shape, k, at)).collect();
        let (low, high) = self
            .start
            .chunks(self.nodes)
            .next()
            .map_or((0.0, 1.0), |x| {
                x.iter()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| {
                        (a.min(*x), b.max(*x))
                    })
            });
        for z in 0..self.zones {
            for (f, corners) in shape.faces().iter().enumerate() {
                let Some(number) = mesh.boundary.get(&mesh.face_of(z, f)) else {
                    continue;
                };
                let wall = match (walls.get(number), number) {
                    (Some(w), _) => w.clone(),
                    (None, 1..=3) if *number as usize <= self.dim => Wall::normal(*number),
                    _ => {
                        return Err(HydroError(format!(
                            "the boundary has faces of attribute {number}, which says nothing of them: 1, 2 and 3 are walls normal to x, y and z; name others in [walls] of a problem file"
                        )));
                    }
                };
                let on: Vec<usize> = (0..local)
                    .filter(|i| entities[*i].iter().all(|c| corners.contains(c)))
                    .map(|i| self.of_zone[z * local + i] as usize)
                    .collect();
                for (c, velocity) in wall.held.iter().enumerate().take(self.dim) {
                    let Some(velocity) = velocity else { continue };
                    let x: Vec<f64> = on.iter().map(|n| self.start[c * self.nodes + n]).collect();
                    let spread = x.iter().fold(0.0_f64, |m, a| m.max((a - x[0]).abs()));
                    if wall.straight && spread > 1e-9 * (high - low) {
                        return Err(HydroError(format!(
                            "a wall normal to {} (attribute {number}) is not: its nodes lie from {} to {}",
                            ["x", "y", "z"][c],
                            x.iter().copied().fold(f64::INFINITY, f64::min),
                            x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
                        )));
                    }
                    for n in &on {
                        let i = c * self.nodes + n;
                        if !self.held[i] && *velocity != 0.0 {
                            self.driven.push((i as u32, *velocity));
                        }
                        self.held[i] = true;
                    }
                }
            }
        }
        Ok(())
    }

    /// Nodes of a zone.
    pub fn zone(&self, z: usize) -> &[u32] {
        let local = self.element.local;
        &self.of_zone[z * local..(z + 1) * local]
    }

    /// A field's values on a zone's nodes, [component][local].
    pub fn gather(&self, field: &[f64], z: usize) -> Vec<f64> {
        (0..field.len() / self.nodes)
            .flat_map(|c| {
                self.zone(z)
                    .iter()
                    .map(move |n| field[c * self.nodes + *n as usize])
            })
            .collect()
    }

    /// Sums what zones have for their nodes, [zone][component][local], in the same order every time.
    pub fn scatter(&self, own: &[f64], components: usize) -> Vec<f64> {
        let local = self.element.local;
        let mut out = vec![0.0; components * self.nodes];
        for (c, part) in out.chunks_mut(self.nodes).enumerate() {
            for (n, to) in part.iter_mut().enumerate() {
                *to = self.shares[self.begin[n] as usize..self.begin[n + 1] as usize]
                    .iter()
                    .map(|(z, i)| own[(*z as usize * components + c) * local + *i as usize])
                    .sum();
            }
        }
        out
    }
}
