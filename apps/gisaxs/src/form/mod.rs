//! Form factors F(q) = ∫ e^{iq·r} d³r, nm³, for complex q_z.

mod cuboid;
mod functions;
mod polyhedron;
mod round;
mod shape;
mod solids;
mod triangle;

pub use cuboid::Cuboid;
pub use functions::gauss;
pub use polyhedron::Polyhedron;
pub use round::{Cone, Cylinder, Spheroid};
pub use shape::Shape;
pub use triangle::transform;

use crate::Q;
use num_complex::Complex64;

/// A particle's shape in reciprocal space.
pub trait FormFactor: Send + Sync {
    /// F(q), nm³.
    fn at(&self, q: &Q) -> Complex64;
    /// F(0), nm³.
    fn volume(&self) -> f64;
}
