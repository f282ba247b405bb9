//! The nest of loops: dependencies of expressions, order of the parameters, the tree of
//! independent levels, and the program that each level runs.

pub(crate) mod compile;
mod order;
pub(super) mod resolve;
pub(crate) mod tree;
