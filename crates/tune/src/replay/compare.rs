//! Strategies against each other: all of them on all recordings with all budgets, with many seeds.

use super::{Recording, ReplayError};
use crate::objective::Objective;
use crate::search::Budget;
use crate::strategy::Strategy;
use crate::sweep::Sweep;
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How near to the optimum a strategy comes on one recording with one budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reached {
    /// Name of the recording.
    pub sweep: String,
    /// Number of its configs.
    pub configs: usize,
    /// Share of them that is measured.
    pub budget: f64,
    /// The same as a number of evaluations.
    pub evaluations: usize,
    /// The strategy.
    pub strategy: String,
    /// Mean of the optimum over the best found.
    pub mean: f64,
    /// Half width of the 95 % interval of the mean.
    pub half_width: f64,
    /// Each seed's, in the order of the seeds.
    pub fractions: Vec<f64>,
}

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// Names of the strategies.
    pub strategies: &'a [String],
    /// Shares of the configs that are measured.
    pub budgets: &'a [f64],
    /// Number of seeds, from the first.
    pub seeds: u64,
    /// First seed.
    pub first_seed: u64,
    /// What is minimised.
    pub objective: Objective,
    /// Threads that work on it.
    pub threads: usize,
}

/// Mean of values and half the width of its 95 % interval (normal).
pub fn mean_and_half_width(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, 1.96 * (squares / (n - 1.0).max(1.0) / n).sqrt())
}

/// Runs all strategies with all budgets and seeds on a recording. `make` gives a new strategy of a name; `stop` ends the
/// work early, with what is whole.
///
/// # Errors
/// The recording has no value for the objective.
pub fn compare(
    sweep: &Sweep,
    what: Comparison,
    make: &(dyn Fn(&str) -> Box<dyn Strategy> + Sync),
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Reached>, ReplayError> {
    let recording = Recording::new(sweep, &[what.objective])?;
    let seeds = what.seeds as usize;
    let cells: Vec<(f64, &String)> = (what.budgets.iter())
        .flat_map(|b| what.strategies.iter().map(move |s| (*b, s)))
        .collect();
    let fractions: Vec<Mutex<Vec<(u64, f64)>>> = cells.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= cells.len() * seeds || stop() {
                return;
            }
            let (share, name) = cells[k / seeds];
            let seed = what.first_seed + (k % seeds) as u64;
            let found = recording.replay(make(name).as_mut(), Budget::Share(share), seed);
            if let Ok(mut all) = fractions[k / seeds].lock() {
                all.push((seed, found.fraction));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..what.threads.max(1) {
            scope.spawn(work);
        }
    });
    Ok(cells
        .iter()
        .zip(fractions)
        .filter_map(|((budget, strategy), all)| {
            let mut all = all.into_inner().ok()?;
            if all.len() < seeds {
                return None;
            }
            all.sort_by_key(|a| a.0);
            let fractions: Vec<f64> = all.into_iter().map(|a| a.1).collect();
            let (mean, half_width) = mean_and_half_width(&fractions);
            Some(Reached {
                sweep: sweep.facts.name.clone(),
                configs: sweep.trials.len(),
                budget: *budget,
                evaluations: Budget::Share(*budget).limits(sweep.trials.len() as u64).0,
                strategy: (*strategy).clone(),
                mean,
                half_width,
                fractions,
            })
        })
        .collect())
}
