//! Comparisons, trade-offs, what-ifs and the map of machines.

pub mod compare;
pub mod map;
pub mod tradeoff;
pub mod whatif;
