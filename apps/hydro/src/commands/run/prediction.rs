//! Time and energy of the steps of a run, predicted by a machine model from their operations and bytes.

use crate::engine::{Part, Timings};
use crate::hydro::Hydro;
use crate::session::run::Run;
use crate::tuning::cost_model::of_part;
use greenup_app::{AppError, Result};
use greenup_model::{Machine, predict};
use greenup_report::si::si;
use serde::Serialize;

/// What the corner forces and solves of a run need at least.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Name of the machine.
    pub machine: String,
    /// Time, s.
    pub time_s: f64,
    /// Energy, J, if the machine has energy costs.
    pub energy_j: Option<f64>,
}

impl Prediction {
    /// Of so many evaluations and iterations.
    ///
    /// # Errors
    /// The machine has no cost of an operation.
    pub fn of(machine: &Machine, h: &Hydro, counts: &Timings) -> Result<Self> {
        let one = |part: Part, iterations: f64| {
            predict(machine, &of_part(h, part, iterations))
                .map_err(|e| AppError::new(format!("--machine {}: {e}", machine.name)))
        };
        let (force, solve) = (
            one(Part::Corner, 0.0)?,
            one(Part::Solve, counts.iterations)?,
        );
        let all = counts.evaluations as f64;
        Ok(Self {
            machine: machine.name.clone(),
            time_s: all * force.time_s + solve.time_s,
            energy_j: force.energy_j.zip(solve.energy_j).map(|(f, s)| all * f + s),
        })
    }

    /// Refuses a machine that says nothing of a run, before its steps.
    ///
    /// # Errors
    /// The run has several ranks or full assembly, which the model does not count, or the machine lacks a cost.
    pub fn check(machine: &Machine, run: &Run) -> Result {
        let why = if run.ranks.size() > 1 {
            "the model counts the work of one rank: leave out --ranks, or --machine"
        } else if run.settings.is_full(run.hydro.space.element.shape) {
            "the model counts partial assembly: use --assembly partial, or leave out --machine"
        } else {
            let one = Timings {
                iterations: 1.0,
                evaluations: 1,
                ..Timings::default()
            };
            return Self::of(machine, &run.hydro, &one).map(|_| ());
        };
        Err(AppError::new(format!("--machine {}: {why}", machine.name)))
    }

    /// In words, with the ratio of the measured time.
    pub fn text(&self, wall_s: f64) -> String {
        let energy = self
            .energy_j
            .map_or_else(String::new, |j| format!(", {}", si(j, "J")));
        format!(
            "by the model of {} at least {}{energy}: the steps took {:.3} times as long",
            self.machine,
            si(self.time_s, "s"),
            wall_s / self.time_s
        )
    }
}
