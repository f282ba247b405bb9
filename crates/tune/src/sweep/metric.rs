//! A metric of a sweep as its objective: whether there is one of that name, and what is better of it.

use super::record::Sweep;
use crate::command::Goal;
use crate::objective::{Objective, UnknownObjective};
use crate::sweep::OBJECTIVE;
use greenup_setting::setting;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// An objective that a sweep cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveError {
    /// No trial has a metric of this name.
    #[error("no trial of the sweep has a metric `{name}`; known: {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Objectives that the sweep has.
        known: Vec<String>,
    },
    /// What is better is not known.
    #[error(
        "whether more or less of `{0}` is better is not known: use metric:{0}:max or metric:{0}:min"
    )]
    Direction(String),
    /// All values are 0 or negative.
    #[error("no trial has a `{0}` above 0, which an objective must be")]
    NotPositive(String),
    /// The sweep's own objective is none.
    #[error("sweep.json: {}; name one with {}", .0, setting("objective"))]
    Recorded(#[from] UnknownObjective),
}

/// What is better of a quantity, as far as its name tells.
fn direction(name: &str) -> Option<Goal> {
    let n = name.to_lowercase();
    let ends = |all: &[&str]| all.iter().any(|e| n.ends_with(e));
    let has = |all: &[&str]| all.iter().any(|e| n.contains(e));
    if has(&["/flop", "per_flop"]) {
        return Some(Goal::Minimize);
    }
    let rates = ["/s", "/w", "/j", "_per_s", "_per_w", "_per_j"];
    let more = [
        "flop",
        "bandwidth",
        "throughput",
        "speedup",
        "efficiency",
        "fitness",
    ];
    if ends(&rates) || has(&more) {
        return Some(Goal::Maximize);
    }
    let less = [
        "time", "energy", "power", "cost", "loss", "edp", "ed2p", "error", "latency",
    ];
    let units = ["_s", "_ms", "_us", "_ns", "_j", "_mj", "_w", "_bytes"];
    let whole = |w: &str| n == w || n.ends_with(&format!("_{w}"));
    (less.iter().any(|w| whole(w)) || ends(&units)).then_some(Goal::Minimize)
}

impl Sweep {
    /// The objective that the sweep was made for; time if it does not say.
    ///
    /// # Errors
    /// It is none that this version knows.
    pub fn own_objective(&self) -> Result<Objective, ObjectiveError> {
        match self.facts.objective.as_deref() {
            Some(name) => Ok(name.parse()?),
            None => Ok(Objective::Time),
        }
    }

    /// The sweep with the values of this objective, in place of those of another metric; the same for objectives that are no
    /// metric.
    ///
    /// # Errors
    /// No trial has the metric, or what is better of it is not known.
    pub fn aimed(&self, objective: Objective) -> Result<Cow<'_, Self>, ObjectiveError> {
        let Objective::Metric(text) = objective else {
            return Ok(Cow::Borrowed(self));
        };
        let has = |n: &str| n != OBJECTIVE && self.trials.iter().any(|t| t.metrics.contains_key(n));
        let own = self.facts.objective.as_deref() == Some(objective.to_string().as_str());
        let recorded = self
            .trials
            .iter()
            .any(|t| t.metrics.contains_key(OBJECTIVE));
        if own && recorded {
            return Ok(Cow::Borrowed(self));
        }
        let (name, asked) = match text.rsplit_once(':') {
            _ if has(text) => (text, None),
            Some((name, "max")) => (name, Some(Goal::Maximize)),
            Some((name, "min")) => (name, Some(Goal::Minimize)),
            _ => (text, None),
        };
        if !has(name) {
            return Err(ObjectiveError::Unknown {
                name: name.to_owned(),
                known: self.objectives(),
            });
        }
        let recorded_goal = || self.facts.goal.filter(|_| own);
        let goal = asked.or_else(recorded_goal).or_else(|| direction(name));
        let goal = goal.ok_or_else(|| ObjectiveError::Direction(name.to_owned()))?;
        let mut out = self.clone();
        let (mut used, mut left) = (0, 0);
        for t in &mut out.trials {
            t.metrics.remove(OBJECTIVE);
            match t.metrics.get(name).copied() {
                Some(x) if x > 0.0 => {
                    t.metrics.insert(OBJECTIVE.to_owned(), goal.turned(x));
                    used += 1;
                }
                Some(_) => left += 1,
                None => {}
            }
        }
        if used == 0 {
            return Err(ObjectiveError::NotPositive(name.to_owned()));
        }
        if left > 0 {
            out.warnings.push(format!(
                "{left} trials are left out: their `{name}` is not above 0"
            ));
        }
        out.facts.objective = Some(objective.to_string());
        out.facts.goal = Some(goal);
        // They were measured for another objective.
        out.finals = out.finals.filter(|_| own);
        Ok(Cow::Owned(out))
    }

    /// Names of the objectives that the trials have values for.
    pub fn objectives(&self) -> Vec<String> {
        let measured = || self.measured().map(|(_, c)| c);
        let mut out = Vec::new();
        if measured().any(|c| c.time_s.is_finite()) {
            out.push("time".to_owned());
        }
        if self.has_energy() {
            out.extend(["energy", "edp", "ed2p"].map(str::to_owned));
        }
        let metrics: BTreeSet<&String> =
            (self.measured().flat_map(|(t, _)| t.metrics.keys())).collect();
        let metrics = metrics.into_iter().filter(|n| *n != OBJECTIVE);
        out.extend(metrics.map(|n| format!("metric:{n}")));
        out
    }

    /// The metric that is the objective, by its own name and as it was measured; `None` where it is none.
    pub fn metric_of(&self, trial: usize, objective: Objective) -> Option<(&str, f64)> {
        let Objective::Metric(text) = objective else {
            return None;
        };
        let metrics = &self.trials.get(trial)?.metrics;
        let plain = text.rsplit_once(':').map(|(name, _)| name);
        let name = [Some(text), plain].into_iter().flatten();
        let (name, x) = name.filter_map(|n| metrics.get_key_value(n)).next()?;
        Some((name.as_str(), *x))
    }
}

/// A value to minimise of the objective as its metric's own.
pub fn own_value(minimised: f64, goal: Option<Goal>) -> f64 {
    goal.unwrap_or_default().turned(minimised)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::SweepFacts;

    fn sweep(lines: &[&str]) -> Sweep {
        let line = |(i, m): (usize, &&str)| {
            let text = format!(
                r#"{{"config":[{i}],"measured":{{"times_s":[1.0],"time_s":1.0}},"metrics":{m}}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        Sweep {
            facts: SweepFacts {
                parameters: vec!["a".into()],
                ..SweepFacts::default()
            },
            trials: lines.iter().enumerate().map(line).collect(),
            ..Sweep::default()
        }
    }

    #[test]
    fn the_best_by_a_metric_has_most_or_least_of_it() {
        let s = sweep(&[
            r#"{"GFLOP/s": 2.0, "core_freq": 5.0, "p99_ms": 7.0}"#,
            r#"{"GFLOP/s": 3.0, "core_freq": 4.0, "p99_ms": 8.0}"#,
            r#"{"GFLOP/s": null, "core_freq": -1.0}"#,
        ]);
        let winner = |name: &str| {
            let o: Objective = name.parse().unwrap();
            s.aimed(o).map(|s| s.winner(o))
        };
        assert_eq!(winner("metric:GFLOP/s"), Ok(Some(1)));
        assert_eq!(winner("metric:GFLOP/s:min"), Ok(Some(0)));
        assert_eq!(winner("metric:p99_ms"), Ok(Some(0)));
        assert_eq!(winner("metric:core_freq:max"), Ok(Some(0)));
        assert_eq!(
            winner("metric:core_freq"),
            Err(ObjectiveError::Direction("core_freq".into()))
        );
        let o: Objective = "metric:core_freq:min".parse().unwrap();
        let aimed = s.aimed(o).unwrap();
        assert_eq!(aimed.winner(o), Some(1));
        assert_eq!(aimed.metric_of(1, o), Some(("core_freq", 4.0)));
        assert!(aimed.warnings[0].contains("1 trials are left out"));
        let e = winner("metric:gflops").unwrap_err().to_string();
        assert!(
            e.contains("`gflops`; known: time, metric:GFLOP/s, metric:core_freq"),
            "{e}"
        );
    }

    #[test]
    fn a_recorded_objective_is_not_another_metric() {
        let mut s = sweep(&[
            r#"{"rate": 2.0, "steps": 1.0, "objective": 0.5}"#,
            r#"{"rate": 4.0, "steps": 2.0, "objective": 0.25}"#,
        ]);
        s.facts.objective = Some("metric:rate".into());
        let own = s.own_objective().unwrap();
        assert!(matches!(s.aimed(own), Ok(Cow::Borrowed(_))));
        assert_eq!(s.winner(own), Some(1));
        let typo: Objective = "metric:ratee".parse().unwrap();
        assert!(s.aimed(typo).is_err());
        // A metric named `objective` is only the value to minimise.
        assert!(s.aimed("metric:objective".parse().unwrap()).is_err());
        let steps: Objective = "metric:steps:min".parse().unwrap();
        assert_eq!(s.aimed(steps).unwrap().winner(steps), Some(0));
        s.facts.objective = Some("TFLOPS per second".into());
        assert!(s.own_objective().is_err());
    }

    #[test]
    fn names_tell_what_is_better() {
        for name in [
            "GFLOP/s",
            "TFLOPS/J",
            "gflops_per_w",
            "GB/s",
            "throughput",
            "flops",
        ] {
            assert_eq!(direction(name), Some(Goal::Maximize), "{name}");
        }
        for name in [
            "time",
            "wall_s",
            "nvml_energy",
            "memory_bytes",
            "J/flop",
            "Latency",
            "ps_power",
        ] {
            assert_eq!(direction(name), Some(Goal::Minimize), "{name}");
        }
        for name in ["core_freq", "registers", "temperature", "score", "blocks"] {
            assert_eq!(direction(name), None, "{name}");
        }
    }
}
