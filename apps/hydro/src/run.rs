//! A run: steps whose size follows what the zones allow.

use crate::HydroError;
use crate::hydro::{Hydro, State, Stresses};
use crate::ode::Ode;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where a run stands.
#[derive(Clone, Debug)]
pub struct Run {
    pub state: State,
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
    /// Change of the total energy over its start.
    pub energy_drift: f64,
}

/// Steps that may be rejected one after the other.
const MOST_REJECTED: usize = 200;

impl Run {
    /// At the start.
    pub fn new(h: &Hydro, state: State) -> Self {
        Self {
            dt: h.stresses(&state).dt,
            state,
            t: 0.0,
            steps: 0,
            rejected: 0,
        }
    }

    /// Goes on until `end` or so many steps in all; `seen` is told of each, and may end the run by an error.
    ///
    /// # Errors
    /// Zones that stay inverted however small the step, or what `seen` says.
    pub fn go(
        mut self,
        h: &Hydro,
        ode: Ode,
        (end, most): (f64, Option<usize>),
        stop: &AtomicBool,
        seen: &mut dyn FnMut(&Self) -> Result<(), HydroError>,
    ) -> Result<Self, HydroError> {
        let mut known: Stresses = h.stresses(&self.state);
        if !(self.dt > 0.0 && self.dt.is_finite()) {
            return Err(HydroError(
                "the start allows no time step: nothing moves, or a zone is inverted".into(),
            ));
        }
        let mut again = 0;
        while self.t < end && most.is_none_or(|n| self.steps < n) && !stop.load(Ordering::Relaxed) {
            let last = self.t + self.dt >= end;
            if last {
                self.dt = end - self.t;
            }
            let step = ode.step(h, &self.state, &known, self.dt);
            let after = h.stresses(&step.state);
            let mut allowed = step.dt.min(after.dt);
            if again > 0 {
                // A repeated step looks at its first stage too.
                allowed = allowed.min(known.dt);
            }
            if allowed < self.dt || step.state.e.iter().any(|e| !e.is_finite()) {
                self.dt *= 0.85;
                self.rejected += 1;
                again += 1;
                if again > MOST_REJECTED {
                    return Err(HydroError(format!(
                        "zones invert at t = {} in step {}, however small it is",
                        self.t,
                        self.steps + 1
                    )));
                }
                continue;
            }
            again = 0;
            self.t = if last { end } else { self.t + self.dt };
            self.steps += 1;
            self.state = step.state;
            known = after;
            if allowed > 1.25 * self.dt {
                self.dt *= 1.02;
            }
            seen(&self)?;
        }
        Ok(self)
    }

    /// Numbers of the run, beside the energy at its start.
    pub fn report(&self, h: &Hydro, start: f64) -> Report {
        let (internal, kinetic) = h.energy(&self.state);
        Report {
            steps: self.steps,
            rejected: self.rejected,
            t: self.t,
            dt: self.dt,
            e_norm: self.state.e.iter().map(|e| e * e).sum::<f64>().sqrt(),
            internal,
            kinetic,
            energy_drift: (internal + kinetic - start) / start,
        }
    }
}
