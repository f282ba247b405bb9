//! Polyhedra by their measures, as meshes.

use super::{FormFactor, Polyhedron};
use crate::GisaxsError;
use crate::mesh::{self, Mesh};
use std::f64::consts::PI;

pub(super) fn rectangle(length: f64, width: f64) -> Vec<[f64; 2]> {
    let (a, b) = (0.5 * length, 0.5 * width);
    vec![[a, -b], [a, b], [-a, b], [-a, -b]]
}

pub(super) fn polygon(sides: u32, edge: f64) -> Result<Vec<[f64; 2]>, GisaxsError> {
    if !(3..=1000).contains(&sides) {
        return Err(GisaxsError::Shape(format!(
            "sides = {sides}: a polygon has 3 to 1000"
        )));
    }
    let step = 2.0 * PI / f64::from(sides);
    let radius = 0.5 * edge / (0.5 * step).sin();
    Ok((0..sides)
        .map(|k| {
            let at = step * f64::from(k);
            [radius * at.cos(), radius * at.sin()]
        })
        .collect())
}

/// The solid between two polygons of as many corners, counter-clockwise, at 0 and at a height. A top
/// of no extent is a tip.
pub(super) fn frustum(
    base: &[[f64; 2]],
    top: &[[f64; 2]],
    height: f64,
) -> Result<Box<dyn FormFactor>, GisaxsError> {
    let n = base.len();
    let size = |p: &[[f64; 2]]| p.iter().flatten().fold(0.0, |a: f64, x| a.max(x.abs()));
    let tip = size(top) < 1e-9 * size(base);
    let mut vertices: Vec<[f64; 3]> = base.iter().map(|p| [p[0], p[1], 0.0]).collect();
    let mut triangles = Vec::new();
    for k in 1..n - 1 {
        triangles.push([0, k + 1, k]);
    }
    if tip {
        vertices.push([0.0, 0.0, height]);
        for k in 0..n {
            triangles.push([k, (k + 1) % n, n]);
        }
    } else {
        vertices.extend(top.iter().map(|p| [p[0], p[1], height]));
        for k in 1..n - 1 {
            triangles.push([n, n + k, n + k + 1]);
        }
        for k in 0..n {
            let next = (k + 1) % n;
            triangles.push([k, next, n + next]);
            triangles.push([k, n + next, n + k]);
        }
    }
    // A roof: one pair of the top's sides has no length.
    let mesh = Mesh {
        vertices,
        triangles,
    }
    .welded();
    Ok(Box::new(Polyhedron::new(&mesh)?))
}

/// Resting on a face, centred, a corner of that face on +x.
pub(super) fn icosahedron(edge: f64) -> Mesh {
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    let half = 0.5 * edge;
    let mut corners = Vec::new();
    for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        corners.push([0.0, a * half, b * golden * half]);
        corners.push([a * half, b * golden * half, 0.0]);
        corners.push([b * golden * half, 0.0, a * half]);
    }
    // Three corners an edge apart make a face; outward is away from the middle.
    let near = |a: [f64; 3], b: [f64; 3]| {
        let d: f64 = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum();
        (d.sqrt() / edge - 1.0).abs() < 1e-9
    };
    let mut triangles = Vec::new();
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                let c = [corners[i], corners[j], corners[k]];
                if near(c[0], c[1]) && near(c[0], c[2]) && near(c[1], c[2]) {
                    triangles.push(if mesh::six_volume(c) > 0.0 {
                        [i, j, k]
                    } else {
                        [i, k, j]
                    });
                }
            }
        }
    }
    let mut mesh = Mesh {
        vertices: corners,
        triangles,
    };
    // Turn the first face's normal to −z.
    let (_, normal) = mesh.face(mesh.triangles[0]);
    mesh.turn(normal, [0.0, 0.0, -1.0]);
    // Its first corner to +x.
    let face = mesh.triangles[0];
    let middle = |k: usize| face.iter().map(|&i| mesh.vertices[i][k]).sum::<f64>() / 3.0;
    let corner = mesh.vertices[face[0]];
    let azimuth = (corner[1] - middle(1)).atan2(corner[0] - middle(0));
    let (sine, cosine) = azimuth.sin_cos();
    for v in &mut mesh.vertices {
        *v = [
            cosine * v[0] + sine * v[1],
            cosine * v[1] - sine * v[0],
            v[2],
        ];
    }
    let lowest = mesh.vertices.iter().map(|v| v[2]).fold(f64::MAX, f64::min);
    for v in &mut mesh.vertices {
        v[2] -= lowest;
    }
    mesh
}
