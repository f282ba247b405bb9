//! Merging of vertices, and checks of a mesh.

use super::Mesh;
use super::edges::{Edge, NAMED, Parts};
use crate::GisaxsError;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Vertices closer than this fraction of the size are merged.
const WELD: f64 = 1e-9;
/// Size of a hash cell over that distance: in larger cells, fewer vertices need a look at neighbouring cells.
const CELL: f64 = 16.0;
/// Volume over area × size, below which it is the rounding of a sum.
const ROUNDING: f64 = 1e-12;
/// Vertices or triangles between two looks at whether to stop.
pub(crate) const CHUNK: usize = 1 << 14;

/// Fails once it should stop.
pub(crate) fn go_on(stop: &AtomicBool) -> Result<(), GisaxsError> {
    if stop.load(Ordering::Relaxed) {
        Err(GisaxsError::Interrupted)
    } else {
        Ok(())
    }
}

impl Mesh {
    /// The mesh with vertices at the same position merged, without triangles that degenerate by it.
    #[must_use]
    pub fn welded(&self) -> Self {
        let never = AtomicBool::new(false);
        self.welded_until(&never).unwrap_or_default()
    }

    /// The same.
    ///
    /// # Errors
    /// [`GisaxsError::Interrupted`] if stopped.
    pub fn welded_until(&self, stop: &AtomicBool) -> Result<Self, GisaxsError> {
        let cell = (self.size() * WELD * CELL).max(f64::MIN_POSITIVE);
        let mut seen: HashMap<[i64; 3], usize> = HashMap::with_capacity(self.vertices.len());
        let mut vertices = Vec::new();
        let positions: Vec<usize> = self
            .vertices
            .iter()
            .enumerate()
            .map(|(i, v)| {
                if i % CHUNK == 0 {
                    go_on(stop)?;
                }
                let key = v.map(|x| (x / cell).floor() as i64);
                // Near a border of its cell, the other vertex may be in the next cell.
                let beyond: [i64; 3] = std::array::from_fn(|k| {
                    let from = v[k] / cell - key[k] as f64;
                    match from {
                        f if f < 1.0 / CELL => -1,
                        f if f > 1.0 - 1.0 / CELL => 1,
                        _ => 0,
                    }
                });
                let near = (0..8).find_map(|n| {
                    let step: [i64; 3] = std::array::from_fn(|k| (n >> k & 1) * beyond[k]);
                    // Each neighbour once.
                    if (0..3).any(|k| n >> k & 1 == 1 && beyond[k] == 0) {
                        return None;
                    }
                    let there: [i64; 3] = std::array::from_fn(|k| key[k].saturating_add(step[k]));
                    seen.get(&there).copied()
                });
                Ok(near.unwrap_or_else(|| {
                    vertices.push(*v);
                    seen.insert(key, vertices.len() - 1);
                    vertices.len() - 1
                }))
            })
            .collect::<Result<_, GisaxsError>>()?;
        let triangles = self
            .triangles
            .iter()
            .map(|t| t.map(|i| positions[i]))
            .filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0])
            .collect();
        Ok(Self {
            vertices,
            triangles,
        })
    }

    /// Whether the mesh bounds a solid: finite vertices, no triangle of zero area, each edge as often in one direction as in
    /// the other, no triangle twice, no bodies that overlap, a volume, outward normals.
    ///
    /// # Errors
    /// The mesh is empty, open or inside out, encloses a volume twice or none, or has an invalid vertex or triangle; the
    /// error lists the first faults.
    pub fn check(&self) -> Result<(), GisaxsError> {
        self.check_until(&AtomicBool::new(false))
    }

    /// The same.
    ///
    /// # Errors
    /// As of [`Mesh::check`]; [`GisaxsError::Interrupted`] if stopped.
    pub fn check_until(&self, stop: &AtomicBool) -> Result<(), GisaxsError> {
        let wrong = |message: String| Err(GisaxsError::Mesh(message));
        if self.triangles.is_empty() {
            return wrong("has no triangles".into());
        }
        if let Some(i) = self
            .vertices
            .iter()
            .position(|v| v.iter().any(|x| !x.is_finite()))
        {
            return wrong(format!("has an invalid corner: number {}", i + 1));
        }
        go_on(stop)?;
        let size = self.size();
        let thin: Vec<String> = self
            .triangles
            .iter()
            .enumerate()
            .filter(|(_, t)| self.face(**t).0 <= 1e-18 * size * size)
            .map(|(i, _)| (i + 1).to_string())
            .collect();
        if !thin.is_empty() {
            return wrong(format!(
                "has {} triangles without area: number {}",
                thin.len(),
                thin[..thin.len().min(NAMED)].join(", ")
            ));
        }
        go_on(stop)?;
        if self.vertices.len().max(self.triangles.len()) > (u32::MAX / 2) as usize {
            return wrong("has more than 2^31 triangles or vertices".into());
        }
        let mut edges: Vec<Edge> = (self.triangles.iter().enumerate())
            .flat_map(|(n, t)| Edge::of(n, *t))
            .collect();
        go_on(stop)?;
        edges.par_sort_unstable();
        go_on(stop)?;
        let mut open = Vec::new();
        let mut turned = Vec::new();
        let mut faulty: Vec<Edge> = Vec::new();
        let mut sheets = Vec::new();
        let mut crowded = Vec::new();
        let mut parts = Parts::new(self.triangles.len());
        for same in edges.chunk_by(|x, y| x.ends == y.ends) {
            let [a, b] = same[0].ends.map(|i| i as usize);
            let up = same.iter().filter(|e| e.up()).count();
            let down = same.len() - up;
            let edge = if up > down { (a, b) } else { (b, a) };
            match (up.abs_diff(down), same) {
                (0, [x, y]) if x.beside == y.beside => sheets.push(x.triangle()),
                (0, [x, y]) => parts.join(x.triangle(), y.triangle()),
                (0, _) => {
                    // Bodies that touch here are one part.
                    for e in same.windows(2) {
                        parts.join(e[0].triangle(), e[1].triangle());
                    }
                    crowded.push(same);
                }
                (1, _) => {
                    open.push(edge);
                    faulty.extend(same);
                }
                // Twice in the same direction and never back: a neighbour is inside out.
                _ => {
                    turned.push(edge);
                    faulty.extend(same);
                }
            }
        }
        for (what, mut list) in [("is inside out in places", turned), ("is open", open)] {
            if list.is_empty() {
                continue;
            }
            // A triangle that is there twice opens its edges.
            self.check_copies(faulty.iter().map(|e| e.triangle()))?;
            list.sort_unstable();
            let some: Vec<String> = list
                .iter()
                .take(NAMED)
                .map(|&(a, b)| {
                    let at = |i: usize| {
                        let v = self.vertices[i];
                        format!("({:.4}, {:.4}, {:.4})", v[0], v[1], v[2])
                    };
                    format!("{} to {}", at(a), at(b))
                })
                .collect();
            return wrong(format!(
                "{what}: {} faulty edges, such as {}",
                list.len(),
                some.join("; ")
            ));
        }
        self.check_crowded(&crowded, sheets)?;
        let volume = self.volume();
        if volume.abs() <= ROUNDING * self.area() * size {
            return wrong(format!(
                "encloses no volume: {volume:.1e} nm³ is below the rounding of its area times its size"
            ));
        }
        if volume < 0.0 {
            return wrong("is inside out: turn the order of all triangles' corners".into());
        }
        self.check_overlap(&parts.of_all(), stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> Mesh {
        Mesh {
            vertices: vec![
                [0.0, 0.0, 0.0],
                [1.0, 0.0, 0.0],
                [0.0, 1.0, 0.0],
                [0.0, 0.0, 1.0],
            ],
            triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
        }
    }

    fn fault(m: &Mesh) -> String {
        m.check().unwrap_err().to_string()
    }

    #[test]
    fn faults_are_named() {
        let good = tetrahedron();
        good.check().unwrap();
        assert!((good.volume() - 1.0 / 6.0).abs() < 1e-15);
        let mut open = good.clone();
        open.triangles.pop();
        assert!(
            fault(&open).contains("open: 3 faulty edges"),
            "{}",
            fault(&open)
        );
        let mut twice = good.clone();
        twice.triangles.push([1, 3, 0]);
        assert!(
            fault(&twice)
                .contains("1 triangles that occur more than once, such as numbers 2 and 5"),
            "{}",
            fault(&twice)
        );
        let mut one = good.clone();
        one.triangles[0] = [0, 1, 2];
        assert!(
            fault(&one).contains("inside out in places"),
            "{}",
            fault(&one)
        );
        let mut all = good.clone();
        for t in &mut all.triangles {
            t.swap(0, 1);
        }
        assert!(fault(&all).contains("turn the order"), "{}", fault(&all));
        let mut thin = good.clone();
        thin.triangles.push([1, 1, 2]);
        assert!(
            fault(&thin).contains("without area: number 5"),
            "{}",
            fault(&thin)
        );
        let mut nan = good;
        nan.vertices[2][1] = f64::NAN;
        assert!(fault(&nan).contains("number 3"), "{}", fault(&nan));
        assert!(fault(&Mesh::default()).contains("no triangles"));
    }

    #[test]
    fn corners_at_one_place_are_welded() {
        let t = tetrahedron();
        // As STL has it: each triangle with corners of its own, rounded.
        let soup = Mesh {
            vertices: t
                .triangles
                .iter()
                .flatten()
                .enumerate()
                .map(|(i, &v)| t.vertices[v].map(|x| x + 1e-13 * i as f64))
                .collect(),
            triangles: (0..4).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
        };
        assert!(soup.check().is_err());
        let whole = soup.welded();
        whole.check().unwrap();
        assert_eq!(whole.vertices.len(), 4);
    }
}
