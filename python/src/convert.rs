//! Between Python's objects and ours.

use crate::errors::{self, TuneError, hinted};
use greenup_files::FileError;
use greenup_space::Value;
use greenup_tune::sweep::FolderError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::Serialize;
use std::path::Path;

/// A value of a parameter as Python has it.
pub fn value(py: Python<'_>, v: &Value) -> PyResult<Py<PyAny>> {
    Ok(match v {
        Value::Bool(b) => b.into_pyobject(py)?.to_owned().into_any().unbind(),
        Value::Int(i) => i.into_pyobject(py)?.into_any().unbind(),
        Value::Float(x) => x.into_pyobject(py)?.into_any().unbind(),
        Value::Str(s) => s.into_pyobject(py)?.into_any().unbind(),
        Value::Tuple(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|v| value(py, v))
                .collect::<PyResult<_>>()?;
            PyTuple::new(py, items)?.into_any().unbind()
        }
        Value::None => py.None(),
    })
}

/// A Python number, boolean, string, tuple or `None` as a value of a parameter; NumPy's scalars too.
///
/// # Errors
/// `TypeError` for anything else, `ValueError` for an integer that does not fit 64 bits or a NaN.
pub fn to_value(what: &str, v: &Bound<'_, PyAny>) -> PyResult<Value> {
    if v.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(v.extract()?));
    }
    if v.is_instance_of::<PyInt>() {
        let i = v.extract::<i64>();
        return i
            .map(Value::Int)
            .map_err(|_| PyValueError::new_err(format!("{what}: {v} does not fit 64 bits")));
    }
    if v.is_instance_of::<PyString>() {
        return Ok(Value::Str(v.extract()?));
    }
    if v.is_instance_of::<PyFloat>() {
        let x: f64 = v.extract()?;
        return if x.is_nan() {
            Err(PyValueError::new_err(format!("{what} is NaN")))
        } else {
            Ok(Value::Float(x))
        };
    }
    if v.is_none() {
        return Ok(Value::None);
    }
    if v.is_instance_of::<PyTuple>() || v.is_instance_of::<PyList>() {
        let items = v.try_iter()?.map(|v| to_value(what, &v?));
        return items.collect::<PyResult<_>>().map(Value::Tuple);
    }
    // NumPy's scalars tell their Python value.
    if let Ok(item) = v.call_method0("item")
        && !item.get_type().is(v.get_type())
    {
        return to_value(what, &item);
    }
    Err(PyTypeError::new_err(format!(
        "{what}: a number, a string, a boolean, a tuple or None is expected, not {}",
        v.get_type().name()?
    )))
}

/// Anything serialisable as Python's dicts, lists, numbers and strings.
pub fn object<T: Serialize>(py: Python<'_>, from: &T) -> PyResult<Py<PyAny>> {
    let json = serde_json::to_value(from).map_err(|e| PyValueError::new_err(e.to_string()))?;
    from_json(py, &json)
}

/// JSON as Python's objects.
pub fn from_json(py: Python<'_>, json: &serde_json::Value) -> PyResult<Py<PyAny>> {
    use serde_json::Value as J;
    Ok(match json {
        J::Null => py.None(),
        J::Bool(b) => b.into_pyobject(py)?.to_owned().into_any().unbind(),
        J::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(i), _) => i.into_pyobject(py)?.into_any().unbind(),
            (_, Some(u)) => u.into_pyobject(py)?.into_any().unbind(),
            _ => n
                .as_f64()
                .unwrap_or(f64::NAN)
                .into_pyobject(py)?
                .into_any()
                .unbind(),
        },
        J::String(s) => s.into_pyobject(py)?.into_any().unbind(),
        J::Array(all) => {
            let out = PyList::empty(py);
            for v in all {
                out.append(from_json(py, v)?)?;
            }
            out.into_any().unbind()
        }
        J::Object(map) => {
            let out = PyDict::new(py);
            for (k, v) in map {
                out.set_item(k, from_json(py, v)?)?;
            }
            out.into_any().unbind()
        }
    })
}

/// A text that is given, or that of the file named: a path, or a string of one line that ends in `.toml` or `.json`.
///
/// # Errors
/// `OSError` for a file that cannot be read, `TypeError` for neither a string nor a path.
pub fn text_or_file(source: &Bound<'_, PyAny>) -> PyResult<(String, Option<String>)> {
    let named = if source.is_instance_of::<PyString>() {
        let text: String = source.extract()?;
        let is_file = !text.contains('\n') && (text.ends_with(".toml") || text.ends_with(".json"));
        if !is_file {
            return Ok((text, None));
        }
        text
    } else {
        path(source)?
    };
    let text = greenup_files::read_text(&named).map_err(|e| file_error(&e))?;
    Ok((text, Some(named)))
}

/// A string or path-like object as a path.
///
/// # Errors
/// `TypeError` for anything else.
pub fn path(source: &Bound<'_, PyAny>) -> PyResult<String> {
    let path = source
        .py()
        .import("os")?
        .call_method1("fspath", (source,))?;
    path.extract()
}

/// A file's error as `OSError`, with its hint.
pub fn file_error(e: &FileError) -> PyErr {
    let text = e.to_string();
    let error = match e {
        FileError::Read { path, cause } | FileError::Write { path, cause } => {
            errors::file(path, cause.kind(), text)
        }
        FileError::IsFolder { path } => errors::file(path, std::io::ErrorKind::IsADirectory, text),
        _ => errors::file(Path::new(""), std::io::ErrorKind::Other, text),
    };
    hinted(error, e.hint())
}

/// An error of a sweep's folder.
pub fn folder_error(e: &FolderError) -> PyErr {
    let hint = match e {
        FolderError::File(e) => return file_error(e),
        FolderError::Exists(_) => Some("continue it with resume=True, or choose another folder"),
        FolderError::Other { .. } => Some("choose another folder"),
        _ => None,
    };
    hinted(TuneError::new_err(e.to_string()), hint)
}
