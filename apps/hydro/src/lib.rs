//! Lagrangian hydrodynamics with high-order finite elements: the compressible Euler equations on a mesh
//! that moves with the matter (Dobrev, Kolev and Rieben 2012, as in BLAST). Any consistent units.
//!
//! | module | what it holds |
//! |---|---|
//! | [`basis`], [`simplex`], [`rules`] | polynomials and quadrature of segments and simplices |
//! | [`element`] | reference zones of every shape |
//! | [`mesh`] | zones by their corners: boxes, files, refinement |
//! | [`problem`] | initial fields, gases, walls |
//! | [`space`] | numbering of the nodes |
//! | [`tensor`], [`csr`] | small and sparse matrices |
//! | [`hydro`], [`start`], [`consistent`] | a problem on a mesh, its start, whether its numbers go together |
//! | [`engine`] | what advances a state |
//! | [`cpu`] | engines on CPUs: matrix-free and with stored matrices |
//! | [`gpu`] | engines on GPUs |
//! | [`ode`] | time integrators, as programs of an engine |
//! | [`run`] | steps, accepted and rejected |
//! | [`tuner`], [`balance`] | choices made inside a run |
//! | [`work`] | operations and bytes of the parts of a step |
//! | [`size`] | memory that a run takes |
//! | [`output`] | ParaView's files, pictures, profiles, exact solutions |
//! | [`checkpoint`] | a run on the disk |

pub mod balance;
pub mod basis;
pub mod checkpoint;
mod consistent;
pub mod cpu;
pub mod csr;
pub mod element;
pub mod engine;
pub mod gpu;
pub mod hydro;
pub mod mesh;
pub mod ode;
pub mod output;
pub mod problem;
pub mod rules;
pub mod run;
pub mod simplex;
pub mod size;
pub mod space;
pub mod start;
pub mod tensor;
pub mod tuner;
pub mod work;

/// What cannot be run, and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HydroError(pub String);

impl From<greenup_files::FileError> for HydroError {
    fn from(e: greenup_files::FileError) -> Self {
        use greenup_files::FileError as F;
        // Hints of writing name flags that this command does not have.
        match e.hint().filter(|_| !matches!(e, F::Write { .. })) {
            Some(hint) => Self(format!("{e}; {hint}")),
            None => Self(e.to_string()),
        }
    }
}
