//! The tuner: a strategy proposes configs of a problem's space; each is built, verified, measured and recorded.
//! Recorded sweeps can be replayed and analysed.
//!
//! | module | what it holds |
//! |---|---|
//! | [`problem`] | a tunable kernel, as its file describes it |
//! | [`objective`] | the quantity to minimise |
//! | [`points`] | a space as strategies see it |
//! | [`search`] | the ask/tell loop with a strategy |
//! | [`mod@strategy`] | one search method per file |
//! | [`surrogate`] | regression models fitted to trials |
//! | [`session`] | a tuning run: search loop, result |
//! | [`mod@shard`] | a part of a space, for job arrays |
//! | [`plan`] | the settings and devices of a run |
//! | [`build`] | compiles configs |
//! | [`command`] | any command as a tunable program |
//! | [`worker`] | the process in which kernels run |
//! | [`trial`] | verifies and measures configs |
//! | [`counters`] | hardware counters of configs |
//! | [`sweep`] | recorded sweeps: ours and those of other tuners |
//! | [`replay`] | runs a strategy against a recorded sweep |
//! | [`analyze`] | statistics and models of a sweep |
//! | [`error`] | why a run ends early |

#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(missing_docs, clippy::missing_errors_doc)]
pub mod analyze;
pub mod build;
pub mod command;
pub mod counters;
pub mod error;
pub mod objective;
pub mod plan;
pub mod points;
pub mod problem;
pub mod replay;
pub mod search;
pub mod session;
pub mod shard;
pub mod strategy;
pub mod surrogate;
pub mod sweep;
pub mod synthetic;
pub mod trial;
pub mod worker;

pub use error::TuneError;
pub use objective::{Cost, Energies, Objective, Unmet};
pub use plan::{GpuTarget, Plan, SessionOptions, Setup, WorkerSetup};
pub use points::Points;
pub use problem::Problem;
pub use session::{SearchResult, tune};
pub use strategy::{DEFAULT, STRATEGIES, Strategy, strategy};
pub use sweep::{Outcome, Sweep, Trial};
pub use trial::finals::Finalist;
