//! Polyhedra as meshes, from their dimensions.

use super::{FormFactor, Polyhedron};
use crate::GisaxsError;
use crate::mesh::{self, Mesh};
use std::f64::consts::PI;

/// Corners of a rectangle about the origin, counter-clockwise.
pub(super) fn rectangle(length: f64, width: f64) -> Vec<[f64; 2]> {
    let (a, b) = (0.5 * length, 0.5 * width);
    vec![[a, -b], [a, b], [-a, b], [-a, -b]]
}

/// Corners of a regular polygon about the origin, counter-clockwise, the first on +x.
///
/// # Errors
/// The number of sides is out of range.
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

/// The solid between two counter-clockwise polygons with the same number of corners, at z = 0 and at `height`. A top of
/// size zero is a tip.
///
/// # Errors
/// The polygons do not give a closed surface.
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
    // A ridge: one pair of the top's sides has zero length.
    let mesh = Mesh {
        vertices,
        triangles,
    }
    .welded();
    Ok(Box::new(Polyhedron::new(&mesh)?))
}

/// Corners of the icosahedron about the origin.
pub(super) fn icosahedron(edge: f64) -> Vec<[f64; 3]> {
    let half = 0.5 * edge;
    let mut corners = Vec::new();
    for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        let (a, b) = (a * half, b * GOLDEN * half);
        corners.extend([[0.0, a, b], [a, b, 0.0], [b, 0.0, a]]);
    }
    corners
}

/// Corners of the dodecahedron about the origin.
pub(super) fn dodecahedron(edge: f64) -> Vec<[f64; 3]> {
    // Its cube's half edge is half a diagonal of a face.
    let (cube, long, short) = (
        0.5 * GOLDEN * edge,
        0.5 * GOLDEN * GOLDEN * edge,
        0.5 * edge,
    );
    let mut corners = Vec::new();
    for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        corners.extend([[cube, a * cube, b * cube], [-cube, a * cube, b * cube]]);
        let (a, b) = (a * short, b * long);
        corners.extend([[0.0, a, b], [a, b, 0.0], [b, 0.0, a]]);
    }
    corners
}

/// Corners of a cube on z = 0, centred, with its corners cut off at the distance `cut` along each edge.
pub(super) fn truncated_cube(edge: f64, cut: f64) -> Vec<[f64; 3]> {
    let half = 0.5 * edge;
    let mut corners = Vec::new();
    for n in 0..8 {
        let sign = |k: usize| if n >> k & 1 == 0 { half } else { -half };
        let corner: [f64; 3] = std::array::from_fn(sign);
        for k in 0..3 {
            let mut c = corner;
            c[k] -= cut * c[k].signum();
            corners.push([c[0], c[1], c[2] + half]);
        }
    }
    corners
}

const GOLDEN: f64 = 1.618_033_988_749_895;

/// The convex hull of these corners, each face a fan of triangles.
pub(super) fn hull(corners: Vec<[f64; 3]>) -> Mesh {
    let count = corners.len() as f64;
    let center: [f64; 3] =
        std::array::from_fn(|k| corners.iter().map(|c| c[k]).sum::<f64>() / count);
    let size = corners
        .iter()
        .flatten()
        .fold(0.0, |a: f64, x| a.max(x.abs()));
    let mut planes: Vec<([f64; 3], f64)> = Vec::new();
    let mut triangles = Vec::new();
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    for i in 0..corners.len() {
        for j in i + 1..corners.len() {
            for k in j + 1..corners.len() {
                let mesh = Mesh {
                    vertices: corners.clone(),
                    triangles: Vec::new(),
                };
                let (area, mut normal) = mesh.face([i, j, k]);
                if area < 1e-9 * size * size {
                    continue;
                }
                let mut level = dot(normal, corners[i]);
                if dot(normal, center) > level {
                    (normal, level) = (normal.map(|x| -x), -level);
                }
                let near = 1e-9 * size;
                let outside = corners.iter().any(|c| dot(normal, *c) > level + near);
                let seen = planes
                    .iter()
                    .any(|(n, l)| dot(*n, normal) > 1.0 - 1e-9 && (l - level).abs() < near);
                if outside || seen {
                    continue;
                }
                planes.push((normal, level));
                let mut face: Vec<usize> = (0..corners.len())
                    .filter(|&c| (dot(normal, corners[c]) - level).abs() < near)
                    .collect();
                // Counter-clockwise seen from outside, about the face's center.
                let n = face.len() as f64;
                let centre: [f64; 3] =
                    std::array::from_fn(|a| face.iter().map(|&c| corners[c][a]).sum::<f64>() / n);
                let arm =
                    |c: usize| -> [f64; 3] { std::array::from_fn(|a| corners[c][a] - centre[a]) };
                let first = arm(face[0]);
                let side = mesh::cross(normal, first);
                face.sort_by(|&a, &b| {
                    let angle = |c: usize| dot(arm(c), side).atan2(dot(arm(c), first));
                    angle(a).total_cmp(&angle(b))
                });
                triangles.extend(face.windows(2).skip(1).map(|w| [face[0], w[0], w[1]]));
            }
        }
    }
    Mesh {
        vertices: corners,
        triangles,
    }
}

/// The mesh, rotated to rest on its first face with a corner of that face on +x.
pub(super) fn resting(mut mesh: Mesh) -> Mesh {
    let (_, normal) = mesh.face(mesh.triangles[0]);
    mesh.turn(normal, [0.0, 0.0, -1.0]);
    let lowest = mesh.vertices.iter().map(|v| v[2]).fold(f64::MAX, f64::min);
    let corner = mesh.vertices[mesh.triangles[0][0]];
    // The solid's center lies above the face's.
    let (sine, cosine) = corner[1].atan2(corner[0]).sin_cos();
    for v in &mut mesh.vertices {
        *v = [
            cosine * v[0] + sine * v[1],
            cosine * v[1] - sine * v[0],
            v[2] - lowest,
        ];
    }
    mesh
}
