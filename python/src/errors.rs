//! Exceptions: one for each part of the package, below `GreenupError`, with the fix as `hint` and as a note.

use greenup_app::AppError;
use pyo3::PyTypeInfo;
use pyo3::exceptions::{
    PyException, PyFileNotFoundError, PyIsADirectoryError, PyMemoryError, PyOSError,
    PyPermissionError,
};
use pyo3::prelude::*;
use std::io::ErrorKind;
use std::path::Path;

pyo3::create_exception!(
    greenup,
    GreenupError,
    PyException,
    "What went wrong in this package. `hint` is the fix, or None where none is known; tracebacks of Python 3.11 and later show it as a note."
);

macro_rules! kinds {
    ($($name:ident: $doc:literal),* $(,)?) => {
        $(pyo3::create_exception!(greenup, $name, GreenupError, $doc);)*

        /// Adds the exceptions to the module.
        pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
            let py = module.py();
            let base = py.get_type::<GreenupError>();
            base.setattr("hint", py.None())?;
            module.add("GreenupError", base)?;
            $(module.add(stringify!($name), py.get_type::<$name>())?;)*
            Ok(())
        }
    };
}

kinds! {
    SpaceError: "A parameter space that cannot be read, built or counted.",
    TuneError: "A search, a problem or a recorded sweep.",
    ModelError: "A machine that is not known or lacks a cost, or impossible work.",
    MeterError: "A sensor or a measurement.",
    GisaxsError: "A sample, a shape or a simulation of scattering.",
    FmmError: "Points or an evaluation of the fast multipole method.",
    HydroError: "A hydrodynamics run.",
}

/// An error of an application as `MemoryError`, or as an exception of this type.
pub fn of_application<T: PyTypeInfo>(e: &AppError) -> PyErr {
    let message = e.message.clone();
    let error = if e.out_of_memory {
        PyMemoryError::new_err(message)
    } else {
        PyErr::new::<T, _>(message)
    };
    hinted(error, e.hint.as_deref())
}

/// An exception with its hint.
pub fn hinted(error: PyErr, hint: Option<&str>) -> PyErr {
    if let Some(hint) = hint {
        Python::attach(|py| {
            // An exception without them still tells what is wrong. Notes, which tracebacks show, exist since Python 3.11.
            let _ = error.value(py).setattr("hint", hint);
            let _ = (error.value(py)).call_method1("add_note", (format!("hint: {hint}"),));
        });
    }
    error
}

/// A file that cannot be read or written, as Python has it.
pub fn file(path: &Path, kind: ErrorKind, message: String) -> PyErr {
    let number = match kind {
        ErrorKind::NotFound => 2,
        ErrorKind::PermissionDenied => 13,
        ErrorKind::IsADirectory => 21,
        _ => return PyOSError::new_err(message),
    };
    let arguments = (number, message, path.display().to_string());
    match kind {
        ErrorKind::NotFound => PyFileNotFoundError::new_err(arguments),
        ErrorKind::PermissionDenied => PyPermissionError::new_err(arguments),
        _ => PyIsADirectoryError::new_err(arguments),
    }
}
