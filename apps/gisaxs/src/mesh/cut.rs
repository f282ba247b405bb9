//! Meshes cut at a horizontal plane.

use super::Mesh;
use hashbrown::HashMap;

impl Mesh {
    /// What of the solid lies above a height, nm. Triangles that close it may overlap and face both ways: their signed
    /// areas add up to the section.
    #[must_use]
    pub(crate) fn above(&self, level: f64) -> Self {
        self.cut(level, 1.0)
    }

    /// What of the solid lies below a height, nm.
    #[must_use]
    pub(crate) fn below(&self, level: f64) -> Self {
        self.cut(level, -1.0)
    }

    fn cut(&self, level: f64, sign: f64) -> Self {
        let inside: Vec<bool> = self
            .vertices
            .iter()
            .map(|v| sign * (v[2] - level) >= 0.0)
            .collect();
        let mut out = Cut {
            mesh: Self {
                vertices: self.vertices.clone(),
                triangles: Vec::new(),
            },
            points: HashMap::new(),
        };
        // All triangles of the section have this corner, below or above the first point of it.
        let mut corner = None;
        for t in &self.triangles {
            let mut polygon = Vec::with_capacity(4);
            let (mut enters, mut leaves) = (None, None);
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                if inside[a] {
                    polygon.push(a);
                }
                if inside[a] != inside[b] {
                    let point = out.between(self, a, b, level);
                    polygon.push(point);
                    *(if inside[a] { &mut leaves } else { &mut enters }) = Some(point);
                }
            }
            for k in 2..polygon.len() {
                out.push([polygon[0], polygon[k - 1], polygon[k]]);
            }
            if let (Some(from), Some(to)) = (enters, leaves) {
                // The edge runs from `leaves` to `enters` in the polygon, and back in the section.
                let corner = *corner.get_or_insert(from);
                out.push([corner, from, to]);
            }
        }
        out.mesh.used()
    }

    /// The mesh without vertices of no triangle.
    fn used(self) -> Self {
        let mut new = vec![usize::MAX; self.vertices.len()];
        let mut out = Self::default();
        for t in &self.triangles {
            out.triangles.push(t.map(|i| {
                if new[i] == usize::MAX {
                    new[i] = out.vertices.len();
                    out.vertices.push(self.vertices[i]);
                }
                new[i]
            }));
        }
        out
    }
}

/// A mesh that is being cut.
struct Cut {
    mesh: Mesh,
    /// Where edges meet the plane.
    points: HashMap<(usize, usize), usize>,
}

impl Cut {
    /// Where an edge meets the plane.
    fn between(&mut self, whole: &Mesh, a: usize, b: usize, level: f64) -> usize {
        // The same point from both sides of the edge.
        let (a, b) = (a.min(b), a.max(b));
        let vertices = &mut self.mesh.vertices;
        *self.points.entry((a, b)).or_insert_with(|| {
            let (p, q) = (whole.vertices[a], whole.vertices[b]);
            let share = (level - p[2]) / (q[2] - p[2]);
            let mut at: [f64; 3] = std::array::from_fn(|k| p[k] + share * (q[k] - p[k]));
            at[2] = level;
            vertices.push(at);
            vertices.len() - 1
        })
    }

    /// Adds a triangle, unless it has no area.
    fn push(&mut self, corners: [usize; 3]) {
        let [a, b, c] = corners;
        if a != b && b != c && c != a && self.mesh.face(corners).0 > 0.0 {
            self.mesh.triangles.push(corners);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::form::Shape;
    use crate::sample::rotation::Rotation;
    use num_complex::Complex64;
    use std::path::Path;

    /// Slices between random planes add up to the whole, for complex q, of each shape and orientation that has them.
    #[test]
    fn slices_add_up_to_the_whole() {
        let round = [
            "shape = 'sphere'\nradius = 5",
            "shape = 'spheroid'\nradius = 5\nheight = 7",
        ];
        let upright = [
            "shape = 'cylinder'\nradius = 5\nheight = 8",
            "shape = 'cone'\nradius = 5\nheight = 6\nbase_angle = 70",
            "shape = 'truncated_sphere'\nradius = 5\nheight = 6\nbelow = 1",
            "shape = 'hemi_ellipsoid'\nradius = 4\nheight = 9",
        ];
        let flat = [
            "shape = 'box'\nlength_x = 8\nwidth_y = 12\nheight = 5",
            "shape = 'pyramid'\nlength_x = 10\nwidth_y = 16\nheight = 3\nbase_angle = 54.7",
            "shape = 'icosahedron'\nedge = 5",
            "shape = 'truncated_cube'\nedge = 8\ncut = 2",
            "shape = 'prism'\nsides = 7\nedge = 4\nheight = 6",
        ];
        let tilted = Rotation::new(0.4, 0.9, -0.7);
        let half_turn = Rotation::new(0.4, std::f64::consts::PI, 0.2);
        let level = Rotation::new(0.0, 0.0, 0.3);
        let cases = (round.iter().chain(&upright).chain(&flat))
            .flat_map(|p| [(p, level), (p, half_turn)])
            .chain(round.iter().chain(&flat).map(|p| (p, tilted)));
        let q = [
            Complex64::new(0.31, 0.0),
            Complex64::new(-0.17, 0.0),
            Complex64::new(0.42, 0.03),
        ];
        for (page, by) in cases {
            let shape: Shape = toml::from_str(page).unwrap();
            let form = crate::form::turned(shape.form_factor(Path::new(".")).unwrap(), &by);
            let [low, high] = crate::form::span_z(&*form);
            let none = Rotation::new(0.0, 0.0, 0.0);
            let planes = [0.0, 0.2, 0.21, 0.75, 1.0].map(|s| low + s * (high - low));
            let (mut sum, mut volume) = (Complex64::ZERO, 0.0);
            for w in planes.windows(2) {
                let (part, at) = form.slice(&none, w[0], w[1]).unwrap();
                let phase: Complex64 = (0..3).map(|k| q[k] * at[k]).sum();
                sum += (Complex64::I * phase).exp() * part.at(&q);
                volume += part.volume();
                let [from, to] = crate::form::span_z(&*part).map(|z| z + at[2]);
                assert!(
                    (from - w[0]).abs() < 1e-9 && (to - w[1]).abs() < 1e-9,
                    "{page}"
                );
            }
            let whole = form.at(&q);
            let error = (sum - whole).norm() / form.volume();
            assert!(error < 1e-12, "{page}, {by:?}: {sum} {whole} {error:e}");
            assert!((volume / form.volume() - 1.0).abs() < 1e-12, "{page}");
        }
        // A tilted cylinder has no closed form between planes.
        let shape: Shape = toml::from_str(upright[0]).unwrap();
        let form = crate::form::turned(shape.form_factor(Path::new(".")).unwrap(), &tilted);
        assert!(form.slice(&level, 0.0, 1.0).is_none());
    }
}
