//! Fields for ParaView while a run goes on, and what it leaves at its end.

use crate::settings::Settings;
use greenup_files::FolderLock;
use greenup_hydro::HydroError;
use greenup_hydro::engine::State;
use greenup_hydro::hydro::Hydro;
use greenup_hydro::output::{Field, picture, profile, pvd, read_pvd, vtu};
use greenup_report::png::png;
use std::path::PathBuf;

/// Files of ParaView, one every so often.
pub struct Frames {
    folder: PathBuf,
    /// Time between files.
    every: f64,
    next: f64,
    /// Number of the next file.
    number: usize,
    files: Vec<(f64, String)>,
    /// Two runs would mix their files.
    _lock: FolderLock,
}

const LIST: &str = "run.pvd";

impl Frames {
    /// Starts the files of a run, or goes on with those of a folder up to a checkpoint's time.
    ///
    /// # Errors
    /// The folder cannot be made, or another run writes into it.
    pub fn new(s: &Settings, restart: Option<f64>) -> Result<Option<Self>, HydroError> {
        let Some(folder) = &s.vtu else {
            return Ok(None);
        };
        let lock = FolderLock::acquire(folder)?;
        let mut files = match restart {
            None => Vec::new(),
            Some(_) => read_pvd(&folder.join(LIST))?,
        };
        let now = restart.unwrap_or(0.0);
        files.retain(|(t, _)| *t <= now * (1.0 + 1e-12));
        let number = files
            .iter()
            .filter_map(|(_, name)| {
                let digits = name.strip_prefix("fields_")?.strip_suffix(".vtu")?;
                digits.parse::<usize>().ok()
            })
            .max()
            .map_or(0, |n| n.saturating_add(1));
        let mut out = Self {
            folder: folder.clone(),
            every: s.t_final() / s.frames() as f64,
            // A folder without files of this run begins with where the run is.
            next: now,
            number,
            files,
            _lock: lock,
        };
        if !out.files.is_empty() {
            out.skip(now);
        }
        Ok(Some(out))
    }

    /// Whether it is time for one.
    pub fn due(&self, t: f64) -> bool {
        t >= self.next * (1.0 - 1e-12)
    }

    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, h: &Hydro, s: &State, t: f64) -> Result<(), HydroError> {
        let name = format!("fields_{:04}.vtu", self.number);
        vtu(&self.folder.join(&name), h, s)?;
        self.number += 1;
        self.files.push((t, name));
        pvd(&self.folder.join(LIST), &self.files)?;
        self.skip(t);
        Ok(())
    }

    /// The next multiple of the time between files after this time.
    fn skip(&mut self, t: f64) {
        let t = t * (1.0 + 1e-12);
        let mut n = (t / self.every).floor();
        while n * self.every <= t {
            n += 1.0;
        }
        self.next = n * self.every;
    }
}

/// The picture and the profile of the end; what the profile says.
///
/// # Errors
/// A file cannot be written, or there is nothing to draw.
pub fn last(s: &Settings, h: &Hydro, state: &State, t: f64) -> Result<Vec<String>, HydroError> {
    let mut out = Vec::new();
    if let Some(path) = &s.png {
        let field = s.field.unwrap_or(Field::Density);
        greenup_files::write(path, picture(h, state, field, t)?)?;
    }
    if let (Some(path), Some(drawing)) = (&s.profile_file, s.profile_drawing()) {
        let p = profile(h, state, t, s.e0());
        greenup_files::write(path, p.csv())?;
        let drawn = png(&p.svg(), 1.5).map_err(|e| HydroError(e.to_string()))?;
        greenup_files::write(drawing, &drawn)?;
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
