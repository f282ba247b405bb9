//! What sensors can do: choosing them, checking that they follow a load, and their aliasing error.

pub mod choose;
pub mod probe;
pub mod square_wave;
