//! The tuner: a problem's configs are searched by a strategy, built, verified, measured and
//! recorded; recorded sweeps are replayed.
//!
//! | module | what it holds |
//! |---|---|
//! | [`problem`] | a tunable kernel, as its file describes it |
//! | [`analyze`] | explains a sweep |
//! | [`objective`] | what is to be made small |
//! | [`points`] | a space as strategies see it |
//! | [`search`] | the conversation with a strategy |
//! | [`strategy`] | one search method a file |
//! | [`surrogate`] | models learnt from trials |
//! | [`run`] | build, run, verify, measure |
//! | [`sweep`] | recorded sweeps: ours and those of other tuners |
//! | [`replay`] | a recorded sweep as a device |

pub mod analyze;
pub mod objective;
pub mod points;
pub mod problem;
pub mod replay;
pub mod run;
pub mod search;
pub mod strategy;
pub mod surrogate;
pub mod sweep;

pub use objective::{Cost, Objective};
pub use points::Points;
pub use problem::Problem;
pub use run::finals::Finalist;
pub use run::plan::{Plan, TuneError};
pub use run::tuner::{Found, tune};
pub use strategy::{DEFAULT, STRATEGIES, Strategy, strategy};
pub use sweep::{Outcome, Sweep, Trial};
