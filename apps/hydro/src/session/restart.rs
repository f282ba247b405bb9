//! Checkpoints as runs continue from them.

use crate::engine::State;
use crate::output::checkpoint::{self, Checkpoint, Input, Saved};
use crate::part::Whole;
use crate::problem::Problem;
use crate::session::settings::Settings;
use crate::session::{checks, mark};
use crate::time::stepping::Clock;
use greenup_app::{AppError, Result};
use greenup_setting::setting;
use std::path::Path;

/// The point from which a run continues.
#[derive(Clone)]
pub struct Restart {
    /// Total energy at the start of the run.
    pub energy: f64,
    pub clock: Clock,
    pub state: Saved,
    /// Time between the snapshots of the run that wrote it.
    pub snapshots_every: f64,
}

impl Restart {
    /// Reads a checkpoint; returns its settings and input files too.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn read(path: &Path) -> Result<(Settings, Vec<Input>, Self)> {
        let Checkpoint {
            setup,
            inputs,
            energy,
            clock,
            state,
        } = checkpoint::read::<Settings>(path)?;
        let settings = mark::marked(setup, &inputs);
        let from = Self {
            energy,
            clock,
            state,
            snapshots_every: settings.snapshots_every(),
        };
        Ok((settings, inputs, from))
    }

    /// The last step was cut to end at the final time of then: continues as if it had not been.
    pub fn uncut(mut self) -> Self {
        self.clock.dt = self.clock.free;
        self
    }

    /// The state of the part of a rank, of the same size as `initial`.
    ///
    /// # Errors
    /// It cannot be read, or belongs to another mesh.
    pub fn part(&self, initial: &State, whole: Option<&Whole>) -> Result<State> {
        let fits =
            (self.state.coordinates, self.state.energies) == (initial.x.len(), initial.e.len());
        let part = match whole {
            Some(w) => self.state.part(w)?,
            None => fits.then(|| self.state.whole()).transpose()?,
        };
        part.ok_or_else(|| AppError::new("the checkpoint is of another mesh"))
    }
}

/// The problem of settings that continue a run with these input files.
///
/// # Errors
/// A setting is invalid, or a file has changed.
pub fn problem(s: &Settings, inputs: &[Input]) -> Result<Problem> {
    s.check()?;
    let now = checks::inputs(s)?;
    for ((name, path), now) in s.input_files().into_iter().zip(&now) {
        if inputs
            .iter()
            .any(|i| i.flag.strip_prefix("--") == Some(name) && i.crc32 != now.crc32)
        {
            return Err(AppError::new(format!(
                "{path} changed since the run began; name the original file with {}",
                setting(name)
            )));
        }
    }
    // Its [run] was part of the settings when the run began.
    let named = Settings {
        problem: s.problem.clone(),
        ..Settings::default()
    };
    Ok(named.resolved()?.0)
}
