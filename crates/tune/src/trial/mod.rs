//! Trials: one config is built, verified and measured; finalists are measured again.

pub(crate) mod bench;
mod clocks;
mod drift;
pub(crate) mod facts;
pub mod finals;
mod job;
mod numbers;
pub(crate) mod race;
pub mod scaling;
