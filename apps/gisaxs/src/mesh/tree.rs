//! A tree of boxes around triangles, for crossings and rays.

use super::check::{CHUNK, go_on};
use super::{Mesh, cross, dot, minus};
use crate::GisaxsError;
use std::f64::consts::{PI, TAU};
use std::sync::atomic::AtomicBool;

/// Number of triangles of a leaf.
const LEAF: usize = 4;
/// Parts of a node with triangles of several.
const MIXED: u32 = u32::MAX;
/// Barycentric coordinates closer to an edge say nothing.
const EDGE: f64 = 1e-9;

type Corners = ([f64; 3], [f64; 3]);

struct Node {
    bounds: Corners,
    /// The part of all triangles below, or [`MIXED`].
    part: u32,
    /// Of a leaf its triangles in the order, else the node of the second half; the first half follows its node.
    next: u32,
    /// Triangles of a leaf, else 0.
    count: u32,
}

/// The tree; see the module.
pub(super) struct Tree<'a> {
    part: &'a [u32],
    nodes: Vec<Node>,
    order: Vec<u32>,
}

impl<'a> Tree<'a> {
    /// Sorts the triangles of a mesh, whose parts `part` gives.
    ///
    /// # Errors
    /// [`GisaxsError::Interrupted`] if stopped.
    pub fn new(mesh: &Mesh, part: &'a [u32], stop: &AtomicBool) -> Result<Self, GisaxsError> {
        let n = mesh.triangles.len();
        let mut out = Self {
            part,
            nodes: Vec::with_capacity(2 * n / LEAF + 1),
            order: (0..n as u32).collect(),
        };
        out.split(mesh, part, (0, n), stop)?;
        Ok(out)
    }

    fn split(
        &mut self,
        mesh: &Mesh,
        part: &[u32],
        (start, end): (usize, usize),
        stop: &AtomicBool,
    ) -> Result<(), GisaxsError> {
        let own = &mut self.order[start..end];
        if own.len() > CHUNK {
            go_on(stop)?;
        }
        let mut bounds = ([f64::MAX; 3], [f64::MIN; 3]);
        let first = own.first().map_or(MIXED, |t| part[*t as usize]);
        let mut same = first;
        for t in own.iter() {
            let t = *t as usize;
            if part[t] != first {
                same = MIXED;
            }
            for v in mesh.triangles[t].map(|i| mesh.vertices[i]) {
                for (k, x) in v.into_iter().enumerate() {
                    bounds.0[k] = bounds.0[k].min(x);
                    bounds.1[k] = bounds.1[k].max(x);
                }
            }
        }
        let here = self.nodes.len();
        let leaf = own.len() <= LEAF;
        self.nodes.push(Node {
            bounds,
            part: same,
            next: start as u32,
            count: if leaf { own.len() as u32 } else { 0 },
        });
        if leaf {
            return Ok(());
        }
        let sides: [f64; 3] = std::array::from_fn(|k| bounds.1[k] - bounds.0[k]);
        let axis = (0..3).fold(0, |a, k| if sides[k] > sides[a] { k } else { a });
        let middle = own.len() / 2;
        let key = |t: &u32| -> f64 {
            let corners = mesh.triangles[*t as usize];
            corners.iter().map(|i| mesh.vertices[*i][axis]).sum()
        };
        own.select_nth_unstable_by(middle, |a, b| key(a).total_cmp(&key(b)));
        self.split(mesh, part, (start, start + middle), stop)?;
        self.nodes[here].next = self.nodes.len() as u32;
        self.split(mesh, part, (start + middle, end), stop)
    }

    /// Calls `of` with the triangles below all nodes that `open` accepts, until it returns something.
    fn walk<T>(
        &self,
        skip: Option<u32>,
        open: impl Fn(&Corners) -> bool,
        mut of: impl FnMut(usize) -> Option<T>,
    ) -> Option<T> {
        let mut stack = vec![0_u32];
        while let Some(n) = stack.pop() {
            let node = &self.nodes[n as usize];
            if node.part != MIXED && Some(node.part) == skip || !open(&node.bounds) {
                continue;
            }
            if node.count == 0 {
                stack.extend([node.next, n + 1]);
                continue;
            }
            let all = node.next as usize..(node.next + node.count) as usize;
            for t in &self.order[all] {
                if Some(self.part[*t as usize]) == skip {
                    continue;
                }
                if let Some(found) = of(*t as usize) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// What `of` finds at a triangle whose box may meet this one; those of the part `skip` are left out.
    pub fn find<T>(
        &self,
        (lo, hi): Corners,
        skip: Option<u32>,
        of: impl FnMut(usize) -> Option<T>,
    ) -> Option<T> {
        let meets = |b: &Corners| (0..3).all(|k| b.0[k] <= hi[k] && lo[k] <= b.1[k]);
        self.walk(skip, meets, of)
    }

    /// Calls `of` with the triangles that a ray may meet, until it returns true; those of a part are left out.
    pub fn along(
        &self,
        from: [f64; 3],
        ray: [f64; 3],
        but: u32,
        mut of: impl FnMut(usize) -> bool,
    ) -> bool {
        let meets = |b: &Corners| {
            let mut range = (0.0, f64::MAX);
            for k in 0..3 {
                let (a, b) = ((b.0[k] - from[k]) / ray[k], (b.1[k] - from[k]) / ray[k]);
                // A little wider than the box.
                let wide = 1e-12 * (a.abs() + b.abs());
                range = (
                    f64::max(range.0, a.min(b) - wide),
                    f64::min(range.1, a.max(b) + wide),
                );
            }
            range.0 <= range.1
        };
        self.walk(Some(but), meets, |t| of(t).then_some(()))
            .is_some()
    }
}

/// Where a line meets a triangle; see [`Triangle::met`].
#[derive(Clone, Copy)]
pub(super) struct Met {
    pub share: f64,
    pub at: [f64; 3],
    pub normal: [f64; 3],
    pub angle: f64,
}

/// A triangle, its edges from the first corner, and twice its area as a vector.
pub(super) struct Triangle {
    corners: [[f64; 3]; 3],
    edges: [[f64; 3]; 2],
    normal: [f64; 3],
}

impl Triangle {
    pub fn new(corners: [[f64; 3]; 3]) -> Self {
        let edges = [minus(corners[1], corners[0]), minus(corners[2], corners[0])];
        Self {
            corners,
            edges,
            normal: cross(edges[0], edges[1]),
        }
    }

    /// Distance from the plane, and how far within the edges: negative outside.
    fn distances(&self, at: [f64; 3]) -> (f64, f64) {
        let length = dot(self.normal, self.normal).sqrt();
        let unit = self.normal.map(|x| x / length);
        let within = (0..3)
            .map(|k| {
                let (a, b) = (self.corners[k], self.corners[(k + 1) % 3]);
                let edge = minus(b, a);
                dot(cross(edge, minus(at, a)), unit) / dot(edge, edge).sqrt()
            })
            .fold(f64::MAX, f64::min);
        (dot(unit, minus(at, self.corners[0])), within)
    }

    /// Whether a position lies on the triangle or closer.
    pub fn near(&self, at: [f64; 3], touch: f64) -> bool {
        let (off, within) = self.distances(at);
        off.abs() <= touch && within >= -touch
    }

    /// Where a straight line between two positions meets the triangle, if both lie deeper than `touch`: the share of the
    /// line, the unit normal, and the angle of the triangle seen from there, rad; inside it is a whole turn.
    pub fn met(&self, a: [f64; 3], b: [f64; 3], touch: f64) -> Option<Met> {
        let (above, below) = (self.distances(a).0, self.distances(b).0);
        if above * below >= 0.0 || above.abs().min(below.abs()) <= touch {
            return None;
        }
        let share = above / (above - below);
        let at = std::array::from_fn(|k| a[k] + share * (b[k] - a[k]));
        let within = self.distances(at).1;
        let length = dot(self.normal, self.normal).sqrt();
        let near = |v: [f64; 3]| {
            let d = minus(v, at);
            dot(d, d).sqrt() <= touch
        };
        let angle = match (within, self.corners.iter().position(|v| near(*v))) {
            (w, _) if w < -touch => return None,
            (_, Some(k)) => {
                let [p, q] = [1, 2].map(|n| minus(self.corners[(k + n) % 3], self.corners[k]));
                length.atan2(dot(p, q))
            }
            (w, None) if w <= touch => PI,
            _ => TAU,
        };
        Some(Met {
            share,
            at,
            normal: self.normal.map(|x| x / length),
            angle,
        })
    }

    /// 1 if a ray leaves through the triangle, -1 if it enters, 0 if it misses.
    ///
    /// # Errors
    /// It meets an edge, or lies in the plane.
    pub fn hit(&self, from: [f64; 3], ray: [f64; 3]) -> Result<i64, ()> {
        let across = -dot(self.normal, ray);
        if across.abs() <= EDGE * dot(self.normal, self.normal).sqrt() {
            return Err(());
        }
        let to = minus(from, self.corners[0]);
        let side = cross(ray, to);
        let u = -dot(self.edges[1], side) / across;
        let v = dot(self.edges[0], side) / across;
        let along = dot(self.normal, to) / across;
        let least = u.min(v).min(1.0 - u - v);
        match () {
            () if least < -EDGE || along < 0.0 => Ok(0),
            () if least <= EDGE => Err(()),
            () => Ok(if across < 0.0 { 1 } else { -1 }),
        }
    }
}
