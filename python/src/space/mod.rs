//! Parameter spaces.

mod functions;
mod funnel;
mod points;
mod source;

use crate::convert::{to_value, value};
use crate::errors::{SpaceError, hinted};
use crate::run::run;
use functions::Function;
use greenup_space::{Facts, Index, Limits, Stop, count};
use points::Points;
use pyo3::exceptions::{
    PyException, PyIndexError, PyMemoryError, PyOverflowError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PySlice};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A parameter space: ``Space(source, *, filters=None, name=None, facts=None, memory=805306368)``.
///
/// ``source`` is a dict of parameters and their values, a file (a path, or a string of one line that ends in .toml or .json) or
/// its text: a space or problem in TOML, or a T1 or neutral file in JSON. The values of a parameter are a list, a range, a NumPy
/// array or a string as in TOML (``"1 : 8"``): numbers, strings, booleans or tuples.
///
/// ``filters``: expressions (``"x > y"``) and functions, one or a list; a point must pass all, also those of a file. A function
/// whose arguments have names of parameters is called with these (``lambda x, y: x > y``), once for each of their combinations.
/// Any other is called with the point, a dict (``lambda p: p["x"] > 3``). Functions are asked about each point that passes the
/// expressions, when the space is first used; an exception in one is the cause of a `SpaceError`.
///
/// ``facts`` is a dict of what ``device.NAME`` means in expressions; by default this host, or the GPU for kernels in CUDA.
/// ``memory`` is the most for the index, bytes.
///
/// Points are numbered from 0; a point is a dict of parameter names and values. ``len(space)`` is the number of points that
/// pass the filters, ``space[i]`` a point (a slice gives a list), ``point in space`` tells whether it passes; a space can be
/// iterated. The index behind is built on first use.
#[pyclass(frozen, module = "greenup")]
pub struct Space {
    space: Arc<greenup_space::Space>,
    functions: Vec<Function>,
    index: OnceLock<Indexed>,
    memory: usize,
    source: Option<String>,
}

/// The points of a space by number.
struct Indexed {
    index: Arc<Index>,
    /// Points that pass the expressions alone, and then each function too.
    before: u64,
    after: Vec<u64>,
}

#[pymethods]
impl Space {
    #[new]
    #[pyo3(signature = (source, *, filters=None, name=None, facts=None, memory=805_306_368))]
    fn new(
        source: &Bound<'_, PyAny>,
        filters: Option<&Bound<'_, PyAny>>,
        name: Option<String>,
        facts: Option<&Bound<'_, PyDict>>,
        memory: usize,
    ) -> PyResult<Self> {
        let facts = facts.map(given_facts).transpose()?;
        let (space, functions, source) = source::make(source, filters, name, facts)?;
        Ok(Self {
            space: Arc::new(space),
            functions,
            index: OnceLock::new(),
            memory,
            source,
        })
    }

    /// Name of the space.
    #[getter]
    fn name(&self) -> &str {
        &self.space.name
    }

    /// Names of the parameters, in declared order.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.space.names().collect()
    }

    /// Named constants: a dict.
    #[getter]
    fn constants<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (name, v) in self.space.constants() {
            out.set_item(name, value(py, v)?)?;
        }
        Ok(out)
    }

    /// The file; None for a text or a dict.
    #[getter]
    fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let n = self.index(py)?.len();
        isize::try_from(n)
            .map(|n| n as usize)
            .map_err(|_| SpaceError::new_err(format!("the space has {n} points: use count()")))
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(!self.index(py)?.is_empty())
    }

    /// Number of points that pass the filters, counted without an index: also where ``len`` needs too much memory. With filters
    /// that are functions it is ``len``.
    fn count(&self, py: Python<'_>) -> PyResult<u128> {
        if !self.functions.is_empty() || self.index.get().is_some() {
            return Ok(u128::from(self.index(py)?.len()));
        }
        let (space, memory) = (&self.space, self.memory);
        run(py, |stop| {
            count(space, |_| true, &limits(memory, &|| stop.is_set()))
        })?
        .map_err(stopped)
    }

    fn __getitem__(&self, py: Python<'_>, at: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        if let Ok(slice) = at.cast::<PySlice>() {
            let n = isize::try_from(self.index(py)?.len()).unwrap_or(isize::MAX);
            let range = slice.indices(n)?;
            let out = PyList::empty(py);
            let mut i = range.start;
            for k in 0..range.slicelength {
                if k % 4096 == 4095 {
                    py.check_signals()?;
                }
                out.append(self.point(py, i as u64)?)?;
                i += range.step;
            }
            return Ok(out.into_any().unbind());
        }
        let i: i64 = at.extract().map_err(|e: PyErr| {
            if e.is_instance_of::<PyOverflowError>(py) {
                return PyIndexError::new_err(format!("there is no point {at}"));
            }
            PyTypeError::new_err("points are numbered: an integer or a slice is expected")
        })?;
        Ok(self.point(py, self.numbered(py, i)?)?.into_any().unbind())
    }

    fn __contains__(&self, py: Python<'_>, point: &Bound<'_, PyDict>) -> PyResult<bool> {
        match self.values_of(point) {
            Ok(values) => Ok(self.index(py)?.position(&values).is_some()),
            // Other parameters, or values that no parameter has.
            Err(e) if e.is_instance_of::<PyException>(py) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// The number of a point. Raises ValueError if it is not in the space, KeyError if it lacks a parameter.
    fn position(&self, py: Python<'_>, point: &Bound<'_, PyDict>) -> PyResult<u64> {
        self.find(py, point)
    }

    fn __iter__(slf: Bound<'_, Self>) -> PyResult<Points> {
        slf.get().index(slf.py())?;
        Ok(Points::new(slf.unbind()))
    }

    /// A list of ``n`` different points, uniformly chosen; all of them in random order if there are no more.
    #[pyo3(signature = (n, seed=1))]
    fn sample<'py>(&self, py: Python<'py>, n: i64, seed: u64) -> PyResult<Bound<'py, PyList>> {
        let n = usize::try_from(n)
            .map_err(|_| PyValueError::new_err(format!("{n} points cannot be sampled")))?;
        let index = self.index(py)?;
        let mut rng = fastrand::Rng::with_seed(seed);
        let chosen = run(py, |stop| index.sample(n, &mut rng, &|| stop.is_set()))?;
        self.points(py, &chosen.map_err(|e| not_sampled(n, e))?)
    }

    /// A list of the points that differ from a point (a dict, or its number) in one parameter; with ``adjacent`` only those with the next value above or below.
    #[pyo3(signature = (point, adjacent=false))]
    fn neighbours<'py>(
        &self,
        py: Python<'py>,
        point: &Bound<'py, PyAny>,
        adjacent: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let at = match point.cast::<PyDict>() {
            Ok(point) => self.find(py, point)?,
            Err(_) if point.is_instance_of::<PyInt>() => self.numbered(py, point.extract()?)?,
            Err(_) => {
                return Err(PyTypeError::new_err(
                    "a point (a dict) or its number is expected",
                ));
            }
        };
        let index = self.index(py)?;
        let found = if adjacent {
            index.adjacent(at)
        } else {
            index.neighbours(at)
        };
        self.points(py, &found)
    }

    /// The values that each parameter takes anywhere in the space: a dict of lists.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let index = self.index(py)?;
        let all = py.detach(|| index.values());
        let out = PyDict::new(py);
        for (name, values) in self.space.names().zip(&all) {
            let list = PyList::empty(py);
            for v in values {
                list.append(value(py, v)?)?;
            }
            out.set_item(name, list)?;
        }
        Ok(out)
    }

    /// The derived values of a point: a dict.
    fn derived<'py>(
        &self,
        py: Python<'py>,
        point: &Bound<'_, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let values = self.values_of(point)?;
        let all = self
            .space
            .derived(&values)
            .map_err(|e| hinted(SpaceError::new_err(e.message), e.hint.as_deref()))?;
        let out = PyDict::new(py);
        for (name, v) in &all {
            out.set_item(name, value(py, v)?)?;
        }
        Ok(out)
    }

    /// How the filters prune the space, one after the other: a list of dicts ``filter``, ``strength`` (hard or soft),
    /// ``expression``, ``because``, ``before`` and ``after`` (numbers of points; None where ``seconds`` do not suffice to count), and then
    /// ``estimate`` with its standard error ``estimate_error``. Filters that are functions come last; their ``expression`` is None.
    #[pyo3(signature = (seconds=1.0))]
    fn funnel<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Bound<'py, PyList>> {
        let time = Duration::try_from_secs_f64(seconds)
            .map_err(|_| PyValueError::new_err(format!("{seconds} is no time in seconds")))?;
        if !self.functions.is_empty() {
            self.index(py)?;
        }
        let known = self.index.get();
        let valid = known.map(|i| u128::from(i.before));
        let (space, memory) = (&self.space, self.memory);
        let found = run(py, |stop| {
            greenup_space::funnel(space, valid, time, &limits(memory, &|| stop.is_set()))
        })?
        .map_err(stopped)?;
        let asked = known.map(|i| (i.before, i.after.as_slice()));
        funnel::rows(py, space, &found, &self.functions, asked)
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.space.names().collect();
        let points = self
            .index
            .get()
            .map_or_else(String::new, |i| format!("{} points, ", i.index.len()));
        format!(
            "<greenup.Space {:?}: {points}parameters {}>",
            self.space.name,
            names.join(", ")
        )
    }
}

impl Space {
    /// The index, built on first use.
    pub fn index(&self, py: Python<'_>) -> PyResult<&Arc<Index>> {
        if let Some(known) = self.index.get() {
            return Ok(&known.index);
        }
        let (space, memory) = (&self.space, self.memory);
        let built = run(py, |stop| {
            Index::build(space, &limits(memory, &|| stop.is_set()))
        })?
        .map_err(stopped)?;
        let before = built.len();
        let (index, after) = if self.functions.is_empty() {
            (built, Vec::new())
        } else {
            let limits = limits(memory, &|| false);
            functions::keep(py, &built, &self.functions, &limits, stopped)?
        };
        // Another thread may have been faster; both are the same.
        let known = self.index.get_or_init(|| Indexed {
            index: Arc::new(index),
            before,
            after,
        });
        Ok(&known.index)
    }

    /// The space behind.
    pub fn inner(&self) -> &Arc<greenup_space::Space> {
        &self.space
    }
}

fn limits<'a>(bytes: usize, cancelled: &'a (dyn Fn() -> bool + Sync)) -> Limits<'a> {
    Limits {
        bytes,
        cancelled,
        ..Limits::default()
    }
}

fn stopped(e: Stop) -> PyErr {
    match e {
        Stop::Memory => hinted(
            SpaceError::new_err("the space is too large for an index in the allowed memory"),
            Some("raise memory= (bytes), or use count(), which needs none"),
        ),
        Stop::Fault(e) => hinted(SpaceError::new_err(e.message), e.hint.as_deref()),
        Stop::Cancelled => SpaceError::new_err("stopped"),
    }
}

fn not_sampled(n: usize, e: Stop) -> PyErr {
    match e {
        Stop::Memory => PyMemoryError::new_err(format!("no memory for a sample of {n} points")),
        e => stopped(e),
    }
}

fn given_facts(given: &Bound<'_, PyDict>) -> PyResult<Facts> {
    given
        .iter()
        .map(|(k, v)| {
            let name: String = k.extract()?;
            let v = to_value(&name, &v)?;
            Ok((name, v))
        })
        .collect()
}

/// Adds them to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Space>()?;
    module.add_class::<Points>()
}
