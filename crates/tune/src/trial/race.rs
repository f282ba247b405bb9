//! When a config is of no more interest: it is slower than the best by more than noise, and its energy cannot be the least.

use crate::objective::{Energies, Objective};
use crate::plan::Plan;
use crate::problem::Problem;
use crate::sweep::Trial;

/// A run longer than this, over the best, is slower by more than noise.
const SLOWER: f64 = 1.1;
/// The same where energies are measured: the config of least energy is often one of the fast ones.
const SLOWER_WITH_ENERGY: f64 = 1.25;
/// Constant power over the least power of a config, at least: on the GPUs and hosts measured it is 0.15 to 0.6.
const CONSTANT: f64 = 0.15;
/// Energies from which others are judged.
const ENERGIES: usize = 5;

/// Of which configs energies are measured: whether slow ones are stopped is up to the problem too. Objectives of time alone are raced
/// for. A command runs a few times only, and clocks that a config sets change its power.
pub(crate) fn energies(problem: &Problem, plan: &Plan) -> Energies {
    let objectives = &plan.options.objectives;
    let time = objectives.iter().all(|o| matches!(o, Objective::Time));
    let races = time && problem.command.is_none() && plan.setup.control.is_none();
    match plan.options.energy {
        Energies::Front if !races => Energies::All,
        wanted => wanted,
    }
}

/// The trials of a worker so far, as far as they decide which later ones are stopped. Times are those of the machine as at first.
#[derive(Debug, Default)]
pub(crate) struct Race {
    on: bool,
    /// Whether energies are measured.
    sensor: bool,
    best_s: Option<f64>,
    /// Times, s, and energies, J.
    energies: Vec<(f64, f64)>,
}

impl Race {
    pub(crate) fn of(problem: &Problem, plan: &Plan) -> Self {
        let energies = energies(problem, plan);
        Self {
            on: energies != Energies::All,
            sensor: plan.setup.sensor.is_some() && energies != Energies::None,
            ..Self::default()
        }
    }

    /// Whether energies are measured of some configs.
    pub(crate) fn sensor(&self) -> bool {
        self.sensor
    }

    /// Takes a trial into account, which took `drift` times as long as it would have at first.
    pub(crate) fn take(&mut self, t: &Trial, drift: f64) {
        let Some(cost) = t.cost().filter(|_| t.effort >= 1.0 && !t.stopped) else {
            return;
        };
        let time_s = cost.time_s / drift;
        self.best_s = Some(self.best_s.map_or(time_s, |b| b.min(time_s)));
        self.energies.extend(cost.energy_j.map(|e| (time_s, e)));
    }

    /// Time of a run, s, beyond which a config can neither be the fastest nor, as far as the model tells, need the least energy;
    /// `None` where each is measured in full.
    pub(crate) fn beyond_s(&self) -> Option<f64> {
        let best = self.best_s.filter(|_| self.on)?;
        if !self.sensor {
            return Some(SLOWER * best);
        }
        if self.energies.len() < ENERGIES {
            return None;
        }
        Some(self.beyond_energy()?.max(SLOWER_WITH_ENERGY * best))
    }

    /// Time at which constant power alone, with the least energy of flops and bytes seen, takes the least energy so far.
    fn beyond_energy(&self) -> Option<f64> {
        let least = |of: &dyn Fn(&(f64, f64)) -> f64| {
            let all = self.energies.iter().map(of);
            all.min_by(f64::total_cmp)
        };
        let constant_w = CONSTANT * least(&|(t, e)| e / t)?;
        let moving_j = least(&|(t, e)| e - constant_w * t)?;
        Some((least(&|(_, e)| *e)? - moving_j) / constant_w)
    }
}

#[cfg(test)]
impl Race {
    /// For the least time alone.
    pub(crate) fn of_time() -> Self {
        Self {
            on: true,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{Failure, Outcome};

    fn trial(time_s: f64, energy_j: Option<f64>) -> Trial {
        let times_s = vec![time_s];
        let outcome = Outcome::Measured {
            times_s,
            time_s,
            energy_j,
            time_error: None,
        };
        Trial::of(vec![], outcome)
    }

    #[test]
    fn what_can_be_neither_the_fastest_nor_of_least_energy_is_beyond() {
        let near =
            |a: Option<f64>, b: f64| assert!((a.unwrap() / b - 1.0).abs() < 1e-9, "{a:?} {b}");
        let mut r = Race::of_time();
        assert_eq!(r.beyond_s(), None);
        r.take(&trial(2.0, None), 1.0);
        let stopped = Trial {
            stopped: true,
            ..trial(1.0, None)
        };
        r.take(&stopped, 1.0);
        near(r.beyond_s(), 2.2);
        // What proves wrong afterwards is a failure alone.
        assert!(!stopped.failed(Failure::Wrong, "x".into()).stopped);
        // The machine was slower: it would have taken 1.8 s.
        r.take(&trial(2.7, None), 1.5);
        near(r.beyond_s(), 1.98);
        let mut r = Race {
            on: true,
            sensor: true,
            ..Race::default()
        };
        // 200 W: 30 W of them constant at least. Few energies decide nothing.
        for _ in 1..ENERGIES {
            r.take(&trial(1.0, Some(200.0)), 1.0);
            assert_eq!(r.beyond_s(), None);
        }
        r.take(&trial(1.1, Some(220.0)), 1.0);
        near(r.beyond_s(), 1.25);
        // 60 W: 9 W of them constant at least. Less energy for flops and bytes: what is as frugal may take longer.
        r.take(&trial(2.0, Some(120.0)), 1.0);
        near(r.beyond_s(), 2.0);
        r.on = false;
        assert_eq!(r.beyond_s(), None);
    }
}
