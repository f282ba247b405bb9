//! Samples of sensors and what is computed from them.

pub mod sampler;
pub mod stats;
pub mod window;
pub mod wrap;
