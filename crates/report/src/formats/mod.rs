//! File formats of other programs.

pub mod npy;
pub mod npz;
pub mod vtu;
