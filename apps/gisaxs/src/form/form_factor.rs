//! What a form factor tells of a shape.

mod polyhedron;

pub use polyhedron::Polyhedron;

use crate::sample::rotation::Rotation;
use num_complex::Complex64;

/// The form factor of a shape.
pub trait FormFactor: Send + Sync {
    /// F(q), nm³.
    fn at(&self, q: &[Complex64; 3]) -> Complex64;

    /// The volume F(0), nm³.
    fn volume(&self) -> f64;

    /// How far the shape reaches from the origin in a direction, nm: the largest n·r for a unit vector n.
    fn reach(&self, toward: [f64; 3]) -> f64;

    /// What of the shape, rotated about the origin, lies between two horizontal planes, nm; `None` if that has no
    /// closed form.
    fn slice(&self, by: &Rotation, low: f64, high: f64) -> Option<Slice>;

    /// The shape as a polyhedron; `None` if it is not one.
    fn polyhedron(&self) -> Option<&Polyhedron> {
        None
    }
}

/// A part of a shape: its form factor, and where its origin lies, nm.
pub type Slice = (Box<dyn FormFactor>, [f64; 3]);

/// The slice of a shape of one that is upright or upside down: `own` cuts it between two planes in its own frame.
pub(super) fn upright(
    by: &Rotation,
    (low, high): (f64, f64),
    own: impl FnOnce(f64, f64) -> Slice,
) -> Option<Slice> {
    let (form, at) = if by.up()? {
        own(low, high)
    } else {
        own(-high, -low)
    };
    Some((turned(form, by), by.forward(at)))
}

/// A shape rotated about the origin.
pub(super) struct Turned {
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

    fn reach(&self, toward: [f64; 3]) -> f64 {
        self.form.reach(self.by.inverse(toward))
    }

    fn slice(&self, by: &Rotation, low: f64, high: f64) -> Option<Slice> {
        self.form.slice(&self.by.then(by), low, high)
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
