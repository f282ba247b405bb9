//! What a machine says of the phases, from their operations and bytes.

use greenup_fmm::FmmError;
use greenup_fmm::real::Real;
use greenup_fmm::work::Phase;
use greenup_model::{Machine, MachineError, Op, Work, predict, predict_clocked};
use serde::Serialize;

/// Of a phase by a machine.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Predicted {
    pub time_s: f64,
    /// Where the machine has costs of energy.
    pub energy_j: Option<f64>,
}

/// A machine by name, or from a file.
///
/// # Errors
/// There is none, or it is broken.
pub fn machine(name: &str) -> Result<Machine, FmmError> {
    greenup_app::machine::load(name).map_err(|e| {
        FmmError(match e.hint() {
            Some(hint) => format!("{e}; {hint}"),
            None => e.to_string(),
        })
    })
}

/// Each phase alone, one after the other; roots go the faster of two ways: on a unit of special functions, or as an estimate
/// and steps of Newton.
///
/// # Errors
/// The machine lacks the cost of a class.
pub fn phases<R: Real>(machine: &Machine, work: &[Phase]) -> Result<Vec<Predicted>, FmmError> {
    let ways: &[bool] = match machine.cost_of(Op::Special) {
        Ok(_) => &[true, false],
        Err(_) => &[false],
    };
    work.iter()
        .map(|phase| {
            let all = ways
                .iter()
                .map(|&special| one(machine, &phase.work::<R>(special)?))
                .collect::<Result<Vec<_>, FmmError>>()?;
            let fastest = |a: &Predicted, b: &Predicted| a.time_s.total_cmp(&b.time_s);
            Ok(all.into_iter().min_by(fastest).unwrap_or_default())
        })
        .collect()
}

fn one(machine: &Machine, work: &Work) -> Result<Predicted, FmmError> {
    let wrong = |e: MachineError| FmmError(format!("{}: {e}", machine.name));
    // Nothing to do is nothing to pay for.
    if work.iter().next().is_none() {
        return Ok(Predicted::default());
    }
    if machine.clock.is_some() {
        let p = predict_clocked(machine, work).map_err(wrong)?;
        return Ok(Predicted {
            time_s: p.time_s,
            energy_j: Some(p.energy_j),
        });
    }
    let p = predict(machine, work).map_err(wrong)?;
    Ok(Predicted {
        time_s: p.time_s,
        energy_j: p.energy_j,
    })
}
