//! Parameter spaces: a notation for parameters, dependent ranges, closures and filters; and an
//! engine that counts, enumerates, indexes and samples the points that pass.
//!
//! Reading goes [`Definition`] (as written) → [`Space`] (resolved, ordered, compiled) → [`count`],
//! [`Index`], [`funnel`] or [`visit`].

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod engine;
mod error;
pub mod expr;
pub mod json;
mod notation;
mod plan;
mod script;
mod value;

pub use engine::{
    Branch, Estimate, Fate, Funnel, FunnelRow, Index, Limits, Pruning, Stop, count,
    count_unfiltered, funnel, pruning, visit,
};
pub use error::{ExprError, SpaceError, Span, closest};
pub use notation::{
    Definition, Facts, FilterText, ParameterText, SPACE_TABLES, Strength, ValuesText, evaluated,
    with_facts, with_line,
};
pub use plan::{Filter, Space};
pub use value::Value;
