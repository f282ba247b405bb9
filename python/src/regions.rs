//! Named parts of a program.

use pyo3::prelude::*;

/// Begins a region of this thread.
#[pyfunction]
pub fn region_begin(name: &str) {
    greenup_regions::begin(name);
}

/// Ends a region of this thread; returns its length, s, or None if regions are off.
#[pyfunction]
pub fn region_end(name: &str) -> Option<f64> {
    greenup_regions::end(name)
}

/// Adds them to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(region_begin, module)?)?;
    module.add_function(wrap_pyfunction!(region_end, module)?)
}
