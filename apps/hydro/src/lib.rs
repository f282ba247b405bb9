//! Lagrangian hydrodynamics with high-order finite elements: the compressible Euler equations on a mesh
//! that moves with the matter (Dobrev, Kolev and Rieben 2012, as in BLAST). Any consistent units.
//!
//! | module | what it holds |
//! |---|---|
//! | [`basis`] | points and polynomials on [0, 1] |
//! | [`mesh`] | boxes of zones, and the built-in ones |
//! | [`problem`] | initial data of the standard problems |
//! | [`space`] | numbering and tables of both spaces |
//! | [`tensor`] | small matrices |
//! | [`mass`] | the mass matrix of the velocities |
//! | [`start`] | a problem on a mesh at its start |
//! | [`hydro`] | stresses, accelerations, energy rates |
//! | [`ode`] | time integrators |
//! | [`run`] | steps, accepted and rejected |
//! | [`checkpoint`] | a run on the disk |

pub mod basis;
pub mod checkpoint;
pub mod hydro;
pub mod mass;
pub mod mesh;
pub mod ode;
pub mod problem;
pub mod run;
pub mod space;
pub mod start;
pub mod tensor;

/// What cannot be run, and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HydroError(pub String);
