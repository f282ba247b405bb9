//! Time and energy of blocks and functions.

use crate::convert::object;
use crate::errors::{MeterError, of_application};
use crate::run::run;
use greenup_app::sensors;
use greenup_meter::choose::{Chosen, found};
use greenup_meter::probe::FIRST_S;
use greenup_meter::sampler::{Trace, await_first, sample};
use greenup_meter::sensor::now_s;
use greenup_meter::window::{NoEnergy, energy, energy_near};
use greenup_meter::{Meter, Observer, Policy, Quantity, Run, Sensor};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// What was chosen for a name, so that a sensor is probed once.
#[derive(Clone)]
struct Choice {
    id: Option<String>,
    period_s: f64,
    missing: Option<String>,
}

static CHOICES: Mutex<Option<HashMap<Option<String>, Choice>>> = Mutex::new(None);

/// How long a sensor is watched under load before it is used the first time, s.
const PROBE_S: f64 = 0.5;

/// The sensor of a name, or the best one; probed the first time.
fn choice(py: Python<'_>, named: Option<&str>) -> PyResult<Choice> {
    let key = named.map(str::to_owned);
    let known = |key: &Option<String>| {
        let all = CHOICES.lock().unwrap_or_else(PoisonError::into_inner);
        all.as_ref().and_then(|all| all.get(key).cloned())
    };
    if let Some(choice) = known(&key) {
        return Ok(choice);
    }
    let chosen: Chosen = run(py, |_| sensors::sensors(named, sensors::ANY, PROBE_S))?
        .map_err(|e| of_application::<MeterError>(&e))?;
    let choice = Choice {
        id: chosen.main(),
        period_s: chosen.period_s,
        missing: chosen.missing,
    };
    let mut all = CHOICES.lock().unwrap_or_else(PoisonError::into_inner);
    all.get_or_insert_default().insert(key, choice.clone());
    Ok(choice)
}

/// Opens the sensor that was chosen; none without one.
fn open(named: Option<&str>, choice: &Choice) -> Vec<Box<dyn Sensor>> {
    let Some(id) = &choice.id else {
        return Vec::new();
    };
    let all = found(named).into_iter().flatten();
    all.filter(|s| s.info().id == *id).take(1).collect()
}

/// Reads a sensor from `begin` to `end`.
#[pyclass(frozen, module = "greenup._native")]
pub struct Recorder {
    named: Option<String>,
    under_way: Mutex<Option<UnderWay>>,
}

struct UnderWay {
    start: f64,
    choice: Choice,
    quantity: Option<Quantity>,
    stop: Sender<()>,
    reader: Option<JoinHandle<(Vec<Trace>, Vec<String>)>>,
}

#[pymethods]
impl Recorder {
    #[new]
    #[pyo3(signature = (sensor=None))]
    fn new(sensor: Option<String>) -> Self {
        Self {
            named: sensor,
            under_way: Mutex::new(None),
        }
    }

    /// Begins the block.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        if self.lock().is_some() {
            return Err(begun());
        }
        let choice = choice(py, self.named.as_deref())?;
        let sensors = open(self.named.as_deref(), &choice);
        let quantity = sensors.first().map(|s| s.info().quantity);
        let (stop, stopped) = channel();
        let reader = quantity.is_some().then(|| {
            let (ready, is_ready) = channel();
            let interval = (choice.period_s / 10.0).clamp(0.001, 0.02);
            let reader = std::thread::spawn(move || read(sensors, interval, &ready, &stopped));
            // The first reading lies before the work. A reader that ended says so by closing the channel.
            let _ = py.detach(move || is_ready.recv());
            reader
        });
        // Never held while the interpreter is left.
        let mut under_way = self.lock();
        if under_way.is_some() {
            return Err(begun());
        }
        *under_way = Some(UnderWay {
            start: now_s(),
            choice,
            quantity,
            stop,
            reader,
        });
        Ok(())
    }

    /// Ends the block: a dict ``seconds``, ``joules``, ``why``, ``sensor``, ``changes``, ``period``, ``notes``.
    fn end<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let end = now_s();
        let Some(u) = self.lock().take() else {
            return Err(PyRuntimeError::new_err("this measurement has not begun"));
        };
        let _ = u.stop.send(());
        let (traces, notes) = match u.reader {
            Some(reader) => py.detach(|| reader.join()).unwrap_or_default(),
            None => Default::default(),
        };
        let seconds = end - u.start;
        let trace = traces.first();
        let joules = u.quantity.zip(trace).map(|(quantity, t)| {
            // The newest sample of power may be older than the end of the block.
            let near = energy(quantity, &t.readings, u.start, end, None).or_else(|e| match e {
                NoEnergy::NotReached => energy_near(quantity, &t.readings, u.start, end),
                e => Err(e),
            });
            match (near, &t.error) {
                (_, Some(e)) => Err(e.to_string()),
                (Ok(j), None) if j >= 0.0 => Ok(j),
                (Ok(_), None) => Err("the sensor counted backwards".to_owned()),
                (Err(NoEnergy::NotReached), None) => {
                    Err("the sensor gave no reading around the block".to_owned())
                }
                (Err(e), None) => Err(e.to_string()),
            }
        });
        let changes = trace.map_or(0, |t| {
            let inside = t
                .readings
                .iter()
                .filter(|r| r.at_s >= u.start && r.at_s <= end);
            let values: Vec<f64> = inside.map(|r| r.value).collect();
            values.windows(2).filter(|w| w[0] != w[1]).count()
        });
        let (joules, why) = match joules {
            Some(Ok(j)) => (Some(j), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, Some(u.choice.missing.clone().unwrap_or_default())),
        };
        let out = PyDict::new(py);
        out.set_item("seconds", seconds)?;
        out.set_item("joules", joules)?;
        out.set_item("why", why)?;
        out.set_item("sensor", u.choice.id)?;
        out.set_item("changes", changes)?;
        out.set_item("period", u.choice.period_s)?;
        out.set_item("notes", notes)?;
        Ok(out)
    }
}

impl Recorder {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<UnderWay>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn begun() -> PyErr {
    PyRuntimeError::new_err("this measurement has begun already")
}

fn read(
    mut sensors: Vec<Box<dyn Sensor>>,
    interval: f64,
    ready: &Sender<()>,
    stopped: &Receiver<()>,
) -> (Vec<Trace>, Vec<String>) {
    await_first(&mut sensors, FIRST_S);
    let work = || {
        let _ = ready.send(());
        // Closed where the recorder is gone.
        let _ = stopped.recv();
    };
    let traces = sample(&mut sensors, interval, work).1;
    let notes = sensors.first().map_or_else(Vec::new, |s| s.notes());
    (traces, notes)
}

/// Measures calls of a function by the protocol of the library: warm-up, windows, repeats.
#[pyfunction]
#[pyo3(signature = (function, args, kwargs, *, sensor, window, repeats, error, warmup))]
#[expect(clippy::too_many_arguments)] // The wrapper in Python has them by name.
pub fn measure_calls(
    py: Python<'_>,
    function: Py<PyAny>,
    args: Py<PyTuple>,
    kwargs: Option<Py<PyDict>>,
    sensor: Option<&str>,
    window: f64,
    repeats: (usize, usize),
    error: f64,
    warmup: f64,
) -> PyResult<Py<PyAny>> {
    let positive = |x: f64| x > 0.0 && x.is_finite();
    if !(positive(window) && positive(error) && warmup >= 0.0 && warmup.is_finite()) {
        return Err(PyValueError::new_err(
            "window and error must be above 0, warmup not negative",
        ));
    }
    if repeats.0 < 1 || repeats.1 < repeats.0 {
        return Err(PyValueError::new_err(
            "repeats is a pair of the fewest and the most windows, at least 1",
        ));
    }
    let choice = choice(py, sensor)?;
    let policy = Policy {
        window_s: window,
        warmup_s: warmup,
        min_repeats: repeats.0,
        max_repeats: repeats.1,
        rel_error: error,
        ..Policy::quick()
    };
    let mut meter = Meter::new(open(sensor, &choice), choice.period_s, policy);
    let call = |py: Python<'_>| {
        let kwargs = kwargs.as_ref().map(|k| k.bind(py));
        function.bind(py).call(args.bind(py), kwargs).map(drop)
    };
    let mut work = |seconds: f64| -> PyResult<Run> {
        Python::attach(|py| {
            let start = Instant::now();
            let mut iterations = 0.0;
            loop {
                call(py)?;
                iterations += 1.0;
                let passed = start.elapsed().as_secs_f64();
                if passed >= seconds {
                    return Ok(Run {
                        iterations,
                        seconds: passed,
                    });
                }
                py.check_signals()?;
            }
        })
    };
    let measured = py.detach(|| meter.measure(&Quiet, &mut work))?;
    let out = object(py, &measured)?;
    if let Ok(d) = out.bind(py).cast::<PyDict>() {
        d.set_item("missing", choice.missing)?;
    }
    Ok(out)
}

struct Quiet;

impl Observer for Quiet {}

/// Adds them to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Recorder>()?;
    module.add_function(wrap_pyfunction!(measure_calls, module)?)
}
