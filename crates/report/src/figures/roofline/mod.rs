//! Roofline, arch line and power line.

pub mod figure;
pub mod parts;
