//! Recorded sweeps.

use crate::convert::{file_error, folder_error, object, path, value as value_of};
use crate::errors::{self, TuneError, hinted};
use crate::run::run;
use crate::search::Best;
use greenup_tune::analyze::analyze;
use greenup_tune::objective::{Cost, Objective};
use greenup_tune::replay::replay;
use greenup_tune::search::Budget;
use greenup_tune::strategy::strategy;
use greenup_tune::sweep::best::{NoBest, best};
use greenup_tune::sweep::{FormatError, read_any};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The trials of a search, with their facts.
#[pyclass(frozen, subclass, module = "greenup._native")]
pub struct Sweep {
    sweep: Arc<greenup_tune::Sweep>,
    path: PathBuf,
}

#[pymethods]
impl Sweep {
    #[new]
    fn new(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let path = PathBuf::from(path(source)?);
        // Of a file with several sweeps, `FILE#WORDS` is one.
        let (file, _) = greenup_tune::sweep::file_and_section(&path);
        if let Err(cause) = std::fs::metadata(&file) {
            let message = format!("{} cannot be read: {cause}", file.display());
            return Err(errors::file(&file, cause.kind(), message));
        }
        let sweep = py.detach(|| read_any(&path)).map_err(|e| match e.cause {
            FormatError::Folder(e) => folder_error(&e),
            FormatError::File(e) => file_error(&e),
            FormatError::NoSweep(_) => errors::file(&path, ErrorKind::NotFound, e.to_string()),
            _ => TuneError::new_err(e.to_string()),
        })?;
        if !sweep.warnings.is_empty() {
            let warnings = py.import("warnings")?;
            for w in &sweep.warnings {
                warnings.call_method1("warn", (w,))?;
            }
        }
        Ok(Self {
            sweep: Arc::new(sweep),
            path,
        })
    }

    /// Where it was read from.
    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    /// Name of the problem.
    #[getter]
    fn name(&self) -> &str {
        &self.sweep.facts.name
    }

    /// Device that measured it.
    #[getter]
    fn device(&self) -> &str {
        &self.sweep.facts.device
    }

    /// Names of the parameters.
    #[getter]
    fn parameters(&self) -> Vec<String> {
        self.sweep.facts.parameters.clone()
    }

    /// Facts of the run: a dict.
    #[getter]
    fn facts(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        object(py, &self.sweep.facts)
    }

    fn __len__(&self) -> usize {
        self.sweep.trials.len()
    }

    /// All trials: dicts with the parameters, ``time_s`` (s), ``energy_j`` (J), ``failure``, ``message`` and the metrics.
    #[getter]
    fn trials<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let out = PyList::empty(py);
        for t in &self.sweep.trials {
            let row = PyDict::new(py);
            for (name, v) in self.sweep.facts.parameters.iter().zip(&t.config) {
                row.set_item(name, value_of(py, v)?)?;
            }
            let cost = t.cost();
            row.set_item("time_s", cost.map(|c| c.time_s).filter(|t| t.is_finite()))?;
            row.set_item("energy_j", cost.and_then(|c| c.energy_j))?;
            row.set_item("failure", t.failure().map(|f| f.0.name()))?;
            row.set_item("message", t.failure().map(|f| f.1))?;
            for (name, x) in &t.metrics {
                row.set_item(name, x)?;
            }
            out.append(row)?;
        }
        Ok(out)
    }

    /// The best trial by the objective of the sweep, a `Best`; None if no trial succeeded.
    #[getter]
    fn best(&self, py: Python<'_>) -> PyResult<Option<Best>> {
        self.found(py, None)
    }

    /// The best trial by another objective: time, energy, edp, metric:NAME, …; None if no trial succeeded. TuneError where the
    /// trials lack what it needs.
    fn best_by(&self, py: Python<'_>, objective: &str) -> PyResult<Option<Best>> {
        self.found(py, Some(objective))
    }

    /// What the trials show, as ``greenup analyze --json`` prints it: a dict.
    #[pyo3(signature = (share=0.5, seed=1))]
    fn analysis(&self, py: Python<'_>, share: f64, seed: u64) -> PyResult<Py<PyAny>> {
        if !(share > 0.0 && share < 1.0) {
            return Err(PyValueError::new_err(format!(
                "share must lie between 0 and 1, not {share}"
            )));
        }
        let sweep = &self.sweep;
        let found = run(py, |_| analyze(sweep, share, seed))?
            .map_err(|e| TuneError::new_err(e.to_string()))?;
        object(py, &found)
    }

    /// What a strategy would have found: a dict ``evaluations``, ``failures``, ``clock_s`` (simulated, s), ``best``, ``optimum``, ``fraction``
    /// (optimum over best found) and ``trace`` (every improvement). The budget is ``trials``, or ``seconds`` of the recording; a tenth of
    /// the trials without.
    #[pyo3(signature = (strategy, *, trials=None, seconds=None, objective=None, seed=1))]
    fn replay(
        &self,
        py: Python<'_>,
        strategy: &str,
        trials: Option<usize>,
        seconds: Option<f64>,
        objective: Option<&str>,
        seed: u64,
    ) -> PyResult<Py<PyAny>> {
        let budget = match (trials, seconds) {
            (Some(0), _) => return Err(PyValueError::new_err("trials must be at least 1")),
            (Some(n), None) => Budget::Evaluations(n),
            (None, Some(s)) if s > 0.0 && s.is_finite() => Budget::Seconds(s),
            (None, None) => Budget::Evaluations(self.sweep.trials.len().div_ceil(10).max(1)),
            _ => {
                return Err(PyValueError::new_err(
                    "the budget is either trials or seconds, above 0",
                ));
            }
        };
        let objective = self.objective(objective)?;
        let mut made = self::strategy(strategy, None).map_err(|e| {
            hinted(
                TuneError::new_err(e.to_string()),
                (strategy == "steered").then_some("use the command `greenup replay`"),
            )
        })?;
        let sweep = &*self.aimed(objective)?;
        let found = run(py, |_| {
            replay(sweep, &[objective], made.as_mut(), budget, seed)
        })?
        .map_err(|e| TuneError::new_err(e.to_string()))?;
        object(py, &found)
    }
}

impl Sweep {
    fn found(&self, py: Python<'_>, objective: Option<&str>) -> PyResult<Option<Best>> {
        let objective = self.objective(objective)?;
        let sweep = self.aimed(objective)?;
        let found = match best(&sweep, objective) {
            Ok(found) => found,
            Err(NoBest::Empty | NoBest::Failed(_) | NoBest::Partial) => return Ok(None),
            Err(e) => return Err(TuneError::new_err(e.to_string())),
        };
        let cost = Cost {
            time_s: found.time_s,
            energy_j: found.energy_j,
            metric: found.metric.map(|m| m.1),
        };
        let value = objective.value(cost, sweep.facts.flops);
        let config = PyDict::new(py);
        for (name, v) in sweep.facts.parameters.iter().zip(found.config) {
            config.set_item(name, value_of(py, v)?)?;
        }
        let times = [("time_s", Some(found.time_s)), ("energy_j", found.energy_j)];
        let times = times
            .into_iter()
            .filter_map(|(name, x)| Some((name, x.filter(|x| x.is_finite())?)));
        Best::new(config, value.unwrap_or(f64::NAN), times.chain(found.metric)).map(Some)
    }

    /// The objective that is named, or that of the sweep, or time.
    fn objective(&self, named: Option<&str>) -> PyResult<Objective> {
        match named {
            Some(name) => name
                .parse()
                .map_err(|e: greenup_tune::objective::UnknownObjective| {
                    PyValueError::new_err(e.to_string())
                }),
            None => (self.sweep.own_objective()).map_err(|e| PyValueError::new_err(e.to_string())),
        }
    }

    /// The sweep with the values of an objective.
    fn aimed(&self, objective: Objective) -> PyResult<Cow<'_, greenup_tune::Sweep>> {
        (self.sweep.aimed(objective)).map_err(|e| PyValueError::new_err(e.to_string()))
    }
}

/// Adds them to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Sweep>()
}
