//! Outputs of a run: fields for ParaView, pictures, profiles and line-outs with exact solutions, animations, checkpoints.

pub mod animation;
pub mod checkpoint;
mod exact;
pub mod faults;
mod fields;
mod line_out;
mod locate;
pub mod mesh_view;
mod picture;
mod profile;
pub mod riemann;
mod solution;
mod tube;
mod vtu;

pub use exact::exact;
pub use fields::{Field, Sample, Sampler, sample};
pub use line_out::{Line, LineOut, line_out};
pub use picture::{Common, MeshLines, Pixels, Region, Scene, Slice, Surface, View, drawable};
pub use profile::{Profile, profile};
pub use vtu::{pvd, pvtu, read_pvd, vtu};
