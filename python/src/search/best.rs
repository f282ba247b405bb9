//! The best point of a search or a sweep.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};

/// The best point: ``config``, its parameters (a dict); ``value``, what the search compares: the cost, or time (s), energy (J) or
/// another objective; ``values``, all that is known of it by name: ``time_s`` (s), ``energy_j`` (J), ``objective`` (the cost of a
/// function; further costs are ``objective_2``, …) or a metric.
#[pyclass(frozen, module = "greenup")]
pub struct Best {
    config: Py<PyDict>,
    value: f64,
    values: Py<PyDict>,
}

#[pymethods]
impl Best {
    /// Parameters of the point: a dict.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.config.bind(py).clone()
    }

    /// What the search compares.
    #[getter]
    fn value(&self) -> f64 {
        self.value
    }

    /// Values by name: a dict.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.values.bind(py).clone()
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Self>() else {
            return Ok(false);
        };
        let other = other.get();
        Ok(self.value == other.value
            && self.config.bind(py).eq(&other.config)?
            && self.values.bind(py).eq(&other.values)?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!(
            "<greenup.Best: {} costs {:?}>",
            self.config.bind(py),
            self.value
        )
    }
}

impl Best {
    /// A point with its value, and the named values that are known.
    pub fn new<'n>(
        config: Bound<'_, PyDict>,
        value: f64,
        named: impl IntoIterator<Item = (&'n str, f64)>,
    ) -> PyResult<Self> {
        let values = PyDict::new(config.py());
        for (name, x) in named {
            values.set_item(name, x)?;
        }
        Ok(Self {
            config: config.unbind(),
            value,
            values: values.unbind(),
        })
    }
}
