//! Any program on the energy roofline: when its kernels ran, what they counted, and the joules they cost.
//!
//! | module | what it holds |
//! |---|---|
//! | [`run`] | a program runs once while its sensors are read |
//! | [`activity`] | when kernels, copies and memsets ran, by CUPTI, without privileges |
//! | [`groups`] | launches of the same kernel together, and how they share the GPU's time |
//! | [`counters`] | operations and bytes of each kernel, by `ncu` |
//! | [`cpu`] | counters of the CPU by perf events, else estimates |
//! | [`joules`] | joules between two moments, out of a sensor's readings |
//! | [`table`] | a table that `ncu` printed, as what was measured |
//! | [`record`] | what was measured, as a file |
//! | [`attribution`] | energy attributed to kernels, copies and gaps: predicted with the machine model, then scaled to the meter |
//! | [`advice`] | what binds, and what to do |
//! | [`kind`] | GEMM, attention, elementwise, …: groups of kernels by their names |
//! | [`names`] | names of kernels for readers |
//! | [`page`] | the HTML page, tables and figures |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod activity;
pub mod advice;
pub mod attribution;
pub mod counters;
pub mod cpu;
pub mod groups;
pub mod joules;
pub mod kind;
pub mod names;
pub mod page;
pub mod record;
pub mod run;
pub mod table;

pub use attribution::{Profile, attribute};
pub use record::Recorded;
