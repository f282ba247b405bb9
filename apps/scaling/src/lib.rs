//! Scaling of applications over nodes: predicted from runs on one device and a machine's network, and compared with runs on
//! several, of papers or measured on this host.
//!
//! | module | contents |
//! |---|---|
//! | [`record`] | recorded runs |
//! | [`cost`] | share and traffic of each device |
//! | [`bytes`] | bytes that applications move in the memory of a host |
//! | [`prediction`] | scaling predicted and compared |
//! | [`published`] | scaling studies of papers, and the model beside them |
//! | [`mod@study`] | applications measured on 1, 2, 4, … devices of this host |
//! | [`pages`] | HTML pages, figures and tables |
//! | [`program`] | the command |
#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod bytes;
mod commands;
pub mod cost;
mod error;
pub mod pages;
pub mod prediction;
pub mod program;
pub mod published;
pub mod record;
pub mod study;

pub use cost::{Costs, Problem};
pub use error::ScalingError;
pub use prediction::{Compared, Row, compare, mean_error, rows};
pub use record::{Record, RecordedRun};
