//! Shapes as a page names them.

use super::{Cone, Cuboid, Cylinder, FormFactor, Polyhedron, Spheroid};
use crate::GisaxsError;
use crate::mesh::{self, Mesh};
use serde::Deserialize;
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

/// A shape with its measures, nm and degrees; the base lies at z = 0, centred.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    Sphere {
        radius: f64,
    },
    Spheroid {
        radius: f64,
        height: f64,
    },
    Box {
        length_x: f64,
        width_y: f64,
        height: f64,
    },
    Cylinder {
        radius: f64,
        height: f64,
    },
    /// A cone cut off at its height; `base_angle` between base and side.
    Cone {
        radius: f64,
        height: f64,
        base_angle: f64,
    },
    /// A pyramid on a rectangle, cut off at its height.
    Pyramid {
        length_x: f64,
        width_y: f64,
        height: f64,
        base_angle: f64,
    },
    /// A pyramid on a regular polygon, cut off at its height; its first corner is on +x.
    RegularPyramid {
        sides: u32,
        edge: f64,
        height: f64,
        base_angle: f64,
    },
    /// A prism on a regular polygon, its first corner on +x.
    Prism {
        sides: u32,
        edge: f64,
        height: f64,
    },
    /// Resting on a face that has a corner on +x.
    Icosahedron {
        edge: f64,
    },
    /// A closed surface in a file: OBJ, STL or PLY; coordinates times `scale`.
    Mesh {
        file: PathBuf,
        #[serde(default = "one")]
        scale: f64,
    },
}

fn one() -> f64 {
    1.0
}

impl Shape {
    /// The form factor; files are looked for beside `dir`.
    ///
    /// # Errors
    /// A measure that makes no solid, or a mesh that cannot be used.
    pub fn form_factor(&self, dir: &Path) -> Result<Box<dyn FormFactor>, GisaxsError> {
        let positive = |values: &[(&str, f64)]| -> Result<(), GisaxsError> {
            match values.iter().find(|(_, v)| !(*v > 0.0 && v.is_finite())) {
                Some((name, v)) => Err(GisaxsError::Shape(format!(
                    "{name} = {v}: it must be above 0"
                ))),
                None => Ok(()),
            }
        };
        // How much a side comes in up to the height.
        let inset = |height: f64, angle: f64, room: f64| -> Result<f64, GisaxsError> {
            if !(angle > 0.0 && angle <= 90.0) {
                return Err(GisaxsError::Shape(format!(
                    "base_angle = {angle}: it must be above 0° and at most 90°"
                )));
            }
            let inset = height / angle.to_radians().tan();
            if inset > room * (1.0 + 1e-12) {
                return Err(GisaxsError::Shape(format!(
                    "height = {height} is above the tip, which lies at {:.6}",
                    room * angle.to_radians().tan()
                )));
            }
            Ok(inset.min(room))
        };
        match *self {
            Self::Sphere { radius } => {
                positive(&[("radius", radius)])?;
                Ok(Box::new(Spheroid {
                    radius,
                    half_height: radius,
                }))
            }
            Self::Spheroid { radius, height } => {
                positive(&[("radius", radius), ("height", height)])?;
                Ok(Box::new(Spheroid {
                    radius,
                    half_height: 0.5 * height,
                }))
            }
            Self::Cylinder { radius, height } => {
                positive(&[("radius", radius), ("height", height)])?;
                Ok(Box::new(Cylinder { radius, height }))
            }
            Self::Cone {
                radius,
                height,
                base_angle,
            } => {
                positive(&[("radius", radius), ("height", height)])?;
                Ok(Box::new(Cone {
                    radius,
                    top: radius - inset(height, base_angle, radius)?,
                    height,
                }))
            }
            Self::Box {
                length_x,
                width_y,
                height,
            } => {
                positive(&[
                    ("length_x", length_x),
                    ("width_y", width_y),
                    ("height", height),
                ])?;
                Ok(Box::new(Cuboid {
                    length: length_x,
                    width: width_y,
                    height,
                }))
            }
            Self::Pyramid {
                length_x,
                width_y,
                height,
                base_angle,
            } => {
                positive(&[
                    ("length_x", length_x),
                    ("width_y", width_y),
                    ("height", height),
                ])?;
                let cut = 2.0 * inset(height, base_angle, 0.5 * length_x.min(width_y))?;
                frustum(
                    &rectangle(length_x, width_y),
                    &rectangle(length_x - cut, width_y - cut),
                    height,
                )
            }
            Self::RegularPyramid {
                sides,
                edge,
                height,
                base_angle,
            } => {
                positive(&[("edge", edge), ("height", height)])?;
                let base = polygon(sides, edge)?;
                let within = 0.5 * edge / (PI / f64::from(sides)).tan();
                let left = 1.0 - inset(height, base_angle, within)? / within;
                let top: Vec<[f64; 2]> = base.iter().map(|p| p.map(|x| x * left)).collect();
                frustum(&base, &top, height)
            }
            Self::Prism {
                sides,
                edge,
                height,
            } => {
                positive(&[("edge", edge), ("height", height)])?;
                let base = polygon(sides, edge)?;
                frustum(&base, &base, height)
            }
            Self::Icosahedron { edge } => {
                positive(&[("edge", edge)])?;
                Ok(Box::new(Polyhedron::new(&icosahedron(edge))?))
            }
            Self::Mesh { ref file, scale } => {
                positive(&[("scale", scale)])?;
                let mesh = mesh::read(&dir.join(file))?.scaled(scale);
                Ok(Box::new(Polyhedron::new(&mesh)?))
            }
        }
    }
}

fn rectangle(length: f64, width: f64) -> Vec<[f64; 2]> {
    let (a, b) = (0.5 * length, 0.5 * width);
    vec![[a, -b], [a, b], [-a, b], [-a, -b]]
}

fn polygon(sides: u32, edge: f64) -> Result<Vec<[f64; 2]>, GisaxsError> {
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
fn frustum(
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
fn icosahedron(edge: f64) -> Mesh {
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
