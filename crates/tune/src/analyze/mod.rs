//! Explains a sweep: which configs are fastest, which take the least energy, and what separates them
//! (Anzt et al. 2015, section 3).

mod correlate;
pub mod counted;
mod hull;
mod learn;
mod measured_config;
mod tradeoff;

pub use correlate::{Correlation, Split, correlations, splits};
pub use hull::{Hull, Spread, hull};
pub use learn::{Learnt, Model, Prediction, importance, learn, predictions};
pub use measured_config::MeasuredConfig;
pub use tradeoff::{Front, FrontPoint, front};

use crate::objective::Objective;
use crate::sweep::Sweep;
use serde::Serialize;

/// How the kernels spread around the fastest and the lowest-energy one: fig. 5.
#[derive(Clone, Debug, Serialize)]
pub struct Quadrants {
    /// Faster than the lowest-energy one.
    pub right: usize,
    /// Greener than the fastest.
    pub above: usize,
    /// Both.
    pub both: usize,
}

/// What a sweep shows.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// Name of the problem.
    pub name: String,
    /// Device that measured it.
    pub device: String,
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Unit of performance: `flop/s` or `runs/s`.
    pub unit: &'static str,
    /// Number of trials.
    pub trials: usize,
    /// Number of failed trials.
    pub failed: usize,
    /// Fully measured trials, in the order of the sweep.
    pub rows: Vec<MeasuredConfig>,
    /// Whether the final rounds named the fastest or the one of least energy, not single trials.
    pub by_finals: bool,
    /// Rows (not trials) of the winners.
    pub fastest: usize,
    /// Row of lowest energy; `None` without energies.
    pub lowest_energy: Option<usize>,
    /// Convex hull in the plane of performance and efficiency; `None` if a row has no energy or all lie on a line.
    pub hull: Option<Hull>,
    /// Rows faster than the lowest-energy one, more efficient than the fastest one, or both; `None` without a hull.
    pub quadrants: Option<Quadrants>,
    /// Efficiency over the configs as fast as the lowest-energy one.
    pub spread_at_performance: Option<Spread>,
    /// Performance over the configs with no more energy than the fastest.
    pub spread_at_efficiency: Option<Spread>,
    /// Trade-off between time and energy, by the final rounds where a config was measured again; `None` without energies.
    pub front: Option<Front>,
    /// Correlations of parameters and metrics with performance and efficiency.
    pub correlations: Vec<Correlation>,
    /// Mean performance and efficiency above and below the mean of each parameter and metric.
    pub splits: Vec<Split>,
    /// Share of the variation of time, then of energy, that each parameter explains.
    pub importance_time: Vec<f64>,
    /// Share of each parameter in the variation of energy; `None` with too few energies.
    pub importance_energy: Option<Vec<f64>>,
    /// Surrogate model of time; `None` with too few trials.
    pub learnt_time: Option<Learnt>,
    /// Surrogate model of energy; `None` with too few energies.
    pub learnt_energy: Option<Learnt>,
}

/// A sweep that cannot be analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    /// All trials failed.
    #[error("no trial of the sweep was measured")]
    NothingMeasured,
    /// The trials have metrics, but no times.
    #[error("no trial of the sweep has a time, which an analysis is of")]
    NoTimes,
}

/// Analyses a sweep; `share` of it teaches the surrogate.
///
/// # Errors
/// Nothing was measured.
pub fn analyze(sweep: &Sweep, share: f64, seed: u64) -> Result<Analysis, AnalysisError> {
    let work = sweep.facts.flops;
    let flops = work.unwrap_or(1.0);
    let rows: Vec<MeasuredConfig> = sweep
        .trials
        .iter()
        .enumerate()
        .filter(|(_, t)| t.effort >= 1.0)
        .filter_map(|(trial, t)| {
            let c = t.cost().filter(|c| c.time_s.is_finite())?;
            Some(MeasuredConfig {
                trial,
                time_s: c.time_s,
                energy_j: c.energy_j,
                performance: flops / c.time_s,
                efficiency: c.energy_j.map(|e| flops / e),
            })
        })
        .collect();
    let best = |objective: Objective| {
        let winner = sweep.winner(objective)?;
        rows.iter().position(|r| r.trial == winner)
    };
    let Some(fastest) = best(Objective::Time) else {
        return Err(match sweep.measured().next() {
            Some((_, c)) if !c.time_s.is_finite() => AnalysisError::NoTimes,
            _ => AnalysisError::NothingMeasured,
        });
    };
    let lowest_energy = best(Objective::Energy);
    let objective = sweep.facts.objective.as_deref();
    let by_finals = sweep.finals.is_some() && matches!(objective, Some("time" | "energy"));
    // Of stopped trials no energy is known.
    let (of, plane): (Vec<usize>, Vec<(f64, f64)>) = (rows.iter().enumerate())
        .filter_map(|(i, r)| Some((i, (r.performance, r.efficiency?))))
        .unzip();
    let place = |row: usize| of.iter().position(|r| *r == row);
    let mut hull = hull(&plane);
    let (mut quadrants, mut at_performance, mut at_efficiency) = (None, None, None);
    let places = lowest_energy.and_then(place).zip(place(fastest));
    if let (Some((g, f)), Some(h)) = (places, &hull) {
        let right = |p: &(f64, f64)| p.0 > plane[g].0;
        let above = |p: &(f64, f64)| p.1 > plane[f].1;
        quadrants = Some(Quadrants {
            right: plane.iter().filter(|p| right(p)).count(),
            above: plane.iter().filter(|p| above(p)).count(),
            both: plane.iter().filter(|p| right(p) && above(p)).count(),
        });
        at_performance = h.spread(&plane, 0, plane[g].0);
        at_efficiency = h.spread(&plane, 1, plane[f].1);
    }
    // Its corners as rows.
    for corner in hull.iter_mut().flat_map(|h| &mut h.corners) {
        *corner = of[*corner];
    }
    let known: Vec<MeasuredConfig> = rows.iter().map(|r| r.as_known(sweep).0).collect();
    Ok(Analysis {
        name: sweep.facts.name.clone(),
        device: sweep.facts.device.clone(),
        parameters: sweep.facts.parameters.clone(),
        unit: if work.is_some() { "flop/s" } else { "runs/s" },
        trials: sweep.trials.len(),
        failed: sweep.trials.iter().filter(|t| t.cost().is_none()).count(),
        by_finals,
        fastest,
        lowest_energy,
        hull,
        quadrants,
        spread_at_performance: at_performance,
        spread_at_efficiency: at_efficiency,
        front: front(&known),
        correlations: correlations(sweep, &rows),
        splits: splits(sweep, &rows),
        importance_time: importance(sweep, &rows, &|r| Some(r.time_s), seed).unwrap_or_default(),
        importance_energy: importance(sweep, &rows, &|r| r.energy_j, seed),
        learnt_time: learn(sweep, &rows, &|r| Some(r.time_s), share, seed),
        learnt_energy: learn(sweep, &rows, &|r| r.energy_j, share, seed),
        rows,
    })
}
