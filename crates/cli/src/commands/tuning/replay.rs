//! `greenup replay`.

use crate::args::{BudgetArg, ReplayArgs};
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::{interrupt, print};
use greenup_tune::replay::{Budget, Replay, replay};
use greenup_tune::{Sweep, strategy};
use serde::Serialize;
use std::sync::Mutex;

#[derive(Serialize)]
struct Answer<'a> {
    recorded: String,
    strategy: &'a str,
    objective: String,
    seed: u64,
    #[serde(flatten)]
    found: &'a Replay,
}

/// Many seeds of one strategy.
#[derive(Serialize)]
struct Many<'a> {
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

pub fn run(args: &ReplayArgs) -> Result {
    let sweep = search::recorded(&args.recorded)?;
    let n = sweep.trials.len();
    let budget = match args.budget {
        BudgetArg::Evaluations(e) => Budget::Evaluations(e),
        BudgetArg::Seconds(s) => Budget::Seconds(s),
        BudgetArg::Share(x) => Budget::Evaluations(((n as f64 * x).round() as usize).max(1)),
    };
    if args.seeds > 1 {
        return many(args, &sweep, budget);
    }
    let found = once(args, &sweep, budget, args.seed)?;
    if args.json {
        return print::json(&Answer {
            recorded: args.recorded.display().to_string(),
            strategy: &args.strategy,
            objective: args.objective[0].to_string(),
            seed: args.seed,
            found: &found,
        });
    }
    print::line(format!(
        "{}: {} configs on {}, {} evaluated by `{}`, {} failed; {:.1} simulated seconds",
        print::bold(&sweep.facts.name),
        n,
        sweep.facts.device,
        found.evaluations,
        args.strategy,
        found.failures,
        found.clock_s
    ));
    let Some(best) = &found.best else {
        return Err(AppError::new("every trial failed: nothing was found")
            .hint("give a larger --budget, or another --seed"));
    };
    let config = print::named(sweep.facts.parameters.iter().zip(&best.config));
    print::line(format!(
        "best {} = {:e} after {} evaluations, {:.2} % of the optimum of the recording",
        args.objective[0],
        best.value,
        best.evaluation,
        100.0 * found.fraction
    ));
    print::line(format!("  {}", config));
    let rows = found
        .trace
        .iter()
        .map(|s| {
            vec![
                s.evaluation.to_string(),
                format!("{:.1}", s.clock_s),
                format!("{:e}", s.value),
                format!("{:.2} %", 100.0 * found.optimum / s.value),
            ]
        })
        .collect();
    print::line("");
    print::table(&["evaluation", "clock s", "value", "of optimum"], rows);
    Ok(())
}

fn once(args: &ReplayArgs, sweep: &Sweep, budget: Budget, seed: u64) -> Result<Replay> {
    let mut s = strategy(&args.strategy, None).map_err(|e| AppError::new(e.to_string()))?;
    replay(sweep, &args.objective, s.as_mut(), budget, seed)
        .map_err(|e| AppError::new(e.to_string()))
}

fn many(args: &ReplayArgs, sweep: &Sweep, budget: Budget) -> Result {
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
                    match once(args, sweep, budget, args.seed + k) {
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
    let fractions: Vec<f64> = results.iter().map(|(_, r)| r.fraction).collect();
    if fractions.is_empty() {
        return Err(AppError::new("stopped before a seed was done"));
    }
    let count = fractions.len() as f64;
    let answer = Many {
        recorded: args.recorded.display().to_string(),
        strategy: &args.strategy,
        objective: args.objective[0].to_string(),
        evaluations: results[0].1.evaluations,
        seeds: fractions.len(),
        mean_fraction: fractions.iter().sum::<f64>() / count,
        median_fraction: greenup_meter::stats::median(&fractions),
        worst_fraction: fractions.iter().copied().fold(1.0, f64::min),
        found_optimum: fractions.iter().filter(|f| **f > 1.0 - 1e-9).count() as f64 / count,
        fractions,
    };
    if args.json {
        return print::json(&answer);
    }
    print::line(format!(
        "{} `{}` {}: {} seeds of {} evaluations reach, as a share of the best recorded config: mean {:.4}, median {:.4}, worst {:.4}; {:.0} % of the seeds found it",
        sweep.facts.name,
        answer.strategy,
        answer.objective,
        answer.seeds,
        answer.evaluations,
        answer.mean_fraction,
        answer.median_fraction,
        answer.worst_fraction,
        100.0 * answer.found_optimum
    ));
    Ok(())
}
