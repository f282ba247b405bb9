//! The native module of the Python package `greenup`. One file a submodule; `errors` and `run` serve all.
//!
//! The module also holds the commands: a small program of the package loads it and calls `commands`.

#![warn(missing_docs)]
#![warn(clippy::unwrap_used)]

mod arrays;
mod commands;
mod convert;
mod errors;
mod fmm;
mod gisaxs;
mod hydro;
mod keeper;
mod meter;
mod model;
mod regions;
mod run;
mod search;
mod space;
mod sweep;

use greenup_setting::{Style, name_settings};
use pyo3::prelude::*;

/// Called by Python when the module is imported.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    name_settings(Style::Keywords);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    fmm::add(module)?;
    gisaxs::add(module)?;
    hydro::add(module)?;
    meter::add(module)?;
    model::add(module)?;
    regions::add(module)?;
    search::add(module)?;
    space::add(module)?;
    sweep::add(module)?;
    errors::add(module)
}
