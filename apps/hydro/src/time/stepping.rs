//! Adaptive time stepping: the time step follows the CFL condition of the zones.

use crate::HydroError;
use crate::engine::Engine;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// Time and step counts of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Current time.
    pub t: f64,
    /// Next time step.
    pub dt: f64,
    /// The same without the cut of a last step, which ends at the final time: what a longer run goes on with.
    pub free: f64,
    /// Number of accepted steps.
    pub steps: usize,
    /// Number of rejected steps.
    pub rejected: usize,
}

/// Results of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Number of accepted steps.
    pub steps: usize,
    /// Number of rejected steps.
    pub rejected: usize,
    /// Final time.
    pub t: f64,
    /// Next time step.
    pub dt: f64,
    /// Euclidean norm of the energy coefficients.
    pub e_norm: f64,
    /// Total internal energy.
    pub internal: f64,
    /// Total kinetic energy.
    pub kinetic: f64,
    /// Relative change of the total energy since the start; `None` if a wall moves, whose work is not known.
    pub energy_drift: Option<f64>,
}

/// Why a run ended before the final time.
#[derive(Debug, thiserror::Error)]
pub enum Termination {
    /// The engine or an output failed.
    #[error(transparent)]
    Failed(#[from] HydroError),
    /// Zones invert at any time step.
    #[error("zones invert at t = {t} in step {step}, however small it is")]
    Inverted {
        /// Time of the last accepted state.
        t: f64,
        /// Number of the failed step, from 1.
        step: usize,
    },
    /// The time step is too small to change the time.
    #[error("the time step {dt:e} of step {step} is too small to advance the time t = {t}")]
    Collapsed {
        /// Time of the last accepted state.
        t: f64,
        /// The time step.
        dt: f64,
        /// Number of the step, from 1.
        step: usize,
    },
}

/// Maximum number of consecutive rejected steps.
const MOST_REJECTED: usize = 200;
/// Smallest time step divided by the time reached: smaller ones would not end.
const LEAST: f64 = 1e-8;

impl Clock {
    /// The clock at t = 0, for an initial state with this rate (see [`Engine`]).
    ///
    /// # Errors
    /// The initial state allows no time step.
    pub fn new(rate: f64, cfl: f64) -> Result<Self, HydroError> {
        let dt = cfl / rate;
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(HydroError::Step(
                "the start allows no time step: nothing moves, or a zone is inverted".into(),
            ));
        }
        Ok(Self {
            t: 0.0,
            dt,
            free: dt,
            steps: 0,
            rejected: 0,
        })
    }

    /// Advances the engine to time `end`, or until `most` steps in total or `stop`. Calls `seen` after each accepted
    /// step; its error ends the run. The engine must be in the state of the clock.
    ///
    /// # Errors
    /// Zones invert at any time step, or the engine or `seen` fails.
    pub fn advance(
        &mut self,
        engine: &mut dyn Engine,
        cfl: f64,
        (end, most): (f64, Option<usize>),
        stop: &AtomicBool,
        seen: &mut dyn FnMut(&Self, &mut dyn Engine) -> Result<(), HydroError>,
    ) -> Result<(), Termination> {
        // A repeated step looks at its first stage too.
        let mut first = 0.0_f64;
        let mut again = 0;
        while self.t < end && most.is_none_or(|n| self.steps < n) && !stop.load(Ordering::Relaxed) {
            if self.t + self.dt <= self.t {
                return Err(Termination::Collapsed {
                    t: self.t,
                    dt: self.dt,
                    step: self.steps + 1,
                });
            }
            let (last, full) = (self.t + self.dt >= end, self.dt);
            if last {
                self.dt = end - self.t;
            }
            let allowed = cfl / engine.step(self.dt)?.max(first);
            if allowed < self.dt {
                first = engine.reject()?;
                self.dt *= 0.85;
                self.rejected += 1;
                again += 1;
                if again > MOST_REJECTED || self.dt < LEAST * self.t {
                    return Err(Termination::Inverted {
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
            self.free = if last { full.max(self.dt) } else { self.dt };
            seen(self, engine)?;
        }
        Ok(())
    }

    /// Results of the run; `start` is the total energy of the initial state, `None` if walls do work.
    ///
    /// # Errors
    /// The device is lost.
    pub fn report(
        &self,
        engine: &mut dyn Engine,
        start: Option<f64>,
    ) -> Result<Report, HydroError> {
        let (internal, kinetic) = engine.energies()?;
        Ok(Report {
            steps: self.steps,
            rejected: self.rejected,
            t: self.t,
            dt: self.dt,
            e_norm: engine.energy_norm()?,
            internal,
            kinetic,
            energy_drift: start.map(|start| (internal + kinetic - start) / start),
        })
    }
}
