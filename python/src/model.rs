//! Machines and predictions.

use crate::convert::object;
use crate::errors::{ModelError, hinted, of_application};
use greenup_app::error::AppError;
use greenup_app::machine::{LookupError, all, load};
use greenup_model::{Machine as Model, Op, Work, predict, predict_clocked};
use greenup_report::chart::canvas::escape;
use greenup_report::si::si;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::str::FromStr;

/// The costs of one machine: ``Machine(name)``.
///
/// ``name`` is that of a shipped machine (`machines` lists them), of ``machines/NAME.toml`` below this folder, or a file (a path, or a
/// string with a / or that ends in .toml), as ``greenup calibrate`` writes it.
#[pyclass(frozen, module = "greenup")]
pub struct Machine {
    model: Model,
}

#[pymethods]
impl Machine {
    #[new]
    fn new(name: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name = crate::convert::path(name)?;
        let model = load(&name).map_err(lookup)?;
        Ok(Self { model })
    }

    /// A machine from TOML text, as ``to_toml`` writes it.
    #[staticmethod]
    fn from_toml(text: &str) -> PyResult<Self> {
        let model = Model::from_toml(text).map_err(error)?;
        Ok(Self { model })
    }

    /// The machine as TOML text.
    fn to_toml(&self) -> PyResult<String> {
        self.model.to_toml().map_err(error)
    }

    /// Short name.
    #[getter]
    fn name(&self) -> &str {
        &self.model.name
    }

    /// Full name of the device.
    #[getter]
    fn title(&self) -> &str {
        &self.model.title
    }

    /// Where the numbers come from: measured, published, …
    #[getter]
    fn label(&self) -> &'static str {
        self.model.label.name()
    }

    /// Papers, files or commands that the numbers come from.
    #[getter]
    fn sources(&self) -> Vec<String> {
        self.model.sources.clone()
    }

    /// Whether energy can be predicted.
    #[getter]
    fn has_energy(&self) -> bool {
        self.model.has_energy()
    }

    /// Constant power π₀, W; None if unknown.
    #[getter]
    fn constant_power(&self) -> Option<f64> {
        self.model.constant_power_w.as_ref().map(|p| p.value)
    }

    /// Usable power Δπ above the constant power, W; None without a cap.
    #[getter]
    fn usable_power(&self) -> Option<f64> {
        self.model.usable_power_w.as_ref().map(|p| p.value)
    }

    /// Costs by class: a dict of dicts ``time_s`` (s) and ``energy_j`` (J) per operation (per byte for memory); None if unknown.
    #[getter]
    fn costs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (op, cost) in &self.model.cost {
            let d = PyDict::new(py);
            d.set_item("time_s", cost.time_s.as_ref().map(|e| e.value))?;
            d.set_item("energy_j", cost.energy_j.as_ref().map(|e| e.value))?;
            out.set_item(op.name(), d)?;
        }
        Ok(out)
    }

    /// Time balance Bτ, flop/B, of the main flop class; None if unknown.
    fn time_balance(&self) -> Option<f64> {
        let flop = self.model.main_flop()?;
        Some(self.model.time_of(Op::Dram).ok()? / self.model.time_of(flop).ok()?)
    }

    /// Energy balance Bε, flop/B; None if unknown.
    fn energy_balance(&self) -> Option<f64> {
        let flop = self.model.main_flop()?;
        let b = self.model.roofline(flop, Op::Dram).ok()?.energy_balance();
        b.is_finite().then_some(b)
    }

    /// Predicts time, energy and power of work.
    ///
    /// ``work`` is a dict of counts by class (`operations` lists them): flops, or bytes for memory, as ``{"f64": 1e12, "dram": 1e11}``.
    /// Returns a dict: ``time_s`` (s), ``energy_j`` (J), ``power_w`` (W; both None without energy costs), ``bound`` (the class that
    /// limits the time, or "cap"), ``time_interval_s``, ``energy_interval_j`` (pairs), ``time_by_op_s``, ``energy_by_op_j`` (dicts),
    /// ``constant_energy_j``, ``ops_without_energy``,
    /// ``ops_without_time`` (then ``time_s`` is a lower bound and the energy is not known). Raises ModelError if the machine lacks a cost, ValueError for impossible work.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        work: &Bound<'_, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let work = counted(work)?;
        let p = predict(&self.model, &work).map_err(error)?;
        let out = PyDict::new(py);
        out.set_item(intern!(py, "time_s"), p.time_s)?;
        out.set_item(intern!(py, "energy_j"), p.energy_j)?;
        out.set_item(intern!(py, "power_w"), p.power_w)?;
        out.set_item(intern!(py, "bound"), p.bound.to_string())?;
        out.set_item(intern!(py, "time_interval_s"), p.time_interval_s)?;
        out.set_item(intern!(py, "energy_interval_j"), p.energy_interval_j)?;
        let by_op = |all: &std::collections::BTreeMap<Op, f64>| -> PyResult<_> {
            let d = PyDict::new(py);
            for (op, v) in all {
                d.set_item(op.name(), v)?;
            }
            Ok(d)
        };
        out.set_item(intern!(py, "time_by_op_s"), by_op(&p.time_by_op_s)?)?;
        out.set_item(intern!(py, "energy_by_op_j"), by_op(&p.energy_by_op_j)?)?;
        out.set_item(intern!(py, "constant_energy_j"), p.constant_energy_j)?;
        let without: Vec<&str> = p.ops_without_energy.iter().map(|op| op.name()).collect();
        out.set_item(intern!(py, "ops_without_energy"), without)?;
        let without: Vec<&str> = p.ops_without_time.iter().map(|op| op.name()).collect();
        out.set_item(intern!(py, "ops_without_time"), without)?;
        Ok(out)
    }

    /// The same with the clock giving way to the power cap: a dict ``clock_hz``, ``time_s``, ``energy_j``, ``power_w``, ``bound``. Only for
    /// machines that tell how they lower their clock.
    fn predict_clocked(&self, py: Python<'_>, work: &Bound<'_, PyDict>) -> PyResult<Py<PyAny>> {
        if self.model.clock.is_none() {
            return Err(hinted(
                ModelError::new_err(format!(
                    "machine `{}` does not tell how it lowers its clock",
                    self.model.name
                )),
                Some("use predict(), which keeps the clock"),
            ));
        }
        object(
            py,
            &predict_clocked(&self.model, &counted(work)?).map_err(error)?,
        )
    }

    /// What if: the machine with its usable power divided by ``factor``, at least 1.
    fn throttled(&self, factor: f64) -> PyResult<Self> {
        let model = self.model.throttled(factor).map_err(error)?;
        Ok(Self { model })
    }

    /// What if: the machine under a bound on its total power, W.
    fn power_bounded(&self, watts: f64) -> PyResult<Self> {
        let model = self.model.power_bounded(watts).map_err(error)?;
        Ok(Self { model })
    }

    /// What if: so many of this machine with a free network.
    fn cluster(&self, devices: f64) -> PyResult<Self> {
        let model = self.model.cluster(devices).map_err(error)?;
        Ok(Self { model })
    }

    fn __repr__(&self) -> String {
        format!(
            "<greenup.Machine {:?}: {}>",
            self.model.name, self.model.title
        )
    }

    fn _repr_html_(&self) -> String {
        let mut out = format!(
            "<table><caption>{} ({} numbers)</caption><thead><tr><th>class</th><th>rate</th><th>energy</th></tr></thead><tbody>",
            escape(&self.model.title),
            self.model.label.name()
        );
        for (op, cost) in &self.model.cost {
            let unit = op.unit_name();
            let rate = cost
                .time_s
                .as_ref()
                .map(|t| si(1.0 / t.value, &format!("{unit}/s")));
            let energy = cost
                .energy_j
                .as_ref()
                .map(|e| si(e.value, &format!("J/{unit}")));
            out.push_str(&row(&[op.name(), &or_dash(rate), &or_dash(energy)]));
        }
        for (name, p) in [
            ("constant power π₀", &self.model.constant_power_w),
            ("usable power Δπ", &self.model.usable_power_w),
        ] {
            let power = p.as_ref().map(|p| si(p.value, "W"));
            out.push_str(&row(&[name, &or_dash(power), ""]));
        }
        out + "</tbody></table>"
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.model == other.model
    }
}

/// A list of all machines: those shipped, and those in `machines/` below this folder.
#[pyfunction]
pub fn machines() -> PyResult<Vec<Machine>> {
    let all = all().map_err(lookup)?;
    Ok(all.into_iter().map(|model| Machine { model }).collect())
}

/// Classes of operations: a dict of names and units.
#[pyfunction]
pub fn operations(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for op in Op::ALL {
        out.set_item(op.name(), op.unit_name())?;
    }
    Ok(out)
}

fn row(cells: &[&str]) -> String {
    let cells: String = cells
        .iter()
        .map(|c| format!("<td>{}</td>", escape(c)))
        .collect();
    format!("<tr>{cells}</tr>")
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// Counts of operations by class.
fn counted(work: &Bound<'_, PyDict>) -> PyResult<Work> {
    let mut out = Work::new();
    for (k, v) in work {
        let name: String = k
            .extract()
            .map_err(|_| PyTypeError::new_err("work is a dict of class names and counts"))?;
        let op = Op::from_str(&name).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let count: f64 = v.extract().map_err(|_| {
            PyTypeError::new_err(format!("the count of `{name}` is no number: {v}"))
        })?;
        out.add(op, count)
            .map_err(|e| PyValueError::new_err(e.to_string()))?;
    }
    if out.is_empty() {
        Err(PyValueError::new_err("the work is empty: every count is 0"))
    } else {
        Ok(out)
    }
}

fn error(e: impl std::error::Error) -> PyErr {
    ModelError::new_err(e.to_string())
}

fn lookup(e: LookupError) -> PyErr {
    match e {
        LookupError::File(e) => crate::convert::file_error(&e),
        e => of_application::<ModelError>(&AppError::from(e)),
    }
}

/// Adds them to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Machine>()?;
    module.add_function(wrap_pyfunction!(machines, module)?)?;
    module.add_function(wrap_pyfunction!(operations, module)?)
}
