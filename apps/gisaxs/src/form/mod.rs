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
pub use round::{BallSlice, Cone, Cylinder, Spheroid};
pub use shape::Shape;
pub use triangle::transform;

use crate::rotation::Rotation;
use num_complex::Complex64;

/// A particle's shape in reciprocal space.
pub trait FormFactor: Send + Sync {
    /// F(q), nm³.
    fn at(&self, q: &[Complex64; 3]) -> Complex64;

    /// F(0), nm³.
    fn volume(&self) -> f64;

    /// The surface, of a solid that has one of flat faces.
    fn polyhedron(&self) -> Option<&Polyhedron> {
        None
    }
}

/// A solid turned about the origin.
struct Turned {
    form: Box<dyn FormFactor>,
    by: Rotation,
}

impl FormFactor for Turned {
    fn at(&self, q: &[Complex64; 3]) -> Complex64 {
        self.form.at(&self.by.back(q))
    }

    fn volume(&self) -> f64 {
        self.form.volume()
    }
}

/// The same solid turned about the origin; of flat faces the corners are.
pub fn turned(form: Box<dyn FormFactor>, by: &Rotation) -> Box<dyn FormFactor> {
    if by.is_none() {
        return form;
    }
    match form.polyhedron() {
        Some(p) => Box::new(p.rotated(by)),
        None => Box::new(Turned { form, by: *by }),
    }
}
