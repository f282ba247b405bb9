//! Points of a space as dicts: by number, from Python, one after the other.

use super::Space;
use crate::convert::{to_value, value};
use greenup_space::Value;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::atomic::{AtomicU64, Ordering};

impl Space {
    /// A point by its number, which exists.
    pub fn point<'py>(&self, py: Python<'py>, i: u64) -> PyResult<Bound<'py, PyDict>> {
        let values = self
            .index(py)?
            .get(i)
            .ok_or_else(|| PyIndexError::new_err(format!("there is no point {i}")))?;
        let out = PyDict::new(py);
        for (name, v) in self.space.names().zip(&values) {
            out.set_item(name, value(py, v)?)?;
        }
        Ok(out)
    }

    /// The number of a point.
    ///
    /// # Errors
    /// `ValueError` if it is not in the space, `KeyError` if it lacks a parameter.
    pub fn find(&self, py: Python<'_>, point: &Bound<'_, PyDict>) -> PyResult<u64> {
        let values = self.values_of(point)?;
        self.index(py)?.position(&values).ok_or_else(|| {
            PyValueError::new_err(format!("{point} is not a point of `{}`", self.space.name))
        })
    }

    pub(super) fn points<'py>(&self, py: Python<'py>, all: &[u64]) -> PyResult<Bound<'py, PyList>> {
        let out = PyList::empty(py);
        for (k, &i) in all.iter().enumerate() {
            if k % 4096 == 4095 {
                py.check_signals()?;
            }
            out.append(self.point(py, i)?)?;
        }
        Ok(out)
    }

    pub(super) fn numbered(&self, py: Python<'_>, i: i64) -> PyResult<u64> {
        let n = self.index(py)?.len();
        let at = match u64::try_from(i) {
            Ok(i) => Some(i),
            Err(_) => n.checked_sub(i.unsigned_abs()),
        };
        at.filter(|&at| at < n).ok_or_else(|| {
            PyIndexError::new_err(format!("there is no point {i}: the space has {n}"))
        })
    }

    /// The values of a point, in declared order.
    pub(super) fn values_of(&self, point: &Bound<'_, PyDict>) -> PyResult<Vec<Value>> {
        let names: Vec<&str> = self.space.names().collect();
        let values = names
            .iter()
            .map(|name| match point.get_item(name)? {
                Some(v) => to_value(name, &v),
                None => Err(PyKeyError::new_err(format!("the point has no `{name}`"))),
            })
            .collect::<PyResult<Vec<_>>>()?;
        if point.len() == names.len() {
            return Ok(values);
        }
        let more: Vec<String> = (point.keys().iter())
            .map(|k| k.to_string())
            .filter(|k| !names.contains(&k.as_str()))
            .collect();
        Err(PyKeyError::new_err(format!(
            "`{}` has no parameter {}",
            self.space.name,
            more.join(", ")
        )))
    }
}

/// The points of a space in order.
#[pyclass(frozen, module = "greenup._native")]
pub struct Points {
    space: Py<Space>,
    next: AtomicU64,
}

impl Points {
    /// From the first one.
    pub(super) fn new(space: Py<Space>) -> Self {
        Self {
            space,
            next: AtomicU64::new(0),
        }
    }
}

#[pymethods]
impl Points {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let space = self.space.get();
        let i = self.next.fetch_add(1, Ordering::Relaxed);
        if i >= space.index(py)?.len() {
            return Ok(None);
        }
        space.point(py, i).map(Some)
    }
}
