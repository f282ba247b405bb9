//! The subcommands: each reads its arguments, calls the libraries and prints.
//!
//! | module | commands |
//! |---|---|
//! | [`model`] | machine models: `calibrate`, `fit`, `machines`, `predict`, `whatif`, `roofline` |
//! | [`tuning`] | search spaces and tuning: `init`, `space`, `tune`, `best`, `replay`, `analyze`, `scale`, `gemm`, `compile` |
//! | [`wisdom`] | tuned configs by problem and device |
//! | [`study`], [`run`], [`energy`], [`regions`], [`doctor`], [`profile`], [`explain`] | measurements |

pub mod doctor;
pub mod energy;
pub mod explain;
pub mod model;
pub mod profile;
pub mod regions;
pub mod run;
pub mod study;
pub mod tuning;
pub mod wisdom;
