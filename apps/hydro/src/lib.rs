//! Lagrangian hydrodynamics with high-order finite elements: the compressible Euler equations on a mesh
//! that moves with the material (Dobrev, Kolev and Rieben 2012, as in BLAST). Any consistent units.
//!
//! | module | contents |
//! |---|---|
//! | [`fem`] | bases, quadrature, reference zones, node numbering, matrices |
//! | [`mesh`] | meshes: boxes, files, refinement |
//! | [`problem`] | initial fields, gases, walls; the initial state and its memory |
//! | [`hydro`] | a problem discretised on a mesh |
//! | [`engine`] | the interface of engines, which advance a state |
//! | [`cpu`] | engine on CPUs: partial and full assembly |
//! | [`gpu`] | engine on CUDA GPUs |
//! | [`part`] | parts of a problem for several ranks, and their exchange |
//! | [`time`] | time integrators and time stepping |
//! | [`tuning`] | kernel parameters and load balance inside a run, cost model |
//! | [`session`] | a run that programs step: the command `hydro`, the Python package |
//! | [`output`] | VTK files, pictures, profiles, exact solutions, checkpoints |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod commands;
pub mod cpu;
pub mod engine;
mod error;
pub mod fem;
pub mod gpu;
pub mod hydro;
pub mod mesh;
pub mod output;
pub mod part;
pub mod problem;
pub mod program;
pub mod session;
pub mod time;
pub mod tuning;

pub use error::HydroError;
