//! Hydrodynamics: what `greenup.hydro` calls.

use crate::errors::{HydroError, of_application};
use crate::keeper::{Keeper, OnSignal};
use greenup_app::AppError;
use greenup_hydro::engine::State;
use greenup_hydro::session::{NamedSettings, Session, WrongSetting};
use greenup_hydro::time::stepping::Clock;
use greenup_ranks::{Alone, Ranks, mpi::Mpi};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

struct Failed(AppError);

impl From<Failed> for PyErr {
    fn from(Failed(e): Failed) -> Self {
        of_application::<HydroError>(&e)
    }
}

fn raised(e: AppError) -> PyErr {
    Failed(e).into()
}

/// A field of the state.
#[derive(Clone, Copy)]
enum Field {
    X,
    V,
    E,
}

impl Field {
    fn of(name: &str) -> PyResult<Self> {
        match name {
            "x" => Ok(Self::X),
            "v" => Ok(Self::V),
            "e" => Ok(Self::E),
            _ => Err(PyValueError::new_err(format!(
                "invalid field {name:?}: use \"x\" (positions), \"v\" (velocities) or \"e\" (energies)"
            ))),
        }
    }

    fn take(self, s: State) -> Vec<f64> {
        match self {
            Self::X => s.x,
            Self::V => s.v,
            Self::E => s.e,
        }
    }
}

/// Time and step counts: t, dt, steps, rejected steps.
type Times = (f64, f64, usize, usize);

fn times(c: &Clock) -> Times {
    (c.t, c.dt, c.steps, c.rejected)
}

/// The times after the last accepted step, which are there to read while the next is under way.
#[derive(Clone)]
struct Known(Arc<Mutex<Times>>);

impl Known {
    fn set(&self, clock: &Clock) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = times(clock);
    }

    fn get(&self) -> Times {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Settings from JSON.
fn given(json: &str) -> PyResult<NamedSettings> {
    let settings = serde_json::from_str(json).map_err(|e| PyValueError::new_err(e.to_string()))?;
    NamedSettings::read(&settings).map_err(|e: WrongSetting| {
        if e.is_type {
            PyTypeError::new_err(e.to_string())
        } else {
            HydroError::new_err(e.to_string())
        }
    })
}

/// A run between two steps.
#[pyclass(frozen, module = "greenup._native")]
pub struct HydroRun {
    session: Keeper<Session>,
    times: Known,
    shape: [usize; 4],
    unknowns: usize,
    ranks: usize,
}

/// The ranks of an MPI communicator, or this process alone.
fn ranks(communicator: Option<(u64, String)>) -> Result<Arc<dyn Ranks>, AppError> {
    Ok(match communicator {
        None => Arc::new(Alone),
        Some((handle, version)) => Arc::new(Mpi::within(handle, &version)?),
    })
}

#[pymethods]
impl HydroRun {
    /// `settings`: JSON; or the path of a checkpoint.
    #[new]
    fn new(
        py: Python<'_>,
        settings: Option<String>,
        checkpoint: Option<PathBuf>,
        threads: usize,
        communicator: Option<(u64, String)>,
    ) -> PyResult<Self> {
        let settings = settings.as_deref().map(given).transpose()?;
        let session = Keeper::start(py, Some(threads), move || {
            let ranks = ranks(communicator).map_err(Failed)?;
            match (checkpoint, settings) {
                (Some(path), _) => Session::load(&path, ranks),
                (None, settings) => Session::new(&settings.unwrap_or_default(), ranks),
            }
            .map_err(Failed)
        })?;
        let (sizes, ranks, clock) = session.call(py, OnSignal::Leave, |s, _| {
            (s.sizes(), s.ranks(), s.clock())
        })?;
        Ok(Self {
            session,
            times: Known(Arc::new(Mutex::new(times(&clock)))),
            shape: [sizes.dim, sizes.nodes, sizes.zones, sizes.energies],
            unknowns: sizes.unknowns,
            ranks,
        })
    }

    /// Dimension, nodes, zones, energy coefficients of a zone, unknowns of all ranks, number of ranks.
    fn sizes(&self) -> (usize, usize, usize, usize, usize, usize) {
        let [dim, nodes, zones, energies] = self.shape;
        (dim, nodes, zones, energies, self.unknowns, self.ranks)
    }

    /// Advances to a time, by at most so many steps.
    fn advance(&self, py: Python<'_>, end: f64, most: Option<usize>) -> PyResult<()> {
        let known = self.times.clone();
        self.session
            .call(py, OnSignal::Wait, move |s, stop| {
                let ended = s.advance((end, most), stop, &|clock| known.set(clock));
                known.set(&s.clock());
                ended
            })?
            .map_err(raised)
    }

    /// Time, next time step, accepted and rejected steps, also while a step is under way.
    fn times(&self) -> Times {
        self.times.get()
    }

    /// Final time of the problem.
    fn t_final(&self, py: Python<'_>) -> PyResult<f64> {
        self.session.call(py, OnSignal::Leave, |s, _| s.t_final())
    }

    /// A copy of a field: `[component][node]`, or `[zone][coefficient]`.
    fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let field = Field::of(name)?;
        let all = self
            .session
            .call(py, OnSignal::Leave, move |s, _| {
                s.state().map(|state| field.take(state))
            })?
            .map_err(raised)?;
        let [dim, nodes, zones, energies] = self.shape;
        all.into_pyarray(py).reshape(match field {
            Field::E => [zones, energies],
            _ => [dim, nodes],
        })
    }

    /// Total internal and kinetic energy.
    fn energies(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        self.session
            .call(py, OnSignal::Leave, |s, _| s.energies())?
            .map_err(raised)
    }

    /// Nodes of each zone, zone by zone.
    fn zone_nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let all = self
            .session
            .call(py, OnSignal::Leave, |s, _| s.zone_nodes())?;
        Ok(all.into_pyarray(py))
    }

    /// Results so far, times of the parts of the steps, and settings, as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<[String; 3]> {
        self.session
            .call(py, OnSignal::Leave, |s, _| {
                Ok::<_, AppError>([
                    serde_json::to_string(&s.report()?)?,
                    serde_json::to_string(&s.timings())?,
                    s.settings()?.to_string(),
                ])
            })?
            .map_err(raised)
    }

    /// Writes a checkpoint.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.session
            .call(py, OnSignal::Wait, move |s, _| s.save(&path))?
            .map_err(raised)
    }
}

/// Adds the class to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HydroRun>()
}
