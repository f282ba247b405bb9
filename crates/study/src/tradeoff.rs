//! One kernel tuned for time and for energy: both winners, and what energy costs in time.

use greenup_meter::Summary;
use greenup_meter::stats::{median, ratio_of_medians};
use greenup_report::si::percent;
use greenup_space::Value;
use greenup_tune::Sweep;
use greenup_tune::analyze::{MeasuredConfig, front};
use serde::Serialize;

/// Search strategy for time and energy in one run.
pub const SEARCH: &str = "alternate";

/// A kernel as measured in the final rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Winner {
    /// Its parameters; none for a library.
    pub config: Vec<(String, Value)>,
    /// Time of one run, s.
    pub time_s: Summary,
    /// Energy of one run, J.
    pub energy_j: Summary,
    /// Mean power, W.
    pub power_w: Summary,
}

/// A trial with an energy.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TrialPoint {
    /// Time of one run, s.
    pub time_s: f64,
    /// Energy of one run, J.
    pub energy_j: f64,
    /// Whether no other trial has both less time and less energy.
    pub on_front: bool,
}

/// The fastest kernel and the one of lowest energy, measured in the same interleaved rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Tradeoff {
    /// The fastest.
    pub fastest: Winner,
    /// That of lowest energy.
    pub lowest_energy: Winner,
    /// A library in the same rounds, with its name.
    pub library: Option<(String, Winner)>,
    /// Whether both winners are one kernel.
    pub same: bool,
    /// Time of the fastest over that of the lowest-energy one: at most 1.
    pub speedup: Summary,
    /// Power of the fastest over that of the lowest-energy one.
    pub powerup: Summary,
    /// Energy of the fastest over that of the lowest-energy one: at least 1.
    pub greenup: Summary,
    /// All trials with an energy.
    pub trials: Vec<TrialPoint>,
}

/// Times, energies and powers of a kernel in each round.
struct Rounds<'a> {
    times: &'a [f64],
    energies: &'a [f64],
    powers: Vec<f64>,
}

impl Rounds<'_> {
    fn winner(&self, config: Vec<(String, Value)>) -> Option<Winner> {
        Some(Winner {
            config,
            time_s: Summary::of(self.times)?,
            energy_j: Summary::of(self.energies)?,
            power_w: Summary::of(&self.powers)?,
        })
    }
}

impl Tradeoff {
    /// The winners of the final rounds of a sweep; `None` without energies there. `library` names the baseline of the
    /// rounds.
    pub fn of(sweep: &Sweep, library: Option<&str>) -> Option<Self> {
        let finals = sweep.finals.as_ref()?;
        let rounds: Vec<Option<Rounds>> = (finals.times_s.iter())
            .zip(&finals.energies_j)
            .map(|(times, energies)| {
                let whole = !times.is_empty() && times.len() == energies.len();
                whole.then(|| Rounds {
                    times,
                    energies,
                    powers: energies.iter().zip(times).map(|(e, t)| e / t).collect(),
                })
            })
            .collect();
        let least = |of: fn(&Rounds) -> f64| {
            (0..finals.configs.len())
                .filter_map(|i| Some((i, of(rounds.get(i)?.as_ref()?))))
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .map(|(i, _)| i)
        };
        let (fast, low) = (least(|r| median(r.times))?, least(|r| median(r.energies))?);
        let (t, e) = (rounds[fast].as_ref()?, rounds[low].as_ref()?);
        // A kernel is as fast as itself, whatever the spread of its rounds.
        let ratio = |a: &[f64], b: &[f64]| {
            if fast == low {
                Summary::of(&[1.0])
            } else {
                ratio_of_medians(a, b)
            }
        };
        let winner = |i: usize| {
            let config = named(&sweep.facts.parameters, &finals.configs[i]);
            rounds[i].as_ref()?.winner(config)
        };
        let baseline = rounds.last().filter(|_| finals.with_baseline);
        Some(Self {
            fastest: winner(fast)?,
            lowest_energy: winner(low)?,
            library: (library.zip(baseline.and_then(Option::as_ref)))
                .and_then(|(name, r)| Some((name.to_owned(), r.winner(Vec::new())?))),
            same: fast == low,
            speedup: ratio(t.times, e.times)?,
            powerup: ratio(&t.powers, &e.powers)?,
            greenup: ratio(t.energies, e.energies)?,
            trials: points(sweep),
        })
    }

    /// What energy costs in time, in a sentence.
    pub fn describe(&self) -> String {
        let interval = |s: &Summary| format!("{:.3} [{:.3} … {:.3}]", s.median, s.lo, s.hi);
        if self.same {
            return "The fastest kernel is also the one of lowest energy: here energy costs no time."
                .to_owned();
        }
        let ratios = format!(
            "speedup {}, powerup {}, greenup {}",
            interval(&self.speedup),
            interval(&self.powerup),
            interval(&self.greenup)
        );
        if self.greenup.lo <= 1.0 {
            return format!(
                "Tuning for energy instead of time saves nothing that these rounds can tell apart ({ratios})."
            );
        }
        format!(
            "The kernel tuned for energy saves {} of the energy of the fastest one and takes {} more time ({ratios}).",
            percent(1.0 - 1.0 / self.greenup.median),
            percent((1.0 / self.speedup.median - 1.0).max(0.0)),
        )
    }
}

fn points(sweep: &Sweep) -> Vec<TrialPoint> {
    let rows: Vec<MeasuredConfig> = (sweep.trials.iter().enumerate())
        .filter_map(|(trial, t)| {
            let cost = t.cost()?;
            Some(MeasuredConfig {
                trial,
                time_s: cost.time_s,
                energy_j: Some(cost.energy_j?),
                performance: 1.0 / cost.time_s,
                efficiency: cost.energy_j.map(|e| 1.0 / e),
            })
        })
        .collect();
    let best = front(&rows).map_or_else(Vec::new, |f| f.points);
    rows.iter()
        .enumerate()
        .filter_map(|(i, r)| {
            Some(TrialPoint {
                time_s: r.time_s,
                energy_j: r.energy_j?,
                on_front: best.iter().any(|p| p.row == i),
            })
        })
        .collect()
}

/// Names and values of the parameters of a config.
pub(crate) fn named(parameters: &[String], config: &[Value]) -> Vec<(String, Value)> {
    (parameters.iter().cloned())
        .zip(config.iter().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_tune::sweep::{Folder, Rounds as Finals};
    use std::path::Path;

    /// The recorded DGEMM sweep with final rounds of two configs.
    fn sweep(energies_j: Vec<Vec<f64>>) -> Sweep {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut sweep = Folder::read(&root.join("sweeps/one_board_h200/dgemm_h200")).unwrap();
        let configs = vec![
            sweep.trials[0].config.clone(),
            sweep.trials[1].config.clone(),
        ];
        sweep.finals = Some(Finals {
            metrics: Vec::new(),
            configs,
            times_s: vec![
                vec![1.0, 1.01, 0.99, 1.0],
                vec![1.05, 1.06, 1.05, 1.04],
                vec![1.2, 1.2, 1.21, 1.2],
            ],
            energies_j,
            with_baseline: true,
            ties_by_order: false,
        });
        sweep
    }

    #[test]
    fn both_winners_and_their_ratios_are_those_of_the_rounds() {
        let rounds = vec![
            vec![700.0, 702.0, 698.0, 700.0],
            vec![630.0, 631.0, 629.0, 630.0],
            vec![840.0; 4],
        ];
        let t = Tradeoff::of(&sweep(rounds), Some("cuBLAS")).unwrap();
        assert!(!t.same);
        assert!((t.greenup.median - 700.0 / 630.0).abs() < 1e-3);
        assert!((t.speedup.median - 1.0 / 1.05).abs() < 1e-3);
        assert!((t.greenup.median / (t.powerup.median * t.speedup.median) - 1.0).abs() < 5e-3);
        let text = t.describe();
        assert!(
            text.contains("saves 10.0 %") && text.contains("takes 5.0 % more time"),
            "{text}"
        );
        // The library is no config, and no trial of the front is beaten in both.
        assert_eq!(t.library.unwrap().1.energy_j.median, 840.0);
        let front: Vec<_> = t.trials.iter().filter(|p| p.on_front).collect();
        assert!(!front.is_empty());
        for p in &front {
            assert!((t.trials.iter()).all(|o| o.time_s >= p.time_s || o.energy_j >= p.energy_j));
        }
    }

    #[test]
    fn a_difference_within_the_error_is_called_none() {
        let noisy = vec![
            vec![700.0, 600.0, 750.0, 640.0],
            vec![690.0, 720.0, 600.0, 640.0],
            vec![],
        ];
        let t = Tradeoff::of(&sweep(noisy), Some("cuBLAS")).unwrap();
        assert!(t.library.is_none());
        assert!(t.describe().contains("saves nothing"), "{}", t.describe());
        let one = vec![vec![600.0; 4], vec![700.0; 4], vec![]];
        let t = Tradeoff::of(&sweep(one), None).unwrap();
        assert!(t.same && t.describe().contains("costs no time"));
        assert!(Tradeoff::of(&sweep(vec![vec![], vec![], vec![]]), None).is_none());
    }
}
