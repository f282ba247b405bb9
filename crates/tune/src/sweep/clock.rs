//! When the trials of a sweep ended.

use super::Sweep;

/// A pause beyond a trial's own seconds that is not counted: the search was interrupted and continued.
const PAUSE_S: f64 = 300.0;

impl Sweep {
    /// Seconds since the search began when each trial ended, pauses of an interrupted search left out; without
    /// recorded times of the day the sum of the seconds that trials took. `None` where neither is known.
    pub fn clock(&self) -> Option<Vec<f64>> {
        let own = |i: usize| {
            let t = &self.trials[i];
            t.build_s + t.verify_s + t.measure_s
        };
        let n = self.trials.len();
        let mut now = 0.0;
        let mut out = Vec::with_capacity(n);
        if self.trials.iter().any(|t| t.at > 0.0) {
            let mut latest: Option<f64> = None;
            for (i, t) in self.trials.iter().enumerate() {
                if t.at > 0.0 {
                    now += match latest.map(|l| t.at - l) {
                        // Builds run ahead: a config that does not compile may end before the trial in front of it.
                        Some(step) if step < 0.0 && step > -PAUSE_S => 0.0,
                        Some(step) if step >= 0.0 => step.min(own(i) + PAUSE_S),
                        // The first, and the first of another session.
                        _ => own(i),
                    };
                    let same = latest.is_some_and(|l| t.at > l - PAUSE_S);
                    latest = Some(if same {
                        latest.map_or(t.at, |l| l.max(t.at))
                    } else {
                        t.at
                    });
                }
                out.push(now);
            }
        } else {
            for i in 0..n {
                now += own(i);
                out.push(now);
            }
        }
        (now > 0.0 && now.is_finite()).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Trial;

    fn sweep(trials: &[(f64, f64)]) -> Sweep {
        let trial = |(at, seconds): &(f64, f64)| -> Trial {
            serde_json::from_str(&format!(
                r#"{{"config":[1],"measured":{{"times_s":[1.0],"time_s":1.0}},"at":{at},"measure_s":{seconds}}}"#
            ))
            .unwrap()
        };
        Sweep {
            trials: trials.iter().map(trial).collect(),
            ..Sweep::default()
        }
    }

    #[test]
    fn pauses_are_left_out_and_time_never_runs_back() {
        let ends = [
            (1000.0, 2.0),
            (1003.0, 2.0),
            (1001.0, 0.0),
            (9003.0, 2.0),
            // Measured before, and put behind.
            (500.0, 3.0),
            (504.0, 3.0),
        ];
        let clock = sweep(&ends).clock().unwrap();
        assert_eq!(clock, [2.0, 5.0, 5.0, 307.0, 310.0, 314.0]);
    }

    #[test]
    fn without_times_of_the_day_the_seconds_of_trials_add_up() {
        let clock = sweep(&[(0.0, 2.0), (0.0, 3.0)]).clock();
        assert_eq!(clock, Some(vec![2.0, 5.0]));
        assert_eq!(sweep(&[(0.0, 0.0)]).clock(), None);
        assert_eq!(sweep(&[]).clock(), None);
    }
}
