//! Form factors F(q) = ∫ e^{iq·r} d³r, nm³, for complex q_z.

mod cuboid;
mod functions;
mod polyhedron;
mod round;
mod shape;
mod solids;
mod triangle;

pub use functions::gauss;
pub use polyhedron::Polyhedron;
pub use shape::Shape;
pub(crate) use triangle::transform;

use crate::sample::rotation::Rotation;
use cuboid::Cuboid;
use num_complex::Complex64;
use round::{BallSlice, Cone, Cylinder, Spheroid};

/// The form factor of a shape.
pub trait FormFactor: Send + Sync {
    /// F(q), nm³.
    fn at(&self, q: &[Complex64; 3]) -> Complex64;

    /// The volume F(0), nm³.
    fn volume(&self) -> f64;

    /// The shape as a polyhedron; `None` if it is not one.
    fn polyhedron(&self) -> Option<&Polyhedron> {
        None
    }
}

/// A shape rotated about the origin.
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

/// The same shape, rotated about the origin. Of a polyhedron, the vertices are rotated.
pub(crate) fn turned(form: Box<dyn FormFactor>, by: &Rotation) -> Box<dyn FormFactor> {
    if by.is_none() {
        return form;
    }
    match form.polyhedron() {
        Some(p) => Box::new(p.rotated(by)),
        None => Box::new(Turned { form, by: *by }),
    }
}
