//! Fast multipole method: what `greenup.fmm` calls.

use crate::arrays::rows;
use crate::errors::{FmmError, of_application};
use crate::keeper::{Keeper, OnSignal};
use greenup_app::AppError;
use greenup_device::Usable;
use greenup_fmm::kernel::Kernel;
use greenup_fmm::points::Points;
use greenup_fmm::session::{Request, Session};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

struct Failed(AppError);

impl From<Failed> for PyErr {
    fn from(Failed(e): Failed) -> Self {
        of_application::<FmmError>(&e)
    }
}

fn points(rows: &[[f64; 3]]) -> PyResult<Points> {
    Ok(Points::of_rows(rows)
        .map_err(AppError::from)
        .map_err(Failed)?)
}

/// A plan on its device, for any number of evaluations.
#[pyclass(frozen, module = "greenup._native")]
pub struct FmmPlan {
    session: Keeper<Session>,
    /// Values per source, and per target.
    #[pyo3(get)]
    inputs: usize,
    #[pyo3(get)]
    outputs: usize,
    #[pyo3(get)]
    sources: usize,
    #[pyo3(get)]
    targets: usize,
    /// Surface order p, points per leaf, seconds of the set-up, name of the device.
    #[pyo3(get)]
    order: usize,
    #[pyo3(get)]
    ncrit: usize,
    #[pyo3(get)]
    setup_s: f64,
    #[pyo3(get)]
    device: String,
}

#[pymethods]
impl FmmPlan {
    #[new]
    fn new(
        py: Python<'_>,
        sources: PyReadonlyArray2<'_, f64>,
        targets: Option<PyReadonlyArray2<'_, f64>>,
        kernel: (String, f64, bool),
        how: (f64, String, String),
        sizes: (Option<usize>, Option<usize>),
    ) -> PyResult<Self> {
        let (kernel, parameter, gradient) = kernel;
        let (accuracy, precision, device) = how;
        let (ncrit, order) = sizes;
        let kernel = match kernel.as_str() {
            "laplace" => Kernel::Laplace,
            "yukawa" => Kernel::Yukawa { kappa: parameter },
            "helmholtz" => Kernel::Helmholtz { k: parameter },
            "stokes" => Kernel::Stokes { mu: parameter },
            other => {
                return Err(PyValueError::new_err(format!(
                    "invalid kernel {other:?}: use laplace, yukawa, helmholtz or stokes"
                )));
            }
        };
        let single = match precision.as_str() {
            "f32" => true,
            "f64" => false,
            other => {
                return Err(PyValueError::new_err(format!(
                    "invalid precision {other:?}: use f32 or f64"
                )));
            }
        };
        let device = Usable::SHARED.parse(&device);
        let request = Request {
            kernel,
            accuracy,
            gradient,
            single,
            ncrit,
            order,
            device: device.map_err(AppError::from).map_err(Failed)?,
        };
        let from: &[[f64; 3]] = rows(&sources, "points")?;
        let to: Option<&[[f64; 3]]> = match &targets {
            Some(t) => Some(rows(t, "targets")?),
            None => None,
        };
        let (sources, count) = (from.len(), to.map_or(from.len(), <[_]>::len));
        // Before anything is copied.
        request.check(sources, count).map_err(Failed)?;
        let (from, to) = (points(from)?, to.map(points).transpose()?);
        let session = Keeper::start(py, None, move || {
            Session::new(from, to, &request).map_err(Failed)
        })?;
        let (order, ncrit, setup_s, device) = session.call(py, OnSignal::Leave, |s, _| {
            (s.order(), s.ncrit(), s.setup_s(), s.device().to_owned())
        })?;
        Ok(Self {
            session,
            inputs: kernel.inputs(),
            outputs: kernel.outputs(gradient),
            sources,
            targets: count,
            order,
            ncrit,
            setup_s,
            device,
        })
    }

    /// Results `[component][target]` of charges, source by source.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        charges: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let charges = charges
            .as_slice()
            .map_err(|_| PyValueError::new_err("charges must be C-contiguous"))?
            .to_vec();
        let result = self
            .session
            .call(py, OnSignal::Leave, move |s, _| s.evaluate(&charges))?;
        let result = result.map_err(|e| PyErr::from(Failed(e.into())))?;
        Ok(result.into_pyarray(py))
    }

    /// Seconds of the phases of the last evaluation, as JSON.
    fn phases(&self, py: Python<'_>) -> PyResult<String> {
        let phases = self.session.call(py, OnSignal::Leave, |s, _| s.phases())?;
        serde_json::to_string(&phases).map_err(|e| FmmError::new_err(e.to_string()))
    }
}

/// Adds the class to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FmmPlan>()
}
