//! Searches: ask for points, tell what they cost.

use crate::convert::{file_error, path, value};
use crate::errors::{TuneError, hinted};
use crate::space::Space;
use greenup_tune::command::OBJECTIVE;
use greenup_tune::points::Indexed;
use greenup_tune::strategy::{Proposal, STRATEGIES, strategy};
use greenup_tune::sweep::{Failure, Folder, FolderError, Kernels, Outcome, SweepFacts, Trial};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// A search of the point of least cost, by asking and telling: ``Search(space, *, strategy="portfolio", trials=None, seed=0,
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

struct State {
    search: greenup_tune::search::Search<'static>,
    /// Proposed, and not asked for yet.
    ready: VecDeque<Proposal>,
    /// Asked for, and not told yet.
    open: HashMap<u64, f64>,
    told: Vec<(u64, Option<Vec<f64>>)>,
    folder: Option<Folder>,
}

#[pymethods]
impl Search {
    #[new]
    #[pyo3(signature = (space, *, strategy="portfolio", trials=None, seed=0, out=None, resume=false))]
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
        let mut state = State {
            search,
            ready: VecDeque::new(),
            open: HashMap::new(),
            told: Vec::new(),
            folder: None,
        };
        if let Some(out) = out {
            let dir = path(out)?;
            let facts = facts(space.get(), strategy, seed);
            state.open_folder(Path::new(&dir), &facts, resume)?;
        }
        Ok(Self {
            space,
            strategy: strategy.to_owned(),
            state: Mutex::new(state),
        })
    }

    /// The next point to measure: a dict; None when the trials are used up or all is known. Several may be asked for before they
    /// are told; where the strategy must know their costs first, TuneError says so.
    fn ask<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        // Exceptions are made without the lock: making one may wait for the interpreter.
        match py.detach(|| self.lock().next()) {
            Next::End => Ok(None),
            Next::Point(at) => self.space.get().point(py, at).map(Some),
            Next::Waits(open) => Err(hinted(
                TuneError::new_err(format!(
                    "the strategy waits for the results of {open} points"
                )),
                Some("tell them before asking again"),
            )),
        }
    }

    /// Tells what a point costs: a finite number to be made small, or several; None if it failed (``message`` says why).
    /// ``seconds`` and ``joules`` are recorded with it. A point that was not asked for may be told too.
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
        let told = py.detach(|| {
            let mut state = self.lock();
            if let (Some(new), Some(old)) = (&costs, state.objectives())
                && new.len() != old
            {
                return Err(Refused::Number(new.len(), old));
            }
            let outcome = match &costs {
                Some(c) => Outcome::Measured {
                    times_s: vec![seconds.unwrap_or(c[0])],
                    time_s: seconds.unwrap_or(c[0]),
                    energy_j: joules,
                    time_error: None,
                },
                None => Outcome::Failed {
                    failure: Failure::Runtime,
                    message: message.unwrap_or_default(),
                },
            };
            let trial = Trial {
                config: index.get(at).unwrap_or_default(),
                outcome,
                metrics: named(costs.as_deref()),
                kernels: Kernels::new(),
                effort: 1.0,
                build_s: 0.0,
                verify_s: 0.0,
                measure_s: seconds.unwrap_or(0.0),
                flags: Vec::new(),
                at: SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .map_or(0.0, |d| d.as_secs_f64()),
                device: None,
            };
            // On the disk first: what was measured outlives everything.
            if let Some(folder) = &mut state.folder {
                folder.append(&trial).map_err(Refused::Folder)?;
            }
            state.tell(at, costs);
            Ok(())
        });
        told.map_err(|e| match e {
            Refused::Number(new, old) => {
                PyValueError::new_err(format!("{new} costs are told, and {old} before"))
            }
            Refused::Folder(e) => folder_error(&e),
        })
    }

    /// Gives the folder of ``out`` free, for other searches; what is told later is not recorded.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.lock().folder = None);
    }

    /// The best point so far and its (first) cost: a pair; None before the first success.
    #[getter]
    fn best<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyDict>, f64)>> {
        let best = self.lock().search.history.best();
        best.map(|(at, cost)| Ok((self.space.get().point(py, at)?, cost)))
            .transpose()
    }

    /// All trials in order: dicts with the parameters and ``cost``, None for a failure.
    #[getter]
    fn trials<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let told = self.lock().told.clone();
        let out = PyList::empty(py);
        for (at, costs) in told {
            let row = self.space.get().point(py, at)?;
            match costs.as_deref() {
                None => row.set_item("cost", py.None())?,
                Some([one]) => row.set_item("cost", one)?,
                Some(several) => row.set_item("cost", several)?,
            }
            out.append(row)?;
        }
        Ok(out)
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
        self.lock().told.len()
    }

    fn __repr__(&self) -> String {
        let state = self.lock();
        let best = state.search.history.best().map(|b| b.1);
        let (told, left) = (state.told.len(), state.search.left());
        drop(state);
        let best = best.map_or_else(String::new, |b| format!(", best {b}"));
        format!(
            "<greenup.Search by {}: {told} trials, {left} left{best}>",
            self.strategy
        )
    }
}

impl Search {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What asking gives.
enum Next {
    Point(u64),
    End,
    /// For the results of so many points.
    Waits(usize),
}

/// Why a result is not taken.
enum Refused {
    /// Costs told now and before.
    Number(usize, usize),
    Folder(FolderError),
}

/// How often a strategy may repeat itself.
const TRIES: usize = 1000;

impl State {
    /// The next point to measure; `None` at the end.
    fn next(&mut self) -> Next {
        for _ in 0..TRIES {
            if self.search.over() {
                return Next::End;
            }
            if let Some(p) = self.ready.pop_front() {
                self.search.begin(&p);
                self.open.insert(p.point, p.effort);
                return Next::Point(p.point);
            }
            match self.search.ask() {
                None => return Next::End,
                Some(more) => self.ready.extend(more),
            }
            if self.ready.is_empty() && !self.open.is_empty() {
                break;
            }
        }
        Next::Waits(self.open.len())
    }

    fn tell(&mut self, at: u64, costs: Option<Vec<f64>>) {
        let effort = self.open.remove(&at).unwrap_or(1.0);
        self.search.tell(at, costs.clone(), effort);
        self.told.push((at, costs));
    }

    /// Number of costs of a point, once one was told.
    fn objectives(&self) -> Option<usize> {
        let first = self.told.iter().find_map(|t| t.1.as_ref());
        first.map(Vec::len)
    }

    /// Opens the folder in which trials are recorded; those that it has are told.
    fn open_folder(&mut self, dir: &Path, facts: &SweepFacts, resume: bool) -> PyResult<()> {
        if !resume || !Folder::exists(dir) {
            self.folder = Some(Folder::create(dir, facts).map_err(|e| folder_error(&e))?);
            return Ok(());
        }
        let (folder, sweep) = Folder::resume(dir, facts, &[]).map_err(|e| folder_error(&e))?;
        self.folder = Some(folder);
        for trial in &sweep.trials {
            // A point that the space no longer has is of no use.
            if let Some(at) = self.search.position(&trial.config) {
                let costs = trial.cost().map(|c| costs_of(trial, c.time_s));
                self.tell(at, costs);
            }
        }
        Ok(())
    }
}

/// The costs of a recorded trial.
fn costs_of(trial: &Trial, time_s: f64) -> Vec<f64> {
    let of = |name: &str| trial.metrics.get(name).copied();
    let mut out = vec![of(OBJECTIVE).unwrap_or(time_s)];
    let mut i = 2;
    while let Some(x) = of(&format!("{OBJECTIVE}_{i}")) {
        out.push(x);
        i += 1;
    }
    out
}

/// Costs as metrics of a trial.
fn named(costs: Option<&[f64]>) -> BTreeMap<String, f64> {
    let name = |i: usize| match i {
        0 => OBJECTIVE.to_owned(),
        i => format!("{OBJECTIVE}_{}", i + 1),
    };
    let all = costs.unwrap_or_default().iter();
    all.enumerate().map(|(i, &c)| (name(i), c)).collect()
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
    let host = greenup_app::provenance::host_name();
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
                greenup_app::version().version.to_owned(),
            ),
        ]),
        ..SweepFacts::default()
    }
}

/// A sweep's folder that cannot be used.
pub fn folder_error(e: &FolderError) -> PyErr {
    let hint = match e {
        FolderError::File(e) => return file_error(e),
        FolderError::Exists(_) => Some("continue it with resume=True, or choose another folder"),
        FolderError::Other { .. } => Some("choose another folder"),
        _ => None,
    };
    hinted(TuneError::new_err(e.to_string()), hint)
}

/// Strategies: a dict of names, each with a line about it.
#[pyfunction]
pub fn strategies(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for (name, about) in STRATEGIES {
        out.set_item(name, value(py, &about.into())?)?;
    }
    Ok(out)
}

/// Adds them to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Search>()?;
    module.add_function(wrap_pyfunction!(strategies, module)?)
}
