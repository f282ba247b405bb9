//! A parameter of a space.

use crate::plan::graph::op::{Bounds, Type};
use crate::value::Value;

/// A parameter of a space, in declared order.
pub struct Param {
    pub name: String,
    pub kind: Type,
    /// Depth in the nest; `None` when it has one value only.
    pub level: Option<usize>,
    /// The values as written, where they are a list of their own.
    pub list: Option<Vec<(u64, Value)>>,
    /// Least and greatest value, where known.
    pub bounds: Bounds,
}
