//! Scattering at grazing incidence.
//!
//! | module | contents |
//! |---|---|
//! | [`momentum`] | the momentum transfer, whose z component is complex inside matter |
//! | [`layers`] | layer stacks: reflected and transmitted waves, reflectivity |
//! | [`order`] | lattices and paracrystals: structure factors |
//! | [`particle`] | populations of particles in all sizes and orientations |
//! | [`dwba`], `lines` | intensities in the distorted-wave Born approximation |
//! | `shares` | rows of an image dealt over ranks |

pub mod dwba;
pub mod layers;
mod lines;
pub mod momentum;
pub mod order;
pub mod particle;
mod shares;
