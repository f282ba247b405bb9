//! Measures the finalists again, interleaved in random order, and marks ties.

mod candidates;
mod decided;
mod rounds;

pub(crate) use candidates::within_trial;

use crate::command::Goal;
use crate::error::TuneError;
use crate::objective::Objective;
use crate::points::Points;
use crate::sweep::{
    BaselineFacts, Compared, DefaultConfig, DefaultOrigin, Gain, Rounds, Trial, own_values,
};
use crate::trial::bench::Bench;
use crate::worker::protocol::Built;
use candidates::{Screened, between_trials, candidates};
use decided::Wanted;
use greenup_meter::Summary;
use greenup_meter::stats::{median, ratio_of_medians};
use greenup_space::Value;
use serde::Serialize;
use std::collections::HashSet;

/// A config of the last round.
#[derive(Clone, Debug, Serialize)]
pub struct Finalist {
    /// Values of the parameters.
    pub config: Vec<Value>,
    /// Time of one run, s.
    pub time_s: Summary,
    /// Energy of one run, J; `None` if it was not measured.
    pub energy_j: Option<Summary>,
    /// Value of the objective.
    pub value: f64,
    /// Its objective over the winner's; 1 lies within the interval for a tie, or above it where the chosen config wins.
    pub ratio: Option<Summary>,
    /// Whether the winner is not shown to be better.
    pub tie: bool,
}

/// Result of the final measurements.
#[derive(Clone, Debug, Default)]
pub struct Finals {
    /// Finalists, the best first.
    pub finalists: Vec<Finalist>,
    /// The baseline, measured in the same rounds.
    pub baseline: Option<Compared>,
    /// The config before tuning; the first that works where the first of the space does not.
    pub default: Option<DefaultConfig>,
    /// How the best compares with it.
    pub gain: Option<Gain>,
    /// All rounds.
    pub rounds: Option<Rounds>,
}

impl Bench<'_> {
    /// Measures the best configs and the baseline again, interleaved in random order, chooses the finalists and marks ties. `limit_s`
    /// is the time for rounds beyond the least.
    pub(crate) fn finals(
        &self,
        trials: &[Trial],
        points: &dyn Points,
        limit_s: f64,
    ) -> Result<Finals, TuneError> {
        let objective = self.plan.objective();
        let (best, default) = self.candidates(trials, points);
        if best.is_empty() {
            if let Some(unmet) = objective.unmet(trials.iter().filter_map(Trial::cost)) {
                return Err(unmet.into());
            }
            let reason = trials
                .iter()
                .find_map(|t| t.failure().map(|f| format!("{}: {}", f.0.name(), f.1)))
                .unwrap_or_else(|| format!("`{objective}` needs a measurement that no trial has"));
            return Err(TuneError::Nothing(reason));
        }
        // Without a number, as the order decides.
        let rounds = self.plan.options.rounds.unwrap_or(0);
        self.observer.stage("finalists", rounds);
        let mut kernels = Vec::new();
        for t in &best {
            let ready = self.builder.compile(&t.config).map_err(|e| {
                e.into_tune(|m| TuneError::Finalists(format!("one no longer compiles: {m}")))
            })?;
            kernels.push(ready.built);
        }
        // Where configs set clocks, the baseline would run at whichever clock came before.
        let wanted = self.problem.has_baseline() && self.control.is_none();
        let baseline = self.baseline.clone().filter(|_| wanted);
        let with_baseline = baseline.is_some();
        kernels.extend(baseline);
        let before = (self.plan.options.first.iter()).chain(default.as_ref().map(|d| &d.config));
        let before: Vec<&Vec<Value>> = before.collect();
        let stays = |t: &Trial| before.contains(&&t.config);
        let Some((left, found)) = self.until_decided(&kernels, &best, &stays, limit_s)? else {
            return Ok(Finals::default());
        };
        let best: Vec<&Trial> = left.iter().filter_map(|i| best.get(*i).copied()).collect();
        let rounds = Rounds {
            configs: best.iter().map(|t| t.config.clone()).collect(),
            with_baseline,
            ties_by_order: true,
            metrics: if found.metrics.iter().all(Vec::is_empty) {
                Vec::new()
            } else {
                found.metrics
            },
            ..found
        };
        let (times_s, energies_j) = (&rounds.times_s, &rounds.energies_j);
        let flops = |i: usize| self.problem.flops(&best[i].config);
        let known = |i: usize| rounds.cost(&best[i].config);
        let mut order = rounds.ranked(
            objective,
            &flops,
            default.as_ref().and_then(DefaultConfig::chosen),
        );
        order.retain(|&i| known(i).is_some_and(|c| objective.allowed(c)));
        if order.is_empty()
            && let Some(unmet) = objective.unmet((0..best.len()).filter_map(known))
        {
            let others = trials.iter().filter_map(Trial::cost);
            return Err(match objective.unmet(others) {
                Some(_) => unmet.into(),
                None => TuneError::Finalists(format!(
                    "no finalist keeps the bound of `{objective}` in them, though other trials do: more finalists, or a longer search, may find one"
                )),
            });
        }
        let values: Vec<Vec<f64>> = (0..best.len())
            .map(|i| rounds.values(i, objective, flops(i)))
            .collect();
        let Some(&winner) = order.first() else {
            return Ok(Finals::default());
        };
        let baseline = rounds.against_baseline(winner, self.maximizes());
        let gain = (default.as_ref()).and_then(|d| rounds.gain(winner, d, self.maximizes()));
        let finalists = order
            .into_iter()
            .take(self.plan.options.finalists.max(1))
            .filter_map(|i| {
                let ratio = ratio_of_medians(&values[i], &values[winner]);
                Some(Finalist {
                    config: best[i].config.clone(),
                    time_s: Summary::of(&times_s[i])?,
                    energy_j: Summary::of(&energies_j[i]),
                    value: median(&values[i]),
                    tie: i != winner && ratio.as_ref().is_some_and(|r| r.lo <= 1.0),
                    ratio: ratio.filter(|_| i != winner),
                })
            })
            .collect();
        Ok(Finals {
            finalists,
            baseline,
            default,
            gain,
            rounds: Some(rounds),
        })
    }

    /// Whether the objective is a metric that is better the larger it is.
    pub(crate) fn maximizes(&self) -> bool {
        let command = self.problem.command.as_ref();
        match self.plan.objective() {
            Objective::Metric(name) => command.and_then(|c| c.goal(name)) == Some(Goal::Maximize),
            _ => false,
        }
    }

    /// Measures the baseline of a command before the search, so that a wrong one is found at once; `None` without one, or
    /// when the user stopped it.
    ///
    /// # Errors
    /// It fails, or the environment does.
    pub(crate) fn first_baseline(&self) -> Result<Option<BaselineFacts>, TuneError> {
        let Some(Built::Command(command)) = &self.baseline else {
            return Ok(None);
        };
        self.observer.stage("baseline", 0);
        let seconds = self.problem.measure.seconds / 2.0;
        let of = self
            .rounds(&[Built::Command(command.clone())], Wanted::of(1, seconds))
            .map_err(|e| match e {
                TuneError::Finalists(why) => {
                    let words = greenup_setting::shell::joined(&command.words);
                    TuneError::Reference(format!("[baseline] command `{words}` failed: {why}"))
                }
                e => e,
            })?;
        let maximize = self.maximizes();
        let middle =
            |rows: Vec<Vec<f64>>| rows.first().filter(|r| !r.is_empty()).map(|r| median(r));
        Ok(of.and_then(|of| {
            let metrics = of.metrics.iter().map(|m| own_values(m, maximize)).collect();
            let facts = BaselineFacts {
                time_s: middle(of.times_s)?,
                energy_j: middle(of.energies_j),
                metric: middle(metrics),
                maximize,
                ..BaselineFacts::default()
            };
            if let (Objective::Metric(name), None) = (self.plan.objective(), facts.metric) {
                self.observer.note(&format!(
                    "the output of the baseline has no `{name}`: it is compared by its time alone"
                ));
            }
            Some(facts)
        }))
    }

    /// The trials that are measured again, in the order of the space: the best by each objective, those that noise cannot
    /// tell from them, and the config before tuning, which is returned too.
    fn candidates<'t>(
        &self,
        trials: &'t [Trial],
        points: &dyn Points,
    ) -> (Vec<&'t Trial>, Option<DefaultConfig>) {
        let short = self.plan.options.finalists == 0;
        let full = |t: &&Trial| !t.stopped && (t.effort >= 1.0 || short);
        let mut configs: Vec<&Trial> = Vec::new();
        let orders: Vec<Vec<Screened>> = (self.plan.options.objectives.iter().enumerate())
            .map(|(i, objective)| {
                let between = between_trials(trials, objective.needs_energy());
                let mut order: Vec<(f64, &Trial)> = (trials.iter().filter(full))
                    .filter_map(|t| Some((self.costs(t, &self.race)?[i], t)))
                    .filter(|(_, t)| t.cost().is_some_and(|c| objective.allowed(c)))
                    .collect();
                order.sort_by(|a, b| a.0.total_cmp(&b.0));
                let mut seen: HashSet<usize> = HashSet::new();
                (order.into_iter())
                    .filter_map(|(value, t)| {
                        let config = match configs.iter().position(|c| c.config == t.config) {
                            Some(config) => config,
                            None => {
                                configs.push(t);
                                configs.len() - 1
                            }
                        };
                        seen.insert(config).then(|| Screened {
                            config,
                            value,
                            error: between.hypot(within_trial(t)),
                        })
                    })
                    .collect()
            })
            .collect();
        let mut best: Vec<&Trial> = (candidates(
            &orders,
            self.plan.options.finalists.max(1),
            self.plan.options.near_ties,
        )
        .into_iter())
        .map(|i| configs[i])
        .collect();
        let mut default = self.plan.default.clone();
        if self.plan.options.finalists > 0 {
            // A config before tuning stands beside the finalists, though it was stopped as a slow one.
            let working: Vec<&Trial> = (trials.iter())
                .filter(|t| t.cost().is_some())
                .filter(|t| t.stopped || configs.iter().any(|c| c.config == t.config))
                .collect();
            let works = |d: &DefaultConfig| working.iter().any(|t| t.config == d.config);
            if let Some(d) = &mut default
                && d.origin == DefaultOrigin::First
                && !works(d)
                && let Some(t) = working.iter().min_by_key(|t| points.position(&t.config))
            {
                *d = DefaultConfig {
                    config: t.config.clone(),
                    origin: DefaultOrigin::FirstWorking,
                };
            }
            let first = self.plan.options.first.iter();
            let first = first.chain(default.as_ref().map(|d| &d.config));
            let more = first.filter_map(|c| working.iter().find(|t| t.config == *c));
            for t in more {
                if best.iter().all(|b| b.config != t.config) {
                    best.push(t);
                }
            }
        }
        best.sort_by_key(|t| points.position(&t.config));
        (best, default)
    }
}
