//! A run: steps whose size follows what the zones allow.

use crate::HydroError;
use crate::engine::Engine;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    pub t: f64,
    /// Of the next step.
    pub dt: f64,
    pub steps: usize,
    pub rejected: usize,
}

/// What is reported of it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub steps: usize,
    pub rejected: usize,
    pub t: f64,
    pub dt: f64,
    pub e_norm: f64,
    pub internal: f64,
    pub kinetic: f64,
    pub energy_drift: f64,
}

/// Why a run ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    #[error(transparent)]
    Wrong(#[from] HydroError),
    /// However small the step, zones invert.
    #[error("zones invert at t = {t} in step {step}, however small it is")]
    Inverted { t: f64, step: usize },
}

/// Steps that may be rejected one after the other, and the share of the whole time that is too short for a step.
const MOST_REJECTED: usize = 200;
const LEAST: f64 = 1e-8;

impl Clock {
    /// At the start of what an engine has taken.
    ///
    /// # Errors
    /// The start allows no step.
    pub fn new(rate: f64, cfl: f64) -> Result<Self, HydroError> {
        let dt = cfl / rate;
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(HydroError(
                "the start allows no time step: nothing moves, or a zone is inverted".into(),
            ));
        }
        Ok(Self {
            t: 0.0,
            dt,
            steps: 0,
            rejected: 0,
        })
    }

    /// Goes on until `end` or so many steps in all; `seen` is told of each, and may end the run by an error. The engine
    /// holds the state of the clock.
    ///
    /// # Errors
    /// Zones that stay inverted however small the step, or what the engine or `seen` says.
    pub fn go(
        &mut self,
        engine: &mut dyn Engine,
        cfl: f64,
        (end, most): (f64, Option<usize>),
        stop: &AtomicBool,
        seen: &mut dyn FnMut(&Self, &mut dyn Engine) -> Result<(), HydroError>,
    ) -> Result<(), Ended> {
        // A repeated step looks at its first stage too.
        let mut first = 0.0_f64;
        let mut again = 0;
        while self.t < end && most.is_none_or(|n| self.steps < n) && !stop.load(Ordering::Relaxed) {
            let last = self.t + self.dt >= end;
            if last {
                self.dt = end - self.t;
            }
            let allowed = cfl / engine.step(self.dt)?.max(first);
            if allowed < self.dt {
                first = engine.reject()?;
                self.dt *= 0.85;
                self.rejected += 1;
                again += 1;
                if again > MOST_REJECTED || self.dt < LEAST * end {
                    return Err(Ended::Inverted {
                        t: self.t,
                        step: self.steps + 1,
                    });
                }
                continue;
            }
            engine.accept()?;
            (again, first) = (0, 0.0);
            self.t = if last { end } else { self.t + self.dt };
            self.steps += 1;
            if allowed > 1.25 * self.dt {
                self.dt *= 1.02;
            }
            seen(self, engine)?;
        }
        Ok(())
    }

    /// Numbers of the run, beside the energy at its start.
    ///
    /// # Errors
    /// The device is lost.
    pub fn report(&self, engine: &mut dyn Engine, start: f64) -> Result<Report, HydroError> {
        let (internal, kinetic) = engine.energies()?;
        let e = engine.state()?.e;
        Ok(Report {
            steps: self.steps,
            rejected: self.rejected,
            t: self.t,
            dt: self.dt,
            e_norm: e.iter().map(|e| e * e).sum::<f64>().sqrt(),
            internal,
            kinetic,
            energy_drift: (internal + kinetic - start) / start,
        })
    }
}
