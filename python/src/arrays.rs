//! Arrays from Python: shapes are checked, contiguous ones are read in place.

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The rows of an array of shape (n, N), which must be contiguous.
///
/// # Errors
/// Another shape, or other strides.
pub fn rows<'a, T: numpy::Element + Copy, const N: usize>(
    array: &'a PyReadonlyArray2<'_, T>,
    name: &str,
) -> PyResult<&'a [[T; N]]> {
    let shape = array.shape();
    if shape[1] != N {
        return Err(PyValueError::new_err(format!(
            "{name} has shape ({}, {}), not (n, {N})",
            shape[0], shape[1]
        )));
    }
    let all = array
        .as_slice()
        .map_err(|_| PyValueError::new_err(format!("{name} must be C-contiguous")))?;
    Ok(all.as_chunks::<N>().0)
}
