//! Figures and tables of recorded sweeps.

pub mod gemms;
pub mod recorded;
pub mod searches;
pub mod tiling;
