//! File formats of other programs.

pub mod npy;
pub mod vtu;
