//! A ball as a mesh with any number of triangles.

use super::Mesh;
use std::f64::consts::{PI, TAU};

impl Mesh {
    /// A ball of `radius` nm that rests on z = 0, with 2 (rows − 1) × columns triangles between circles of latitude.
    pub fn ball(radius: f64, rows: usize, columns: usize) -> Self {
        let mut vertices = vec![[0.0, 0.0, 2.0 * radius]];
        for i in 1..rows {
            let (sine, cosine) = (PI * i as f64 / rows as f64).sin_cos();
            for j in 0..columns {
                let (s, c) = (TAU * j as f64 / columns as f64).sin_cos();
                vertices.push([
                    radius * sine * c,
                    radius * sine * s,
                    radius * (1.0 + cosine),
                ]);
            }
        }
        vertices.push([0.0; 3]);
        let last = vertices.len() - 1;
        let at = |i: usize, j: usize| 1 + (i - 1) * columns + j % columns;
        let mut triangles = Vec::with_capacity(2 * (rows - 1) * columns);
        for j in 0..columns {
            triangles.push([0, at(1, j), at(1, j + 1)]);
            for i in 1..rows - 1 {
                triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
                triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
            }
            triangles.push([at(rows - 1, j), last, at(rows - 1, j + 1)]);
        }
        Self {
            vertices,
            triangles,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balls_are_closed_and_nearly_full() {
        let m = Mesh::ball(10.0, 56, 60);
        assert_eq!(m.triangles.len(), 6600);
        m.check().unwrap();
        assert!((m.volume() / (4.0 / 3.0 * PI * 1000.0) - 1.0).abs() < 4e-3);
    }
}
