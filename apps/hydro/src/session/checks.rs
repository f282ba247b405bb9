//! Checks before a run starts: names of outputs, memory, settings that would change nothing.

use crate::HydroError;
use crate::fem::element::Shape;
use crate::hydro::Hydro;
use crate::mesh::{INNER, Mesh};
use crate::output::MeshLines;
use crate::output::animation::ENDINGS;
use crate::output::checkpoint::Input;
use crate::problem::Problem;
use crate::problem::memory::Size;
use crate::session::mark;
use crate::session::settings::Settings;
use greenup_app::output::FIGURES;
use greenup_app::{AppError, Result};
use greenup_files::Outputs;
use greenup_ranks::Ranks;
use greenup_setting::setting;
use hashbrown::HashSet;
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
        (s.figures.animation.as_deref(), &ENDINGS),
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
        .map(|(name, path)| Ok(Input::of(&format!("--{name}"), Path::new(path))?))
        .collect()
}

/// Checks that a mesh fits into memory.
///
/// # Errors
/// It does not fit.
pub fn size(s: &Settings, shape: Shape, zones: f64) -> std::result::Result<(), HydroError> {
    let full = s.is_full(shape);
    let gpu = s.device().is_gpu();
    Size {
        shape,
        zones,
        orders: s.orders(),
        host: (!gpu).then(|| (full, s.ode().rates())),
    }
    .check()
}

/// Refuses walls of attributes that no face of the mesh has, of which each rank has a part.
///
/// # Errors
/// The problem file defines such a wall.
pub fn walls(problem: &Problem, mesh: &Mesh, ranks: &dyn Ranks) -> Result {
    let mut numbers: Vec<u32> = problem.walls().into_keys().collect();
    numbers.sort_unstable();
    let here: HashSet<u32> = mesh.boundary.values().map(|n| n & !INNER).collect();
    let mut there: Vec<f64> = (numbers.iter())
        .map(|n| f64::from(u8::from(here.contains(n))))
        .collect();
    ranks.max(&mut there);
    match numbers.iter().zip(&there).find(|(_, has)| **has == 0.0) {
        Some((n, _)) => Err(AppError::new(format!(
            "[walls]: {n}: the mesh has no face of attribute {n}"
        ))
        .hint("take the wall out, or name another mesh")),
        None => Ok(()),
    }
}

/// Refuses materials of a problem file that no zone has, of which each rank has a part.
///
/// # Errors
/// A material has no zone.
pub fn materials(hydro: &Hydro, ranks: &dyn Ranks) -> Result {
    let Some(user) = hydro.problem.user() else {
        return Ok(());
    };
    let mut there = vec![0.0; user.materials()];
    for m in &hydro.material {
        there[*m as usize] = 1.0;
    }
    ranks.max(&mut there);
    match there.iter().position(|has| *has == 0.0) {
        Some(m) => Err(AppError::new(format!(
            "material {}: no zone has it: no centre of a zone fits its `where` and `attribute`{}",
            m + 1,
            if m == 0 {
                ""
            } else {
                ", or earlier materials have them all"
            }
        ))
        .hint("correct it, take it out, or refine the mesh")),
        None => Ok(()),
    }
}

/// The error of a setting that changes nothing.
pub fn no_effect(name: &'static str, why: &str) -> AppError {
    AppError::new(format!("{} has no effect here: {why}", setting(name)))
}

impl Settings {
    /// These settings on the device of others.
    pub fn on(&self, others: &Self) -> Self {
        Self {
            device: others.device.clone(),
            tune: others.tune,
            ..self.clone()
        }
    }

    /// Refuses settings that change nothing of a run on its device.
    ///
    /// # Errors
    /// A setting has no effect.
    pub fn only_with_effect(&self, problem: &Problem) -> Result {
        let (gpu, both) = (self.device().is_gpu(), self.device().is_shared());
        let cuda = setting("device").to("cuda");
        let cuda_and_cpu = setting("device").to("cuda+cpu");
        let is_sedov = problem.point_energy(1.0) != problem.point_energy(2.0);
        let needs = [
            (
                self.e0.is_some() && !is_sedov,
                "e0",
                "it is the energy of the Sedov problem; a problem file has `point_energy`"
                    .to_owned(),
            ),
            (
                self.kernels.is_some() && !gpu,
                "kernels",
                format!("they are parameters of GPU kernels; add {cuda}"),
            ),
            (
                self.share.is_some() && !both,
                "share",
                format!("one device computes all zones; add {cuda_and_cpu}"),
            ),
            (
                self.period.is_some() && !self.tune && !both,
                "period",
                format!(
                    "nothing is tuned or balanced; add {} or {cuda_and_cpu}",
                    setting("tune").on()
                ),
            ),
        ];
        match needs.into_iter().find(|(without, ..)| *without) {
            Some((_, name, why)) => Err(no_effect(name, &why)),
            None => Ok(()),
        }
    }

    /// Refuses settings of outputs that are not written.
    ///
    /// # Errors
    /// A setting has no effect.
    pub fn only_of_outputs(&self) -> Result {
        let f = &self.figures;
        let pictures = self.png.is_some() || f.animation.is_some() || f.html.is_some();
        let lines = f.line_out.is_some() || f.html.is_some();
        let (animation, html) = (setting("animation"), setting("html"));
        let picture = format!(
            "there is no picture; add {}, {animation} or {html}",
            setting("png")
        );
        let needs = [
            (
                self.every.is_some() && self.checkpoint.is_none(),
                "every",
                format!("there are no checkpoints; add {}", setting("checkpoint")),
            ),
            (
                self.snapshots.is_some() && self.vtu.is_none(),
                "snapshots",
                format!("there are no snapshots; add {}", setting("vtu")),
            ),
            (f.field.is_some() && !pictures, "field", picture.clone()),
            (f.log_color && !pictures, "log_color", picture.clone()),
            (
                f.color_range.is_some() && !pictures,
                "color_range",
                picture.clone(),
            ),
            (
                f.mesh_lines != MeshLines::default() && !pictures,
                "mesh_lines",
                picture.clone(),
            ),
            (!f.slices.is_empty() && !pictures, "slice", picture.clone()),
            (f.surface && !pictures, "surface", picture),
            (
                !f.lines.is_empty() && !lines,
                "line",
                format!(
                    "there are no line-outs; add {} or {html}",
                    setting("line_out")
                ),
            ),
            (
                f.animation_frames.is_some() && f.animation.is_none(),
                "animation_frames",
                format!("there is no animation; add {animation}"),
            ),
        ];
        match needs.into_iter().find(|(without, ..)| *without) {
            Some((_, name, why)) => Err(no_effect(name, &why)),
            None => Ok(()),
        }
    }
}
