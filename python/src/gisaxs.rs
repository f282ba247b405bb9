//! X-ray scattering: what `greenup.gisaxs` calls.

use crate::arrays::rows;
use crate::convert::file_error;
use crate::errors::{GisaxsError, hinted, of_application};
use crate::run::run;
use greenup_app::{AppError, pool};
use greenup_device::{DeviceSpec, Usable};
use greenup_gisaxs::fit::report::json;
use greenup_gisaxs::fit::{FitInput, fit};
use greenup_gisaxs::form::Polyhedron;
use greenup_gisaxs::image::{About, picture};
use greenup_gisaxs::mesh::Mesh;
use greenup_gisaxs::mesh_form_factor::{QGrid, Settings, Watch, prepare};
use greenup_gisaxs::sample::{Sample, Value};
use greenup_gisaxs::scattering::dwba::Scene;
use greenup_gisaxs::scattering::layers;
use greenup_gisaxs::{Complex64, GisaxsError as Error, session};
use greenup_ranks::Alone;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// An error as Python has it.
pub fn raised(e: Error) -> PyErr {
    match e {
        Error::Io(e) => file_error(&e),
        e => app(e.into()),
    }
}

fn app(e: AppError) -> PyErr {
    of_application::<GisaxsError>(&e)
}

/// The CPU, or GPUs, of a name.
fn gpus(name: &str) -> PyResult<DeviceSpec> {
    Usable::SEVERAL.parse(name).map_err(|e| app(e.into()))
}

/// A sample: what its text is (`path`, `toml` or `json`), the text, and where relative paths in it start.
#[derive(FromPyObject)]
struct Page(String, String, PathBuf);

impl Page {
    fn read(&self) -> Result<Sample, Error> {
        let Self(kind, text, _) = self;
        match kind.as_str() {
            "path" => Sample::read(Path::new(text)),
            "json" => {
                let table = serde_json::from_str(text)
                    .map_err(|e| Error::Sample(format!("the sample: {e}")))?;
                Sample::of_table(table)
            }
            _ => Sample::parse(text),
        }
    }
}

/// A value at a path of the sample.
#[derive(FromPyObject)]
enum Set {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Page {
    /// The sample with other values at some paths.
    fn with(&self, set: Vec<(String, Set)>) -> PyResult<Sample> {
        let values: Vec<(String, Value)> = (set.into_iter())
            .map(|(path, value)| {
                let value = match value {
                    Set::Bool(b) => Value::Boolean(b),
                    Set::Integer(n) => Value::Integer(n),
                    Set::Float(x) => Value::Float(x),
                    Set::Text(t) => Value::String(t),
                };
                (path, value)
            })
            .collect();
        let sample = self.read().and_then(|s| s.with_values(&values));
        sample.map_err(raised)
    }
}

/// A scene, which draws its images.
#[pyclass(frozen, module = "greenup._native")]
pub struct GisaxsScene {
    scene: Mutex<Scene>,
    title: String,
}

#[pymethods]
impl GisaxsScene {
    /// Titles and ends of both axes, columns first.
    fn axes(&self) -> Vec<(String, f64, f64)> {
        let scene = lock(&self.scene);
        let axes = scene.detector.axes();
        axes.map(|(title, a, b)| (title.to_owned(), a, b)).to_vec()
    }

    /// φ and α of all pixels, degrees, `[row][column]` each.
    fn angles<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<f64>>; 2] {
        let scene = lock(&self.scene);
        let d = &scene.detector;
        let (mut phi, mut alpha) = (Vec::new(), Vec::new());
        for r in 0..d.rows() {
            for c in 0..d.columns() {
                let (p, a) = d.angles(r, c);
                phi.push(p.to_degrees());
                alpha.push(a.to_degrees());
            }
        }
        [phi.into_pyarray(py), alpha.into_pyarray(py)]
    }

    /// A figure of an image of this scene: `svg`, `png` or `pdf`.
    fn figure(
        &self,
        py: Python<'_>,
        pixels: PyReadonlyArray1<'_, f64>,
        format: &str,
    ) -> PyResult<Vec<u8>> {
        let pixels = pixels
            .as_slice()
            .map_err(|_| PyValueError::new_err("the image must be C-contiguous"))?;
        py.detach(|| {
            let scene = lock(&self.scene);
            if pixels.len() != scene.detector.rows() * scene.detector.columns() {
                return Err(PyValueError::new_err(
                    "the image has another size than its detector",
                ));
            }
            let about = About {
                title: self.title.clone(),
                ..About::default()
            };
            picture(pixels, &scene, &about)
                .file(format, &Default::default())
                .map_err(|e| GisaxsError::new_err(e.to_string()))
        })
    }
}

fn lock<T>(m: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    m.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Watch) -> PyResult<Option<T>> + Send,
) -> PyResult<T> {
    pool::start(None).map_err(app)?;
    let done = run(py, |stop| {
        work(&Watch {
            progress: &|_| {},
            stop: stop.flag(),
        })
    })??;
    done.ok_or_else(|| GisaxsError::new_err("stopped"))
}

/// Pixels, rows and columns, and the scene.
type Picture<'py> = (Bound<'py, PyArray1<f64>>, (usize, usize), GisaxsScene);

/// What a user must know of a result, as warnings of the line that asked for it.
fn warn(py: Python<'_>, notes: &[String]) -> PyResult<()> {
    let kind = py.get_type::<PyUserWarning>();
    for note in notes {
        // A zero within would end it.
        let text = CString::new(note.replace('\0', " ")).unwrap_or_default();
        PyErr::warn(py, &kind, &text, 2)?;
    }
    Ok(())
}

/// Simulates an image; returns its pixels, lowest row first, their rows and columns, and the scene.
#[pyfunction]
fn gisaxs_simulate<'py>(
    py: Python<'py>,
    page: Page,
    set: Vec<(String, Set)>,
    device: String,
    accuracy: f64,
) -> PyResult<Picture<'py>> {
    let (pixels, scene, notes) = watched(py, |watch| {
        let sample = page.with(set)?;
        let numeric = session::settings(&gpus(&device)?, (0, 1), accuracy).map_err(app)?;
        let mut scene = sample.scene(&page.2).map_err(raised)?;
        scene.numeric = numeric;
        let pixels = scene.image(watch).map_err(raised)?;
        let mut notes = sample.warnings();
        notes.extend(scene.notes.iter().cloned());
        Ok(pixels.map(|p| (p, scene, notes)))
    })?;
    warn(py, &notes)?;
    let size = (scene.detector.rows(), scene.detector.columns());
    let title = match page.0.as_str() {
        "path" => Path::new(&page.1)
            .file_stem()
            .map_or_else(String::new, |s| s.to_string_lossy().into_owned()),
        _ => String::new(),
    };
    let scene = GisaxsScene {
        scene: Mutex::new(scene),
        title,
    };
    Ok((pixels.into_pyarray(py), size, scene))
}

/// The solid inside a mesh; `None` if stopped.
fn solid(
    vertices: &[[f64; 3]],
    triangles: &[[i64; 3]],
    weld: bool,
    watch: &Watch,
) -> PyResult<Option<Polyhedron>> {
    let n = vertices.len();
    let index = |(k, t): (usize, &[i64; 3])| {
        let corner = |i: i64| usize::try_from(i).ok().filter(|i| *i < n);
        match t.map(corner) {
            [Some(a), Some(b), Some(c)] => Ok([a, b, c]),
            _ => Err(PyValueError::new_err(format!(
                "triangle {k} is {t:?}: indices must lie between 0 and {}, as there are {n} vertices",
                n as i64 - 1
            ))),
        }
    };
    let triangles = triangles
        .iter()
        .enumerate()
        .map(index)
        .collect::<PyResult<_>>()?;
    let mesh = Mesh {
        vertices: vertices.to_vec(),
        triangles,
    };
    let welded = if weld && !mesh.triangles.is_empty() {
        mesh.welded_until(watch.stop)
    } else {
        Ok(mesh)
    };
    match welded.and_then(|mesh| Polyhedron::until(&mesh, watch.stop)) {
        Ok(solid) => Ok(Some(solid)),
        Err(Error::Interrupted) => Ok(None),
        Err(e) => {
            let hint = (!weld).then_some("weld=True merges vertices at the same position; triangles are counter-clockwise seen from outside");
            Err(hinted(raised(e), hint))
        }
    }
}

/// F at some grids, in their order.
fn at_grids(
    form: &Polyhedron,
    grids: &[QGrid],
    settings: &Settings,
    watch: &Watch,
) -> PyResult<Option<Vec<Complex64>>> {
    let Some(ready) = prepare(form, grids, settings, &Alone, watch).map_err(raised)? else {
        return Ok(None);
    };
    let Some(values) = ready.grids(grids, watch).map_err(raised)? else {
        return Ok(None);
    };
    let mut parts = values.into_iter();
    let mut all = parts.next().unwrap_or_default();
    for part in parts {
        all.extend(part);
    }
    if let Some(n) = all.iter().position(|f| !f.is_finite()) {
        return Err(GisaxsError::new_err(format!(
            "F of q number {n} is beyond the range of numbers"
        )));
    }
    Ok(Some(all))
}

/// F at a list of q: columns q_x, q_y, Re q_z, Im q_z.
#[pyfunction]
fn gisaxs_form_factor<'py>(
    py: Python<'py>,
    vertices: PyReadonlyArray2<'py, f64>,
    triangles: PyReadonlyArray2<'py, i64>,
    weld: bool,
    q: PyReadonlyArray2<'py, f64>,
    accuracy: f64,
    device: String,
) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
    let (vertices, triangles) = (rows(&vertices, "vertices")?, rows(&triangles, "triangles")?);
    let q: &[[f64; 4]] = rows(&q, "q")?;
    let all = watched(py, |watch| {
        let settings = session::settings(&gpus(&device)?, (0, 1), accuracy).map_err(app)?;
        let Some(form) = solid(vertices, triangles, weld, watch)? else {
            return Ok(None);
        };
        if q.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let Some(grids) = QGrid::joined(q, watch.stop).map_err(raised)? else {
            return Ok(None);
        };
        at_grids(&form, &grids, &settings, watch)
    })?;
    Ok(all.into_pyarray(py))
}

/// F on a tensor grid, `[qz][qx][qy]`.
#[pyfunction]
fn gisaxs_form_factor_grid<'py>(
    py: Python<'py>,
    vertices: PyReadonlyArray2<'py, f64>,
    triangles: PyReadonlyArray2<'py, i64>,
    weld: bool,
    xy: (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>),
    z: PyReadonlyArray1<'py, Complex64>,
    how: (f64, String),
) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
    let (accuracy, device) = how;
    let (x, y, z) = (xy.0.to_vec()?, xy.1.to_vec()?, z.to_vec()?);
    let (vertices, triangles) = (rows(&vertices, "vertices")?, rows(&triangles, "triangles")?);
    let all = watched(py, |watch| {
        let settings = session::settings(&gpus(&device)?, (0, 1), accuracy).map_err(app)?;
        let Some(form) = solid(vertices, triangles, weld, watch)? else {
            return Ok(None);
        };
        let count = x
            .len()
            .checked_mul(y.len())
            .and_then(|n| n.checked_mul(z.len()));
        if count.is_none_or(|n| n > 1 << 30) {
            return Err(PyValueError::new_err("the grid has more than 2^30 points"));
        }
        if count == Some(0) {
            return Ok(Some(Vec::new()));
        }
        at_grids(&form, &[QGrid::grid(&x, &y, &z)], &settings, watch)
    })?;
    Ok(all.into_pyarray(py))
}

/// Reflectivity at some grazing angles, degrees.
#[pyfunction]
fn gisaxs_reflectivity<'py>(
    py: Python<'py>,
    page: Page,
    set: Vec<(String, Set)>,
    angles: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let angles = angles
        .as_slice()
        .map_err(|_| PyValueError::new_err("angles must be C-contiguous"))?;
    let (all, notes) = watched(py, |watch| {
        let sample = page.with(set)?;
        let stack = sample.stack(&page.2).map_err(raised)?;
        let k0 = sample.wave_number().map_err(raised)?;
        let mut notes = sample.warnings();
        notes.extend(layers::notes(&stack));
        match layers::reflectivities(&stack, k0, angles, watch.stop) {
            Err(Error::Invalid(message)) => Err(PyValueError::new_err(message)),
            found => Ok(found.map_err(raised)?.map(|all| (all, notes))),
        }
    })?;
    warn(py, &notes)?;
    Ok(all.into_pyarray(py))
}

/// Fits a sample to data; returns the result as JSON.
#[pyfunction]
fn gisaxs_fit(py: Python<'_>, path: PathBuf, device: String) -> PyResult<String> {
    let (found, notes) = watched(py, |watch| {
        let input = FitInput::read(&path).map_err(raised)?;
        let dir = path.parent().unwrap_or(Path::new("."));
        let mut target = input.target(dir).map_err(raised)?;
        target.on = session::accelerator(&gpus(&device)?, (0, 1)).map_err(app)?;
        let found = fit(&input, &target, &Alone, &|_| {}, watch).map_err(raised)?;
        Ok(found.map(|found| {
            let mut notes = target.sample.warnings();
            notes.extend(target.left_out.warning());
            notes.extend(found.warnings(&target));
            (json(&target, &found).to_string(), notes)
        }))
    })?;
    warn(py, &notes)?;
    Ok(found)
}

/// Adds the functions to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<GisaxsScene>()?;
    module.add_function(wrap_pyfunction!(gisaxs_simulate, module)?)?;
    module.add_function(wrap_pyfunction!(gisaxs_form_factor, module)?)?;
    module.add_function(wrap_pyfunction!(gisaxs_form_factor_grid, module)?)?;
    module.add_function(wrap_pyfunction!(gisaxs_reflectivity, module)?)?;
    module.add_function(wrap_pyfunction!(gisaxs_fit, module)?)
}
