//! What tuning gained: the best config next to the one before tuning.

use super::baseline::Compared;
use super::default::DefaultConfig;
use super::record::Sweep;
use super::rounds::Rounds;
use crate::command::Goal;
use serde::Serialize;

/// The config before tuning in the final rounds, and how the best config compares with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// The config before tuning.
    #[serde(flatten)]
    pub over: DefaultConfig,
    /// Whether it is the best itself.
    pub is_best: bool,
    /// Its measurements, speedup and greenup.
    #[serde(flatten)]
    pub compared: Compared,
}

impl Rounds {
    /// Config `best` next to the one before tuning; `None` if that was not measured. `maximize` says whether the metric is
    /// better the larger it is.
    pub fn gain(&self, best: usize, over: &DefaultConfig, maximize: bool) -> Option<Gain> {
        let other = self.configs.iter().position(|c| *c == over.config)?;
        Some(Gain {
            over: over.clone(),
            is_best: other == best,
            compared: self.compared(best, other, maximize)?,
        })
    }
}

impl Sweep {
    /// The best config of the final rounds by the sweep's objective, next to the config before tuning; `None` without one
    /// that was measured, or without final rounds.
    pub fn gain(&self) -> Option<Gain> {
        let maximize = self.facts.goal == Some(Goal::Maximize);
        let over = self.facts.default.as_ref()?;
        (self.finals.as_ref()?).gain(self.best_of_finals()?, over, maximize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{DefaultOrigin, SweepFacts};
    use greenup_space::Value;

    #[test]
    fn the_best_is_compared_with_the_config_before_tuning() {
        let of = |i: i64| vec![Value::Int(i)];
        let mut sweep = Sweep {
            facts: SweepFacts {
                objective: Some("time".into()),
                default: Some(DefaultConfig {
                    config: of(1),
                    origin: DefaultOrigin::First,
                }),
                ..SweepFacts::default()
            },
            finals: Some(Rounds {
                configs: vec![of(1), of(2)],
                times_s: vec![vec![6.0; 5], vec![2.0; 5]],
                energies_j: vec![vec![8.0; 5], vec![2.0; 5]],
                ..Rounds::default()
            }),
            ..Sweep::default()
        };
        let gain = sweep.gain().unwrap();
        assert_eq!(gain.compared.speedup.unwrap().median, 3.0);
        assert_eq!(gain.compared.greenup.unwrap().median, 4.0);
        assert!(!gain.is_best);
        let json = serde_json::to_value(&gain).unwrap();
        assert_eq!(json["origin"], "first");
        assert_eq!(json["config"], serde_json::json!([1]));
        for (config, known) in [(2, true), (3, false)] {
            if let Some(d) = &mut sweep.facts.default {
                d.config = of(config);
            }
            assert_eq!(sweep.gain().map(|g| g.is_best), known.then_some(true));
        }
    }
}
