//! Repeats work on a device without gaps, timed by events.

use super::{OpenClError, Session};
use crate::batches::{self, Repeated};

/// Runs of a batch at most: each launch takes memory of the implementation until it is done.
const MOST: i64 = 2000;

/// Repeats runs of one kind.
#[derive(Default)]
pub struct Repeater {
    /// Estimated time of a run, s.
    once: f64,
    /// Whether it ran before: some implementations compile for a shape at its first launch.
    warm: bool,
}

impl Repeater {
    /// Runs `n` times; returns the seconds on the device.
    ///
    /// # Errors
    /// A run failed.
    pub fn run(
        &mut self,
        session: &Session,
        n: i64,
        one: &mut dyn FnMut() -> Result<(), OpenClError>,
    ) -> Result<f64, OpenClError> {
        let seconds = batches::run(session, n, &mut |n| (0..n).try_for_each(|_| one()))?;
        self.once = seconds / n as f64;
        Ok(seconds)
    }

    /// Repeats for about some seconds; puts the mean of each batch into `times`.
    ///
    /// # Errors
    /// A run failed.
    pub fn window(
        &mut self,
        session: &Session,
        seconds: f64,
        one: &mut dyn FnMut() -> Result<(), OpenClError>,
        times: &mut Vec<f64>,
    ) -> Result<Repeated, OpenClError> {
        if !self.warm {
            self.run(session, 1, one)?;
            self.run(session, 1, one)?;
            self.warm = true;
        }
        let size = batches::batch(seconds, self.once).min(MOST);
        batches::window(
            session,
            seconds,
            size,
            &mut self.once,
            &mut |n| (0..n).try_for_each(|_| one()),
            times,
        )
    }
}
