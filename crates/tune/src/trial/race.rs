//! When a config is of no more interest: it is slower than the best by more than noise, and by its time it cannot be the best by energy.

use crate::objective::{Cost, Energies, Objective};
use crate::plan::Plan;
use crate::problem::Problem;
use crate::sweep::Trial;
use greenup_meter::stats::median;

/// A run longer than this, over the best, is slower by more than noise.
const SLOWER: f64 = 1.1;
/// Constant power over the least power of a config, at least: on the GPUs and hosts measured it is 0.15 to 0.6.
const CONSTANT: f64 = 0.15;
/// Energies from which others are judged, and from which they are predicted by their times.
const ENERGIES: usize = 5;
const PREDICTED: usize = 6;
/// Standard deviations by which a prediction may be too large.
const SPREAD: f64 = 2.0;
/// Times over the best that are looked at for a limit.
const STEP: f64 = 1.01;
const STEPS: i32 = 230;

/// Of which configs energies are measured: whether slow ones are stopped is up to the problem and its objectives too. A command runs a
/// few times only, clocks that a config sets change its power, and a bound on power may favour the slow.
pub(crate) fn energies(problem: &Problem, plan: &Plan) -> Energies {
    use Objective::{Ed2p, Edp, Energy, Time, Weighted};
    let objectives = &plan.options.objectives;
    let joint = |o: &Objective| matches!(o, Time | Energy | Edp | Ed2p | Weighted(_));
    let races =
        objectives.iter().all(joint) && problem.command.is_none() && plan.setup.control.is_none();
    match plan.options.energy {
        Energies::Front if !races => Energies::All,
        wanted => wanted,
    }
}

/// The trials so far of a worker, or of all, as far as they decide which later ones are stopped. Times are those of the machine as at first.
#[derive(Debug, Default)]
pub(crate) struct Race {
    on: bool,
    /// What needs energies; empty where none is measured.
    of_energy: Vec<Objective>,
    best_s: Option<f64>,
    /// Times, s, and energies, J.
    energies: Vec<(f64, f64)>,
}

impl Race {
    pub(crate) fn of(problem: &Problem, plan: &Plan) -> Self {
        let energies = energies(problem, plan);
        let mut of_energy = Vec::new();
        if plan.setup.sensor.is_some() && energies != Energies::None {
            of_energy.push(Objective::Energy);
            let more = plan.options.objectives.iter().filter(|o| o.needs_energy());
            of_energy.extend(more);
        }
        Self {
            on: energies != Energies::All,
            of_energy,
            ..Self::default()
        }
    }

    /// Whether energies are measured of some configs.
    pub(crate) fn sensor(&self) -> bool {
        !self.of_energy.is_empty()
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

    /// Energy of a config that takes so long, J, as those that were measured let expect: by the line, else by their median power.
    pub(crate) fn expected_j(&self, time_s: f64) -> Option<f64> {
        if let Some(line) = self.line() {
            return Some(line.energy_j(time_s, 0.0));
        }
        let powers: Vec<f64> = self.energies.iter().map(|(t, e)| e / t).collect();
        (!powers.is_empty()).then(|| median(&powers) * time_s)
    }

    /// Time of a run, s, beyond which a config can neither be the fastest nor, as far as the others tell, the best by energy; `None`
    /// where each is measured in full.
    pub(crate) fn beyond_s(&self) -> Option<f64> {
        let first = SLOWER * self.best_s.filter(|_| self.on)?;
        if !self.sensor() {
            return Some(first);
        }
        if self.energies.len() < ENERGIES {
            return None;
        }
        let least = |of: &dyn Fn(&(f64, f64)) -> Option<f64>| {
            let all = self.energies.iter().filter_map(of);
            all.min_by(f64::total_cmp)
        };
        let value = |o: &Objective, time_s: f64, energy_j: f64| {
            let cost = Cost {
                time_s,
                energy_j: Some(energy_j),
                metric: None,
            };
            o.value(cost, None)
        };
        // Constant power, and the least energy that flops and bytes took.
        let constant_w = CONSTANT * least(&|(t, e)| Some(e / t))?;
        let moving_j = least(&|(t, e)| Some(e - constant_w * t))?;
        let bests: Vec<f64> = (self.of_energy.iter())
            .map(|o| least(&|(t, e)| value(o, *t, *e)))
            .collect::<Option<_>>()?;
        let line = self.line();
        let is_beyond = |time_s: &f64| {
            let predicted = line.map_or(0.0, |l| l.energy_j(*time_s, SPREAD));
            let least_j = predicted.max(constant_w * time_s + moving_j);
            let objectives = self.of_energy.iter().zip(&bests);
            (objectives.into_iter())
                .all(|(o, b)| value(o, *time_s, least_j).is_some_and(|v| v > *b))
        };
        (0..STEPS).map(|i| first * STEP.powi(i)).find(is_beyond)
    }

    /// Energy by time of the fast configs: slow ones waste otherwise.
    fn line(&self) -> Option<Line> {
        let best = self.best_s?;
        let near = self.energies.iter().filter(|(t, _)| *t <= 2.0 * best);
        Line::of(&near.copied().collect::<Vec<_>>())
    }
}

/// Energy as a power of time.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Logarithm of the energy at 1 s.
    at_one: f64,
    power: f64,
    /// Standard deviation of the logarithm.
    spread: f64,
}

impl Line {
    /// By least squares of the logarithms; `None` if there are few points, or slower configs need less.
    fn of(energies: &[(f64, f64)]) -> Option<Self> {
        if energies.len() < PREDICTED {
            return None;
        }
        let n = energies.len() as f64;
        let logs: Vec<(f64, f64)> = energies.iter().map(|(t, e)| (t.ln(), e.ln())).collect();
        let sum = |of: &dyn Fn(f64, f64) -> f64| logs.iter().map(|(x, y)| of(*x, *y)).sum::<f64>();
        let (x0, y0) = (sum(&|x, _| x) / n, sum(&|_, y| y) / n);
        let power = sum(&|x, y| (x - x0) * (y - y0)) / sum(&|x, _| (x - x0).powi(2));
        let rest = sum(&|x, y| (y - y0 - power * (x - x0)).powi(2));
        (power.is_finite() && power > 0.0).then_some(Self {
            at_one: y0 - power * x0,
            power,
            spread: (rest / (n - 2.0)).sqrt(),
        })
    }

    /// Energy of a config that takes so long, J, so many standard deviations below the line.
    fn energy_j(self, time_s: f64, below: f64) -> f64 {
        (self.at_one + self.power * time_s.ln() - below * self.spread).exp()
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
        let with = |of_energy: &[Objective]| Race {
            on: true,
            of_energy: of_energy.to_vec(),
            ..Race::default()
        };
        let at_least = |a: Option<f64>, b: f64| {
            let a = a.unwrap();
            assert!((b..=STEP * b).contains(&a), "{a} {b}");
        };
        let mut r = with(&[Objective::Energy]);
        // 200 W: 30 W of them constant at least. Few energies decide nothing.
        for _ in 1..ENERGIES {
            r.take(&trial(1.0, Some(200.0)), 1.0);
            assert_eq!(r.beyond_s(), None);
        }
        r.take(&trial(1.1, Some(220.0)), 1.0);
        near(r.beyond_s(), 1.1);
        // 60 W: 9 W of them constant at least. Less energy for flops and bytes: what is as frugal may take longer.
        r.take(&trial(2.0, Some(120.0)), 1.0);
        at_least(r.beyond_s(), 2.0);
        r.on = false;
        assert_eq!(r.beyond_s(), None);
    }

    #[test]
    fn energies_predict_those_of_slower_configs() {
        let of = |objectives: &[Objective], power: f64, noise: f64| {
            let mut r = Race {
                on: true,
                of_energy: objectives.to_vec(),
                ..Race::default()
            };
            let mut rng = fastrand::Rng::with_seed(1);
            for i in 0..12 {
                let t = 1.0 + 0.05 * f64::from(i);
                let e = 100.0 * t.powf(power) * (1.0 + noise * (rng.f64() - 0.5));
                r.take(&trial(t, Some(e)), 1.0);
            }
            r
        };
        let limit = |objectives: &[Objective], power: f64, noise: f64| {
            of(objectives, power, noise).beyond_s().unwrap()
        };
        use Objective::{Edp, Energy, Time};
        // What takes longer needs more: the time decides.
        assert!((limit(&[Energy], 0.8, 0.01) - SLOWER).abs() < 1e-9);
        // Noise of the energies leaves more open, and so do energies that hardly grow.
        let noisy = limit(&[Energy], 0.5, 0.3);
        assert!((1.2..1.6).contains(&noisy), "{noisy}");
        assert!(limit(&[Energy], 0.1, 0.05) > 1.2);
        // Slower ones that need less energy are looked for, by their energy.
        assert!(limit(&[Energy], -0.5, 0.01) > 1.5);
        // An objective that joins both is decided by energy too: the front has the least of it.
        let joint = limit(&[Energy, Edp], -0.5, 0.01);
        assert!(joint >= limit(&[Energy], -0.5, 0.01), "{joint}");
        assert!(of(&[], 0.8, 0.01).beyond_s().is_some_and(|b| b < 1.11));
        let likely = of(&[Energy, Time], 0.8, 0.01).expected_j(1.5).unwrap();
        assert!(
            (likely / (100.0 * 1.5_f64.powf(0.8)) - 1.0).abs() < 0.01,
            "{likely}"
        );
        // Where no line tells, the median power does.
        let by_power = of(&[Energy], -0.5, 0.01).expected_j(2.0).unwrap();
        assert!((100.0..200.0).contains(&by_power), "{by_power}");
        assert_eq!(Race::of_time().expected_j(1.0), None);
    }
}
