//! What a run leaves behind for the eye.

use crate::settings::Settings;
use greenup_hydro::HydroError;
use greenup_hydro::engine::State;
use greenup_hydro::hydro::Hydro;
use greenup_hydro::output::{Field, picture, profile, pvd, vtu};
use greenup_report::png::png;
use std::path::{Path, PathBuf};

/// Files of ParaView, one every so often.
pub struct Frames {
    folder: PathBuf,
    every: f64,
    next: f64,
    files: Vec<(f64, String)>,
}

impl Frames {
    /// # Errors
    /// The folder cannot be made.
    pub fn new(s: &Settings, t: f64) -> Result<Option<Self>, HydroError> {
        let Some(folder) = &s.vtu else {
            return Ok(None);
        };
        std::fs::create_dir_all(folder)
            .map_err(|e| HydroError(format!("{} cannot be made: {e}", folder.display())))?;
        let every = s.t_final() / s.frames.unwrap_or(10).max(1) as f64;
        Ok(Some(Self {
            folder: folder.clone(),
            every,
            next: t,
            files: Vec::new(),
        }))
    }

    /// Whether it is time for one.
    pub fn due(&self, t: f64) -> bool {
        t >= self.next * (1.0 - 1e-12)
    }

    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, h: &Hydro, s: &State, t: f64) -> Result<(), HydroError> {
        let name = format!("fields_{:04}.vtu", self.files.len());
        vtu(&self.folder.join(&name), h, s)?;
        self.files.push((t, name));
        pvd(&self.folder.join("run.pvd"), &self.files)?;
        while self.next <= t * (1.0 + 1e-12) {
            self.next += self.every;
        }
        Ok(())
    }
}

fn written(path: &Path, bytes: &[u8]) -> Result<(), HydroError> {
    std::fs::write(path, bytes)
        .map_err(|e| HydroError(format!("{} cannot be written: {e}", path.display())))
}

/// The picture and the profile of the end; what the profile says.
///
/// # Errors
/// A file cannot be written, or there is nothing to draw.
pub fn last(s: &Settings, h: &Hydro, state: &State, t: f64) -> Result<Vec<String>, HydroError> {
    let mut out = Vec::new();
    if let Some(path) = &s.png {
        let field = s.field.unwrap_or(Field::Density);
        written(path, &picture(h, state, field, t)?)?;
    }
    if let Some(path) = &s.profile_file {
        let p = profile(h, state, t, s.e0());
        written(path, p.csv().as_bytes())?;
        let drawn = png(&p.svg(), 1.5).map_err(|e| HydroError(e.to_string()))?;
        written(&path.with_extension("radial.png"), &drawn)?;
        if let (Some(own), Some(exact), Some(error)) =
            (p.shock(), p.exact_shock(), p.density_error())
        {
            out.push(format!(
                "shock at {own:.4}, exact {exact:.4}; mean error of the density {error:.4}"
            ));
        }
    }
    Ok(out)
}
