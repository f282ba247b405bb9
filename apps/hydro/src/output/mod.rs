//! What of a run is looked at: fields for ParaView, pictures, profiles beside exact solutions.

mod exact;
mod fields;
mod picture;
mod profile;
mod vtu;

pub use exact::{Exact, exact};
pub use fields::{Field, Sample, sample};
pub use picture::{drawable, picture};
pub use profile::{Profile, profile};
pub use vtu::{pvd, read_pvd, vtu};
