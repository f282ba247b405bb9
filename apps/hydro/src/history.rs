//! Lines of a CSV file, one a step.

use greenup_hydro::HydroError;
use greenup_hydro::run::Clock;
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub struct History {
    file: std::fs::File,
    path: PathBuf,
}

impl History {
    /// A new file, or more lines of one.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(path: &Path, more: bool) -> Result<Self, HydroError> {
        let mut options = std::fs::OpenOptions::new();
        options
            .create(true)
            .write(true)
            .append(more)
            .truncate(!more);
        let file = options
            .open(path)
            .map_err(|e| HydroError(format!("{} cannot be written: {e}", path.display())))?;
        let mut out = Self {
            file,
            path: path.to_owned(),
        };
        if !more {
            out.line("step,t,next_dt,internal,kinetic,drift")?;
        }
        Ok(out)
    }

    /// # Errors
    /// It cannot be written.
    pub fn add(
        &mut self,
        c: &Clock,
        (internal, kinetic): (f64, f64),
        start: f64,
    ) -> Result<(), HydroError> {
        let drift = (internal + kinetic - start) / start;
        let Clock { steps, t, dt, .. } = c;
        self.line(&format!(
            "{steps},{t:e},{dt:e},{internal:.17e},{kinetic:.17e},{drift:e}"
        ))
    }

    fn line(&mut self, text: &str) -> Result<(), HydroError> {
        writeln!(self.file, "{text}")
            .map_err(|e| HydroError(format!("{} cannot be written: {e}", self.path.display())))
    }
}
