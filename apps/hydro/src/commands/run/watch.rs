//! Watches a run for what makes its results wrong or the run endless, and says each once.

use crate::HydroError;
use crate::commands::run::ranks::of_all;
use crate::engine::{Engine, State, Timings};
use crate::output::faults::{ENERGY, EnergyCheck, limiting_zone, negative};
use crate::session::run::Run;
use crate::time::stepping::{Clock, Report};
use greenup_app::print;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Drift of the total energy above which a result is doubtful, and above which a run ends.
const DOUBTFUL: f64 = 0.01;
const WRONG: f64 = 1.0;
/// A time step that shrank by this factor, with so many left, has collapsed.
const SHRUNK: f64 = 1e-3;
const MANY_STEPS: f64 = 1e5;
/// Steps after which a first time step has grown, if it can.
const FIRST_STEPS: usize = 50;

/// Steps between the checks of energies on a GPU, from which they are copied.
const GPU_PERIOD: usize = 10;

/// What was said so far.
pub struct Watch {
    run: Arc<Run>,
    energies: EnergyCheck,
    end: f64,
    /// First and largest time step so far, and below which one is said.
    first: f64,
    largest: f64,
    limit: f64,
    said: BTreeSet<&'static str>,
    /// All messages, on the first rank.
    pub messages: Vec<String>,
}

impl Watch {
    pub fn new(run: Arc<Run>, clock: &Clock) -> Self {
        Self {
            end: run.settings.t_final(),
            energies: EnergyCheck::new(&run.hydro.space.element),
            run,
            first: clock.dt,
            largest: clock.dt,
            limit: f64::INFINITY,
            said: BTreeSet::new(),
            messages: Vec::new(),
        }
    }

    fn say(&mut self, text: String) {
        if self.run.is_first() {
            print::warn(&text);
            self.messages.push(text);
        }
    }

    /// Whether the state is needed to say why the time step is small. The same on all ranks.
    pub fn is_collapsed(&mut self, c: &Clock) -> bool {
        self.largest = self.largest.max(c.dt);
        if c.t >= self.end {
            return false;
        }
        let many = (self.end - c.t) / c.dt > MANY_STEPS;
        let shrunk = c.dt < SHRUNK * self.largest;
        let stays = c.steps == FIRST_STEPS && c.dt < 2.0 * self.first;
        let small = many && (shrunk || stays && (self.end - c.t) / c.dt > 1e3 * MANY_STEPS);
        if !small || c.dt > self.limit {
            return false;
        }
        self.limit = SHRUNK * c.dt;
        true
    }

    /// Says which zone makes the time step small. All ranks call it.
    pub fn collapsed(&mut self, c: &Clock, state: &State) {
        let (zone, rate, at) = limiting_zone(&self.run.hydro, state);
        let here = format!("zone {} near {at:.4?}", self.run.number(zone));
        let zone = of_all(&*self.run.ranks, rate, &here);
        self.say(format!(
            "the time step is {:.1e} at t = {:.6e} (step {}), so {:.0e} steps are left: {zone} limits it. Fix: a lower --order, a mesh that follows the flow, or an earlier --t-final",
            c.dt,
            c.t,
            c.steps,
            (self.end - c.t) / c.dt
        ));
    }

    /// Whether a state should be checked for negative fields: from time to time, and as soon as this rank has a negative
    /// energy.
    ///
    /// # Errors
    /// The device is lost.
    pub fn is_suspect(&self, c: &Clock, engine: &mut dyn Engine) -> Result<bool, HydroError> {
        let on_gpu = self.run.device.gpu().is_some();
        if c.steps.is_power_of_two() {
            return Ok(true);
        }
        if self.said.contains(ENERGY) || on_gpu && !c.steps.is_multiple_of(GPU_PERIOD) {
            return Ok(false);
        }
        Ok(self.energies.any_negative(&engine.energy_coefficients()?))
    }

    /// Says which fields of a state are negative, each once. All ranks call it.
    pub fn state(&mut self, c: &Clock, state: &State) {
        let mut found = negative(&self.run.hydro, state);
        for f in &mut found {
            let mut all = [f.zones as f64];
            self.run.ranks.sum(&mut all);
            let here = format!(
                "{:.3e} in zone {} near {:.4?}",
                f.value,
                self.run.number(f.zone),
                f.at
            );
            let depth = if f.zones > 0 {
                -f.value
            } else {
                f64::NEG_INFINITY
            };
            let worst = of_all(&*self.run.ranks, depth, &here);
            if all[0] > 0.0 && self.said.insert(f.field) {
                self.say(format!(
                    "the {} is negative in {} zone{} at t = {:.6e} (step {}), least {worst}: the fields there are wrong. Fix: a finer mesh, a lower --order or a smaller --cfl",
                    f.field,
                    all[0],
                    if all[0] > 1.0 { "s" } else { "" },
                    c.t,
                    c.steps
                ));
            }
        }
    }

    /// Whether the problem conserves its total energy.
    fn is_conserved(&self) -> bool {
        let h = &self.run.hydro;
        !self.run.walls_move && h.gravity.is_none() && !h.problem.source(h.space.dim)
    }

    /// Checks the drift of the total energy while the run goes on.
    ///
    /// # Errors
    /// It is as large as the energy.
    pub fn drift(&self, c: &Clock, drift: f64) -> Result<(), HydroError> {
        if self.is_conserved() && (drift.abs() > WRONG || drift.is_nan()) {
            return Err(HydroError::Step(format!(
                "the total energy has changed by {:.3e} of its value at t = {:.6e} (step {}): the run is unstable. Fix: a smaller --cfl, or --ode rk2avg, which conserves it",
                drift, c.t, c.steps
            )));
        }
        Ok(())
    }

    /// Says what is wrong with the final state: negative fields, energy that was conserved badly, solves that did not
    /// converge. All ranks call it.
    ///
    /// # Errors
    /// The run was unstable.
    pub fn ended(
        &mut self,
        c: &Clock,
        state: &State,
        report: &Report,
        timings: Timings,
    ) -> Result<(), HydroError> {
        self.state(c, state);
        let drift = report.energy_drift.unwrap_or_default();
        if self.is_conserved() && drift.abs() > DOUBTFUL {
            self.say(format!(
                "the total energy has changed by {:.1} %: results are doubtful. Fix: a smaller --cfl, or --ode rk2avg, which conserves it",
                100.0 * drift
            ));
        }
        let most = self.run.hydro.cg_max as f64;
        if timings.solves > 0 && timings.iterations / timings.solves as f64 > 0.9 * most {
            self.say(format!(
                "solves for accelerations end at --cg-max {most} before they converge to --cg-tol {:e}: results are inaccurate",
                self.run.hydro.cg_tol
            ));
        }
        self.drift(c, drift)
    }
}
