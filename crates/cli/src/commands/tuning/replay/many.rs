//! A strategy repeated with several seeds.

use crate::args::ReplayArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{interrupt, print};
use greenup_study::pages::replay::Repeated;
use greenup_tune::replay::{Replay, replay};
use greenup_tune::search::Budget;
use greenup_tune::{Sweep, strategy};
use serde::Serialize;
use std::sync::Mutex;

/// Many seeds of one strategy.
#[derive(Serialize)]
pub struct Many<'a> {
    recorded: String,
    strategy: &'a str,
    objective: String,
    evaluations: usize,
    seeds: usize,
    mean_fraction: f64,
    median_fraction: f64,
    worst_fraction: f64,
    found_optimum: f64,
    fractions: Vec<f64>,
}

impl<'a> Many<'a> {
    /// The shares of the optimum that the repetitions reached.
    pub fn of(args: &ReplayArgs, all: &'a Repeated) -> Self {
        let fractions: Vec<f64> = all.runs.iter().map(|r| r.fraction).collect();
        let count = fractions.len() as f64;
        Self {
            recorded: args.recorded[0].display().to_string(),
            strategy: &all.strategy,
            objective: args.objective[0].to_string(),
            evaluations: all.runs[0].evaluations,
            seeds: fractions.len(),
            mean_fraction: fractions.iter().sum::<f64>() / count,
            median_fraction: greenup_meter::stats::median(&fractions),
            worst_fraction: fractions.iter().copied().fold(1.0, f64::min),
            found_optimum: fractions.iter().filter(|f| **f > 1.0 - 1e-9).count() as f64 / count,
            fractions,
        }
    }

    /// The same for people.
    pub fn sentence(&self, sweep: &Sweep) -> String {
        format!(
            "{} `{}` {}: {} seeds of {} evaluations reach, as a share of the best recorded config: mean {:.4}, median {:.4}, worst {:.4}; {:.0} % of the seeds found it",
            sweep.facts.name,
            self.strategy,
            self.objective,
            self.seeds,
            self.evaluations,
            self.mean_fraction,
            self.median_fraction,
            self.worst_fraction,
            100.0 * self.found_optimum
        )
    }
}

/// Replays a strategy with all seeds, on all cores.
///
/// # Errors
/// The strategy is unknown, the recording has no value for the objective, or nothing was done before an interrupt.
pub fn repeat(args: &ReplayArgs, sweep: &Sweep, budget: Budget, name: &str) -> Result<Repeated> {
    let results: Mutex<Vec<(u64, Replay)>> = Mutex::new(Vec::new());
    let next = std::sync::atomic::AtomicU64::new(0);
    let failed = Mutex::new(None);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if k >= args.seeds as u64 || interrupt::requested() {
                        return;
                    }
                    match once(args, sweep, budget, (name, args.seed + k)) {
                        Ok(r) => {
                            if let Ok(mut all) = results.lock() {
                                all.push((k, r));
                            }
                        }
                        Err(e) => {
                            if let Ok(mut f) = failed.lock() {
                                f.get_or_insert(e);
                            }
                            return;
                        }
                    }
                }
            });
        }
    });
    if let Some(e) = failed.into_inner().ok().flatten() {
        return Err(e);
    }
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|r| r.0);
    if results.is_empty() {
        return Err(AppError::interrupted("stopped before a seed was done"));
    }
    if results.len() < args.seeds {
        print::warn(format!(
            "stopped: {} of {} seeds of `{name}` were done",
            results.len(),
            args.seeds
        ));
    }
    Ok(Repeated {
        strategy: name.to_owned(),
        runs: results.into_iter().map(|(_, r)| r).collect(),
    })
}

pub(super) fn once(
    args: &ReplayArgs,
    sweep: &Sweep,
    budget: Budget,
    (name, seed): (&str, u64),
) -> Result<Replay> {
    let steering = super::steered::predictions(args, sweep)?.map(|p| p.steering());
    let mut s = strategy(name, steering).map_err(|e| AppError::new(e.to_string()))?;
    replay(sweep, &args.objective, s.as_mut(), budget, seed)
        .map_err(|e| AppError::new(e.to_string()))
}
