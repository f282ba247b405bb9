//! Polyhedra and meshes: F(q) = −i/Σ|q_k|² Σ_t (q*·n_t) I_t, with the exact transform I_t of each
//! triangle and the complex conjugate q* (with any other vector the prefactor may vanish).

use super::{FormFactor, Slice};
use crate::GisaxsError;
use crate::form::transform;
use crate::mesh::{CHUNK, Mesh, go_on};
use crate::sample::rotation::Rotation;
use num_complex::Complex64;
use std::sync::atomic::AtomicBool;

/// The solid inside a closed surface of flat triangles with outward normals.
#[derive(Clone, Debug)]
pub struct Polyhedron {
    mesh: Mesh,
    faces: Vec<Face>,
    volume: f64,
    /// ∫ r over the solid.
    first: [f64; 3],
    /// ∫ r rᵀ over the solid.
    second: [[f64; 3]; 3],
    /// Distance of the farthest vertex from the origin.
    reach: f64,
}

#[derive(Clone, Debug)]
struct Face {
    corners: [usize; 3],
    area: f64,
    normal: [f64; 3],
}

/// Below this |q| × reach, F comes from moments: the terms of the surface sum would cancel.
const SMALL: f64 = 1e-4;

impl Polyhedron {
    /// The solid inside a mesh, which must be closed with outward normals.
    ///
    /// # Errors
    /// The mesh is open, inside out or has invalid triangles ([`Mesh::check`]).
    pub fn new(mesh: &Mesh) -> Result<Self, GisaxsError> {
        Self::until(mesh, &AtomicBool::new(false))
    }

    /// The same.
    ///
    /// # Errors
    /// As of [`Polyhedron::new`]; [`GisaxsError::Interrupted`] if stopped.
    pub fn until(mesh: &Mesh, stop: &AtomicBool) -> Result<Self, GisaxsError> {
        mesh.check_until(stop)?;
        Self::of_closed(mesh, stop)
    }

    /// The solid inside a closed surface, whose triangles may lie on others that face the other way.
    fn of_closed(mesh: &Mesh, stop: &AtomicBool) -> Result<Self, GisaxsError> {
        let faces = mesh
            .triangles
            .iter()
            .map(|&corners| {
                let (area, normal) = mesh.face(corners);
                Face {
                    corners,
                    area,
                    normal,
                }
            })
            .collect();
        let (mut volume, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
        // Tetrahedra from a vertex to each triangle: from a far origin, differences of large numbers would be left.
        let from = mesh.vertices.first().copied().unwrap_or_default();
        for (n, t) in mesh.triangles.iter().enumerate() {
            if n % CHUNK == 0 {
                go_on(stop)?;
            }
            let v: [[f64; 3]; 3] =
                t.map(|i| std::array::from_fn(|k| mesh.vertices[i][k] - from[k]));
            let six = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1])
                - v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0])
                + v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
            volume += six / 6.0;
            let sum: [f64; 3] = std::array::from_fn(|k| v[0][k] + v[1][k] + v[2][k]);
            for k in 0..3 {
                first[k] += six / 24.0 * sum[k];
                for l in 0..3 {
                    let own: f64 = v.iter().map(|p| p[k] * p[l]).sum();
                    second[k][l] += six / 120.0 * (own + sum[k] * sum[l]);
                }
            }
        }
        // About the origin again.
        for k in 0..3 {
            for l in 0..3 {
                second[k][l] +=
                    from[k] * first[l] + first[k] * from[l] + volume * from[k] * from[l];
            }
        }
        for k in 0..3 {
            first[k] += volume * from[k];
        }
        let reach = mesh
            .vertices
            .iter()
            .map(|v| v.iter().map(|x| x * x).sum::<f64>().sqrt())
            .fold(0.0, f64::max);
        Ok(Self {
            mesh: mesh.clone(),
            faces,
            volume,
            first,
            second,
            reach,
        })
    }
}

impl Polyhedron {
    /// The surface, nm.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Number of triangles of the surface.
    pub fn triangles(&self) -> usize {
        self.faces.len()
    }

    /// The same solid, rotated about the origin.
    pub fn rotated(&self, by: &Rotation) -> Self {
        let mut out = self.clone();
        for v in &mut out.mesh.vertices {
            *v = by.forward(*v);
        }
        for f in &mut out.faces {
            f.normal = by.forward(f.normal);
        }
        out.first = by.forward(out.first);
        // R M Rᵀ
        let rows = out.second.map(|r| by.forward(r));
        let columns: [[f64; 3]; 3] =
            std::array::from_fn(|j| by.forward(std::array::from_fn(|i| rows[i][j])));
        out.second = std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i]));
        out
    }
}

impl FormFactor for Polyhedron {
    fn polyhedron(&self) -> Option<&Polyhedron> {
        Some(self)
    }

    fn at(&self, vector: &[Complex64; 3]) -> Complex64 {
        let square: f64 = vector.iter().map(Complex64::norm_sqr).sum();
        if square.sqrt() * self.reach < SMALL {
            let dot = |m: &[f64; 3]| -> Complex64 { (0..3).map(|k| vector[k] * m[k]).sum() };
            let twice: Complex64 = (0..3).map(|k| vector[k] * dot(&self.second[k])).sum();
            return self.volume + Complex64::I * dot(&self.first) - 0.5 * twice;
        }
        let phases: Vec<Complex64> = self
            .mesh
            .vertices
            .iter()
            .map(|v| vector[0] * v[0] + vector[1] * v[1] + vector[2] * v[2])
            .collect();
        let back = vector.map(|x| x.conj());
        let sum: Complex64 = self
            .faces
            .iter()
            .map(|f| {
                let through = back[0] * f.normal[0] + back[1] * f.normal[1] + back[2] * f.normal[2];
                through * transform(f.corners.map(|i| phases[i]), f.area)
            })
            .sum();
        -Complex64::I / square * sum
    }

    fn volume(&self) -> f64 {
        self.volume
    }

    fn reach(&self, toward: [f64; 3]) -> f64 {
        let along = |v: &[f64; 3]| v[0] * toward[0] + v[1] * toward[1] + v[2] * toward[2];
        self.mesh
            .vertices
            .iter()
            .map(along)
            .fold(f64::NEG_INFINITY, f64::max)
    }

    fn slice(&self, by: &Rotation, low: f64, high: f64) -> Option<Slice> {
        let own;
        let mesh = if by.is_none() {
            &self.mesh
        } else {
            own = self.rotated(by);
            &own.mesh
        };
        let cut = mesh.above(low).below(high);
        let form = Self::of_closed(&cut, &AtomicBool::new(false)).ok()?;
        Some((Box::new(form), [0.0; 3]))
    }
}
