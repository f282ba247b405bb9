//! Watches a run for what makes its results wrong or the run endless, and says each once.

use crate::HydroError;
use crate::commands::run::ranks::of_all;
use crate::engine::{Engine, State, Timings};
use crate::output::faults::{ENERGY, EnergyCheck, limiting_zone, negative};
use crate::session::run::Run;
use crate::time::stepping::{Clock, Report};
use greenup_app::print;
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

/// Depth below 0, as a share of the field's largest value, below which a polynomial's undershoot at a shock is no reason for doubt.
const SMALL: f64 = 0.01;

/// Negative values of a field at a step.
#[derive(Clone)]
struct Depth {
    step: usize,
    zones: f64,
    /// How far below 0, and as a share of the field's largest value.
    value: f64,
    share: f64,
    /// Where.
    place: String,
}

impl Depth {
    /// `in 3 zones, least -5.46e-2 (0.30 % of its largest value) in zone 0 near …`
    fn text(&self) -> String {
        format!(
            "in {} zone{}, least {:.2e} ({:.2} % of its largest value) {}",
            self.zones,
            if self.zones > 1.0 { "s" } else { "" },
            -self.value,
            100.0 * self.share,
            self.place
        )
    }
}

/// Negative values of a field so far.
struct Undershoot {
    field: &'static str,
    first: usize,
    latest: Depth,
    worst: Depth,
}

impl Undershoot {
    fn and(&mut self, now: Depth) {
        if now.value > self.worst.value || now.value.is_nan() {
            self.worst = now.clone();
        }
        self.latest = now;
    }

    /// What to say after the last step, and whether it is a reason for doubt.
    fn ended(&self, last: usize) -> (String, bool) {
        let Self {
            field,
            first,
            latest,
            worst,
        } = self;
        let deepest = format!("deepest seen {:.2e} at step {}", -worst.value, worst.step);
        if latest.step < last {
            let text = format!(
                "the {field} was below 0 {}, first at step {first}, last seen at step {}, and is nowhere at the end (step {last})",
                worst.text(),
                latest.step
            );
            return (text, false);
        }
        let text = format!(
            "the {field} is below 0 {} at the end (step {last}), seen since step {first}, {deepest}: ",
            latest.text()
        );
        if latest.share < SMALL {
            let why = "an undershoot of the polynomials at a shock or jump";
            (text + why, false)
        } else {
            let fix = "values there are unphysical. Fix: compare with a lower --order and another mesh before they are used";
            (text + fix, true)
        }
    }
}

/// What was seen so far.
pub struct Watch {
    run: Arc<Run>,
    energies: EnergyCheck,
    end: f64,
    /// First and largest time step so far, and below which one is said.
    first: f64,
    largest: f64,
    limit: f64,
    undershoots: Vec<Undershoot>,
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
            undershoots: Vec::new(),
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
        let known = self.undershoots.iter().any(|u| u.field == ENERGY);
        if known || on_gpu && !c.steps.is_multiple_of(GPU_PERIOD) {
            return Ok(false);
        }
        Ok(self.energies.any_negative(&engine.energy_coefficients()?))
    }

    /// Notes which fields of a state are negative, and says each once. All ranks call it.
    pub fn state(&mut self, c: &Clock, state: &State) {
        for f in negative(&self.run.hydro, state) {
            let (mut all, mut largest) = ([f.zones as f64], [f.largest]);
            self.run.ranks.sum(&mut all);
            self.run.ranks.max(&mut largest);
            let place = format!("in zone {} near {:.4?}", self.run.number(f.zone), f.at);
            let depth = if f.zones > 0 {
                -f.value
            } else {
                f64::NEG_INFINITY
            };
            let mut deepest = [depth];
            self.run.ranks.max(&mut deepest);
            let place = of_all(&*self.run.ranks, depth, &place);
            let now = Depth {
                step: c.steps,
                zones: all[0],
                value: deepest[0],
                share: deepest[0] / largest[0].max(f64::MIN_POSITIVE),
                place,
            };
            let before = self.undershoots.iter_mut().find(|u| u.field == f.field);
            match before {
                _ if all[0] == 0.0 => {}
                Some(before) => before.and(now),
                None => {
                    if self.run.is_first() {
                        print::note(format!(
                            "the {} is below 0 {} at t = {:.6e} (step {})",
                            f.field,
                            now.text(),
                            c.t,
                            c.steps
                        ));
                    }
                    self.undershoots.push(Undershoot {
                        field: f.field,
                        first: c.steps,
                        latest: now.clone(),
                        worst: now,
                    });
                }
            }
        }
    }

    /// Says of each field that was negative whether it still is. All ranks call it.
    fn undershot(&mut self, c: &Clock) {
        for u in std::mem::take(&mut self.undershoots) {
            let (text, doubtful) = u.ended(c.steps);
            if doubtful {
                self.say(text);
            } else if self.run.is_first() {
                self.messages.push(text);
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
        self.undershot(c);
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
