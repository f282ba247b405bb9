//! Kernels that an earlier run tuned, and those that this run tunes.

use crate::commands::settings::Settings;
use greenup_app::{Result, wisdom};
use greenup_device::DeviceSpec;
use greenup_hydro::engine::Engine;
use greenup_hydro::hydro::Hydro;
use greenup_hydro::tuning::tuner::Tuner;
use greenup_hydro::tuning::wisdom::{candidate, entry};
use greenup_wisdom::Device as Known;

/// What is tuned: a problem's element on a device.
pub struct Tuned<'a> {
    h: &'a Hydro,
    full: bool,
    /// Whether kernels of earlier runs are used: neither named nor tuned now, and not where all hosts must run the same.
    reads: bool,
    /// `None` where several devices share the zones.
    device: Option<Known>,
}

impl<'a> Tuned<'a> {
    /// What a run with these settings tunes.
    ///
    /// # Errors
    /// There is no such GPU.
    pub fn new(h: &'a Hydro, s: &Settings, device: &DeviceSpec) -> Result<Self> {
        Ok(Self {
            h,
            full: s.is_full(h.space.element.shape),
            reads: !s.tune && !s.reproducible && s.kernels.is_none(),
            device: Known::here(device)?,
        })
    }

    /// Uses the kernels of the nearest entry of wisdom; returns which they are, or `None` without one.
    ///
    /// # Errors
    /// A file of wisdom is invalid, or the device is lost.
    pub fn choose(&self, engine: &mut dyn Engine) -> Result<Option<String>> {
        let candidates = engine.candidates();
        let Some(device) = (self.device.as_ref()).filter(|_| self.reads && candidates.len() > 1)
        else {
            return Ok(None);
        };
        let known = wisdom::load()?;
        let Some((n, choice)) = candidate(&known, self.h, self.full, device, &candidates) else {
            return Ok(None);
        };
        wisdom::note("kernels of a step", &choice);
        if n > 0 {
            engine.choose(n)?;
        }
        Ok(Some(format!("{}: {}", choice.text(), candidates[n])))
    }

    /// Keeps the candidate that the tuner found as wisdom.
    pub fn keep(&self, tuner: &Tuner, n: usize) {
        if let (Some(device), Some(time_s)) = (&self.device, tuner.median_s(n)) {
            let names = tuner.names();
            let new = entry(
                self.h,
                self.full,
                device.clone(),
                &names[n],
                (time_s, names.len()),
            );
            wisdom::keep_winners(vec![new], "run again with --wisdom FILE to keep it");
        }
    }
}
