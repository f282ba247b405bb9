//! A recorded sweep as a device: strategies meet it offline, with a simulated clock.

mod compare;

pub use compare::{Comparison, Reached, compare, mean_and_half_width};

use crate::objective::{Objective, Unmet};
use crate::points::Table;
use crate::search::{Budget, Search};
use crate::strategy::Strategy;
use crate::sweep::{Outcome, Sweep};
use greenup_space::Value;
use serde::Serialize;

/// One improvement of the best.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Evaluations done, this one included.
    pub evaluation: usize,
    /// Simulated seconds.
    pub clock_s: f64,
    /// Best value of the objective so far.
    pub value: f64,
    /// Its config.
    pub config: Vec<Value>,
}

/// What a strategy found on a recorded sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// Number of evaluations, short and failed ones included.
    pub evaluations: usize,
    /// Number of failed configs.
    pub failures: usize,
    /// Time that the tuner would have spent, s.
    pub clock_s: f64,
    /// The best found; `None` when every trial failed or is beyond the bound of the objective.
    pub best: Option<Step>,
    /// Best of the whole recording.
    pub optimum: f64,
    /// Optimum over best found, 1 when it was found.
    pub fraction: f64,
    /// Every improvement.
    pub trace: Vec<Step>,
}

/// A recording that cannot be replayed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// No trial has a value for the objective.
    #[error("the recording has no value for `{objective}`: {reason}")]
    NoValue {
        /// The objective.
        objective: Objective,
        /// Why.
        reason: &'static str,
    },
    /// No trial keeps the bound of the objective.
    #[error("{0}")]
    Bound(Unmet),
}

/// Runs a strategy against a recording. Repeated points cost nothing; a strategy that proposes no more points is
/// continued with random points, so that the budget is always used.
///
/// ```
/// use greenup_tune::replay::replay;
/// use greenup_tune::search::Budget;
/// use greenup_tune::sweep::{Sweep, SweepFacts, Trial};
/// use greenup_tune::{Objective, strategy};
///
/// let trial = |unroll: i64, time_s: f64| -> Trial {
///     let line = format!(
///         r#"{{"config":[{unroll}],"measured":{{"times_s":[{time_s}],"time_s":{time_s}}}}}"#
///     );
///     serde_json::from_str(&line).unwrap()
/// };
/// let sweep = Sweep {
///     facts: SweepFacts {
///         parameters: vec!["unroll".to_owned()],
///         ..SweepFacts::default()
///     },
///     trials: vec![trial(1, 3.0), trial(2, 1.5), trial(4, 2.0)],
///     ..Sweep::default()
/// };
/// let mut random = strategy("random", None)?;
/// let found = replay(&sweep, &[Objective::Time], random.as_mut(), Budget::Evaluations(3), 1)?;
/// assert_eq!(found.optimum, 1.5);
/// assert_eq!(found.fraction, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The recording has no value for an objective.
pub fn replay(
    sweep: &Sweep,
    objectives: &[Objective],
    strategy: &mut dyn Strategy,
    budget: Budget,
    seed: u64,
) -> Result<Replay, ReplayError> {
    Ok(Recording::new(sweep, objectives)?.replay(strategy, budget, seed))
}

/// A recording that is replayed often.
pub struct Recording<'a> {
    sweep: &'a Sweep,
    table: Table,
    /// Values of the objectives of each trial; `None` where it failed.
    costs: Vec<Option<Vec<f64>>>,
    /// Whether each trial keeps the bound of the first objective: one beyond it guides a search, but is no result.
    allowed: Vec<bool>,
    optimum: f64,
}

impl<'a> Recording<'a> {
    /// Reads the values of the objectives.
    ///
    /// # Errors
    /// The recording has no value for an objective.
    pub fn new(sweep: &'a Sweep, objectives: &[Objective]) -> Result<Self, ReplayError> {
        let flops = sweep.facts.flops;
        let costs: Vec<Option<Vec<f64>>> = (sweep.trials.iter())
            .map(|t| {
                let cost = t.cost()?;
                objectives.iter().map(|o| o.value(cost, flops)).collect()
            })
            .collect();
        let allowed: Vec<bool> = (sweep.trials.iter())
            .map(|t| t.cost().is_some_and(|c| objectives[0].allowed(c)))
            .collect();
        let optimum = (costs.iter().zip(&allowed))
            .filter_map(|(c, allowed)| c.as_ref().filter(|_| *allowed))
            .map(|c| c[0])
            .fold(f64::INFINITY, f64::min);
        let measured = || sweep.measured().map(|(_, c)| c);
        if !optimum.is_finite()
            && let Some(unmet) = objectives[0].unmet(measured())
        {
            return Err(ReplayError::Bound(unmet));
        }
        if !optimum.is_finite() {
            return Err(ReplayError::NoValue {
                objective: objectives[0],
                reason: match sweep.measured().next() {
                    None => "every trial failed",
                    Some(_) if objectives[0].needs_energy() => "it has no energy",
                    Some(_) => "no trial was measured for it",
                },
            });
        }
        Ok(Self {
            sweep,
            table: sweep.table(),
            costs,
            allowed,
            optimum,
        })
    }

    /// Runs a strategy once.
    pub fn replay(&self, strategy: &mut dyn Strategy, budget: Budget, seed: u64) -> Replay {
        let (sweep, table, optimum) = (self.sweep, &self.table, self.optimum);
        let costs = |i: u64| self.costs[i as usize].clone();
        let mut out = Replay {
            evaluations: 0,
            failures: 0,
            clock_s: 0.0,
            best: None,
            optimum,
            fraction: 0.0,
            trace: Vec::new(),
        };
        let (most, seconds) = budget.limits(sweep.trials.len() as u64);
        let late = |clock: f64| clock >= seconds;
        let mut search = Search::new(strategy, table, most, seed);
        while !late(out.clock_s)
            && let Some(proposals) = search.ask()
        {
            for p in proposals {
                if search.over() || late(out.clock_s) {
                    break;
                }
                let trial = &sweep.trials[p.point as usize];
                let mut value = costs(p.point);
                // A short measurement is the median of a few of the recorded runs.
                if p.effort < 1.0
                    && let (
                        Some(v),
                        Outcome::Measured {
                            times_s, time_s, ..
                        },
                    ) = (&mut value, &trial.outcome)
                    && !times_s.is_empty()
                {
                    let few = ((times_s.len() as f64 * p.effort).ceil() as usize).max(1);
                    let mut some: Vec<f64> = (0..few)
                        .map(|_| times_s[search.rng.usize(..times_s.len())])
                        .collect();
                    some.sort_by(f64::total_cmp);
                    v[0] *= some[some.len() / 2] / time_s;
                }
                out.evaluations += 1;
                out.clock_s += trial.build_s + trial.verify_s + trial.measure_s * p.effort;
                out.failures += usize::from(value.is_none());
                // What was found is judged by the full recording, not by a lucky short look.
                if self.allowed[p.point as usize]
                    && let Some(c) = costs(p.point)
                    && out.best.as_ref().is_none_or(|b| c[0] < b.value)
                {
                    let step = Step {
                        evaluation: out.evaluations,
                        clock_s: out.clock_s,
                        value: c[0],
                        config: trial.config.clone(),
                    };
                    out.trace.push(step.clone());
                    out.best = Some(step);
                }
                search.tell(p.point, value, p.effort);
            }
        }
        out.fraction = out.best.as_ref().map_or(0.0, |b| optimum / b.value);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy;
    use crate::sweep::{SweepFacts, Trial};

    /// Configs of 200, 300 and 50 W.
    fn recorded() -> Sweep {
        let trial = |(b, time_s, energy_j): (i64, f64, f64)| -> Trial {
            let line = format!(
                r#"{{"config":[{b}],"measured":{{"times_s":[{time_s}],"time_s":{time_s},"energy_j":{energy_j}}}}}"#
            );
            serde_json::from_str(&line).unwrap()
        };
        Sweep {
            facts: SweepFacts {
                parameters: vec!["b".to_owned()],
                ..SweepFacts::default()
            },
            trials: [(32, 2e-3, 0.4), (64, 1e-3, 0.3), (128, 4e-3, 0.2)]
                .map(trial)
                .into(),
            ..Sweep::default()
        }
    }

    #[test]
    fn what_is_beyond_a_bound_is_no_result() {
        let sweep = recorded();
        let run = |o: Objective, n: usize, seed: u64| {
            let mut random = strategy("random", None).unwrap();
            replay(&sweep, &[o], random.as_mut(), Budget::Evaluations(n), seed)
        };
        let found = run(Objective::TimeUnderPower(100.0), 3, 1).unwrap();
        assert_eq!((found.optimum, found.fraction), (4e-3, 1.0));
        assert_eq!((found.trace.len(), found.best.unwrap().value), (1, 4e-3));
        let e = run(Objective::TimeUnderPower(10.0), 3, 1).unwrap_err();
        assert_eq!(
            e.to_string(),
            "no config keeps power <= 10 W; the nearest has 50 W"
        );
        let e = run(Objective::EnergyUnderTime(1e-4), 3, 1).unwrap_err();
        assert_eq!(
            e.to_string(),
            "no config keeps time <= 0.0001 s; the nearest has 0.001 s"
        );
        // A search that met only what is beyond it found nothing.
        let each: Vec<Replay> = (0..20)
            .map(|seed| run(Objective::TimeUnderPower(100.0), 1, seed).unwrap())
            .collect();
        assert!(each.iter().any(|r| r.best.is_none() && r.fraction == 0.0));
        assert!(each.iter().any(|r| r.fraction == 1.0));
        assert!((each.iter()).all(|r| r.trace.iter().all(|s| s.value == 4e-3)));
    }
}
