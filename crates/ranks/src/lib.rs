//! The ranks of a run: one alone, threads of one process, or processes with MPI.
//!
//! | module | contents |
//! |---|---|
//! | [`Ranks`], [`Link`] | the interface: reductions, messages, what rank 0 gathers and tells |
//! | [`Alone`] | one rank |
//! | [`threads`] | ranks as threads of one process |
//! | [`mpi`] | processes, with the MPI that is installed, loaded at run time |
//! | [`launcher`] | what the environment says about the launcher of this process |
//! | [`exact`] | sums that do not depend on the order of their terms |
#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod alone;
pub mod exact;
mod interface;
pub mod launcher;
pub mod mpi;
mod slices;
pub mod threads;
mod world;

pub use alone::Alone;
pub use exact::{Exact, sum_exact};
pub use interface::{Link, Peer, Ranks};
pub use launcher::{Launched, launched};
pub use mpi::RanksError;
pub use world::{finish, joined, world};
