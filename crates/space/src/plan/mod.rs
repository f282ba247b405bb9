//! From a written space to one that can be run: names resolved, parameters ordered, expressions
//! lowered to a graph, filters hoisted.

mod build;
pub mod compile;
mod derived;
pub mod graph;
mod lower;
mod lower_call;
pub mod op;
mod order;
mod parsed;
mod point;
mod resolve;
mod solve;
mod symbols;
pub mod tree;
mod values;

pub use build::{DomainNodes, Filter, Space};
