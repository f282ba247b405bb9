//! Time and energy of the phases, predicted by a machine model from their operations and bytes.

use crate::cost_model::PhaseWork;
use crate::precision::Real;
use greenup_app::{AppError, Result};
use greenup_model::{Machine, MachineError, Op, Work, predict, predict_clocked};
use serde::Serialize;

/// Prediction of a phase.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Predicted {
    /// Time, s.
    pub time_s: f64,
    /// Energy, J, if the machine has energy costs.
    pub energy_j: Option<f64>,
}

/// Predicts each phase. Roots take the faster of two methods: a special function unit, or an estimate and Newton steps.
pub fn phases<R: Real>(machine: &Machine, work: &[PhaseWork]) -> Result<Vec<Predicted>> {
    let methods: &[bool] = match machine.cost_of(Op::Special) {
        Ok(_) => &[true, false],
        Err(_) => &[false],
    };
    work.iter()
        .map(|phase| {
            let all = methods
                .iter()
                .map(|&special| one(machine, &phase.work::<R>(special)?))
                .collect::<Result<Vec<_>>>()?;
            let fastest = |a: &Predicted, b: &Predicted| a.time_s.total_cmp(&b.time_s);
            Ok(all.into_iter().min_by(fastest).unwrap_or_default())
        })
        .collect()
}

fn one(machine: &Machine, work: &Work) -> Result<Predicted> {
    let failed = |e: MachineError| AppError::new(format!("{}: {e}", machine.name));
    if work.iter().next().is_none() {
        return Ok(Predicted::default());
    }
    if machine.clock.is_some() {
        let p = predict_clocked(machine, work).map_err(failed)?;
        return Ok(Predicted {
            time_s: p.time_s,
            energy_j: Some(p.energy_j),
        });
    }
    let p = predict(machine, work).map_err(failed)?;
    Ok(Predicted {
        time_s: p.time_s,
        energy_j: p.energy_j,
    })
}
