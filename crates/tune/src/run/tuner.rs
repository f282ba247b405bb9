//! The loop: ask the strategy, build ahead, measure one by one, record each before the next.

use super::facts::facts;
use super::finals::{Finalist, RivalResult, Rounds};
use super::plan::{Plan, TuneError};
use super::trial::Bench;
use crate::objective::Objective;
use crate::points::{Indexed, Points as _};
use crate::problem::Problem;
use crate::search::Search;
use crate::strategy::{History, Strategy};
use crate::sweep::{Folder, FolderError, Sweep, Trial};
use greenup_space::Index;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;

/// What a sweep found.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    pub trials: usize,
    pub failures: BTreeMap<&'static str, usize>,
    /// Best first.
    pub finalists: Vec<Finalist>,
    /// In the same rounds as the finalists.
    pub rival: Option<RivalResult>,
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
) -> Result<(Found, Sweep), TuneError> {
    let observer = plan.observer;
    let facts = facts(problem, plan);
    let (mut folder, done) = if plan.resume && Folder::exists(plan.out) {
        Folder::resume(plan.out, &facts)?
    } else {
        (Folder::create(plan.out, &facts)?, Vec::new())
    };
    let libraries = plan.out.join("build");
    std::fs::create_dir_all(&libraries).map_err(|cause| FolderError::Io {
        path: libraries.clone(),
        cause,
    })?;
    let libraries = std::path::absolute(&libraries).unwrap_or(libraries);
    let mut bench = Bench::new(problem, plan, libraries)?;

    let points = Indexed::new(index);
    let mut search = Search::new(strategy, &points, plan.trials, plan.seed);
    let mut trials = done;
    for t in &trials {
        if let Some(p) = index.position(&t.config) {
            search.tell(p, bench.costs(t), t.effort);
        }
    }
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
        rival: None,
        interrupted,
        drift: bench.drift,
    };
    if !interrupted {
        let finals = bench.finals(&trials)?;
        found.finalists = finals.finalists;
        found.rival = finals.rival;
        if let Some(rounds) = finals.rounds {
            let path = plan.out.join(Rounds::FILE);
            let text = serde_json::to_string(&rounds).unwrap_or_default();
            std::fs::write(&path, text).map_err(|cause| FolderError::Io { path, cause })?;
        }
        // Everything in it can be built again.
        let _ = std::fs::remove_dir_all(&bench.builder.libraries);
    }
    Ok((found, Sweep { facts, trials }))
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
