//! Which config won: by the final rounds where there are any, for the objective that they were measured for.

use super::default::DefaultConfig;
use super::record::Sweep;
use crate::objective::{Cost, Objective, Unmet};
use greenup_meter::stats::median;
use greenup_space::Value;

impl Sweep {
    /// Full trials that keep the bound of an objective, from best to worst by it. The configs of the final rounds come first, in the order that
    /// those gave, if they were measured for this objective: single trials drift. For other objectives their values count where they
    /// measured a config, and those of single trials as much worse as the finalists became: otherwise a lucky trial wins.
    pub fn ranked(&self, objective: Objective) -> Vec<usize> {
        let flops = self.facts.flops;
        let finals = (self.finals.as_ref())
            .filter(|_| self.facts.objective.as_deref() == Some(objective.to_string().as_str()));
        let places: Vec<&[Value]> = finals.map_or_else(Vec::new, |f| {
            let ranked = f
                .ranked(
                    objective,
                    &|_| flops,
                    self.facts.default.as_ref().and_then(DefaultConfig::chosen),
                )
                .into_iter();
            ranked.map(|i| f.configs[i].as_slice()).collect()
        });
        let once = |i: usize| objective.value(self.trials[i].cost()?, flops);
        let again = |i: usize| {
            let (cost, again) = self.best_known_cost(i)?;
            objective.value(cost, flops).filter(|_| again)
        };
        // How much worse the finalists are than their trials: never to the advantage of a single trial.
        let full = (0..self.trials.len()).filter(|i| self.trials[*i].effort >= 1.0);
        let losses: Vec<f64> = full
            .filter_map(|i| Some((again(i)?, once(i)?)))
            .map(|(again, once)| (again - once) / once.abs())
            .filter(|l| l.is_finite())
            .collect();
        // Within 1 % is a tie, which what was measured again wins. Without finalists the median is NaN.
        let loss = median(&losses).max(0.01);
        let mut order: Vec<(bool, f64, usize)> = self
            .trials
            .iter()
            .enumerate()
            .filter(|(_, t)| t.effort >= 1.0)
            .filter(|(i, _)| {
                let cost = self.best_known_cost(*i);
                cost.is_some_and(|(c, _)| objective.allowed(c))
            })
            .filter_map(|(i, t)| {
                let place = places.iter().position(|c| *c == t.config);
                let value = match place {
                    Some(place) => place as f64,
                    None => again(i).or_else(|| once(i).map(|v| v + loss * v.abs()))?,
                };
                Some((place.is_none(), value, i))
            })
            .collect();
        order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        order.into_iter().map(|(_, _, i)| i).collect()
    }

    /// The bound of an objective, if it is why there is no winner.
    pub fn unmet(&self, objective: Objective) -> Option<Unmet> {
        let full = (self.trials.iter().enumerate()).filter(|(_, t)| t.effort >= 1.0);
        objective.unmet(full.filter_map(|(i, _)| Some(self.best_known_cost(i)?.0)))
    }

    /// The best trial by an objective, as [`Sweep::ranked`].
    pub fn winner(&self, objective: Objective) -> Option<usize> {
        self.ranked(objective).first().copied()
    }

    /// What a trial costs: by the final rounds where it was measured again, which the flag says, else its own.
    pub fn best_known_cost(&self, trial: usize) -> Option<(Cost, bool)> {
        let t = self.trials.get(trial)?;
        match self.finals.as_ref().and_then(|f| f.cost(&t.config)) {
            Some(c) => Some((c, true)),
            None => Some((t.cost()?, false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{Outcome, Rounds, SweepFacts, Trial};
    use greenup_space::Value;

    fn trial(a: i64, time_s: f64) -> Trial {
        let text =
            format!(r#"{{"config":[{a}],"measured":{{"times_s":[{time_s}],"time_s":{time_s}}}}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn the_final_rounds_name_the_winner() {
        let mut sweep = Sweep {
            facts: SweepFacts {
                parameters: vec!["a".into()],
                objective: Some("time".into()),
                ..SweepFacts::default()
            },
            // The third was measured while the machine was quick.
            trials: vec![trial(1, 3.0), trial(2, 2.0), trial(3, 1.5), trial(4, 2.5)],
            ..Sweep::default()
        };
        assert!(matches!(sweep.trials[0].outcome, Outcome::Measured { .. }));
        assert_eq!(sweep.ranked(Objective::Time), [2, 1, 3, 0]);
        sweep.finals = Some(Rounds {
            metrics: Vec::new(),
            configs: vec![vec![Value::Int(3)], vec![Value::Int(2)]],
            times_s: vec![vec![2.4, 2.6, 2.7], vec![2.2, 2.1, 2.0], vec![9.0]],
            energies_j: vec![Vec::new(); 3],
            with_baseline: true,
            ties_by_order: false,
        });
        assert_eq!(sweep.ranked(Objective::Time), [1, 2, 3, 0]);
        assert_eq!(sweep.winner(Objective::Time), Some(1));
        assert_eq!(sweep.best_known_cost(1).unwrap().0.time_s, 2.1);
        assert!(!sweep.best_known_cost(0).unwrap().1);
        // For another objective they say nothing.
        assert_eq!(sweep.winner(Objective::Energy), None);
        // The finalists became 39 % slower on average: a trial that was lucky by less does not win.
        sweep.facts.objective = Some("energy".into());
        sweep.trials[3] = trial(4, 1.7);
        assert_eq!(sweep.ranked(Objective::Time), [1, 3, 2, 0]);
        sweep.trials[3] = trial(4, 1.2);
        assert_eq!(sweep.winner(Objective::Time), Some(3));
    }

    #[test]
    fn only_what_is_better_replaces_the_chosen_config() {
        let rounds = |best: [f64; 4]| Rounds {
            configs: vec![vec![Value::Int(3)], vec![Value::Int(2)]],
            times_s: vec![best.to_vec(), vec![2.2, 2.1, 2.15, 2.2]],
            ties_by_order: true,
            ..Rounds::default()
        };
        let chosen = vec![Value::Int(2)];
        let ranked = |best, before| rounds(best).ranked(Objective::Time, &|_| None, before);
        let noisy = [1.9, 2.2, 2.05, 2.3];
        assert_eq!(ranked(noisy, None), [0, 1]);
        assert_eq!(ranked(noisy, Some(&chosen[..])), [1, 0]);
        assert_eq!(ranked([1.1, 1.05, 1.1, 1.08], Some(&chosen[..])), [0, 1]);
        // That of nobody is a config like the others.
        let first = DefaultConfig {
            config: chosen,
            origin: crate::sweep::DefaultOrigin::First,
        };
        assert_eq!(first.chosen(), None);
    }

    #[test]
    fn what_is_beyond_a_bound_is_never_ranked() {
        let with_energy = |a: i64, time_s: f64, energy_j: f64| {
            let mut t = trial(a, time_s);
            if let Outcome::Measured { energy_j: e, .. } = &mut t.outcome {
                *e = Some(energy_j);
            }
            t
        };
        let mut sweep = Sweep {
            facts: SweepFacts {
                parameters: vec!["b".into()],
                ..SweepFacts::default()
            },
            // 200, 300 and 50 W.
            trials: vec![
                with_energy(32, 2e-3, 0.4),
                with_energy(64, 1e-3, 0.3),
                with_energy(128, 4e-3, 0.2),
            ],
            ..Sweep::default()
        };
        let power = Objective::TimeUnderPower;
        assert_eq!(sweep.ranked(power(300.0)), [1, 0, 2]);
        assert_eq!(sweep.ranked(power(250.0)), [0, 2]);
        assert_eq!(sweep.ranked(power(100.0)), [2]);
        assert_eq!(sweep.unmet(power(100.0)), None);
        assert_eq!(sweep.winner(power(10.0)), None);
        assert_eq!(sweep.unmet(power(10.0)).unwrap().nearest, 50.0);
        let time = Objective::EnergyUnderTime;
        assert_eq!(sweep.ranked(time(2e-3)), [1, 0]);
        assert_eq!(sweep.unmet(time(1e-4)).unwrap().nearest, 1e-3);
        // A short measurement is none that wins.
        sweep.trials[2].effort = 0.5;
        assert_eq!(sweep.winner(power(100.0)), None);
        assert_eq!(sweep.unmet(power(100.0)).unwrap().nearest, 200.0);
    }
}
