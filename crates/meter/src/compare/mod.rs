//! Running commands, and interleaved comparisons of several.

pub mod command;
pub mod energy;
pub mod interleaved;
pub mod parameters;
pub mod result;
