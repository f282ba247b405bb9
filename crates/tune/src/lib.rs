//! The tuner.

pub mod objective;
pub mod points;
pub mod replay;
pub mod strategy;
pub mod surrogate;
pub mod sweep;

pub use objective::{Cost, Objective};
pub use points::Points;
pub use strategy::{DEFAULT, STRATEGIES, Strategy, strategy};
pub use sweep::{Outcome, Sweep, Trial};
