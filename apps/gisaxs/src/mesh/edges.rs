//! Edges of triangles: the parts of a surface that they join, and those where more than two triangles meet.

use super::{Mesh, cross, dot, minus};
use crate::GisaxsError;
use hashbrown::{HashMap, HashSet};

/// Angles between triangles at an edge that are the same, rad.
const SAME: f64 = 1e-7;

/// An edge of a triangle, ordered by its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    /// Its vertices, the lower first.
    pub ends: [u32; 2],
    /// Twice the number of the triangle; 1 more if its edge runs from the lower vertex.
    code: u32,
    /// The third vertex of the triangle.
    pub beside: u32,
}

impl Edge {
    /// The edges of a triangle.
    pub fn of(n: usize, t: [usize; 3]) -> [Self; 3] {
        [(0, 1, 2), (1, 2, 0), (2, 0, 1)].map(|(a, b, c)| {
            let (a, b) = (t[a] as u32, t[b] as u32);
            Self {
                ends: [a.min(b), a.max(b)],
                code: 2 * n as u32 + u32::from(a < b),
                beside: t[c] as u32,
            }
        })
    }

    pub fn up(self) -> bool {
        self.code & 1 == 1
    }

    pub fn triangle(self) -> usize {
        (self.code / 2) as usize
    }
}

/// Sets of triangles that edges join.
pub(super) struct Parts(Vec<u32>);

impl Parts {
    /// Each triangle alone.
    pub fn new(n: usize) -> Self {
        Self((0..n as u32).collect())
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            let next = self.0[self.0[i as usize] as usize];
            self.0[i as usize] = next;
            i = next;
        }
        i
    }

    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a as u32), self.root(b as u32));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// A number for each triangle, the same for those of a part.
    pub fn of_all(mut self) -> Vec<u32> {
        (0..self.0.len() as u32).map(|i| self.root(i)).collect()
    }
}

/// Triangles by their corners, those of each order.
type Same = HashMap<[usize; 3], [Vec<usize>; 2]>;

/// The error of triangles that are there twice in the same order.
fn copies(same: &Same) -> Result<(), GisaxsError> {
    let mut copies: Vec<&Vec<usize>> = (same.values().flatten())
        .filter(|all| all.len() > 1)
        .collect();
    if copies.is_empty() {
        return Ok(());
    }
    copies.sort_unstable();
    let some: Vec<String> = (copies.iter().take(NAMED))
        .map(|all| format!("{} and {}", all[0] + 1, all[1] + 1))
        .collect();
    Err(GisaxsError::Mesh(format!(
        "has {} triangles that occur more than once, such as numbers {}. Fix: remove the copies",
        copies.len(),
        some.join("; ")
    )))
}

impl Mesh {
    /// Checks that none of some triangles is there twice in the same order.
    pub(super) fn check_copies(
        &self,
        triangles: impl Iterator<Item = usize>,
    ) -> Result<(), GisaxsError> {
        let mut seen = HashSet::new();
        copies(&self.same(triangles.filter(|t| seen.insert(*t))))
    }

    /// The triangles of the same corners, in either order.
    fn same(&self, triangles: impl Iterator<Item = usize>) -> Same {
        let mut same = Same::new();
        for n in triangles {
            let t = self.triangles[n];
            let mut key = t;
            key.sort_unstable();
            // Whether the order is an even permutation of the sorted one.
            let even = (0..3).any(|k| [t[k], t[(k + 1) % 3], t[(k + 2) % 3]] == key);
            same.entry(key).or_default()[usize::from(even)].push(n);
        }
        same
    }

    /// Checks edges where more than two triangles meet: no triangle is there twice, and the bodies around the edge do not
    /// overlap. A triangle in both orders is the wall between two bodies, which counts for nothing; `sheets` are such
    /// triangles of a sheet with an edge of its own.
    pub(super) fn check_crowded(
        &self,
        crowded: &[&[Edge]],
        mut sheets: Vec<usize>,
    ) -> Result<(), GisaxsError> {
        let mut seen = HashSet::new();
        let met = crowded.iter().copied().flatten().map(|e| e.triangle());
        let same = self.same(met.filter(|t| seen.insert(*t)));
        copies(&same)?;
        let walls: HashMap<usize, usize> = (same.values())
            .filter_map(|[a, b]| Some((*a.first()?, *b.first()?)))
            .flat_map(|(a, b)| [(a, a), (b, a)])
            .collect();
        // Walls that no body holds are sheets too.
        let mut joined = Parts::new(self.triangles.len() * usize::from(!walls.is_empty()));
        let mut held = HashSet::new();
        for group in crowded {
            let own: Vec<usize> = (group.iter())
                .filter_map(|e| walls.get(&e.triangle()).copied())
                .collect();
            for w in own.windows(2) {
                joined.join(w[0], w[1]);
            }
            if let (Some(one), true) = (own.first(), own.len() < group.len()) {
                held.insert(*one);
            }
        }
        let held: HashSet<u32> = held.into_iter().map(|t| joined.root(t as u32)).collect();
        sheets
            .extend((walls.values().copied()).filter(|t| !held.contains(&joined.root(*t as u32))));
        if !sheets.is_empty() {
            sheets.sort_unstable();
            sheets.dedup();
            let some: Vec<String> = (sheets.iter().take(NAMED))
                .map(|t| (t + 1).to_string())
                .collect();
            return Err(GisaxsError::Mesh(format!(
                "has {} triangles in both orders (a double-sided surface, which encloses nothing): number {}. Fix: keep \
                 the outer side",
                sheets.len(),
                some.join(", ")
            )));
        }
        let bad = crowded.iter().find(|group| {
            let left = group.iter().filter(|e| !walls.contains_key(&e.triangle()));
            !self.alternates(group[0].ends, left.copied())
        });
        match bad {
            None => Ok(()),
            Some(group) => {
                let [a, b] = group[0].ends.map(|i| self.vertices[i as usize]);
                let at = |v: [f64; 3]| format!("({:.4}, {:.4}, {:.4})", v[0], v[1], v[2]);
                Err(GisaxsError::Mesh(format!(
                    "has overlapping bodies, whose common volume would count twice, at an edge of {} triangles: {} to \
                     {}. Fix: unite the bodies",
                    group.len(),
                    at(a),
                    at(b)
                )))
            }
        }
    }

    /// Whether around an edge each body begins where the one before has ended.
    fn alternates(&self, ends: [u32; 2], edges: impl Iterator<Item = Edge>) -> bool {
        let [a, b] = ends.map(|i| self.vertices[i as usize]);
        let axis = minus(b, a);
        let length = dot(axis, axis).sqrt();
        let axis = axis.map(|x| x / length);
        let mut frame: Option<[[f64; 3]; 2]> = None;
        let mut all: Vec<(f64, i32)> = edges
            .map(|e| {
                let to = minus(self.vertices[e.beside as usize], a);
                let along = dot(to, axis);
                let out: [f64; 3] = std::array::from_fn(|k| to[k] - along * axis[k]);
                let [x, y] = *frame.get_or_insert_with(|| [out, cross(axis, out)]);
                // Turning around the axis, a body begins at a triangle whose edge runs down.
                (dot(out, y).atan2(dot(out, x)), if e.up() { -1 } else { 1 })
            })
            .collect();
        all.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
        let mut steps: Vec<(f64, i32)> = Vec::new();
        for (angle, step) in all {
            match steps.last_mut() {
                Some(last) if angle - last.0 < SAME => last.1 += step,
                _ => steps.push((angle, step)),
            }
        }
        // The first direction is also that of a whole turn.
        if let [first, .., last] = &mut steps[..]
            && first.0 + std::f64::consts::TAU - last.0 < SAME
        {
            first.1 += last.1;
            last.1 = 0;
        }
        let steps: Vec<i32> = steps.iter().map(|s| s.1).filter(|s| *s != 0).collect();
        let turns = steps.iter().zip(steps.iter().cycle().skip(1));
        steps.iter().all(|s| s.abs() == 1) && turns.clone().all(|(x, y)| x + y == 0)
    }
}

/// Number of faults that an error lists.
pub(super) const NAMED: usize = 3;
