//! Strategies on several recordings or with several budgets: a table of means.

use super::outputs;
use super::steered::{Predictions, predictions};
use crate::args::ReplayArgs;
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::{interrupt, print};
use greenup_report::table::Columns;
use greenup_tune::replay::{Comparison, Reached, compare};
use greenup_tune::search::Budget;
use greenup_tune::strategy::StrategyError;
use greenup_tune::synthetic::{Synthetic, sweep};
use greenup_tune::{Strategy, Sweep, strategy};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

/// A recorded sweep, or a generated one by its name.
pub fn recorded(path: &Path) -> Result<Sweep> {
    let name = path.to_str().filter(|_| !path.exists());
    match name.and_then(|n| n.parse::<Synthetic>().ok()) {
        Some(of) => Ok(sweep(of)),
        None => search::recorded(path),
    }
}

pub fn run(args: &ReplayArgs) -> Result {
    let to = outputs(args, &["csv"])?;
    let shares = args.budget.iter().map(|b| match b {
        Budget::Share(x) => Ok(*x),
        _ => Err(
            AppError::new("a table needs budgets that are shares of the configs")
                .hint("for example --budget 5%,10%,20%"),
        ),
    });
    let budgets = shares.collect::<Result<Vec<f64>>>()?;
    let [objective] = args.objective[..] else {
        return Err(AppError::new("a table has one objective").hint("name one --objective"));
    };
    let mut strategies: Vec<String> = Vec::new();
    for name in &args.strategy {
        if name != "steered" {
            strategy(name, None).map_err(|e| AppError::new(e.to_string()))?;
        }
        if !strategies.contains(name) {
            strategies.push(name.clone());
        }
    }
    let what = Comparison {
        strategies: &strategies,
        budgets: &budgets,
        seeds: args.seeds as u64,
        first_seed: args.seed,
        objective,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let mut all: Vec<Reached> = Vec::new();
    for path in &args.recorded {
        let sweep = super::aimed(args, recorded(path)?)?;
        let predicted = predictions(args, &sweep)?;
        if strategies.iter().any(|s| s == "steered") && predicted.is_none() {
            return Err(AppError::new(StrategyError::NoSteering.to_string())
                .hint("name the sweep's --problem and a --machine"));
        }
        // Each was checked above.
        let make = |name: &str| -> Box<dyn Strategy> {
            let steering = predicted.as_ref().map(Predictions::steering);
            strategy(name, steering).unwrap_or_else(|_| unreachable!("a strategy that was checked"))
        };
        let mut rows = compare(&sweep, what, &make, &interrupt::requested)
            .map_err(|e| AppError::new(format!("{}: {e}", path.display())))?;
        for row in &mut rows {
            row.sweep = path.display().to_string();
        }
        if !args.json {
            for budget in &budgets {
                line(&rows, *budget);
            }
        }
        all.append(&mut rows);
        if interrupt::requested() {
            return Err(AppError::interrupted("stopped: the table is not whole"));
        }
    }
    if let Some(to) = &to {
        let columns = Columns::<Reached>::new()
            .text("sweep", "", |r| r.sweep.clone())
            .count("configs", "", |r| r.configs as u64)
            .text("budget", "", |r| r.budget.to_string())
            .count("evaluations", "", |r| r.evaluations as u64)
            .text("strategy", "", |r| r.strategy.clone())
            .count("seeds", "", |r| r.fractions.len() as u64)
            .text("mean", "", |r| format!("{:.5}", r.mean))
            .text("half_width_95", "", |r| format!("{:.5}", r.half_width));
        to.write(columns.csv(&all).as_bytes())?;
        to.print_name();
    }
    if args.json {
        print::json(&json!({ "objective": objective.to_string(), "rows": all }))
    } else {
        Ok(())
    }
}

/// One recording with one budget, all strategies, best first.
fn line(rows: &[Reached], budget: f64) {
    let mut rows: Vec<&Reached> = rows.iter().filter(|r| r.budget == budget).collect();
    rows.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    let Some(first) = rows.first() else { return };
    let mut text = format!(
        "{}, {} of {} configs:",
        print::bold(&first.sweep),
        first.evaluations,
        first.configs
    );
    for r in rows {
        let _ = write!(text, " {} {:.4} ± {:.4};", r.strategy, r.mean, r.half_width);
    }
    print::line(text.trim_end_matches(';'));
}
