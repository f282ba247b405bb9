//! Form factors F(q) = ∫ e^{iq·r} d³r, nm³, for complex q_z.

mod ball_slice;
mod cuboid;
mod form_factor;
mod functions;
mod round;
mod shape;
mod solids;
mod tilted;
mod triangle;
mod within;

pub(crate) use form_factor::turned;
pub use form_factor::{FormFactor, Polyhedron, Slice};
pub use functions::gauss;
pub use shape::Shape;
pub(crate) use triangle::transform;
pub(crate) use within::{bounds, contains, overlap};

use ball_slice::BallSlice;
use cuboid::Cuboid;
use form_factor::upright;
use round::{Cone, Cylinder, Spheroid};

/// Lowest and highest z of a shape, nm.
pub(crate) fn span_z(form: &dyn FormFactor) -> [f64; 2] {
    [-form.reach([0.0, 0.0, -1.0]), form.reach([0.0, 0.0, 1.0])]
}
