//! What is refused before a run starts: names of outputs, and sizes.

use crate::settings::Settings;
use greenup_files::Outputs;
use greenup_hydro::HydroError;
use greenup_hydro::checkpoint::Input;
use greenup_hydro::element::Shape;
use greenup_hydro::size::Size;
use std::path::Path;

/// Threads of a core that may be asked for.
const THREADS_OF_A_CORE: usize = 4;

/// Makes the thread pool of the process.
///
/// # Errors
/// More threads than the host can run.
pub fn start_threads(threads: Option<usize>) -> Result<(), HydroError> {
    let Some(n) = threads else {
        return Ok(());
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = THREADS_OF_A_CORE * cores;
    if n > most {
        return Err(HydroError(format!(
            "--threads {n}: at most {most} on this host, {THREADS_OF_A_CORE} for each of its {cores} cores"
        )));
    }
    // The first pool of the process.
    let _ = rayon::ThreadPoolBuilder::new()
        .num_threads(n.max(1))
        .build_global();
    Ok(())
}

/// Whether all outputs can be written, say their format, and spare the inputs and each other.
///
/// # Errors
/// The first that cannot.
pub fn outputs(s: &Settings) -> Result<(), HydroError> {
    let mut o = Outputs::new();
    for (_, path) in s.input_files() {
        o.input(path);
    }
    let drawing = s.profile_drawing();
    for (path, endings) in [
        (s.checkpoint.as_deref(), &[][..]),
        (s.history.as_deref(), &["csv"]),
        (s.png.as_deref(), &["png"]),
        (s.profile_file.as_deref(), &["csv"]),
        (drawing.as_deref(), &["png"]),
    ] {
        if let Some(path) = path {
            o.file(path, endings)?;
        }
    }
    if let Some(folder) = &s.vtu {
        o.folder(folder)?;
    }
    Ok(())
}

/// The files that decide a run, with their checksums.
///
/// # Errors
/// One cannot be read.
pub fn inputs(s: &Settings) -> Result<Vec<Input>, HydroError> {
    s.input_files()
        .into_iter()
        .map(|(flag, path)| Input::of(flag, Path::new(path)))
        .collect()
}

/// Refuses a mesh that is too large for the memory.
///
/// # Errors
/// With both sizes.
pub fn size(s: &Settings, shape: Shape, zones: f64) -> Result<(), HydroError> {
    let full = s.is_full(shape);
    let gpu = s.device().starts_with("cuda");
    Size {
        shape,
        zones,
        orders: s.orders(),
        host: (!gpu).then(|| (full, s.ode().rates())),
    }
    .check()
}
