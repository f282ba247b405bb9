//! Bodies that overlap: their common volume would count twice.

use super::check::{CHUNK, go_on};
use super::tree::{Met, Tree, Triangle};
use super::{Mesh, dot, minus, six_volume};
use crate::GisaxsError;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::f64::consts::TAU;
use std::sync::atomic::AtomicBool;

/// Depth below which surfaces touch, over the largest coordinate: some roundings in single precision.
const TOUCH: f64 = 1e-6;
/// A surface of one part with more triangles is not searched for crossings with itself, which takes long.
const SELF: usize = 50_000;
/// Number of triangles of a part that are looked at for whether they lie in another.
const SAMPLES: usize = 1000;
/// Coordinates of a point of a triangle, which on no regular mesh lies above an edge.
const POINT: [f64; 3] = [0.317_309_886, 0.367_879_441, 0.314_810_673];
/// Directions of rays; a ray that meets an edge is replaced by the next.
const RAYS: [[f64; 3]; 4] = [
    [0.577_215_664, 0.302_775_637, 0.758_423_511],
    [-0.414_682_509, 0.661_707_182, 0.624_627_391],
    [0.236_067_977, -0.886_226_925, 0.398_719_734],
    [-0.618_033_988, -0.442_854_401, 0.649_519_052],
];

impl Mesh {
    /// Checks that the parts of the surface, of which `part` gives each triangle's, do not cross, and that none lies in
    /// another but the walls of cavities.
    ///
    /// # Errors
    /// They do, with a position; [`GisaxsError::Interrupted`] if stopped.
    pub(super) fn check_overlap(&self, part: &[u32], stop: &AtomicBool) -> Result<(), GisaxsError> {
        let mut volumes: HashMap<u32, (usize, f64, usize)> = HashMap::new();
        for (t, p) in part.iter().enumerate() {
            let (first, volume, count) = volumes.entry(*p).or_insert((t, 0.0, 0));
            let from = self.vertices[self.triangles[*first][0]];
            *volume += six_volume(self.triangles[t].map(|i| minus(self.vertices[i], from)));
            *count += 1;
        }
        if volumes.len() == 1 && self.triangles.len() > SELF {
            return Ok(());
        }
        go_on(stop)?;
        let tree = Tree::new(self, part, stop)?;
        let far = (self.vertices.iter().flatten()).fold(self.size(), |far, x| far.max(x.abs()));
        let touch = TOUCH * far;
        let alone = self.triangles.len() <= SELF;
        let faults: Result<Vec<()>, GisaxsError> = (0..self.triangles.len())
            .into_par_iter()
            .with_min_len(64)
            .map(|t| {
                if t % CHUNK == 0 {
                    go_on(stop)?;
                }
                if let Some(at) = self.crossing(&tree, part, t, (touch, alone)) {
                    return Err(overlap(at, "the surface crosses itself or another body"));
                }
                let (_, volume, count) = volumes[&part[t]];
                if volumes.len() == 1 || t % (count / SAMPLES).max(1) != 0 {
                    return Ok(());
                }
                let corners = self.triangles[t].map(|i| self.vertices[i]);
                let at: [f64; 3] = std::array::from_fn(|k| {
                    POINT[0] * corners[0][k] + POINT[1] * corners[1][k] + POINT[2] * corners[2][k]
                });
                match (self.turns(&tree, (at, part[t]), touch), volume > 0.0) {
                    (None, _) | (Some(0), true) | (Some(1), false) => Ok(()),
                    (_, true) => Err(overlap(at, "a body lies in another")),
                    (_, false) => Err(GisaxsError::Mesh(format!(
                        "is inside out in places: a part at {} is turned inward, but lies in no body",
                        place(at)
                    ))),
                }
            })
            .collect();
        faults.map(drop)
    }

    /// Where an edge of a triangle goes through another triangle.
    fn crossing(
        &self,
        tree: &Tree<'_>,
        part: &[u32],
        t: usize,
        (touch, alone): (f64, bool),
    ) -> Option<[f64; 3]> {
        let corners = self.triangles[t];
        let own = corners.map(|i| self.vertices[i]);
        let edges = [(0, 1), (1, 2), (2, 0)];
        let lo = std::array::from_fn(|k| own.iter().fold(f64::MAX, |m, v| m.min(v[k])));
        let hi = std::array::from_fn(|k| own.iter().fold(f64::MIN, |m, v| m.max(v[k])));
        let skip = (!alone).then_some(part[t]);
        let mut met: [Vec<Met>; 3] = Default::default();
        tree.find((lo, hi), skip, |u| {
            let other = self.triangles[u];
            if u == t || other.iter().any(|i| corners.contains(i)) {
                return None;
            }
            let plane = Triangle::new(other.map(|i| self.vertices[i]));
            edges.iter().zip(&mut met).find_map(|(&(a, b), met)| {
                let new = plane.met(own[a], own[b], touch)?;
                // On an edge or a corner of the surface, only all triangles there make a whole turn.
                let length = dot(minus(own[b], own[a]), minus(own[b], own[a])).sqrt();
                let same = met.iter_mut().find(|m| {
                    (m.share - new.share).abs() * length <= 4.0 * touch
                        && dot(m.normal, new.normal) > 0.5
                });
                let angle = match same {
                    Some(m) => {
                        m.angle += new.angle;
                        m.angle
                    }
                    None => {
                        met.push(new);
                        new.angle
                    }
                };
                (angle > TAU - 1e-3).then_some(new.at)
            })
        })
    }

    /// How often the other parts wind around a position on a part; `None` if it lies on one of them, or if no ray tells.
    fn turns(&self, tree: &Tree<'_>, (at, part): ([f64; 3], u32), touch: f64) -> Option<i64> {
        let corners = |u: usize| self.triangles[u].map(|i| self.vertices[i]);
        let around = (at.map(|x| x - touch), at.map(|x| x + touch));
        let on = tree.find(around, Some(part), |u| {
            Triangle::new(corners(u)).near(at, touch).then_some(())
        });
        if on.is_some() {
            return None;
        }
        RAYS.iter().find_map(|ray| {
            let mut turns = 0;
            let edge = tree.along(at, *ray, part, |u| {
                match Triangle::new(corners(u)).hit(at, *ray) {
                    Ok(n) => {
                        turns += n;
                        false
                    }
                    Err(()) => true,
                }
            });
            (!edge).then_some(turns)
        })
    }
}

fn place(at: [f64; 3]) -> String {
    format!("({:.4}, {:.4}, {:.4})", at[0], at[1], at[2])
}

fn overlap(at: [f64; 3], what: &str) -> GisaxsError {
    GisaxsError::Mesh(format!(
        "has overlapping bodies, whose common volume would count twice: {what} at {}. Fix: unite the bodies",
        place(at)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box, its normals inward if `inward`.
    fn cuboid(lo: [f64; 3], hi: [f64; 3], inward: bool) -> Mesh {
        let vertices = (0..8)
            .map(|n| std::array::from_fn(|k| if n >> k & 1 == 1 { hi[k] } else { lo[k] }))
            .collect();
        let faces = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let turn = |[a, b, c]: [usize; 3]| if inward { [a, c, b] } else { [a, b, c] };
        Mesh {
            vertices,
            triangles: (faces.iter())
                .flat_map(|f| [turn([f[0], f[1], f[2]]), turn([f[0], f[2], f[3]])])
                .collect(),
        }
    }

    fn unit(at: [f64; 3]) -> Mesh {
        cuboid(at, at.map(|x| x + 1.0), false)
    }

    fn both(a: &Mesh, b: &Mesh) -> Mesh {
        let mut out = a.clone();
        let first = out.vertices.len();
        out.vertices.extend(&b.vertices);
        out.triangles
            .extend(b.triangles.iter().map(|t| t.map(|i| i + first)));
        out.welded()
    }

    #[test]
    fn bodies_that_touch_or_have_cavities_are_right() {
        let one = unit([0.0; 3]);
        let large = cuboid([-1.0; 3], [2.0; 3], false);
        for (name, mesh, volume) in [
            ("apart", both(&one, &unit([3.0, 0.0, 0.0])), 2.0),
            (
                "in the box of the other",
                both(&Mesh::ball(1.0, 9, 9), &unit([0.9, 0.9, 1.9])),
                f64::NAN,
            ),
            ("at a corner", both(&one, &unit([1.0; 3])), 2.0),
            ("at an edge", both(&one, &unit([1.0, 1.0, 0.0])), 2.0),
            ("at a face", both(&one, &unit([1.0, 0.0, 0.0])), 2.0),
            (
                "at a part of a face",
                both(&one, &unit([1.0, 0.3, 0.2])),
                2.0,
            ),
            (
                "cavity",
                both(&large, &cuboid([0.0; 3], [1.0; 3], true)),
                26.0,
            ),
            (
                "body in a cavity",
                both(
                    &both(&large, &cuboid([0.0; 3], [1.0; 3], true)),
                    &cuboid([0.2; 3], [0.7; 3], false),
                ),
                26.125,
            ),
        ] {
            mesh.check().unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(
                volume.is_nan() || (mesh.volume() - volume).abs() < 1e-12,
                "{name}"
            );
        }
    }

    #[test]
    fn overlapping_bodies_are_refused() {
        let one = unit([0.0; 3]);
        let twice = Mesh {
            triangles: [&one.triangles[..], &one.triangles[..]].concat(),
            ..one.clone()
        };
        let mut turned = one.clone();
        for t in &mut turned.triangles {
            t.swap(0, 1);
        }
        // The other diagonal of each face.
        let mut diagonals = one.clone();
        for pair in diagonals.triangles.as_chunks_mut::<2>().0 {
            let [[a, b, c], [_, _, d]] = *pair;
            *pair = [[a, b, d], [b, c, d]];
        }
        diagonals.check().unwrap();
        for (name, mesh, message) in [
            ("same", twice, "occur more than once"),
            ("double-sided", both(&one, &turned), "in both orders"),
            (
                "double-sided beside another",
                both(&both(&one, &turned), &unit([4.0; 3])),
                "in both orders",
            ),
            (
                "other diagonals",
                both(&one, &diagonals),
                "overlapping bodies",
            ),
            ("corner", both(&one, &unit([0.5; 3])), "overlapping bodies"),
            (
                "a little",
                both(&one, &unit([0.99; 3])),
                "overlapping bodies",
            ),
            (
                "along an axis",
                both(&one, &unit([0.5, 0.0, 0.0])),
                "overlapping bodies",
            ),
            (
                "inside",
                both(&one, &cuboid([0.2; 3], [0.7; 3], false)),
                "overlapping bodies",
            ),
            (
                "in a corner",
                both(&one, &cuboid([0.0; 3], [0.5; 3], false)),
                "overlapping bodies",
            ),
            (
                "balls",
                both(&Mesh::ball(1.0, 20, 20), &Mesh::ball(1.2, 20, 20)),
                "overlapping bodies",
            ),
            (
                "outside a body",
                both(
                    &cuboid([0.0; 3], [2.0; 3], false),
                    &cuboid([3.0; 3], [4.0; 3], true),
                ),
                "inside out",
            ),
        ] {
            let e = mesh.check().expect_err(name).to_string();
            assert!(e.contains(message), "{name}: {e}");
        }
        // One surface that crosses itself: a ball whose pole is pulled through its other side.
        let mut through = Mesh::ball(1.0, 12, 12);
        through.vertices[0] = [0.03, 0.02, -1.0];
        assert!(through.check().is_err());
    }

    #[test]
    fn flat_bodies_are_refused() {
        let mut flat = unit([0.0; 3]);
        for v in &mut flat.vertices {
            v[2] *= 1e-14;
        }
        let e = flat.check().unwrap_err().to_string();
        assert!(e.contains("encloses no volume"), "{e}");
    }

    #[test]
    fn parts_are_directions() {
        for ray in RAYS {
            assert!((dot(ray, ray) - 1.0).abs() < 0.05, "{ray:?}");
        }
        assert!((POINT.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
