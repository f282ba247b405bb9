//! The command line.

pub mod args;
mod cases;
mod drawn;
pub mod predict;
mod problems;
pub mod study;
