//! From a written space to one that can be run: names resolved, parameters ordered, expressions
//! lowered to a graph, filters hoisted.

mod build;
pub(crate) mod graph;
pub(crate) mod nest;
mod param;
mod point;
mod read;

pub use build::{DomainNodes, Filter, Space};
