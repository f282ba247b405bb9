//! Papers whose models and experiments this workspace implements: every figure, table and numbered claim with its state today.
//!
//! | module | contents |
//! |---|---|
//! | [`data`] | what a paper shows, as data: items, their numbers, states and conclusions |
//! | [`records`] | the repository's records, each read once |
//! | [`values`] | our number beside one of the paper |
//! | [`draw`] | our figure of an item |
//! | [`hydro`] | figures and tables of hydrodynamics |
//! | [`fmm`] | figures and tables of the fast multipole method |
//! | [`levels`] | costs of the levels of memory |
//! | [`lists`] | our table of an item |
//! | [`measure`] | measuring the records of an item anew |
//! | [`scattering`] | figures of X-ray scattering |
//! | [`page`] | the page of a paper, its figures and numbers |
//! | [`points`] | the paper's numbers as marks in our figures |
//! | [`position`] | where those marks stand |
//! | [`program`] | the command |
#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod charts;
mod commands;
pub mod data;
pub mod draw;
mod error;
pub mod fmm;
pub mod hydro;
pub mod levels;
pub mod lists;
pub mod measure;
pub mod page;
mod platforms;
pub mod points;
pub mod position;
pub mod program;
pub mod records;
pub mod scattering;
mod sweeps;
pub mod values;

pub use data::{Answer, Item, Measure, Needs, Paper, State, find, list, names};
pub use error::PaperError;
pub use page::{Drawn, made};
pub use records::{Measured, Records};
