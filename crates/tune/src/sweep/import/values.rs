//! Units and words of other tuners' files, and what an entry of one tells.

use super::super::record::{Failure, Outcome, Trial};
use super::FormatError;
use super::number::{Read, is_like_a_number, read};
use super::unit::{energy_unit, power_unit, time_unit};
use crate::sweep::check;
use crate::sweep::error::Implausible;
use greenup_space::Value;
use serde_json::Value as J;
use std::collections::BTreeMap;

/// A failure of another tuner, by its word.
pub(super) fn failed(reason: &str) -> Outcome {
    let lower = reason.to_ascii_lowercase();
    let failure = match lower.as_str() {
        r if r.contains("compil") => Failure::Compile,
        r if r.contains("invalidconfig") || r.contains("constraint") => Failure::Invalid,
        r if r.contains("timeout") => Failure::Timeout,
        r if r.contains("correctness") || r.contains("incorrect") || r.contains("verif") => {
            Failure::Wrong
        }
        _ => Failure::Runtime,
    };
    Outcome::Failed {
        failure,
        message: reason.to_owned(),
    }
}

/// Whether a metric is an energy.
pub(super) fn is_energy(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower == "energy" || lower.ends_with("_energy")
}

/// Whether a metric is a power.
pub(super) fn is_power(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower == "power" || lower.ends_with("_power")
}

/// Which of several meters tells the energies of a file, of which each trial must have the same: an external one, that of the
/// GPU, then any other; RAPL last, which sees a processor only.
pub(super) fn rank_of_energy(name: &str) -> usize {
    match name.to_ascii_lowercase().as_str() {
        "ps_energy" => 0,
        "nvml_energy" => 1,
        "energy" => 2,
        n if n.contains("rapl") || n.contains("cpu") || n.contains("dram") => 4,
        _ => 3,
    }
}

/// The value of a parameter. A list or null is a tuple or `None` where it is `declared`: the file lists it as one of the
/// parameter's values.
pub(super) fn parameter(v: &J, declared: bool) -> Result<Value, &'static str> {
    match v {
        J::Array(items) if declared => {
            let items = items.iter().map(|v| parameter(v, true));
            items.collect::<Result<_, _>>().map(Value::Tuple)
        }
        J::Null if declared => Ok(Value::None),
        J::Bool(b) => Ok(Value::Bool(*b)),
        J::Number(n) => (n.as_i64().map(Value::Int))
            .or(n.as_f64().map(Value::Float))
            .ok_or("a number beyond 64 bits"),
        J::String(s) => Ok(Value::Str(s.clone())),
        J::Array(_) => Err("a list"),
        J::Object(_) => Err("an object"),
        J::Null => Err("null, which is NaN or nothing"),
    }
}

/// Numbers of one entry of a file, by name and with their unit, and its first failure.
#[derive(Default)]
pub(super) struct Entry {
    pub(super) numbers: Vec<(String, Vec<f64>, String)>,
    pub(super) failure: Option<String>,
    /// Names and texts that are no numbers.
    pub(super) unread: Vec<(String, String)>,
    /// Times of single runs as they are written, and the seconds of the units that they may have: the first that fits.
    runs: Vec<f64>,
    run_units: Vec<f64>,
}

/// What an entry is.
pub(super) struct Judged {
    /// Its outcome; why it is left out otherwise.
    pub(super) outcome: Result<Outcome, String>,
    pub(super) metrics: BTreeMap<String, f64>,
    /// What the user should know of it.
    pub(super) note: Option<String>,
    /// An energy that cannot be.
    pub(super) no_energy: Option<Implausible>,
}

impl Entry {
    /// Takes in what stands at a name.
    pub(super) fn put(&mut self, name: &str, v: &J, unit: &str) {
        match read(v) {
            Read::Numbers(x, own) => {
                let unit = own.unwrap_or_else(|| unit.to_owned());
                self.numbers.push((name.to_owned(), x, unit));
            }
            Read::Failure(f) => {
                self.failure.get_or_insert(f);
            }
            Read::Unreadable(text) => self.unread.push((name.to_owned(), text)),
            Read::Missing => {}
        }
    }

    /// Takes in the times of single runs, which are in one of some units (of so many seconds) where they have none of their
    /// own. Call it after the time is there.
    ///
    /// # Errors
    /// Their unit is none of a time.
    pub(super) fn put_runs(&mut self, v: &J, units: &[Option<f64>]) -> Result<(), FormatError> {
        if let Read::Numbers(x, own) = read(v) {
            self.runs = x.into_iter().filter(|t| *t > 0.0).collect();
            self.run_units = match own {
                Some(unit) => vec![time_unit(&unit)?],
                None => units.iter().copied().flatten().collect(),
            };
        }
        Ok(())
    }

    /// Whether it has a time.
    pub(super) fn is_timed(&self) -> bool {
        !self.runs.is_empty() || self.of("time").is_some()
    }

    /// Seconds of the unit of the time.
    pub(super) fn unit_of_time(&self) -> Result<Option<f64>, FormatError> {
        let own = self.of("time").filter(|(_, unit)| !unit.is_empty());
        own.map(|(_, unit)| time_unit(unit)).transpose()
    }

    /// Seconds of the unit of the runs: the first with which the time is between them.
    pub(super) fn unit_of_runs(&self) -> Result<Option<f64>, FormatError> {
        let Some((x, unit)) = self.of("time") else {
            return Ok(self.run_units.first().copied());
        };
        let time_s = mean(x) * time_unit(unit)?;
        Ok(self
            .run_units
            .iter()
            .copied()
            .find(|u| self.fits(*u, time_s)))
    }

    /// Whether a time is between those of the runs, in a unit of so many seconds.
    fn fits(&self, unit: f64, time_s: f64) -> bool {
        // Times of a file are rounded to a few digits.
        const ROUNDED: f64 = 1e-3;
        let (lo, hi) = (fold(&self.runs, f64::min), fold(&self.runs, f64::max));
        (lo * unit * (1.0 - ROUNDED)..=hi * unit * (1.0 + ROUNDED)).contains(&time_s)
    }

    fn of(&self, name: &str) -> Option<(&[f64], &str)> {
        let found = self.numbers.iter().find(|(n, ..)| n == name)?;
        Some((&found.1, &found.2))
    }

    /// Times of the runs, s.
    ///
    /// # Errors
    /// The time is not between them.
    fn runs_s(&self, time_s: Option<f64>) -> Result<Vec<f64>, Implausible> {
        let (lo, hi) = (fold(&self.runs, f64::min), fold(&self.runs, f64::max));
        let (Some(first), Some(time_s)) = (self.run_units.first(), time_s) else {
            let unit = self.run_units.first().copied().unwrap_or(1.0);
            return Ok(self.runs.iter().map(|t| t * unit).collect());
        };
        match self.run_units.iter().find(|u| self.fits(**u, time_s)) {
            Some(unit) => Ok(self.runs.iter().map(|t| t * unit).collect()),
            None if self.runs.is_empty() => Ok(Vec::new()),
            None => Err(Implausible::Outside {
                time_s,
                lo: lo * first,
                hi: hi * first,
            }),
        }
    }

    /// The outcome and the metrics. `energy` is the meter of the file; `timeless` tells whether an entry with these metrics
    /// is measured without a time.
    pub(super) fn judged(
        self,
        energy: Option<&str>,
        timeless: &dyn Fn(&BTreeMap<String, f64>) -> bool,
    ) -> Result<Judged, FormatError> {
        let mut out = Judged {
            outcome: Err(String::new()),
            metrics: BTreeMap::new(),
            note: None,
            no_energy: None,
        };
        for (name, x, unit) in &self.numbers {
            let factor = match name.as_str() {
                "time" => continue,
                n if Some(n) == energy => continue,
                n if is_energy(n) => energy_unit(unit)?,
                n if is_power(n) => power_unit(unit)?,
                _ => 1.0,
            };
            out.metrics.insert(name.clone(), mean(x) * factor);
        }
        let metrics = &out.metrics;
        if let Some(reason) = &self.failure {
            out.outcome = Ok(failed(reason));
            return Ok(out);
        }
        let unread = self.unread.iter().find(|(n, _)| n == "time");
        if let (Some((_, text)), None) = (unread, self.of("time")) {
            if is_like_a_number(text) {
                out.outcome = Err(format!("its time `{text}` cannot be read as a number"));
            } else {
                out.note = Some(format!("its time is the text `{text}`"));
                out.outcome = Ok(failed(text));
            }
            return Ok(out);
        }
        let (mut time_s, mut of_list) = (None, Vec::new());
        if let Some((x, unit)) = self.of("time") {
            let unit = time_unit(unit)?;
            time_s = Some(mean(x) * unit);
            if x.len() > 1 {
                of_list = x.iter().map(|t| t * unit).collect();
            }
        }
        let possible = time_s.is_none_or(|t| check::time(t).is_ok());
        let mut runs = match self.runs_s(time_s) {
            Ok(runs) if runs.is_empty() => of_list,
            Ok(runs) => runs,
            Err(why) if possible => {
                out.outcome = Err(why.to_string());
                return Ok(out);
            }
            Err(_) => Vec::new(),
        };
        let time_s = time_s.or_else(|| (!runs.is_empty()).then(|| mean(&runs)));
        let energy_j = match energy.and_then(|n| self.of(n)) {
            Some((x, unit)) => Some(mean(x) * energy_unit(unit)?),
            None => None,
        };
        // Of the power that the meter of Kernel Tuner saw during the runs.
        let power = || {
            let mut all = ["ps_power", "nvml_power"].iter();
            all.find_map(|n| metrics.get(*n).copied())
        };
        let energy_j = match energy {
            Some(_) => energy_j,
            None => power().zip(time_s).map(|(w, t)| w * t),
        };
        let cannot_be = energy_j.and_then(|e| check::energy(e).err());
        let energy_j = energy_j.filter(|_| cannot_be.is_none());
        let outcome = match time_s {
            Some(t) if check::time(t).is_ok() => {
                runs.retain(|r| check::time(*r).is_ok());
                out.no_energy = cannot_be;
                measured(runs, t, energy_j)
            }
            Some(t) if t > check::TIMES_S[1] => failed(&format!(
                "a time of {t:e} s marks a failure in files of older tuners"
            )),
            Some(t) => {
                let why = format!("a time of {t:e} s is not possible");
                out.note = Some(why.clone());
                failed(&why)
            }
            None if timeless(metrics) => measured(Vec::new(), f64::NAN, energy_j),
            None => failed("it has no time"),
        };
        out.outcome = Ok(outcome);
        Ok(out)
    }
}

fn fold(values: &[f64], of: fn(f64, f64) -> f64) -> f64 {
    values.iter().copied().reduce(of).unwrap_or(f64::NAN)
}

fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len() as f64
}

/// Times of a value in its own unit or this one, of so many seconds, as seconds.
pub(super) fn times_s(v: &J, unit: f64) -> Vec<f64> {
    match read(v) {
        Read::Numbers(x, own) => {
            let own = own.and_then(|u| time_unit(&u).ok()).unwrap_or(unit);
            x.iter().map(|t| t * own).collect()
        }
        _ => Vec::new(),
    }
}

/// The time of a stage as seconds; 0 if it is not known.
pub(super) fn stage_s(v: &J, key: &str, unit: f64) -> f64 {
    let all = v.get(key).map(|v| times_s(v, unit)).unwrap_or_default();
    all.first().copied().filter(|t| *t >= 0.0).unwrap_or(0.0)
}

fn measured(times_s: Vec<f64>, time_s: f64, energy_j: Option<f64>) -> Outcome {
    Outcome::Measured {
        time_error: None,
        times_s,
        time_s,
        energy_j,
    }
}

pub(super) fn trial(config: Vec<Value>, outcome: Outcome, metrics: BTreeMap<String, f64>) -> Trial {
    Trial {
        metrics,
        ..Trial::of(config, outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_kinds() {
        for (word, kind) in [
            (
                "<kernel_tuner.util.InvalidConfig object at 0x7f>",
                Failure::Invalid,
            ),
            ("Compile", Failure::Compile),
            ("TIMEOUT", Failure::Timeout),
            ("Correctness", Failure::Wrong),
            ("incorrect", Failure::Wrong),
            ("constraints", Failure::Invalid),
            ("out of memory", Failure::Runtime),
        ] {
            let of = failed(word);
            assert!(
                matches!(of, Outcome::Failed { failure, .. } if failure == kind),
                "{word}"
            );
        }
    }
}
