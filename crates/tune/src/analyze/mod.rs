//! Explains a sweep: which configs are fastest, which greenest, and what separates them
//! (Anzt et al. 2015, section 3).

mod correlate;
pub mod counted;
mod hull;
mod learn;
mod tradeoff;

pub use correlate::{Correlation, Split, correlations, splits};
pub use hull::{Hull, Spread, hull};
pub use learn::{Learnt, Model, importance, learn};
pub use tradeoff::{Front, FrontPoint, front};

use crate::objective::Objective;
use crate::sweep::Sweep;
use serde::Serialize;

/// A measured config as the analysis sees it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Trial of the sweep.
    pub trial: usize,
    pub time_s: f64,
    pub energy_j: Option<f64>,
    /// Flops a second where the work is known, else runs a second.
    pub performance: f64,
    /// Flops a joule, else runs a joule.
    pub efficiency: Option<f64>,
}

/// How the kernels spread around the fastest and the greenest: Fig. 5.
#[derive(Clone, Debug, Serialize)]
pub struct Quadrants {
    /// Faster than the greenest.
    pub right: usize,
    /// Greener than the fastest.
    pub above: usize,
    /// Both.
    pub both: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    pub name: String,
    pub device: String,
    pub parameters: Vec<String>,
    /// Unit of performance: `flop/s` or `runs/s`.
    pub unit: &'static str,
    pub trials: usize,
    pub failed: usize,
    pub rows: Vec<Row>,
    /// Whether the final rounds named the fastest or the one of least energy, not single trials.
    pub by_finals: bool,
    /// Rows (not trials) of the winners.
    pub fastest: usize,
    pub greenest: Option<usize>,
    pub hull: Option<Hull>,
    pub quadrants: Option<Quadrants>,
    /// Efficiency over the configs as fast as the greenest.
    pub spread_at_performance: Option<Spread>,
    /// Performance over the configs as green as the fastest.
    pub spread_at_efficiency: Option<Spread>,
    pub front: Option<Front>,
    pub correlations: Vec<Correlation>,
    pub splits: Vec<Split>,
    /// Share of the variation of time, then of energy, that each parameter explains.
    pub importance_time: Vec<f64>,
    pub importance_energy: Option<Vec<f64>>,
    pub learnt_time: Option<Learnt>,
    pub learnt_energy: Option<Learnt>,
}

/// Analyses a sweep; `share` of it teaches the surrogate.
///
/// # Errors
/// Nothing was measured.
pub fn analyze(sweep: &Sweep, share: f64, seed: u64) -> Result<Analysis, String> {
    let work = sweep.facts.flops;
    let flops = work.unwrap_or(1.0);
    let rows: Vec<Row> = sweep
        .trials
        .iter()
        .enumerate()
        .filter(|(_, t)| t.effort >= 1.0)
        .filter_map(|(trial, t)| {
            let c = t.cost()?;
            Some(Row {
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
        return Err("no trial of the sweep was measured".into());
    };
    let greenest = best(Objective::Energy);
    let objective = sweep.facts.objective.as_deref();
    let by_finals = sweep.finals.is_some() && matches!(objective, Some("time" | "energy"));
    let plane: Option<Vec<(f64, f64)>> = rows
        .iter()
        .map(|r| Some((r.performance, r.efficiency?)))
        .collect();
    let hull = plane.as_deref().and_then(hull);
    let (mut quadrants, mut at_performance, mut at_efficiency) = (None, None, None);
    if let (Some(plane), Some(g), Some(h)) = (&plane, greenest, &hull) {
        let right = |p: &(f64, f64)| p.0 > plane[g].0;
        let above = |p: &(f64, f64)| p.1 > plane[fastest].1;
        quadrants = Some(Quadrants {
            right: plane.iter().filter(|p| right(p)).count(),
            above: plane.iter().filter(|p| above(p)).count(),
            both: plane.iter().filter(|p| right(p) && above(p)).count(),
        });
        at_performance = h.spread(plane, 0, plane[g].0);
        at_efficiency = h.spread(plane, 1, plane[fastest].1);
    }
    Ok(Analysis {
        name: sweep.facts.name.clone(),
        device: sweep.facts.device.clone(),
        parameters: sweep.facts.parameters.clone(),
        unit: if work.is_some() { "flop/s" } else { "runs/s" },
        trials: sweep.trials.len(),
        failed: sweep.trials.iter().filter(|t| t.cost().is_none()).count(),
        by_finals,
        fastest,
        greenest,
        hull,
        quadrants,
        spread_at_performance: at_performance,
        spread_at_efficiency: at_efficiency,
        front: front(&rows),
        correlations: correlations(sweep, &rows),
        splits: splits(sweep, &rows),
        importance_time: importance(sweep, &rows, &|r| Some(r.time_s), seed).unwrap_or_default(),
        importance_energy: importance(sweep, &rows, &|r| r.energy_j, seed),
        learnt_time: learn(sweep, &rows, &|r| Some(r.time_s), share, seed),
        learnt_energy: learn(sweep, &rows, &|r| r.energy_j, share, seed),
        rows,
    })
}
