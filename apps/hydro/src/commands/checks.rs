//! Checks before a run starts: names of outputs, memory.

use crate::commands::settings::Settings;
use crate::commands::{animation, mark};
use greenup_app::Result;
use greenup_app::output::FIGURES;
use greenup_files::Outputs;
use greenup_hydro::HydroError;
use greenup_hydro::fem::element::Shape;
use greenup_hydro::output::checkpoint::Input;
use greenup_hydro::problem::memory::Size;
use std::path::Path;

/// Checks all outputs: they can be written, have a known format, and are no inputs.
///
/// # Errors
/// The first output that fails a check.
pub fn outputs(s: &Settings) -> Result {
    let mut o = Outputs::new();
    for (_, path) in s.input_files() {
        o.input(path);
    }
    let (radial, line) = (s.profile_drawing(), s.figures.line_drawing());
    // As flags name them first.
    let pictures = [FIGURES[1], FIGURES[0], FIGURES[2]];
    for (path, endings) in [
        (s.checkpoint.as_deref(), &[][..]),
        (s.history.as_deref(), &["csv"]),
        (s.png.as_deref(), &pictures),
        (s.profile_file.as_deref(), &["csv"]),
        (radial.as_deref(), &["png"]),
        (s.figures.line_out.as_deref(), &["csv"]),
        (line.as_deref(), &["png"]),
        (s.figures.html.as_deref(), &["html"]),
        (s.figures.animation.as_deref(), &animation::ENDINGS),
    ] {
        if let Some(path) = path {
            o.file(path, endings)?;
        }
    }
    for drawing in [radial, line].into_iter().flatten() {
        mark::check_drawing(&drawing)?;
    }
    let mark = s.mark.as_deref().unwrap_or_default();
    if let Some(path) = &s.checkpoint {
        mark::check_checkpoint(path, mark)?;
    }
    if let Some(folder) = &s.vtu {
        o.folder(folder)?;
    }
    Ok(())
}

/// The input files of the run, with their checksums.
///
/// # Errors
/// A file cannot be read.
pub fn inputs(s: &Settings) -> Result<Vec<Input>> {
    s.input_files()
        .into_iter()
        .map(|(flag, path)| Ok(Input::of(flag, Path::new(path))?))
        .collect()
}

/// Checks that a mesh fits into memory.
///
/// # Errors
/// It does not fit.
pub fn size(s: &Settings, shape: Shape, zones: f64) -> std::result::Result<(), HydroError> {
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
