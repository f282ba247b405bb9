//! Kernels measured in rounds, interleaved in random order.

use super::decided::{FIRST, Looks, Values, Wanted};
use crate::error::TuneError;
use crate::objective::Objective;
use crate::sweep::disturbance::Series;
use crate::sweep::{Rounds, Trial};
use crate::trial::bench::Bench;
use crate::trial::numbers;
use crate::worker::protocol::{Built, Message, Task};
use greenup_space::Value;
use std::cell::Cell;
use std::time::Instant;

/// Runs of a command in a final round at most, where one takes longer than a window.
const ROUND_RUNS: f64 = 3.0;
/// Rounds for an objective with a bound.
const BOUNDED: usize = 10;

impl Bench<'_> {
    /// Rounds of configs, and of a baseline if there is one more kernel, until their order is decided; with the numbers of the kernels
    /// that were left. `stays` names configs that are left whatever their rounds; `limit_s`
    /// is the time for rounds beyond the least. `None` when the user stopped it.
    ///
    /// # Errors
    /// One cannot be measured.
    pub(super) fn until_decided(
        &self,
        kernels: &[Built],
        best: &[&Trial],
        stays: &dyn Fn(&Trial) -> bool,
        limit_s: f64,
    ) -> Result<Option<(Vec<usize>, Rounds)>, TuneError> {
        let (options, start) = (&self.plan.options, Instant::now());
        let plan = (self.problem.measure).final_rounds(self.plan.setup.gpu.is_some());
        let all: Vec<usize> = (0..kernels.len()).collect();
        let measured = |kernels: &[Built], best: &[&Trial], wanted: Wanted| {
            let found = self.interleaved(kernels, best, wanted)?;
            let rounds = found.as_ref().map_or(0, |_| wanted.recorded());
            for round in 0..rounds {
                (self.observer).step(&format!("round {}", wanted.before + round + 1));
            }
            Ok(found)
        };
        // Whether a config keeps a bound is known by all of its rounds.
        let bounded = |o: &Objective| {
            matches!(
                o,
                Objective::TimeUnderPower(_) | Objective::EnergyUnderTime(_)
            )
        };
        let bounded = options.objectives.iter().any(bounded);
        if let Some(n) = options.rounds.or(bounded.then_some(BOUNDED)) {
            let found = measured(kernels, best, Wanted::of(n, plan.seconds))?;
            return Ok(found.map(|found| (all, found)));
        }
        let needs_energy = options.objectives.iter().any(|o| o.needs_energy());
        let least_s = Cell::new(None);
        // Time and number of the rounds before the last ones.
        let last = Cell::new((0.0, 0));
        let looks = Looks {
            plan,
            finalists: options.finalists,
            // A command runs once before each time, and may take long.
            first: if self.problem.command.is_some() {
                plan.least
            } else {
                FIRST
            },
            // A window with its energy takes about a second there, and time alone decides who needs one.
            apart: !needs_energy && self.plan.setup.gpu.is_some() && self.race.sensor(),
            more: &|done| {
                let elapsed_s = start.elapsed().as_secs_f64();
                // The least rounds are over.
                let from_s = least_s.get().unwrap_or(elapsed_s);
                least_s.set(Some(from_s));
                let (before_s, before) = last.replace((elapsed_s, done));
                let one_s = (elapsed_s - before_s) / (done - before) as f64;
                ((limit_s + from_s - elapsed_s) / one_s).max(0.0) as usize
            },
            stays: &|i| best.get(i).is_none_or(|t| stays(t)),
            values: &|left, found| self.by_objective(found, left, best),
        };
        looks.until_decided(all, &mut |left, wanted| {
            let kernels: Vec<Built> = left.iter().map(|i| kernels[*i].clone()).collect();
            let best: Vec<&Trial> = left.iter().filter_map(|i| best.get(*i).copied()).collect();
            measured(&kernels, &best, wanted)
        })
    }

    /// Values of the kernels that are left, by objective and round.
    fn by_objective(&self, found: &Rounds, left: &[usize], best: &[&Trial]) -> Values {
        let of = |objective: &Objective| -> Vec<Vec<f64>> {
            let one = |(i, n): (usize, &usize)| {
                let flops = self.problem.flops(&best.get(*n)?.config);
                Some(found.values(i, *objective, flops))
            };
            (left.iter().enumerate())
                .map(|of| one(of).unwrap_or_default())
                .collect()
        };
        self.plan.options.objectives.iter().map(of).collect()
    }

    /// Rounds of kernels in one process, interleaved; `None` when the user stopped it.
    ///
    /// # Errors
    /// One cannot be measured.
    pub(super) fn rounds(
        &self,
        kernels: &[Built],
        wanted: Wanted,
    ) -> Result<Option<Rounds>, TuneError> {
        let Wanted {
            rounds,
            before,
            energy,
            seconds,
            apart: _,
        } = wanted;
        let (count, n) = (kernels.len(), (rounds * kernels.len()) as f64);
        let timeout = self.problem.measure.timeout;
        // Each kernel runs once before the rounds; on a busy host this may take as long as it ever may.
        let first = count as f64 * timeout;
        let limit = match &self.problem.command {
            // The worker stops each run by itself.
            Some(command) => {
                let builds = count as f64 * command.build_timeout_s();
                first + builds + n * (seconds * 4.0 + ROUND_RUNS * timeout)
            }
            None => first + n * (seconds * 4.0 + timeout / 10.0),
        };
        let task = Task::Interleaved {
            kernels: kernels.to_vec(),
            rounds,
            before,
            energy,
            seconds,
        };
        let Some(answer) = self.run(task, limit)? else {
            return Ok(None);
        };
        let found = answer.messages.into_iter().find_map(|s| match s {
            Message::Interleaved {
                times_s,
                energies_j,
                metrics,
            } => Some(Rounds {
                times_s,
                energies_j,
                metrics,
                ..Rounds::default()
            }),
            _ => None,
        });
        match found {
            Some(r) => match wrong(&r, count, rounds) {
                None => Ok(Some(r)),
                Some(why) => Err(TuneError::Finalists(format!("their worker measured {why}"))),
            },
            None => {
                let why = answer.failure.map_or_else(String::new, |f| f.1);
                Err(TuneError::Finalists(why))
            }
        }
    }

    /// Rounds of one config, at its clocks, of at most `round_s` seconds each; `None` when the user stopped it.
    ///
    /// # Errors
    /// Why it cannot be measured.
    pub(crate) fn series(
        &self,
        config: &[Value],
        kernel: &Built,
        rounds: usize,
        round_s: f64,
    ) -> Result<Option<Series>, String> {
        self.set_clocks(config).map_err(|e| e.to_string())?;
        let seconds = self.problem.measure.seconds.min(round_s);
        let found = self.rounds(std::slice::from_ref(kernel), Wanted::of(rounds, seconds));
        let found = found.map_err(|e| match e {
            TuneError::Finalists(why) => why,
            e => e.to_string(),
        })?;
        Ok(found.map(|mut of| Series {
            times_s: of.times_s.pop().unwrap_or_default(),
            energies_j: of.energies_j.pop().unwrap_or_default(),
        }))
    }

    /// Interleaved comparison of kernels: in one process, or one process each where configs set clocks. `None` when
    /// the user stopped it.
    fn interleaved(
        &self,
        kernels: &[Built],
        best: &[&Trial],
        wanted: Wanted,
    ) -> Result<Option<Rounds>, TuneError> {
        if self.control.is_none() {
            return self.rounds(kernels, wanted);
        }
        let mut found = Rounds {
            times_s: vec![Vec::new(); kernels.len()],
            energies_j: vec![Vec::new(); kernels.len()],
            ..Rounds::default()
        };
        let mut rng = fastrand::Rng::with_seed(self.plan.options.seed);
        let mut order: Vec<usize> = (0..kernels.len()).collect();
        for round in 0..wanted.before + wanted.rounds {
            rng.shuffle(&mut order);
            if round < wanted.before {
                continue;
            }
            for &i in &order {
                self.set_clocks(&best[i].config)
                    .map_err(|e| TuneError::Finalists(e.to_string()))?;
                let one = Wanted {
                    rounds: 1,
                    before: 0,
                    ..wanted
                };
                let Some(mut of) = self.rounds(&kernels[i..=i], one)? else {
                    return Ok(None);
                };
                found.times_s[i].append(&mut of.times_s[0]);
                found.energies_j[i].append(&mut of.energies_j[0]);
            }
        }
        found.drop_partial_energies();
        Ok(Some(found))
    }
}

/// Why these are no rounds of so many kernels.
fn wrong(of: &Rounds, kernels: usize, rounds: usize) -> Option<String> {
    let rows = |all: &[Vec<f64>], complete: bool| {
        all.iter()
            .all(|r| r.len() == rounds || !complete && r.is_empty())
    };
    let whole = of.times_s.len() == kernels
        && of.energies_j.len() == kernels
        && rows(&of.times_s, true)
        && rows(&of.energies_j, false);
    if !whole {
        return Some(format!("other rounds than {rounds} of {kernels} kernels"));
    }
    let times = of.times_s.iter().try_for_each(|r| numbers::measured(r));
    let mut energies = of.energies_j.iter().flatten();
    times
        .and_then(|()| energies.try_for_each(|j| numbers::energy(Some(*j))))
        .err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_that_are_not_those_asked_for_are_refused() {
        let wrong = |times: &[&[f64]], energies: &[&[f64]]| {
            let of = Rounds {
                times_s: times.iter().map(|r| r.to_vec()).collect(),
                energies_j: energies.iter().map(|r| r.to_vec()).collect(),
                ..Rounds::default()
            };
            wrong(&of, 1, 2)
        };
        assert_eq!(wrong(&[&[1.0, 2.0]], &[&[]]), None);
        assert_eq!(wrong(&[&[1.0, 2.0]], &[&[3.0, 4.0]]), None);
        for (times, energies) in [
            (&[][..], &[][..]),
            (&[&[1.0][..]], &[&[][..]]),
            (&[&[1.0, -1.0][..]], &[&[][..]]),
            (&[&[1.0, 0.0][..]], &[&[][..]]),
            (&[&[1.0, 2.0][..]], &[]),
            (&[&[1.0, 2.0][..]], &[&[1.0][..]]),
            (&[&[1.0, 2.0][..]], &[&[0.0, 1.0][..]]),
            (&[&[1.0, 2.0][..], &[1.0, 2.0]], &[&[][..]]),
        ] {
            assert!(wrong(times, energies).is_some(), "{times:?} {energies:?}");
        }
    }
}
