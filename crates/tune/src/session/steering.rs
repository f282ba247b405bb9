//! Predicted costs of the points of a space, for the strategy `steered`.

use super::SessionError;
use crate::objective::{Cost, Objective};
use crate::problem::Problem;
use crate::strategy::Steering;
use greenup_model::{Machine, predict};
use greenup_space::Index;

/// Points that are predicted at most.
const MAX_POINTS: u64 = 1_000_000;

/// The machine model's prediction of each point; `None` where the problem states no work.
///
/// # Errors
/// The machine cannot predict the objective of any point.
pub(super) fn steering(
    machine: &Machine,
    problem: &Problem,
    index: &Index,
    objective: Objective,
) -> Result<Option<Steering>, SessionError> {
    if !problem.has_work() {
        return Ok(None);
    }
    // Predicted here, so that the strategy holds numbers only.
    let table: Vec<Option<f64>> = (0..index.len().min(MAX_POINTS))
        .map(|i| {
            let work = problem.work(&index.get(i)?).ok()?;
            let p = predict(machine, &work).ok()?;
            let cost = Cost {
                metric: None,
                time_s: p.time_s,
                energy_j: p.energy_j,
            };
            objective.value(cost, Some(work.flops()))
        })
        .collect();
    if table.iter().all(Option::is_none) {
        return Err(SessionError::Unpredictable {
            machine: machine.name.clone(),
            objective,
        });
    }
    Ok(Some(Box::new(move |p| {
        usize::try_from(p).ok().and_then(|i| table.get(i).copied()?)
    })))
}
