//! The loop: ask the strategy, build ahead, measure one by one, record each before the next.

use crate::error::TuneError;
use crate::objective::Objective;
use crate::plan::Plan;
use crate::points::{Indexed, Points as _};
use crate::problem::Problem;
use crate::search::Search;
use crate::strategy::{History, Strategy};
use crate::sweep::{Folder, Rounds, Sweep, Trial};
use crate::trial::bench::Bench;
use crate::trial::facts::facts;
use crate::trial::remeasure::{BaselineResult, Finalist};
use greenup_files::Scratch;
use greenup_meter::Observer;
use greenup_space::Index;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;

/// Result of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// Number of trials.
    pub trials: usize,
    /// Number of failed trials by failure.
    pub failures: BTreeMap<&'static str, usize>,
    /// Best first.
    pub finalists: Vec<Finalist>,
    /// In the same rounds as the finalists.
    pub baseline: Option<BaselineResult>,
    /// Whether the user stopped the search.
    pub interrupted: bool,
    /// The baseline's time now over its first: how much the machine drifted, least and most.
    pub drift: Option<(f64, f64)>,
}

/// Runs a sweep over the points of an index.
///
/// # Errors
/// The folder, the reference, or that nothing at all worked.
pub fn tune(
    problem: &Problem,
    index: &Index,
    strategy: &mut dyn Strategy,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<(Found, Sweep), TuneError> {
    let facts = facts(problem, plan);
    let (mut folder, done) = if plan.resume && Folder::exists(&plan.out) {
        Folder::resume(&plan.out, &facts, &plan.accept)?
    } else {
        (Folder::create(&plan.out, &facts)?, Sweep::default())
    };
    for warning in &done.warnings {
        observer.note(warning);
    }
    let scratch = Scratch::create(&plan.out)?;
    let mut bench = Bench::new(problem, plan, observer, scratch.path().to_owned())?;

    let points = Indexed::new(index);
    let mut search = Search::new(strategy, &points, plan.trials, plan.seed);
    let mut trials = done.trials;
    trials.retain(|t| match index.position(&t.config) {
        Some(p) => {
            search.tell(p, bench.costs(t), t.effort);
            true
        }
        None => {
            let values: Vec<String> = t.config.iter().map(ToString::to_string).collect();
            let config = values.join(", ");
            observer.note(&format!(
                "a recorded trial is left out: its config ({config}) is not a point of the space"
            ));
            false
        }
    });
    let start = Instant::now();
    let late = || start.elapsed().as_secs_f64() >= plan.seconds;
    observer.stage("tuning", search.most());
    for _ in 0..trials.len().min(search.most()) {
        observer.step("recorded before");
    }
    let mut interrupted = false;
    while !late()
        && let Some(proposals) = search.ask()
    {
        let builder = bench.builder.clone();
        let end = builder.each(&proposals, &points, &mut |p, made| {
            if search.over() || late() {
                return ControlFlow::Break(Ok(()));
            }
            if observer.cancelled() {
                interrupted = true;
                return ControlFlow::Break(Ok(()));
            }
            let trial = match bench.trial(points.config(p.point), p.effort, made) {
                Ok(Some(trial)) => trial,
                Ok(None) => {
                    interrupted = true;
                    return ControlFlow::Break(Ok(()));
                }
                Err(fault) => return ControlFlow::Break(Err(TuneError::from(fault))),
            };
            if let Err(e) = folder.append(&trial) {
                return ControlFlow::Break(Err(e.into()));
            }
            search.tell(p.point, bench.costs(&trial), p.effort);
            observer.step(&message(&trial, &search.history, plan.objectives[0]));
            trials.push(trial);
            ControlFlow::Continue(())
        });
        if let ControlFlow::Break(end) = end {
            end?;
            break;
        }
    }
    if observer.cancelled() {
        interrupted = true;
    }
    let mut failures = BTreeMap::new();
    for (f, _) in trials.iter().filter_map(Trial::failure) {
        *failures.entry(f.name()).or_insert(0) += 1;
    }
    let mut found = Found {
        trials: trials.len(),
        failures,
        finalists: Vec::new(),
        baseline: None,
        interrupted,
        drift: bench.drift,
    };
    let mut finals_found = None;
    if !interrupted {
        let finals = bench.finals(&trials)?;
        found.finalists = finals.finalists;
        found.baseline = finals.baseline;
        if let Some(rounds) = finals.rounds {
            let text = serde_json::to_string(&rounds).unwrap_or_default();
            greenup_files::write(plan.out.join(Rounds::FILE), text)?;
            finals_found = Some(rounds);
        }
    }
    let sweep = Sweep {
        facts,
        trials,
        finals: finals_found,
        warnings: done.warnings,
    };
    Ok((found, sweep))
}

fn message(t: &Trial, history: &History, objective: Objective) -> String {
    let best = history
        .best()
        .map_or_else(|| "none yet".into(), |(_, v)| format!("{v:.4e}"));
    match t.failure() {
        Some((f, _)) => format!("best {objective} {best} | last failed: {}", f.name()),
        None => format!("best {objective} {best}"),
    }
}
