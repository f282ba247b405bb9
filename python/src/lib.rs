//! The native module of the Python package `greenup`. One file a submodule; `errors` and `run` serve all.
//!
//! The module also holds the four commands: a small program of the package loads it and calls [`commands`].

#![warn(missing_docs)]
#![warn(clippy::unwrap_used)]

mod commands;
mod convert;
mod errors;
mod meter;
mod model;
mod run;
mod search;
mod space;
mod sweep;

use pyo3::prelude::*;

/// Called by Python when the module is imported.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<space::Space>()?;
    module.add_class::<space::Points>()?;
    module.add_class::<model::Machine>()?;
    module.add_function(wrap_pyfunction!(model::machines, module)?)?;
    module.add_function(wrap_pyfunction!(model::operations, module)?)?;
    module.add_class::<search::Search>()?;
    module.add_function(wrap_pyfunction!(search::strategies, module)?)?;
    module.add_class::<sweep::Sweep>()?;
    module.add_class::<meter::Recorder>()?;
    module.add_function(wrap_pyfunction!(meter::measure_calls, module)?)?;
    errors::add(module)
}
