//! The last round: the best measured again, in turns and in random order, and ties named.

use super::job::{Built, Said, Task};
use super::plan::TuneError;
use super::trial::Bench;
use crate::sweep::Trial;
use greenup_meter::Summary;
use greenup_meter::stats::{median, ratio_of_medians};
use greenup_space::Value;
use serde::Serialize;

/// A config of the last round.
#[derive(Clone, Debug, Serialize)]
pub struct Finalist {
    pub config: Vec<Value>,
    pub time_s: Summary,
    pub energy_j: Option<Summary>,
    pub value: f64,
    /// Its objective over the winner's; 1 lies within the interval for a tie.
    pub ratio: Option<Summary>,
    pub tie: bool,
}

/// The rival in the last round.
#[derive(Clone, Debug, Serialize)]
pub struct RivalResult {
    pub time_s: Summary,
    pub energy_j: Option<Summary>,
    /// The winner's time over the rival's.
    pub time_ratio: Option<Summary>,
    /// The winner's energy over the rival's.
    pub energy_ratio: Option<Summary>,
}

/// Every round of the last round, as recorded in a sweep's folder.
#[derive(Clone, Debug, Serialize)]
pub struct Rounds {
    pub configs: Vec<Vec<Value>>,
    /// Seconds of each config in each round; the rival's last, where there is one.
    pub times_s: Vec<Vec<f64>>,
    pub energies_j: Vec<Vec<f64>>,
    pub with_rival: bool,
}

impl Rounds {
    /// Name of the file in a sweep's folder.
    pub const FILE: &'static str = "finals.json";
}

/// What the last round gave.
#[derive(Clone, Debug, Default)]
pub struct Finals {
    pub finalists: Vec<Finalist>,
    pub rival: Option<RivalResult>,
    pub rounds: Option<Rounds>,
}

impl Bench<'_> {
    /// Measures the best again, in turns and in random order, and names ties; the rival takes its
    /// turn too.
    pub(super) fn finals(&self, trials: &[Trial]) -> Result<Finals, TuneError> {
        let objective = self.plan.objectives[0];
        let mut best: Vec<(f64, &Trial)> = trials
            .iter()
            .filter(|t| t.effort >= 1.0 || self.plan.finalists == 0)
            .filter_map(|t| Some((self.costs(t)?[0], t)))
            .filter(|(_, t)| t.cost().is_some_and(|c| objective.allowed(c)))
            .collect();
        best.sort_by(|a, b| a.0.total_cmp(&b.0));
        best.dedup_by(|a, b| a.1.config == b.1.config);
        if best.is_empty() {
            let reason = trials
                .iter()
                .find_map(|t| t.failure().map(|f| format!("{}: {}", f.0.name(), f.1)))
                .unwrap_or_else(|| format!("`{objective}` needs a measurement that no trial has"));
            return Err(TuneError::Nothing(reason));
        }
        best.truncate(self.plan.finalists.max(1));
        self.plan.observer.stage("finalists", 0);
        let mut kernels = Vec::new();
        for (_, t) in &best {
            let ready = self.builder.compile(&t.config).map_err(|e| {
                TuneError::Nothing(format!("a finalist no longer compiles: {}", e.0))
            })?;
            kernels.push(ready.built);
        }
        // Where configs set clocks, the rival would run at whichever clock came before.
        let rival = self
            .problem
            .rival
            .as_ref()
            .filter(|_| self.plan.control.is_none())
            .and(self.baseline.clone());
        let with_rival = rival.is_some();
        kernels.extend(rival);
        let (rounds, seconds) = match &self.plan.gpu {
            // A window is as long as the sensor needs, and then some for the clock to settle.
            Some(_) => (10, self.problem.measure.seconds),
            None => (9, self.problem.measure.seconds / 2.0),
        };
        let Some((times_s, energies_j)) = self.race(kernels, &best, rounds, seconds)? else {
            return Ok(Finals::default());
        };
        let values: Vec<Vec<f64>> = times_s
            .iter()
            .zip(&energies_j)
            .zip(&best)
            .map(|((t, e), (_, trial))| {
                let flops = self.problem.work(&trial.config).ok().map(|w| w.flops());
                t.iter()
                    .enumerate()
                    .filter_map(|(i, &time_s)| {
                        let cost = crate::Cost {
                            time_s,
                            energy_j: e.get(i).copied(),
                        };
                        objective.value(cost, flops)
                    })
                    .collect()
            })
            .collect();
        let mut order: Vec<usize> = (0..best.len()).filter(|&i| !values[i].is_empty()).collect();
        order.sort_by(|&a, &b| median(&values[a]).total_cmp(&median(&values[b])));
        let Some(&winner) = order.first() else {
            return Ok(Finals::default());
        };
        let rival = Summary::of(times_s.last().map_or(&[], Vec::as_slice))
            .filter(|_| with_rival)
            .map(|time_s| RivalResult {
                time_s,
                energy_j: energies_j.last().and_then(|e| Summary::of(e)),
                time_ratio: times_s
                    .last()
                    .and_then(|t| ratio_of_medians(&times_s[winner], t)),
                energy_ratio: energies_j
                    .last()
                    .and_then(|e| ratio_of_medians(&energies_j[winner], e)),
            });
        let finalists = order
            .into_iter()
            .filter_map(|i| {
                let ratio = ratio_of_medians(&values[i], &values[winner]);
                Some(Finalist {
                    config: best[i].1.config.clone(),
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
            rival,
            rounds: Some(Rounds {
                configs: best.iter().map(|(_, t)| t.config.clone()).collect(),
                times_s,
                energies_j,
                with_rival,
            }),
        })
    }

    /// All kernels take turns: in one process, or, where configs set clocks, one by one. `None` when
    /// the user stopped it.
    fn race(
        &self,
        kernels: Vec<Built>,
        best: &[(f64, &Trial)],
        rounds: usize,
        seconds: f64,
    ) -> Result<Option<Raced>, TuneError> {
        let limit = |n: usize| {
            self.problem.measure.timeout
                + n as f64 * (seconds * 4.0 + self.problem.measure.timeout / 10.0)
        };
        let once = |kernels: Vec<Built>, rounds: usize| -> Result<Option<Raced>, TuneError> {
            let limit = limit(rounds * kernels.len());
            let task = Task::Race {
                kernels,
                rounds,
                seconds,
            };
            let Some(answer) = self.run(task, limit)? else {
                return Ok(None);
            };
            let raced = answer.said.into_iter().find_map(|s| match s {
                Said::Raced {
                    times_s,
                    energies_j,
                } => Some((times_s, energies_j)),
                _ => None,
            });
            match raced {
                Some(r) => Ok(Some(r)),
                None => {
                    let why = answer.failure.map_or_else(String::new, |f| f.1);
                    Err(TuneError::Nothing(format!(
                        "the finalists cannot be measured again: {why}"
                    )))
                }
            }
        };
        if self.plan.control.is_none() {
            return once(kernels, rounds);
        }
        let mut times_s = vec![Vec::new(); kernels.len()];
        let mut energies_j = vec![Vec::new(); kernels.len()];
        let mut rng = fastrand::Rng::with_seed(self.plan.seed);
        let mut order: Vec<usize> = (0..kernels.len()).collect();
        for _ in 0..rounds {
            rng.shuffle(&mut order);
            for &i in &order {
                self.set_clocks(&best[i].1.config)
                    .map_err(TuneError::Nothing)?;
                let Some((mut t, mut e)) = once(vec![kernels[i].clone()], 1)? else {
                    return Ok(None);
                };
                times_s[i].append(&mut t[0]);
                energies_j[i].append(&mut e[0]);
            }
        }
        Ok(Some((times_s, energies_j)))
    }
}

/// Seconds and joules of each kernel in each round.
type Raced = (Vec<Vec<f64>>, Vec<Vec<f64>>);
