//! The kernel-independent fast multipole method (Ying, Biros and Zorin 2004; thesis, chapter 6): sums over N sources at N
//! targets in O(N) operations, to a given accuracy. Any consistent units.
//!
//! | module | contents |
//! |---|---|
//! | [`kernel`] | interaction kernels |
//! | [`points`] | points generated, read and written |
//! | [`tree`] | the octree and its U, V, W and X lists |
//! | [`operators`] | matrices between surfaces, inverses, transforms |
//! | [`options`] | what a plan computes, and how |
//! | [`memory`] | memory checked before it is allocated |
//! | [`plan`] | everything that depends on the positions alone; surface order for an accuracy |
//! | [`engine`] | evaluation of a plan, and its phases |
//! | [`cpu`], [`gpu`], [`hybrid`] | engines: cores, a GPU, both at once |
//! | [`distributed`] | points distributed over ranks |
//! | [`direct`], [`check`] | direct sums, and errors against them |
//! | [`cost_model`] | operations and bytes of each phase |
//! | [`session`] | a plan and its engine, for programs: the command `fmm`, the Python package |
//! | [`nbody`] | gravity between bodies in time |
#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod check;
mod commands;
pub mod cost_model;
pub mod cpu;
pub mod direct;
pub mod distributed;
pub mod engine;
mod error;
pub mod gpu;
pub mod hybrid;
pub mod kernel;
pub mod memory;
pub mod nbody;
pub mod operators;
pub mod options;
mod pair;
pub mod plan;
pub mod points;
pub mod precision;
pub mod program;
pub mod session;
pub mod tree;

pub use error::FmmError;
