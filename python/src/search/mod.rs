//! Searches: ask for points, tell what they cost.

mod best;
mod state;

use crate::convert::{folder_error, path, value};
use crate::errors::{TuneError, hinted};
use crate::space::Space;
pub use best::Best;
use greenup_tune::points::Indexed;
use greenup_tune::strategy::{STRATEGIES, strategy};
use greenup_tune::sweep::{OBJECTIVE, SweepFacts};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use state::{Next, PointResult, Refused, State, cost_name};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A search of the point of least cost, by asking and telling: ``Search(space, *, strategy="portfolio", trials=None, seed=1,
/// out=None, resume=False)``.
///
///     search = greenup.Search(space, trials=50)
///     while (point := search.ask()) is not None:
///         search.tell(point, cost_of(point))
///
/// ``strategies()`` lists the strategies. ``trials``: most points to ask for; all without. With ``out`` each trial is appended to
/// that folder before ``tell`` returns, in the form that `Sweep` reads; with ``resume`` a search goes on with its trials.
#[pyclass(frozen, module = "greenup")]
pub struct Search {
    space: Py<Space>,
    strategy: String,
    state: Mutex<State>,
}

#[pymethods]
impl Search {
    #[new]
    #[pyo3(signature = (space, *, strategy="portfolio", trials=None, seed=1, out=None, resume=false))]
    fn new(
        py: Python<'_>,
        space: Py<Space>,
        strategy: &str,
        trials: Option<i64>,
        seed: u64,
        out: Option<&Bound<'_, PyAny>>,
        resume: bool,
    ) -> PyResult<Self> {
        let most = match trials {
            None => usize::MAX,
            Some(n) => usize::try_from(n).ok().filter(|&n| n > 0).ok_or_else(|| {
                PyValueError::new_err(format!("trials must be at least 1, not {n}"))
            })?,
        };
        if ["halving", "steered"].contains(&strategy) {
            return Err(hinted(
                TuneError::new_err(format!(
                    "`{strategy}` needs more than a function tells: shorter measurements, or the work of each point"
                )),
                Some("use it for compiled problems, and another strategy here"),
            ));
        }
        let made = self::strategy(strategy, None).map_err(|e| TuneError::new_err(e.to_string()))?;
        let index = Arc::clone(space.get().index(py)?);
        if index.is_empty() {
            return Err(TuneError::new_err(
                "no point of the space passes its filters",
            ));
        }
        let points = py.detach(|| Indexed::new(index));
        let search = greenup_tune::search::Search::owning(made, Box::new(points), most, seed);
        let mut state = State::new(search);
        if let Some(out) = out {
            let dir = path(out)?;
            let facts = facts(space.get(), strategy, seed);
            state
                .open_folder(Path::new(&dir), &facts, resume)
                .map_err(|e| folder_error(&e))?;
        }
        Ok(Self {
            space,
            strategy: strategy.to_owned(),
            state: Mutex::new(state),
        })
    }

    /// The next point to measure: a dict; None when the trials are used up or all is known. Several points may be open at a time;
    /// TuneError if the strategy must know their costs first.
    fn ask<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        // Exceptions are made without the lock: making one may wait for the interpreter.
        match py.detach(|| self.lock().next()) {
            Next::End => Ok(None),
            Next::Point(at) => self.space.get().point(py, at).map(Some),
            Next::Waits(open) => Err(waits(open)),
        }
    }

    /// The next points that may be measured before any result is told: a list, empty at the end.
    fn _ask_together<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let points = py.detach(|| self.lock().next_together());
        let points = points.map_err(waits)?.into_iter();
        points.map(|at| self.space.get().point(py, at)).collect()
    }

    /// Takes the cost of a point: a finite number to minimise, or several; None if it failed (``message`` says why).
    /// ``seconds`` and ``joules`` are recorded with it. The point need not come from ``ask``.
    #[pyo3(signature = (point, cost, *, seconds=None, joules=None, message=None))]
    fn tell(
        &self,
        py: Python<'_>,
        point: &Bound<'_, PyDict>,
        cost: Option<&Bound<'_, PyAny>>,
        seconds: Option<f64>,
        joules: Option<f64>,
        message: Option<String>,
    ) -> PyResult<()> {
        let at = self.space.get().find(py, point)?;
        let costs = cost.map(costs).transpose()?;
        for (name, x) in [("seconds", seconds), ("joules", joules)] {
            if x.is_some_and(|x| !x.is_finite() || x < 0.0) {
                return Err(PyValueError::new_err(format!(
                    "{name} must be a finite number that is not negative"
                )));
            }
        }
        let index = Arc::clone(self.space.get().index(py)?);
        let found = PointResult {
            costs,
            seconds,
            joules,
            message,
        };
        let taken = py.detach(|| {
            let config = index.get(at).unwrap_or_default();
            self.lock().take(at, config, found)
        });
        taken.map_err(|e| match e {
            Refused::Number { now, before } => {
                PyValueError::new_err(format!("{now} costs, but {before} for the points before"))
            }
            Refused::Folder(e) => folder_error(&e),
        })
    }

    /// Frees the folder of ``out`` for other searches; later results are not recorded.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.lock().folder = None);
    }

    /// The best point so far, a `Best`, by its first cost; None before the first success.
    #[getter]
    fn best(&self, py: Python<'_>) -> PyResult<Option<Best>> {
        let state = self.lock();
        let found = state.search.history.best().map(|(at, value)| {
            let known = state.known.iter().filter(|(i, _)| *i == at);
            let costs = known.filter_map(|(_, costs)| costs.clone());
            let costs = costs.min_by(|a, b| a[0].total_cmp(&b[0]));
            (at, value, costs.unwrap_or_default())
        });
        drop(state);
        let Some((at, value, costs)) = found else {
            return Ok(None);
        };
        let names: Vec<String> = (0..costs.len()).map(cost_name).collect();
        let named = names.iter().map(String::as_str).zip(costs);
        Best::new(self.space.get().point(py, at)?, value, named).map(Some)
    }

    /// All trials in order: dicts with the parameters and ``cost``, None for a failure.
    #[getter]
    fn trials<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let known = self.lock().known.clone();
        let out = PyList::empty(py);
        for one in known {
            out.append(self.trial(py, one)?)?;
        }
        Ok(out)
    }

    /// The newest of ``trials``.
    fn _last<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let last = self.lock().known.last().cloned();
        last.map(|one| self.trial(py, one)).transpose()
    }

    /// The space.
    #[getter]
    fn space<'py>(&self, py: Python<'py>) -> Bound<'py, Space> {
        self.space.bind(py).clone()
    }

    /// Name of the strategy.
    #[getter]
    fn strategy(&self) -> &str {
        &self.strategy
    }

    /// Trials left.
    #[getter]
    fn left(&self) -> usize {
        self.lock().search.left()
    }

    fn __len__(&self) -> usize {
        self.lock().known.len()
    }

    fn __repr__(&self) -> String {
        let state = self.lock();
        let best = state.search.history.best().map(|b| b.1);
        let (known, left) = (state.known.len(), state.search.left());
        drop(state);
        let best = best.map_or_else(String::new, |b| format!(", best {b}"));
        format!(
            "<greenup.Search by {}: {known} trials, {left} left{best}>",
            self.strategy
        )
    }
}

impl Search {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trial<'py>(
        &self,
        py: Python<'py>,
        (at, costs): (u64, Option<Vec<f64>>),
    ) -> PyResult<Bound<'py, PyDict>> {
        let row = self.space.get().point(py, at)?;
        match costs.as_deref() {
            None => row.set_item("cost", py.None())?,
            Some([one]) => row.set_item("cost", one)?,
            Some(several) => row.set_item("cost", several)?,
        }
        Ok(row)
    }
}

fn waits(open: usize) -> PyErr {
    hinted(
        TuneError::new_err(format!(
            "the strategy waits for the results of {open} points"
        )),
        Some("call tell() for one of them before asking again"),
    )
}

/// One cost, or several.
fn costs(told: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let all: Vec<f64> = match told.extract::<f64>() {
        Ok(one) => vec![one],
        Err(_) if told.is_instance_of::<PyString>() => Vec::new(),
        Err(_) => told.extract().unwrap_or_default(),
    };
    if all.is_empty() {
        return Err(PyTypeError::new_err(format!(
            "a cost is a number or a sequence of numbers (None for a failure), not {}",
            told.repr()?
        )));
    }
    match all.iter().find(|c| !c.is_finite()) {
        Some(c) => Err(PyValueError::new_err(format!(
            "a cost must be finite, not {c}: tell None for a point that failed"
        ))),
        None => Ok(all),
    }
}

fn facts(space: &Space, strategy: &str, seed: u64) -> SweepFacts {
    let host = greenup_report::provenance::host_name();
    SweepFacts {
        name: space.inner().name.clone(),
        device: host.clone(),
        parameters: space.inner().names().map(str::to_owned).collect(),
        objective: Some(format!("metric:{OBJECTIVE}")),
        more: BTreeMap::from([
            ("host".to_owned(), host),
            ("strategy".to_owned(), strategy.to_owned()),
            ("seed".to_owned(), seed.to_string()),
            ("measured by".to_owned(), "a Python function".to_owned()),
            (
                "greenup".to_owned(),
                greenup_report::version::version().version.to_owned(),
            ),
        ]),
        ..SweepFacts::default()
    }
}

/// Strategies: a dict of names, each with a line about it.
#[pyfunction]
pub fn strategies(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for s in STRATEGIES {
        out.set_item(s.name, value(py, &s.about.into())?)?;
    }
    Ok(out)
}

/// Adds them to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Best>()?;
    module.add_class::<Search>()?;
    module.add_function(wrap_pyfunction!(strategies, module)?)
}
