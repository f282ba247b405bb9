//! When a config is of no more interest: it is slower than the best by more than noise, and its energy cannot be the least.

use crate::objective::{Energies, Objective};
use crate::plan::Plan;
use crate::problem::Problem;
use crate::sweep::Trial;
use std::sync::{Mutex, PoisonError};

/// A run longer than this, over the best, is slower by more than noise and drift.
const SLOWER: f64 = 1.1;
/// The same where energies are measured: the config of least energy is often one of the fast ones.
const SLOWER_WITH_ENERGY: f64 = 1.25;
/// Constant power over the least power of a config, at least: on the GPUs and hosts measured it is 0.15 to 0.6.
const CONSTANT: f64 = 0.15;

/// The trials so far, as far as they decide which later ones are stopped.
#[derive(Debug, Default)]
pub(crate) struct Race {
    on: bool,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    best_s: Option<f64>,
    /// Times, s, and energies, J.
    energies: Vec<(f64, f64)>,
}

impl Race {
    /// Objectives of time alone are raced for. A command runs a few times only, and clocks that a config sets change its power.
    pub(crate) fn of(problem: &Problem, plan: &Plan) -> Self {
        let objectives = &plan.options.objectives;
        let time = objectives.iter().all(|o| matches!(o, Objective::Time));
        Self {
            on: time
                && plan.options.energy != Energies::All
                && problem.command.is_none()
                && plan.setup.control.is_none(),
            known: Mutex::default(),
        }
    }

    /// Takes a trial into account.
    pub(crate) fn take(&self, t: &Trial) {
        let Some(cost) = t.cost().filter(|_| t.effort >= 1.0 && !t.stopped) else {
            return;
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.best_s = Some(known.best_s.map_or(cost.time_s, |b| b.min(cost.time_s)));
        known
            .energies
            .extend(cost.energy_j.map(|e| (cost.time_s, e)));
    }

    /// Time of a run, s, beyond which a config can neither be the fastest nor need the least energy; `None` where each is measured
    /// in full.
    pub(crate) fn beyond_s(&self) -> Option<f64> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let best = known.best_s.filter(|_| self.on)?;
        Some(match known.beyond_energy() {
            Some(energy) => energy.max(SLOWER_WITH_ENERGY * best),
            None => SLOWER * best,
        })
    }
}

impl Known {
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
mod tests {
    use super::*;
    use crate::sweep::Outcome;

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

    fn race() -> Race {
        Race {
            on: true,
            ..Race::default()
        }
    }

    #[test]
    fn what_can_be_neither_the_fastest_nor_of_least_energy_is_beyond() {
        let r = race();
        assert_eq!(r.beyond_s(), None);
        r.take(&trial(2.0, None));
        r.take(&Trial {
            stopped: true,
            ..trial(1.0, None)
        });
        assert_eq!(r.beyond_s(), Some(2.0 * SLOWER));
        // 200 W: 30 W of them constant at least.
        let r = race();
        r.take(&trial(1.0, Some(200.0)));
        let near =
            |a: Option<f64>, b: f64| assert!((a.unwrap() / b - 1.0).abs() < 1e-9, "{a:?} {b}");
        near(r.beyond_s(), SLOWER_WITH_ENERGY);
        // Half the energy of flops and bytes in twice the time: what is as frugal may take longer still.
        r.take(&trial(2.0, Some(120.0)));
        let constant = CONSTANT * 60.0;
        near(
            r.beyond_s(),
            (120.0 - (120.0 - 2.0 * constant)) / constant * 1.0_f64.max(1.0),
        );
        assert_eq!(Race::default().beyond_s(), None);
    }
}
