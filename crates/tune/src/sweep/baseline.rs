//! The best config next to another in the final rounds: the problem's baseline, or the config before tuning.

use super::default::DefaultConfig;
use super::record::{BaselineFacts, Sweep};
use super::rounds::Rounds;
use crate::objective::Objective;
use greenup_meter::Summary;
use greenup_meter::stats::ratio_of_medians;
use serde::Serialize;

/// What was measured in the final rounds, and how the best config compares with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Time of one run, s.
    pub time_s: Summary,
    /// Energy of one run, J; `None` if it was not measured.
    pub energy_j: Option<Summary>,
    /// The metric that is the objective; `None` without one, or where it does not give it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<Summary>,
    /// The best config's time over its own.
    pub time_ratio: Option<Summary>,
    /// The best config's energy over its own.
    pub energy_ratio: Option<Summary>,
    /// The best config's metric over its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric_ratio: Option<Summary>,
    /// Its time over the best config's.
    pub speedup: Option<Summary>,
    /// Its energy over the best config's.
    pub greenup: Option<Summary>,
}

/// A metric's own values, from those to minimise.
pub(crate) fn own_values(minimised: &[f64], maximize: bool) -> Vec<f64> {
    let own = |x: &f64| if maximize { 1.0 / x } else { *x };
    minimised.iter().map(own).collect()
}

impl Rounds {
    /// Config `best` next to the baseline; `None` without a baseline. `maximize` says whether the metric is better the
    /// larger it is.
    pub fn against_baseline(&self, best: usize, maximize: bool) -> Option<Compared> {
        let last = self.times_s.len().checked_sub(1)?;
        self.with_baseline
            .then(|| self.compared(best, last, maximize))?
    }

    /// Config `best` next to config `other`; `None` if one has no times.
    pub fn compared(&self, best: usize, other: usize, maximize: bool) -> Option<Compared> {
        let pair = |rows: &[Vec<f64>]| Some((rows.get(best)?.clone(), rows.get(other)?.clone()));
        let (time, of_other) = pair(&self.times_s)?;
        let (energy, energy_of_other) = pair(&self.energies_j).unwrap_or_default();
        let own = |m: Vec<f64>| own_values(&m, maximize);
        let (metric, metric_of_other) = pair(&self.metrics)
            .map(|(a, b)| (own(a), own(b)))
            .unwrap_or_default();
        Some(Compared {
            time_s: Summary::of(&of_other)?,
            energy_j: Summary::of(&energy_of_other),
            metric: Summary::of(&metric_of_other),
            time_ratio: ratio_of_medians(&time, &of_other),
            energy_ratio: ratio_of_medians(&energy, &energy_of_other),
            metric_ratio: ratio_of_medians(&metric, &metric_of_other),
            speedup: ratio_of_medians(&of_other, &time),
            greenup: ratio_of_medians(&energy_of_other, &energy),
        })
    }
}

impl Sweep {
    /// The best config of the final rounds by the sweep's objective, next to the baseline; `None` without a baseline or
    /// final rounds.
    pub fn against_baseline(&self) -> Option<Compared> {
        let maximize = self.facts.baseline.as_ref().is_some_and(|b| b.maximize);
        (self.finals.as_ref()?).against_baseline(self.best_of_finals()?, maximize)
    }

    /// Number of the config of the final rounds that is the best by the sweep's objective.
    pub(super) fn best_of_finals(&self) -> Option<usize> {
        let objective: Objective = self.facts.objective.as_deref()?.parse().ok()?;
        let best = (self.finals.as_ref()?).ranked(
            objective,
            &|_| self.facts.flops,
            self.facts.default.as_ref().and_then(DefaultConfig::chosen),
        );
        best.first().copied()
    }
}

impl BaselineFacts {
    /// How many times better a value of the objective is than the baseline's; `None` for other objectives than time, energy
    /// and a metric.
    pub(crate) fn speedup_of(&self, value: f64, objective: Objective) -> Option<f64> {
        let own = match objective {
            Objective::Time => self.time_s,
            Objective::Energy => self.energy_j?,
            Objective::Metric(_) if self.maximize => 1.0 / self.metric?,
            Objective::Metric(_) => self.metric?,
            _ => return None,
        };
        Some(own / value)
    }

    /// With the results of the final rounds.
    pub(crate) fn after(result: &Compared, maximize: bool) -> Self {
        let median = |s: &Option<Summary>| s.as_ref().map(|s| s.median);
        Self {
            time_s: result.time_s.median,
            energy_j: median(&result.energy_j),
            metric: median(&result.metric),
            maximize,
            speedup: median(&result.speedup),
            greenup: median(&result.greenup),
            metric_ratio: median(&result.metric_ratio),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::SweepFacts;
    use greenup_space::Value;

    fn sweep(with_baseline: bool, maximize: bool) -> Sweep {
        Sweep {
            facts: SweepFacts {
                objective: Some("time".into()),
                baseline: Some(BaselineFacts {
                    maximize,
                    ..BaselineFacts::default()
                }),
                ..SweepFacts::default()
            },
            finals: Some(Rounds {
                configs: vec![vec![Value::Int(1)], vec![Value::Int(2)]],
                times_s: vec![vec![4.0; 5], vec![2.0; 5], vec![3.0; 5]],
                energies_j: vec![Vec::new(), vec![8.0; 5], vec![2.0; 5]],
                metrics: vec![vec![0.5; 5], vec![0.25; 5], vec![0.125; 5]],
                with_baseline,
                ties_by_order: false,
            }),
            ..Sweep::default()
        }
    }

    #[test]
    fn the_winner_is_compared_in_time_energy_and_metric() {
        let b = sweep(true, true).against_baseline().unwrap();
        assert_eq!(b.time_s.median, 3.0);
        assert_eq!(b.speedup.unwrap().median, 1.5);
        assert_eq!(b.greenup.unwrap().median, 0.25);
        assert_eq!(b.metric.unwrap().median, 8.0);
        assert_eq!(b.metric_ratio.unwrap().median, 0.5);
        let b = sweep(true, false).against_baseline().unwrap();
        assert_eq!(b.metric_ratio.unwrap().median, 2.0);
        assert_eq!(sweep(false, false).against_baseline(), None);
    }
}
