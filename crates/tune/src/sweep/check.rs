//! What a trial must hold, whoever measured or recorded it: a worker, a sweep's folder, the file of another tuner.

use super::error::Implausible;
use super::record::{Failure, Outcome, Sweep, Trial};
use super::rounds::Rounds;
use greenup_space::Value;

/// Times of one run that something can have, s: less than a cycle of any processor, more than a century are none.
pub const TIMES_S: [f64; 2] = [1e-12, 4e9];

/// Checks the time of a run, s.
///
/// # Errors
/// It is not finite, or nothing takes so long or short.
pub fn time(time_s: f64) -> Result<(), Implausible> {
    if (TIMES_S[0]..=TIMES_S[1]).contains(&time_s) {
        Ok(())
    } else {
        Err(Implausible::Time(time_s))
    }
}

/// Checks the energy of a run, J.
///
/// # Errors
/// It is not finite or not positive.
pub fn energy(energy_j: f64) -> Result<(), Implausible> {
    if energy_j.is_finite() && energy_j > 0.0 {
        Ok(())
    } else {
        Err(Implausible::Energy(energy_j))
    }
}

impl Sweep {
    /// A time that a command reports and that is longer than its whole run, and how long that run took, s: the unit is wrong.
    pub fn beyond_its_run(&self) -> Option<(f64, f64)> {
        self.trials.iter().find_map(|t| {
            let Outcome::Measured { times_s, .. } = &t.outcome else {
                return None;
            };
            let wall_s = *t.metrics.get("wall_s")?;
            let least = times_s.iter().copied().fold(f64::INFINITY, f64::min);
            (least.is_finite() && least > 1.05 * wall_s).then_some((least, wall_s))
        })
    }
}

impl Outcome {
    /// Checks a measurement; failures are always right.
    ///
    /// # Errors
    /// A time or an energy is none, or there is no time.
    pub fn check(&self) -> Result<(), Implausible> {
        let Self::Measured {
            times_s,
            time_s,
            energy_j,
            time_error,
        } = self
        else {
            return Ok(());
        };
        if times_s.is_empty() {
            return Err(Implausible::NoTimes);
        }
        let (mut lo, mut hi) = (f64::INFINITY, 0.0_f64);
        for t in times_s {
            time(*t)?;
            (lo, hi) = (lo.min(*t), hi.max(*t));
        }
        time(*time_s)?;
        // Of rounded sums.
        const ROUNDED: f64 = 1e-9;
        if *time_s < lo * (1.0 - ROUNDED) || *time_s > hi * (1.0 + ROUNDED) {
            let time_s = *time_s;
            return Err(Implausible::Outside { time_s, lo, hi });
        }
        energy_j.map_or(Ok(()), energy)?;
        match time_error {
            Some(e) if !(e.is_finite() && *e >= 0.0) => Err(Implausible::Number {
                name: "time_error",
                value: *e,
            }),
            _ => Ok(()),
        }
    }
}

impl Trial {
    /// Checks a trial of a sweep with this number of parameters.
    ///
    /// # Errors
    /// Its outcome, its config or another number of it is none.
    pub fn check(&self, parameters: usize) -> Result<(), Implausible> {
        config(&self.config, parameters)?;
        self.outcome.check()?;
        let number = |name, value: f64, fits: bool| {
            if fits {
                Ok(())
            } else {
                Err(Implausible::Number { name, value })
            }
        };
        let effort = self.effort;
        number("effort", effort, effort > 0.0 && effort <= 1.0)?;
        for (name, s) in [
            ("build_s", self.build_s),
            ("verify_s", self.verify_s),
            ("measure_s", self.measure_s),
            ("at", self.at),
        ] {
            // Differences of clocks may be a little below 0.
            number(name, s, s.is_finite() && s > -1.0)?;
        }
        Ok(())
    }

    /// The same trial, as one that failed if its measurement is none: what a worker sends is only believed so far.
    #[must_use]
    pub fn checked(mut self) -> Self {
        if let Err(e) = self.outcome.check() {
            self.outcome = Outcome::Failed {
                failure: Failure::Runtime,
                message: format!("the measurement cannot be used: {e}"),
            };
        }
        self.metrics.retain(|_, x| x.is_finite());
        self
    }
}

fn config(values: &[Value], parameters: usize) -> Result<(), Implausible> {
    if values.len() != parameters {
        let has = values.len();
        return Err(Implausible::Length { has, parameters });
    }
    let invalid = |v: &&Value| matches!(v, Value::Float(x) if !x.is_finite());
    match values.iter().find(invalid) {
        Some(v) => Err(Implausible::Value(v.clone())),
        None => Ok(()),
    }
}

impl Rounds {
    /// Checks the final rounds of a sweep with this number of parameters.
    ///
    /// # Errors
    /// A time or an energy is none, or the series do not belong to the configs.
    pub fn check(&self, parameters: usize) -> Result<(), Implausible> {
        for c in &self.configs {
            config(c, parameters)?;
        }
        let configs = self.configs.len() + usize::from(self.with_baseline);
        let series = self.times_s.len();
        if series != configs {
            return Err(Implausible::Series { series, configs });
        }
        for t in self.times_s.iter().flatten() {
            time(*t)?;
        }
        for e in self.energies_j.iter().flatten() {
            energy(*e)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(times_s: &[f64], time_s: f64, energy_j: Option<f64>) -> Outcome {
        Outcome::Measured {
            times_s: times_s.to_vec(),
            time_s,
            energy_j,
            time_error: None,
        }
    }

    #[test]
    fn times_and_energies_that_cannot_be_are_refused() {
        assert_eq!(outcome(&[1.0, 2.0], 1.5, Some(3.0)).check(), Ok(()));
        assert_eq!(outcome(&[], 1.0, None).check(), Err(Implausible::NoTimes));
        for bad in [-1.0, 0.0, f64::INFINITY, 1e308, 5e-324] {
            let e = outcome(&[1.0, bad], 1.0, None).check().unwrap_err();
            assert_eq!(e, Implausible::Time(bad));
            assert!(outcome(&[1.0], bad, None).check().is_err());
        }
        assert!(outcome(&[f64::NAN], 1.0, None).check().is_err());
        assert!(outcome(&[1.0], f64::NAN, None).check().is_err());
        assert!(outcome(&[1.0, 2.0], 3.0, None).check().is_err());
        for bad in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
            assert!(outcome(&[1.0], 1.0, Some(bad)).check().is_err());
        }
    }

    #[test]
    fn a_trial_with_an_impossible_measurement_is_one_that_failed() {
        let mut trial = Trial::lost(vec![Value::Int(1)], 1.0, String::new());
        trial.outcome = outcome(&[-1.0], -1.0, None);
        trial.metrics.insert("x".into(), f64::NAN);
        assert!(trial.check(1).is_err());
        let t = trial.checked();
        assert_eq!(t.check(1), Ok(()));
        let (failure, message) = t.failure().unwrap();
        assert_eq!(failure, Failure::Runtime);
        assert!(message.contains("-1.0 s is not possible"), "{message}");
        assert!(t.metrics.is_empty());
        assert!(t.check(2).is_err());
        let odd = Trial {
            effort: 0.0,
            ..t.clone()
        };
        assert!(odd.check(1).is_err());
        let odd = Trial {
            config: vec![Value::Float(f64::NAN)],
            ..t
        };
        assert!(odd.check(1).is_err());
    }
}
