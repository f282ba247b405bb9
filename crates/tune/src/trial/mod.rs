//! Trials: one config is built, verified and measured; finalists are measured again.

pub(crate) mod bench;
mod clocks;
mod drift;
pub(crate) mod facts;
pub(crate) mod finalists;
mod job;
mod numbers;
pub(crate) mod race;
pub mod remeasure;
pub mod scaling;
