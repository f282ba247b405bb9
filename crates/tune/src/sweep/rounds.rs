//! The final rounds of a sweep.

use super::error::FolderError;
use crate::objective::{Cost, Objective};
use greenup_meter::stats::{Sure, mean_within, median, ratio_of_medians};
use greenup_space::Value;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Every round of the final measurements, as recorded in a sweep's folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rounds {
    /// Configs of the finalists.
    pub configs: Vec<Vec<Value>>,
    /// Seconds of each config in each round; the baseline kernel's last, where there is one.
    pub times_s: Vec<Vec<f64>>,
    /// Energies by config and round, J, in the order of `times_s`; empty series where not measured.
    pub energies_j: Vec<Vec<f64>>,
    /// The metric that is the objective by config and round, as a value to minimise; empty without one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Vec<f64>>,
    /// Whether the last series is that of the baseline.
    pub with_baseline: bool,
    /// Configs are in the order of the space, which ranks those that the rounds cannot tell apart.
    #[serde(default)]
    pub ties_by_order: bool,
}

/// Largest ratio to the best of a group at which configs may count as equal.
const EQUAL: f64 = 1.005;

impl Rounds {
    /// Name of the file in a sweep's folder.
    pub const FILE: &'static str = "finals.json";

    /// Reads the final rounds of a sweep's folder, which has this number of parameters; `None` where there are none.
    ///
    /// # Errors
    /// The file cannot be read, or its numbers cannot be.
    pub fn read(dir: &Path, parameters: usize) -> Result<Option<Self>, FolderError> {
        let path = dir.join(Self::FILE);
        if !path.exists() {
            return Ok(None);
        }
        let text = greenup_files::read_text(&path)?;
        let broken = |line, cause| FolderError::Broken {
            path: path.clone(),
            line,
            cause,
        };
        let found: Self =
            serde_json::from_str(&text).map_err(|e| broken(e.line(), e.to_string()))?;
        (found.check(parameters)).map_err(|e| broken(1, e.to_string()))?;
        Ok(Some(found))
    }

    /// Medians of a config's rounds.
    pub fn cost(&self, config: &[Value]) -> Option<Cost> {
        self.cost_of(self.configs.iter().position(|c| c == config)?)
    }

    /// The same of a config by its number.
    pub(crate) fn cost_of(&self, i: usize) -> Option<Cost> {
        let of = |rows: &[Vec<f64>]| rows.get(i).filter(|r| !r.is_empty()).map(|r| median(r));
        Some(Cost {
            time_s: of(&self.times_s)?,
            energy_j: of(&self.energies_j),
            metric: of(&self.metrics),
        })
    }

    /// Configs from best to worst by an objective, by their numbers; those without a value are left out. `flops` gives the work
    /// of a config.
    ///
    /// By medians; but configs that the rounds cannot tell from the best of their group, within 0.5 %, are in the order of the
    /// space, so that another search of the same space ranks them alike. `before` is the config until now: it comes first unless the
    /// rounds show that another is better.
    pub fn ranked(
        &self,
        objective: Objective,
        flops: &dyn Fn(usize) -> Option<f64>,
        before: Option<&[Value]>,
    ) -> Vec<usize> {
        let values: Vec<Vec<f64>> = (0..self.configs.len())
            .map(|i| self.values(i, objective, flops(i)))
            .collect();
        let mut order: Vec<usize> = (0..values.len())
            .filter(|&i| !values[i].is_empty())
            .filter(|&i| self.cost_of(i).is_some_and(|c| objective.allowed(c)))
            .collect();
        order.sort_by(|&a, &b| median(&values[a]).total_cmp(&median(&values[b])));
        if !self.ties_by_order {
            return order;
        }
        let mut first = 0;
        while let Some(&best) = order.get(first) {
            let equal = |&&i: &&usize| equal(&values[i], &values[best]);
            let n = 1 + order[first + 1..].iter().take_while(equal).count();
            order[first..first + n].sort_unstable();
            first += n;
        }
        let before = order.iter().position(|i| before == Some(&self.configs[*i]));
        if let Some(place) = before {
            let own = order[place];
            // As its speedup is shown.
            let better =
                |i: &usize| ratio_of_medians(&values[own], &values[*i]).is_some_and(|r| r.lo > 1.0);
            if !order[..place].iter().any(better) {
                order[..=place].rotate_right(1);
            }
        }
        order
    }

    /// Leaves the series of these numbers, in their order.
    pub(crate) fn keep(&mut self, numbers: &[usize]) {
        for rows in [&mut self.times_s, &mut self.energies_j, &mut self.metrics] {
            *rows = (numbers.iter())
                .filter_map(|i| rows.get_mut(*i).map(std::mem::take))
                .collect();
        }
    }

    /// Adds later rounds of the same kernels.
    pub(crate) fn append(&mut self, more: Self) {
        let pairs = [
            (&mut self.times_s, more.times_s),
            (&mut self.energies_j, more.energies_j),
            (&mut self.metrics, more.metrics),
        ];
        for (rows, more) in pairs {
            rows.resize(rows.len().max(more.len()), Vec::new());
            for (row, mut more) in rows.iter_mut().zip(more) {
                row.append(&mut more);
            }
        }
        self.drop_partial_energies();
    }

    /// A round without its energy would shift those of the later ones.
    pub(crate) fn drop_partial_energies(&mut self) {
        for (times, energies) in self.times_s.iter().zip(&mut self.energies_j) {
            if energies.len() != times.len() {
                energies.clear();
            }
        }
    }

    /// The objective of config `i` in each round.
    pub fn values(&self, i: usize, objective: Objective, flops: Option<f64>) -> Vec<f64> {
        let energies = self.energies_j.get(i);
        let times = self.times_s.get(i).into_iter().flatten();
        times
            .enumerate()
            .filter_map(|(round, &time_s)| {
                let energy_j = energies.and_then(|e| e.get(round).copied());
                let metric = self.metrics.get(i).and_then(|m| m.get(round).copied());
                let cost = Cost {
                    time_s,
                    energy_j,
                    metric,
                };
                objective.value(cost, flops)
            })
            .collect()
    }
}

/// Whether two series do not differ: by 0.5 % at most, and not significantly.
fn equal(values: &[f64], best: &[f64]) -> bool {
    let near = median(values) <= EQUAL * median(best);
    near && Paired::of(values, best).is_some_and(|r| !r.is_above_one())
}

/// The ratio of two configs round by round, which share the drift of the machine, as a logarithm.
pub(crate) struct Paired(Vec<f64>);

impl Paired {
    /// `None` with fewer than three rounds.
    pub(crate) fn of(values: &[f64], others: &[f64]) -> Option<Self> {
        let logs: Vec<f64> = (values.iter().zip(others))
            .map(|(a, b)| (a / b).ln())
            .collect();
        (logs.len() > 2).then_some(Self(logs))
    }

    /// Above this ratio with its 99.8 % interval: of many pairs and looks few are by chance.
    fn is_above(&self, ratio: f64) -> bool {
        mean_within(&self.0, Sure::Of998).is_some_and(|(mean, half)| mean > half.max(ratio.ln()))
    }

    /// Above 1 with that interval.
    pub(crate) fn is_above_one(&self) -> bool {
        self.is_above(1.0)
    }

    /// The same, by more than what counts as equal.
    pub(crate) fn is_behind(&self) -> bool {
        self.is_above(EQUAL)
    }

    /// Within 0.5 % with its 95 % interval.
    pub(crate) fn is_tie(&self) -> bool {
        let within = |(mean, half): (f64, f64)| mean.abs() + half <= EQUAL.ln();
        mean_within(&self.0, Sure::Of95).is_some_and(within)
    }
}
