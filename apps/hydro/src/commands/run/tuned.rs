//! Kernels that an earlier run tuned, and those that this run tunes.

use crate::engine::Engine;
use crate::session::run::Run;
use crate::tuning::tuner::Tuner;
use crate::tuning::wisdom::{candidate, entry};
use greenup_app::{Result, wisdom};
use greenup_wisdom::Device as Known;

/// What is tuned: a problem's element on a device.
pub struct Tuned {
    full: bool,
    /// Whether kernels of earlier runs are used: neither named nor tuned now, and not where all hosts must run the same.
    reads: bool,
    /// `None` where several devices share the zones.
    device: Option<Known>,
}

impl Tuned {
    /// What a run tunes.
    ///
    /// # Errors
    /// There is no such GPU.
    pub fn new(run: &Run) -> Result<Self> {
        let s = &run.settings;
        Ok(Self {
            full: s.is_full(run.hydro.space.element.shape),
            reads: !s.tune && !s.reproducible && s.kernels.is_none(),
            device: Known::here(&run.device)?,
        })
    }

    /// Uses the kernels of the nearest entry of wisdom; returns which they are, or `None` without one.
    ///
    /// # Errors
    /// A file of wisdom is invalid, or the device is lost.
    pub fn choose(&self, run: &Run, engine: &mut dyn Engine) -> Result<Option<String>> {
        let candidates = engine.candidates();
        let Some(device) = (self.device.as_ref()).filter(|_| self.reads && candidates.len() > 1)
        else {
            return Ok(None);
        };
        let known = wisdom::load()?;
        let Some((n, choice)) = candidate(&known, &run.hydro, self.full, device, &candidates)
        else {
            return Ok(None);
        };
        wisdom::note("kernels of a step", &choice);
        if n > 0 {
            engine.choose(n)?;
        }
        Ok(Some(format!("{}: {}", choice.text(), candidates[n])))
    }

    /// Keeps the candidate that the tuner found as wisdom.
    pub fn keep(&self, run: &Run, tuner: &Tuner, n: usize) {
        if let (Some(device), Some(time_s)) = (&self.device, tuner.median_s(n)) {
            let names = tuner.names();
            let new = entry(
                &run.hydro,
                self.full,
                device.clone(),
                &names[n],
                (time_s, names.len()),
            );
            wisdom::keep_winners(vec![new], "run again with --wisdom FILE to keep it");
        }
    }
}
