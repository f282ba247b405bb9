//! Exceptions: one for each part of the package, below `GreenupError`, with the fix as `hint`.

use greenup_app::AppError;
use greenup_app::keywords::{Keyword, Values, with_keywords};
use pyo3::PyTypeInfo;
use pyo3::exceptions::{
    PyException, PyFileNotFoundError, PyIsADirectoryError, PyMemoryError, PyOSError,
    PyPermissionError,
};
use pyo3::prelude::*;
use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::Path;

pyo3::create_exception!(
    greenup,
    GreenupError,
    PyException,
    "What went wrong in this package. `hint` is the fix, or None where none is known."
);

macro_rules! kinds {
    ($($name:ident: $doc:literal),* $(,)?) => {
        $(pyo3::create_exception!(greenup, $name, GreenupError, $doc);)*

        /// Adds the exceptions to the module.
        pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
            let py = module.py();
            let base = py.get_type::<GreenupError>();
            base.setattr("hint", py.None())?;
            module.add_function(wrap_pyfunction!(keywords, module)?)?;
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

const fn keyword(name: &'static str, values: Values) -> Keyword {
    Keyword { name, values }
}

/// Keyword arguments of the package that messages of the libraries name by the flags of the commands.
const KEYWORDS: [Keyword; 21] = [
    keyword("accuracy", Values::Numbers),
    keyword("assembly", Values::Words(&["full", "partial"])),
    keyword("cfl", Values::Numbers),
    keyword("cg_max", Values::Numbers),
    keyword("cg_tol", Values::Numbers),
    keyword(
        "device",
        Values::Words(&["cpu", "cuda", "cuda:all", "cuda+cpu"]),
    ),
    keyword("e0", Values::Numbers),
    keyword("energy_order", Values::Numbers),
    keyword("gradient", Values::Switch),
    keyword("mesh", Values::Words(&[])),
    keyword("ncrit", Values::Numbers),
    keyword(
        "ode",
        Values::Words(&["euler", "rk2", "rk2avg", "ssp-rk3", "rk4", "rk6"]),
    ),
    keyword("order", Values::Numbers),
    keyword("out", Values::Words(&[])),
    keyword("precision", Values::Words(&["f32", "f64"])),
    keyword("problem", Values::Words(&[])),
    keyword("refine", Values::Numbers),
    keyword("resume", Values::Switch),
    keyword("sensor", Values::Words(&["none"])),
    keyword("t_final", Values::Numbers),
    keyword("threads", Values::Numbers),
];

/// A message of a library as Python has it: settings are keywords, not flags.
#[pyfunction]
pub fn keywords(text: &str) -> Cow<'_, str> {
    match text.contains("--") {
        true => with_keywords(&text.replace("--out or -o", "--out"), &KEYWORDS).into(),
        false => text.into(),
    }
}

/// An error of a library as an exception.
pub fn of_library<T: PyTypeInfo>(message: &str, hint: Option<&str>) -> PyErr {
    let message = keywords(message).into_owned();
    hinted(PyErr::new::<T, _>(message), hint)
}

/// What messages say where there is too little memory.
const NO_MEMORY: [&str; 4] = [
    " of memory, but ",
    " of GPU memory",
    "no memory on the GPU",
    "no memory of the host",
];

/// An error of an application as `MemoryError`, or as an exception of this type.
pub fn of_application<T: PyTypeInfo>(e: &AppError) -> PyErr {
    let hint = e.hint.as_deref();
    match NO_MEMORY.iter().any(|words| e.message.contains(words)) {
        true => of_library::<PyMemoryError>(&e.message, hint),
        false => of_library::<T>(&e.message, hint),
    }
}

/// An exception with its hint.
pub fn hinted(error: PyErr, hint: Option<&str>) -> PyErr {
    if let Some(hint) = hint.map(keywords) {
        Python::attach(|py| {
            // An exception without the attribute still tells what is wrong.
            let _ = error.value(py).setattr("hint", &*hint);
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
