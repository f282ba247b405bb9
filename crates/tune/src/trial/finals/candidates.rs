//! Which trials are measured again: the best, and those that single trials cannot tell from the last of them.

use crate::sweep::{Outcome, Trial};
use std::collections::BTreeMap;

/// Least relative error of a single trial, as half-width of a 95 % interval: clocks and caches vary.
const LEAST: f64 = 0.005;
/// The same where energy counts: of two ticks of a sensor.
const LEAST_ENERGY: f64 = 0.03;
/// Largest relative error that counts: on a busy host it may be anything, and slow configs would take their time again.
const MOST: f64 = 0.1;
/// Standard error of a difference within which two trials count as equal, over that of its 95 % interval.
const WIDE: f64 = 1.5;

/// A trial in the order of an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Screened {
    /// Number of the config.
    pub(super) config: usize,
    /// Value of the objective.
    pub(super) value: f64,
    /// Half-width of its 95 % interval over the value.
    pub(super) error: f64,
}

impl Screened {
    /// Half-width of the interval, in the unit of the value.
    fn interval(&self) -> f64 {
        self.error.min(MOST) * self.value
    }
}

/// Configs to measure again: `n` of the best by each objective in turn, then at most `more` that noise cannot tell from the
/// last of those. Each of the orders is ascending by value, with a config once.
pub(super) fn candidates(orders: &[Vec<Screened>], n: usize, more: usize) -> Vec<usize> {
    let longest = orders.iter().map(Vec::len).max().unwrap_or(0);
    let mut found: Vec<usize> = Vec::new();
    let mut last: Vec<Option<Screened>> = vec![None; orders.len()];
    for rank in 0..longest {
        for (order, last) in orders.iter().zip(&mut last) {
            if let Some(s) = order.get(rank)
                && found.len() < n
            {
                *last = Some(*s);
                if !found.contains(&s.config) {
                    found.push(s.config);
                }
            }
        }
    }
    for rank in 0..longest {
        for (order, last) in orders.iter().zip(&last) {
            if let (Some(s), Some(last)) = (order.get(rank), last)
                && found.len() < n + more
                && !found.contains(&s.config)
                && s.value - last.value <= WIDE * s.interval().hypot(last.interval())
            {
                found.push(s.config);
            }
        }
    }
    found
}

/// Relative error of single trials beyond what each shows by itself, as half-width of a 95 % interval: by the differences of the
/// baseline's times around successive trials of a worker.
pub(super) fn between_trials(trials: &[Trial], energy: bool) -> f64 {
    let mut before: BTreeMap<Option<usize>, f64> = BTreeMap::new();
    let mut steps: Vec<f64> = Vec::new();
    // A few batches beside a config that was stopped say less than a window.
    for t in trials.iter().filter(|t| !t.stopped) {
        let worker = t.device.as_ref().and_then(|d| d.worker);
        if let Some(drift) = t.drift()
            && let Some(last) = before.insert(worker, drift)
        {
            steps.push((drift / last - 1.0).abs());
        }
    }
    // A step is the difference of two errors of the baseline; a trial's value has its own error and that of the baseline.
    let sd = if steps.is_empty() {
        0.0
    } else {
        1.4826 * greenup_meter::stats::median(&steps)
    };
    (2.0 * sd).max(if energy { LEAST_ENERGY } else { LEAST })
}

/// Half-width of the 95 % interval of a trial's time over the time, as its own batches show it.
pub(crate) fn within_trial(trial: &Trial) -> f64 {
    match &trial.outcome {
        Outcome::Measured { time_error, .. } => time_error.unwrap_or(0.0),
        Outcome::Failed { .. } => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::Objective;
    use crate::plan::NEAR_TIES as MORE;
    use crate::sweep::Rounds;
    use crate::trial::finals::decided::{FIRST, Looks};
    use crate::trial::race::Race;
    use crate::worker::measure;
    use greenup_space::Value;

    fn normal(rng: &mut fastrand::Rng) -> f64 {
        (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
    }

    /// Noise of a trial, of the baseline beside it and of a final round, relative.
    const NOISE: f64 = 0.004;

    /// A search of all configs by some workers, and its finalists by the final rounds.
    fn finalists(truth: &[f64], workers: usize, n: usize, rng: &mut fastrand::Rng) -> Vec<usize> {
        let mut order: Vec<usize> = (0..truth.len()).collect();
        rng.shuffle(&mut order);
        let trials: Vec<Trial> = order
            .iter()
            .enumerate()
            .map(|(i, &config)| {
                let drift = 1.0 + NOISE * normal(rng);
                let time = truth[config] * (1.0 + NOISE * normal(rng));
                let text = format!(
                    r#"{{"config":[{config}],"measured":{{"times_s":[{time}],"time_s":{time},"time_error":0.002}},
                    "metrics":{{"drift":{drift}}},"device":{{"worker":{}}}}}"#,
                    i % workers
                );
                serde_json::from_str(&text).unwrap()
            })
            .collect();
        let noise = between_trials(&trials, false);
        assert!(
            (0.4..2.5).contains(&(noise / (2.0 * 2.0_f64.sqrt() * NOISE))),
            "{noise}"
        );
        let mut screened: Vec<Screened> = (trials.iter().zip(order))
            .map(|(t, config)| Screened {
                config,
                value: t.cost().unwrap().time_s / t.drift().unwrap(),
                error: noise.hypot(within_trial(t)),
            })
            .collect();
        screened.sort_by(|a, b| a.value.total_cmp(&b.value));
        let mut again = candidates(&[screened], n, MORE);
        assert!((n..=n + MORE).contains(&again.len()));
        again.sort_unstable();
        let looks = Looks {
            plan: crate::problem::Measure::default().final_rounds(true),
            finalists: n,
            first: FIRST,
            apart: false,
            more: &|_| usize::MAX,
            stays: &|_| false,
            values: &|_, found| vec![found.times_s.clone()],
        };
        let all = (0..again.len()).collect();
        let measured = looks.until_decided(all, &mut |left, wanted| {
            let mut one = |i: &usize| -> Vec<f64> {
                let round = |_| truth[again[*i]] * (1.0 + NOISE * normal(rng));
                (0..wanted.rounds).map(round).collect()
            };
            Ok::<_, ()>(Some(Rounds {
                times_s: left.iter().map(&mut one).collect(),
                ..Rounds::default()
            }))
        });
        let (left, found) = measured.unwrap().unwrap();
        let rounds = Rounds {
            configs: left.iter().map(|&c| vec![Value::Int(c as i64)]).collect(),
            ties_by_order: true,
            ..found
        };
        let ranked = rounds.ranked(Objective::Time, &|_| None, None);
        ranked.into_iter().take(n).map(|i| again[left[i]]).collect()
    }

    #[test]
    fn one_and_two_workers_have_the_same_finalists() {
        // Two of the best and three of the next are equal within the noise of single trials.
        let mut truth: Vec<f64> = (0..60).map(|i| 1.09 + 0.004 * f64::from(i)).collect();
        for (i, t) in [
            (31, 1.0),
            (17, 1.0003),
            (8, 1.04),
            (44, 1.0402),
            (52, 1.0401),
        ] {
            truth[i] = t;
        }
        for (n, expected) in [(1, vec![17]), (2, vec![17, 31]), (3, vec![17, 31, 8])] {
            let mut same = 0;
            for seed in 0..50 {
                let mut rng = fastrand::Rng::with_seed(seed);
                let one = finalists(&truth, 1, n, &mut rng);
                let two = finalists(&truth, 2, n, &mut rng);
                same += usize::from(one == two && two == expected);
            }
            assert!(same >= 48, "{n} finalists: {same} of 50");
        }
    }

    /// A race for the least time: its winner, and the batches that were measured over those of full measurements.
    fn race(truth: &[f64], noise: f64, rng: &mut fastrand::Rng) -> (usize, f64) {
        // Of a full measurement, and of a config in a final round.
        const BATCHES: usize = 100;
        let mut batch = |config: usize| truth[config] * (1.0 + noise * normal(rng)).max(0.1);
        let mut race = Race::of_time();
        let (mut batches, mut trials) = (0, Vec::new());
        for config in 0..truth.len() {
            let limit = race.beyond_s().unwrap_or(f64::INFINITY);
            batches += 1;
            if batch(config) > limit {
                let slow = measure::slower(limit, &mut |looks| {
                    // With one of the reference config.
                    batches += 1 + usize::from(looks);
                    Ok::<_, ()>(batch(config))
                });
                if slow == Ok(true) {
                    continue;
                }
            }
            batches += BATCHES;
            let times: Vec<f64> = (0..BATCHES).map(|_| batch(config)).collect();
            let time_s = greenup_meter::stats::median(&times);
            let text = format!(
                r#"{{"config":[{config}],"measured":{{"times_s":[{time_s}],"time_s":{time_s},"time_error":0.002}}}}"#
            );
            let trial: Trial = serde_json::from_str(&text).unwrap();
            race.take(&trial, 1.0);
            trials.push(Screened {
                config,
                value: time_s,
                error: LEAST.hypot(0.2 * noise),
            });
        }
        trials.sort_by(|a, b| a.value.total_cmp(&b.value));
        let mut again = candidates(&[trials], 5, MORE);
        again.sort_unstable();
        let of_finals = std::cell::Cell::new(0);
        let of_least = std::cell::Cell::new(None);
        // Half the time of the search, 3 to 10 s, in batches of 2 ms.
        let limit = (batches / 2).clamp(1500, 5000);
        let looks = Looks {
            plan: crate::problem::Measure::default().final_rounds(false),
            finalists: 5,
            first: FIRST,
            apart: false,
            more: &|done| {
                let from = of_least.get().unwrap_or(of_finals.get());
                of_least.set(Some(from));
                (limit + from).saturating_sub(of_finals.get()) * done / of_finals.get()
            },
            stays: &|_| false,
            values: &|_, found| vec![found.times_s.clone()],
        };
        let all = (0..again.len()).collect();
        let measured = looks.until_decided(all, &mut |left, wanted| {
            of_finals.update(|n| n + left.len() * wanted.rounds * BATCHES / 2);
            let mut one = |i: &usize| -> Vec<f64> {
                let mut round = || {
                    (0..BATCHES / 2)
                        .map(|_| batch(again[*i]))
                        .collect::<Vec<_>>()
                };
                (0..wanted.rounds)
                    .map(|_| greenup_meter::stats::median(&round()))
                    .collect()
            };
            Ok::<_, ()>(Some(Rounds {
                times_s: left.iter().map(&mut one).collect(),
                ..Rounds::default()
            }))
        });
        let (left, found) = measured.unwrap().unwrap();
        let rounds = Rounds {
            configs: left.iter().map(|&c| vec![Value::Int(c as i64)]).collect(),
            ties_by_order: true,
            ..found
        };
        let winner = again[left[rounds.ranked(Objective::Time, &|_| None, None)[0]]];
        let full = truth.len() * BATCHES + again.len() * 9 * BATCHES / 2;
        (winner, (batches + of_finals.get()) as f64 / full as f64)
    }

    /// Races at some noise of a batch that found a config within 1 % of the best, and their part of the batches.
    fn races(n: u64, noise: f64) -> (u64, f64) {
        let (mut right, mut parts) = (0, Vec::new());
        for seed in 0..n {
            let mut rng = fastrand::Rng::with_seed(seed);
            let truth: Vec<f64> = (0..200).map(|_| 8_f64.powf(rng.f64())).collect();
            let best = truth.iter().copied().reduce(f64::min).unwrap();
            let (winner, part) = race(&truth, noise, &mut rng);
            right += u64::from(truth[winner] <= 1.01 * best);
            parts.push(part);
        }
        (right, greenup_meter::stats::median(&parts))
    }

    /// Prints what `docs/results/tuning.md` has.
    #[test]
    #[expect(clippy::print_stdout, reason = "results are recorded")]
    fn simulated_searches_find_the_best_in_a_part_of_the_time() {
        for (noise, least, most) in [(0.01, 194, 0.2), (0.03, 194, 0.25), (0.1, 184, 0.3)] {
            let (right, part) = races(200, noise);
            println!("noise {noise}: {right} of 200 within 1 %, {part:.3} of the batches");
            assert!(right >= least && part < most, "{noise}: {right}, {part}");
        }
    }

    #[test]
    fn each_objective_has_its_candidates_and_their_near_ties() {
        let order = |values: &[(usize, f64)]| -> Vec<Screened> {
            let of = |&(config, value): &(usize, f64)| Screened {
                config,
                value,
                error: 0.01,
            };
            values.iter().map(of).collect()
        };
        let time = order(&[(4, 1.0), (2, 1.5), (7, 1.52), (1, 2.0)]);
        let energy = order(&[(2, 1.0), (5, 3.0), (6, 3.01), (4, 9.0)]);
        assert_eq!(
            candidates(&[time.clone(), energy], 3, MORE),
            [4, 2, 5, 7, 6]
        );
        assert_eq!(candidates(&[time], 1, MORE), [4]);
        let equal: Vec<(usize, f64)> = (0..100).map(|i| (i, 1.0)).collect();
        assert_eq!(candidates(&[order(&equal)], 5, MORE).len(), 5 + MORE);
        assert_eq!(candidates(&[order(&equal)], 5, 1).len(), 6);
        // What a busy host makes of a trial does not bring in one that is much slower.
        let slow = [(3, 1.0, 5.0), (6, 1.1, 5.0), (1, 2.0, 5.0)];
        let slow = slow.map(|(config, value, error)| Screened {
            config,
            value,
            error,
        });
        assert_eq!(candidates(&[slow.to_vec()], 1, MORE), [3, 6]);
        assert!(candidates(&[], 5, MORE).is_empty());
    }
}
