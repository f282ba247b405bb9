//! A search from its folder to its finalists: what was recorded before, the workers, the trials, the final rounds.

use super::disturbance;
use super::schedule::Schedule;
use crate::command::Runnable;
use crate::error::TuneError;
use crate::objective::{Energies, Objective};
use crate::plan::{Plan, WorkerSetup};
use crate::points::Points;
use crate::problem::Problem;
use crate::search::Search;
use crate::strategy::{History, Strategy};
use crate::sweep::disturbance::Disturbance;
use crate::sweep::folder::drop_stopped;
use crate::sweep::{
    BaselineFacts, Compared, Failure, Folder, FolderError, Gain, Rounds, Sweep, Trial,
};
use crate::trial::bench::Bench;
use crate::trial::facts::facts;
use crate::trial::finals::{Finalist, Finals};
use crate::trial::race::{Race, energies};
use greenup_files::Scratch;
use greenup_meter::Observer;
use greenup_report::si::factor;
use greenup_space::Value;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// Time for rounds of the finalists beyond the least, s, after a search that took so long.
fn more_finals_s(search_s: f64) -> f64 {
    (0.5 * search_s).clamp(3.0, 10.0)
}

/// Result of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct SearchResult {
    /// Number of trials.
    pub trials: usize,
    /// Trials whose measurement was stopped after a few batches, as they could not win.
    pub stopped: usize,
    /// Number of failed trials by failure.
    pub failures: BTreeMap<&'static str, usize>,
    /// The first failed trial of each kind.
    pub failure_examples: Vec<FailureExample>,
    /// Best first.
    pub finalists: Vec<Finalist>,
    /// In the same rounds as the finalists.
    pub baseline: Option<Compared>,
    /// The best config next to the one before tuning, in the same rounds; `None` without final rounds, or if that one does
    /// not work.
    pub gain: Option<Gain>,
    /// Whether the user stopped the search.
    pub interrupted: bool,
    /// The baseline's time now over its first: how much the machine drifted, least and most.
    pub drift: Option<(f64, f64)>,
    /// Time of the search, s: without the reference, what is measured before it, and the finalists.
    pub search_s: f64,
    /// Time of the finalists, s.
    pub finals_s: f64,
    /// Time of all: with the reference and what is measured before the search, s.
    pub total_s: f64,
    /// Trials of each worker, in a search with several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerTrials>,
    /// How much the workers disturb each other, in a search with several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Disturbance>,
}

/// A failed trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureExample {
    /// Name of the failure.
    pub failure: &'static str,
    /// Values of the parameters.
    pub config: Vec<Value>,
    /// In words, with the compiler's or the run's own message.
    pub message: String,
}

/// The first failed trial of each kind, by name.
fn examples(trials: &[Trial]) -> Vec<FailureExample> {
    let mut first = BTreeMap::new();
    for t in trials {
        if let Some((failure, message)) = t.failure() {
            let failure = failure.name();
            first.entry(failure).or_insert_with(|| FailureExample {
                failure,
                config: t.config.clone(),
                message: message.to_owned(),
            });
        }
    }
    first.into_values().collect()
}

/// Trials of a worker in one search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkerTrials {
    /// Its name.
    pub name: String,
    /// Number of trials.
    pub trials: usize,
}

/// Runs a sweep over points with the workers of its plan. The first worker measures the finalists, so that they are comparable;
/// the next one if that fails.
///
/// # Errors
/// The folder, the reference, that nothing at all worked, or that no worker is left.
pub fn tune(
    problem: &Problem,
    points: &(dyn Points + Sync),
    strategy: &mut dyn Strategy,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<(SearchResult, Sweep), TuneError> {
    let entered = Instant::now();
    let workers = plan.setup.workers.as_slice();
    let (most, seconds) = plan.options.budget.limits(points.len());
    let mut facts = facts(problem, plan)?;
    let names: Vec<String> = match workers {
        [] => vec![String::new()],
        several => several.iter().map(|w| w.name.clone()).collect(),
    };
    if !workers.is_empty() {
        facts.more.insert("workers".into(), names.join(", "));
    }
    let there = Folder::exists(&plan.out);
    let mut resumed = plan.options.resume && there;
    let (mut folder, done) = if resumed {
        match Folder::resume(&plan.out, &facts, &plan.options.accept) {
            // The problem was corrected after all trials failed.
            Err(FolderError::Other { .. }) if !Folder::has_successes(&plan.out) => {
                resumed = false;
                (Folder::create(&plan.out, &facts)?, Sweep::default())
            }
            other => other?,
        }
    } else if plan.options.overwrite {
        (Folder::replace(&plan.out, &facts)?, Sweep::default())
    } else {
        (Folder::create(&plan.out, &facts)?, Sweep::default())
    };
    if there && !resumed && !plan.options.overwrite {
        observer.note(&format!(
            "{} held a sweep of which no trial succeeded; it is replaced",
            plan.out.display()
        ));
    }
    for warning in &done.warnings {
        observer.note(warning);
    }
    for note in problem.command.iter().flat_map(Runnable::notes) {
        observer.note(note);
    }
    let scratch = Scratch::create(&plan.out)?;
    let begun = Bench::new(problem, plan, observer, scratch.path().to_owned()).and_then(|bench| {
        let benches: Vec<Bench> = match workers {
            [] => vec![bench.another()],
            several => (several.iter().enumerate())
                .map(|(i, w)| bench.on(w, i))
                .collect(),
        };
        let baseline = benches[0].first_baseline()?;
        Ok((bench, benches, baseline))
    });
    let (bench, mut benches, baseline) = match begun {
        Ok(begun) => begun,
        Err(e) => {
            if !resumed {
                folder.discard();
            }
            return Err(e);
        }
    };
    if let Some(baseline) = baseline {
        folder.set_baseline(&baseline)?;
        facts.baseline = Some(baseline);
    }

    let mut search = Search::new(strategy, points, most, plan.options.seed);
    let in_full = energies(problem, plan) == Energies::All;
    if resumed {
        facts.energy = done.facts.energy;
    }
    let mut trials = done.trials;
    // Of all workers.
    let mut race = Race::of(problem, plan);
    for t in &trials {
        race.take(t, bench.drift_of(t));
    }
    let mut recorded = 0;
    trials.retain(|t| match points.position(&t.config) {
        // A lost worker says nothing of its config, which is tried again.
        Some(_) if matches!(t.failure(), Some((Failure::Lost, _))) => true,
        // What was stopped is measured where all are.
        Some(_) if t.stopped && in_full => true,
        Some(p) => {
            search.tell(p, bench.costs(t, &race), t.effort);
            recorded += 1;
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
    for bench in &mut benches {
        bench.recall(&trials);
    }
    // A command may take long, and those on different hosts do not disturb each other.
    let disturb = problem.command.is_none() || share_a_host(workers);
    let disturb = disturb && benches.len() > 1 && !search.over() && !observer.cancelled();
    if disturb && let Some(found) = disturbance::measure(&mut benches, &names, points)? {
        observer.note(&found.sentences());
        folder.set_disturbance(&found)?;
        facts.disturbance = Some(found);
    }
    let start = Instant::now();
    let late = || start.elapsed().as_secs_f64() >= seconds;
    observer.stage("tuning", search.most());
    for _ in 0..recorded.min(search.most()) {
        observer.step("recorded before");
    }
    let mut by_worker = vec![0_usize; benches.len()];
    let schedule = Schedule {
        points,
        builder: &bench.builder,
        observer,
        names: &names,
        restarts: !workers.is_empty(),
        // On the host a compiler beside a measurement would disturb it; a GPU does not mind.
        builds_disturb: plan.setup.gpu.is_none(),
        late: &late,
    };
    let mut interrupted = schedule.run(
        &mut benches,
        &mut search,
        &mut |search, p, worker, trial| {
            folder.append(&trial)?;
            by_worker[worker] += 1;
            race.take(&trial, bench.drift_of(&trial));
            search.tell(p.point, bench.costs(&trial, &race), p.effort);
            let baseline = facts.baseline.as_ref();
            let mut message = message(&trial, &search.history, plan.objective(), baseline);
            if by_worker.len() > 1 {
                message.push_str(&counts(&names, &by_worker));
            }
            observer.step(&message);
            trials.push(trial);
            Ok(())
        },
    )?;
    interrupted |= observer.cancelled();
    bench.builder.end_idle();
    drop_stopped(&mut trials);
    let mut failures = BTreeMap::new();
    for (f, _) in trials.iter().filter_map(Trial::failure) {
        *failures.entry(f.name()).or_insert(0) += 1;
    }
    let drifts = benches.iter().filter_map(|b| b.drift);
    let mut found = SearchResult {
        trials: trials.len(),
        stopped: trials.iter().filter(|t| t.stopped).count(),
        failures,
        failure_examples: examples(&trials),
        finalists: Vec::new(),
        baseline: None,
        gain: None,
        interrupted,
        drift: drifts.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
        search_s: start.elapsed().as_secs_f64(),
        finals_s: 0.0,
        total_s: 0.0,
        workers: match workers {
            [] => Vec::new(),
            _ => (names.iter().cloned().zip(by_worker))
                .map(|(name, trials)| WorkerTrials { name, trials })
                .collect(),
        },
        disturbance: facts.disturbance.clone(),
    };
    let mut finals_found = None;
    if !interrupted {
        let begun = Instant::now();
        let limit_s = more_finals_s(found.search_s);
        let finals = finals(&benches, &names, &trials, points, limit_s, observer)?;
        found.finals_s = begun.elapsed().as_secs_f64();
        found.finalists = finals.finalists;
        if let Some(result) = &finals.baseline {
            let of_rounds = BaselineFacts::after(result, benches[0].maximizes());
            folder.set_baseline(&of_rounds)?;
            facts.baseline = Some(of_rounds);
        }
        found.baseline = finals.baseline;
        if facts.default != finals.default {
            folder.set_default(finals.default.as_ref())?;
            facts.default = finals.default;
        }
        found.gain = finals.gain;
        if let Some(rounds) = finals.rounds {
            let text = serde_json::to_string(&rounds).unwrap_or_default();
            greenup_files::write(plan.out.join(Rounds::FILE), text)?;
            finals_found = Some(rounds);
        }
    }
    found.total_s = entered.elapsed().as_secs_f64();
    let sweep = Sweep {
        facts,
        trials,
        finals: finals_found,
        warnings: done.warnings,
    };
    Ok((found, sweep))
}

/// All final rounds on one worker: the first that can measure them.
fn finals(
    benches: &[Bench],
    names: &[String],
    trials: &[Trial],
    points: &dyn Points,
    limit_s: f64,
    observer: &dyn Observer,
) -> Result<Finals, TuneError> {
    let last = benches.len() - 1;
    for (bench, name) in benches[..last].iter().zip(names) {
        match bench.finals(trials, points, limit_s) {
            Err(e @ (TuneError::Environment(_) | TuneError::Finalists(_))) => {
                observer.note(&format!(
                    "worker {name}: {e}; the next worker measures them"
                ));
            }
            done => return done,
        }
    }
    benches[last].finals(trials, points, limit_s)
}

/// Trials by worker, for the progress.
fn counts(names: &[String], trials: &[usize]) -> String {
    let each: Vec<String> = (names.iter().zip(trials))
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    format!(" | {}", each.join(", "))
}

/// Whether two workers are on one host.
fn share_a_host(workers: &[WorkerSetup]) -> bool {
    let earlier = |i: usize| workers[..i].iter().any(|w| w.host == workers[i].host);
    (0..workers.len()).any(earlier)
}

/// The best value so far, and how it compares with the baseline where there is one.
fn message(
    t: &Trial,
    history: &History,
    objective: Objective,
    baseline: Option<&BaselineFacts>,
) -> String {
    let best = history.best().map_or_else(
        || "none yet".into(),
        |(_, v)| {
            let over = baseline.and_then(|b| b.speedup_of(v, objective));
            let over = over.map_or_else(String::new, |x| format!(" (baseline {})", factor(x)));
            format!("{v:.4e}{over}")
        },
    );
    match t.failure() {
        Some((f, _)) => format!("best {objective} {best} | last failed: {}", f.name()),
        None => format!("best {objective} {best}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_failure_has_one_example() {
        let trial = |config: i64, failure: &str| -> Trial {
            let text = format!(
                r#"{{"config":[{config}],"failed":{{"failure":"{failure}","message":"m{config}"}}}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        let all = [trial(1, "wrong"), trial(2, "compile"), trial(3, "wrong")];
        let found = examples(&all);
        let of = |e: &FailureExample| (e.failure, e.message.clone());
        let found: Vec<_> = found.iter().map(of).collect();
        assert_eq!(
            found,
            [("compile", "m2".to_owned()), ("wrong", "m1".to_owned())]
        );
    }
}
