//! Shapes as the input file describes them.

use super::solids::{
    dodecahedron, frustum, hull, icosahedron, polygon, rectangle, resting, truncated_cube,
};
use super::{BallSlice, Cone, Cuboid, Cylinder, FormFactor, Polyhedron, Spheroid};
use crate::GisaxsError;
use crate::mesh;
use crate::sample::limits;
use serde::Deserialize;
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

/// A shape with its dimensions, nm and degrees; its base is centred at the origin.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// A sphere.
    Sphere {
        /// Radius, nm.
        radius: f64,
    },
    /// A spheroid with its axis along z.
    Spheroid {
        /// Semi-axis along x and y, nm.
        radius: f64,
        /// Full height, nm.
        height: f64,
    },
    /// A box with edges along the axes.
    Box {
        /// Edge along x, nm.
        length_x: f64,
        /// Edge along y, nm.
        width_y: f64,
        /// Edge along z, nm.
        height: f64,
    },
    /// An upright circular cylinder.
    Cylinder {
        /// Radius, nm.
        radius: f64,
        /// Height, nm.
        height: f64,
    },
    /// A circular cone, truncated at its height.
    Cone {
        /// Radius of the base, nm.
        radius: f64,
        /// Height, nm; at most that of the tip.
        height: f64,
        /// Angle between base and side, degrees, above 0 and at most 90.
        base_angle: f64,
    },
    /// A pyramid with a rectangular base, truncated at its height.
    Pyramid {
        /// Edge of the base along x, nm.
        length_x: f64,
        /// Edge of the base along y, nm.
        width_y: f64,
        /// Height, nm; at most that of the tip or ridge.
        height: f64,
        /// Angle between base and each side, degrees, above 0 and at most 90.
        base_angle: f64,
    },
    /// A pyramid on a regular polygon with a corner on +x, truncated at its height.
    RegularPyramid {
        /// Number of sides of the polygon, 3 to 1000.
        sides: u32,
        /// Edge of the base, nm.
        edge: f64,
        /// Height, nm; at most that of the tip.
        height: f64,
        /// Angle between base and each side, degrees, above 0 and at most 90.
        base_angle: f64,
    },
    /// An upright prism on a regular polygon with a corner on +x.
    Prism {
        /// Number of sides of the polygon, 3 to 1000.
        sides: u32,
        /// Edge of the base, nm.
        edge: f64,
        /// Height, nm.
        height: f64,
    },
    /// A regular icosahedron that rests on a face with a corner on +x.
    Icosahedron {
        /// Edge, nm.
        edge: f64,
    },
    /// A regular dodecahedron that rests on a face with a corner on +x.
    Dodecahedron {
        /// Edge, nm.
        edge: f64,
    },
    /// A cube with its corners cut off.
    TruncatedCube {
        /// Edge of the full cube, nm.
        edge: f64,
        /// Length cut off each edge at each corner, nm; at most half of the edge.
        cut: f64,
    },
    /// A ball between two horizontal planes.
    TruncatedSphere {
        /// Radius of the ball, nm.
        radius: f64,
        /// Distance of the planes, nm.
        height: f64,
        /// Height of the lower plane above the ball's lowest point, nm.
        #[serde(default)]
        below: f64,
    },
    /// The upper half of a spheroid with its axis along z.
    HemiEllipsoid {
        /// Semi-axis along x and y, nm.
        radius: f64,
        /// Semi-axis along z, nm.
        height: f64,
    },
    /// A closed surface of triangles in a file.
    Mesh {
        /// The file: OBJ, STL or PLY.
        file: PathBuf,
        /// Factor from the coordinates of the file to nm.
        #[serde(default = "one")]
        scale: f64,
    },
}

/// Smallest mesh, nm.
const LEAST_MESH: f64 = 1e-6;
/// Largest mesh, nm.
const LARGEST_MESH: f64 = 1e9;

fn one() -> f64 {
    1.0
}

fn block(length_x: f64, width_y: f64, height: f64) -> [(&'static str, f64); 3] {
    [
        ("length_x", length_x),
        ("width_y", width_y),
        ("height", height),
    ]
}

impl Shape {
    /// The form factor; relative paths start at `dir`.
    ///
    /// # Errors
    /// The dimensions give no solid, or the mesh cannot be read or is invalid.
    pub fn form_factor(&self, dir: &Path) -> Result<Box<dyn FormFactor>, GisaxsError> {
        let positive = |values: &[(&str, f64)]| -> Result<(), GisaxsError> {
            let table = values
                .iter()
                .map(|(name, v)| ((*name).to_owned(), toml::Value::Float(*v)))
                .collect();
            limits::shape(&table)
        };
        // Horizontal distance by which a side leans in up to the height.
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
                positive(&block(length_x, width_y, height))?;
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
                positive(&block(length_x, width_y, height))?;
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
                Ok(Box::new(Polyhedron::new(&resting(hull(icosahedron(
                    edge,
                ))))?))
            }
            Self::Dodecahedron { edge } => {
                positive(&[("edge", edge)])?;
                Ok(Box::new(Polyhedron::new(&resting(hull(dodecahedron(
                    edge,
                ))))?))
            }
            Self::TruncatedCube { edge, cut } => {
                positive(&[("edge", edge), ("cut", cut)])?;
                if cut > 0.5 * edge {
                    return Err(GisaxsError::Shape(format!(
                        "cut = {cut}: it must be at most half of edge = {edge}"
                    )));
                }
                Ok(Box::new(Polyhedron::new(
                    &hull(truncated_cube(edge, cut)).welded(),
                )?))
            }
            Self::TruncatedSphere {
                radius,
                height,
                below,
            } => {
                positive(&[("radius", radius), ("height", height)])?;
                if !(below >= 0.0 && below + height <= 2.0 * radius * (1.0 + 1e-12)) {
                    return Err(GisaxsError::Shape(format!(
                        "height = {height} from below = {below} is more than the ball of radius {radius} has"
                    )));
                }
                Ok(Box::new(BallSlice {
                    radius,
                    bottom: below - radius,
                    top: (below + height - radius).min(radius),
                    stretch: 1.0,
                }))
            }
            Self::HemiEllipsoid { radius, height } => {
                positive(&[("radius", radius), ("height", height)])?;
                Ok(Box::new(BallSlice {
                    radius,
                    bottom: 0.0,
                    top: radius,
                    stretch: height / radius,
                }))
            }
            Self::Mesh { ref file, scale } => {
                positive(&[("scale", scale)])?;
                let mesh = mesh::read(&dir.join(file))?.scaled(scale);
                let size = mesh.size();
                // A mesh without triangles has its own error below.
                if !mesh.triangles.is_empty() && !(LEAST_MESH..=LARGEST_MESH).contains(&size) {
                    return Err(GisaxsError::Shape(format!(
                        "{}: the mesh times scale = {scale} is {size:e} nm across: it must be {LEAST_MESH:e} to {LARGEST_MESH:e} nm",
                        file.display()
                    )));
                }
                Ok(Box::new(Polyhedron::new(&mesh)?))
            }
        }
    }
}
