//! Numbers, units and words of other tuners' files.

use super::super::check;
use super::super::record::{Failure, Outcome, Trial};
use super::FormatError;
use crate::command::source::seconds;
use greenup_space::Value;
use serde_json::Value as J;
use std::collections::BTreeMap;

/// What stands in a file where a number is expected.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Read {
    /// Numbers, of which a list may have several, and the unit of a text such as `2.0 ms`.
    Numbers(Vec<f64>, Option<String>),
    /// The name of a failure.
    Failure(String),
    /// Nothing, or what is no number.
    Missing,
}

/// Reads a number, a list of them, or a text with either a number or the name of a failure.
pub(super) fn read(v: &J) -> Read {
    match v {
        J::Number(n) => (n.as_f64().filter(|x| x.is_finite()))
            .map_or(Read::Missing, |x| Read::Numbers(vec![x], None)),
        J::Array(all) => {
            let mut numbers = Vec::new();
            for v in all {
                match read(v) {
                    Read::Numbers(mut more, _) => numbers.append(&mut more),
                    failure @ Read::Failure(_) => return failure,
                    Read::Missing => {}
                }
            }
            match numbers.is_empty() {
                true => Read::Missing,
                false => Read::Numbers(numbers, None),
            }
        }
        J::String(text) => of_text(text.trim()),
        _ => Read::Missing,
    }
}

fn of_text(text: &str) -> Read {
    if is_failure(text) {
        return Read::Failure(text.to_owned());
    }
    let unit = text.find(|c: char| c.is_whitespace());
    let (number, unit) = text.split_at(unit.unwrap_or(text.len()));
    match number.parse::<f64>() {
        Ok(x) if x.is_finite() => {
            let unit = unit.trim();
            Read::Numbers(vec![x], (!unit.is_empty()).then(|| unit.to_owned()))
        }
        _ => Read::Missing,
    }
}

/// Whether a text is the name of one of Kernel Tuner's failures, also as Python shows the object.
pub(super) fn is_failure(text: &str) -> bool {
    [
        "InvalidConfig",
        "CompilationFailedConfig",
        "RuntimeFailedConfig",
    ]
    .iter()
    .any(|name| text == *name || (text.starts_with('<') && text.contains(name)))
}

/// A failure of another tuner, by its word.
pub(super) fn failed(reason: &str) -> Outcome {
    let lower = reason.to_ascii_lowercase();
    let failure = match lower.as_str() {
        r if r.contains("compil") => Failure::Compile,
        r if r.contains("invalidconfig") || r.contains("constraint") => Failure::Invalid,
        r if r.contains("timeout") => Failure::Timeout,
        r if r.contains("correctness") || r.contains("verif") => Failure::Wrong,
        _ => Failure::Runtime,
    };
    Outcome::Failed {
        failure,
        message: reason.to_owned(),
    }
}

/// Seconds of a unit of time; `ms`, in which these files are, where it is empty.
pub(super) fn time_unit(name: &str) -> Result<f64, FormatError> {
    let lower = name.trim().to_lowercase();
    let short = match lower.as_str() {
        "" => "ms",
        "sec" | "secs" | "second" | "seconds" => "s",
        // The second is as T4 files of Kernel Tuner have it.
        "millisecond" | "milliseconds" | "milisecond" | "miliseconds" | "msec" => "ms",
        "microsecond" | "microseconds" | "usec" => "us",
        "nanosecond" | "nanoseconds" | "nsec" => "ns",
        "minute" | "minutes" => "min",
        other => other,
    };
    seconds(short).ok_or_else(|| FormatError::Unit {
        what: "time",
        unit: name.to_owned(),
        known: "s, ms, us, ns, min",
    })
}

/// Joules of a unit of energy; J where it is empty.
pub(super) fn energy_unit(name: &str) -> Result<f64, FormatError> {
    Ok(match name.trim() {
        "" | "J" | "j" | "Ws" | "joule" | "joules" | "Joule" | "Joules" => 1.0,
        "mJ" | "mj" | "millijoule" | "millijoules" | "mWs" => 1e-3,
        "uJ" | "µJ" | "μJ" | "uj" | "microjoule" | "microjoules" => 1e-6,
        "nJ" | "nj" => 1e-9,
        "kJ" | "kj" => 1e3,
        "MJ" => 1e6,
        "Wh" => 3600.0,
        "mWh" => 3.6,
        "kWh" => 3.6e6,
        other => {
            return Err(FormatError::Unit {
                what: "energy",
                unit: other.to_owned(),
                known: "J, mJ, uJ, nJ, kJ, Wh, kWh",
            });
        }
    })
}

/// Watts of a unit of power; W where it is empty.
pub(super) fn power_unit(name: &str) -> Result<f64, FormatError> {
    Ok(match name.trim() {
        "" | "W" | "w" | "watt" | "watts" | "Watt" | "Watts" => 1.0,
        "mW" | "mw" => 1e-3,
        "kW" => 1e3,
        other => {
            return Err(FormatError::Unit {
                what: "power",
                unit: other.to_owned(),
                known: "W, mW, kW",
            });
        }
    })
}

/// Whether a metric is an energy.
pub(super) fn is_energy(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower == "energy" || lower.ends_with("_energy")
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
    /// Times of single runs, s.
    pub(super) runs: Vec<f64>,
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
            Read::Missing => {}
        }
    }

    fn of(&self, name: &str) -> Option<(&[f64], &str)> {
        let found = self.numbers.iter().find(|(n, ..)| n == name)?;
        Some((&found.1, &found.2))
    }

    /// The outcome and the metrics. `energy` is the meter of the file; `needed` the metric that is measured where there is
    /// no time.
    pub(super) fn outcome(
        self,
        energy: Option<&str>,
        timeless: &dyn Fn(&BTreeMap<String, f64>) -> bool,
    ) -> Result<(Outcome, BTreeMap<String, f64>), FormatError> {
        let mut metrics = BTreeMap::new();
        for (name, x, unit) in &self.numbers {
            let is_watts = name.to_ascii_lowercase().ends_with("_power") && !unit.is_empty();
            let factor = match name.as_str() {
                "time" => continue,
                n if Some(n) == energy => continue,
                n if is_energy(n) => energy_unit(unit)?,
                _ if is_watts => power_unit(unit)?,
                _ => 1.0,
            };
            metrics.insert(name.clone(), mean(x) * factor);
        }
        if let Some(reason) = &self.failure {
            return Ok((failed(reason), metrics));
        }
        let mut runs = self.runs.clone();
        let time_s = match self.of("time") {
            Some((x, unit)) => {
                let unit = time_unit(unit)?;
                if runs.is_empty() && x.len() > 1 {
                    runs = x.iter().map(|t| t * unit).collect();
                }
                Some(mean(x) * unit)
            }
            None => (!runs.is_empty()).then(|| mean(&runs)),
        };
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
        let energy_j = energy_j.filter(|e| check::energy(*e).is_ok());
        let outcome = match time_s {
            Some(t) if check::time(t).is_ok() => {
                runs.retain(|r| check::time(*r).is_ok());
                let (lo, hi) = (fold(&runs, f64::min), fold(&runs, f64::max));
                // Of another unit, or of other runs: they say nothing of this time.
                if !(0.5 * lo..=2.0 * hi).contains(&t) {
                    runs.clear();
                }
                measured(runs, t, energy_j)
            }
            Some(t) if t > check::TIMES_S[1] => failed(&format!(
                "a time of {t:e} s marks a failure in files of older tuners"
            )),
            Some(t) => failed(&format!("a time of {t:e} s is not possible")),
            None if timeless(&metrics) => measured(Vec::new(), f64::NAN, energy_j),
            None => failed("it has no time"),
        };
        Ok((outcome, metrics))
    }
}

fn fold(values: &[f64], of: fn(f64, f64) -> f64) -> f64 {
    values.iter().copied().reduce(of).unwrap_or(f64::NAN)
}

pub(super) fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len() as f64
}

/// Milliseconds of a key as seconds.
pub(super) fn stage_s(v: &J, key: &str, unit: f64) -> f64 {
    match v.get(key).map(read) {
        Some(Read::Numbers(x, _)) if x[0] >= 0.0 => x[0] * unit,
        _ => 0.0,
    }
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
        config,
        outcome,
        metrics,
        kernels: BTreeMap::new(),
        effort: 1.0,
        build_s: 0.0,
        verify_s: 0.0,
        measure_s: 0.0,
        flags: Vec::new(),
        at: 0.0,
        device: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_in_many_forms() {
        let of = |text: &str| read(&serde_json::from_str(text).unwrap());
        let numbers = |x: &[f64]| Read::Numbers(x.to_vec(), None);
        assert_eq!(of("2"), numbers(&[2.0]));
        assert_eq!(of("\"2.5\""), numbers(&[2.5]));
        assert_eq!(of("[1, \"2\", null]"), numbers(&[1.0, 2.0]));
        assert_eq!(of("\"2 us\""), Read::Numbers(vec![2.0], Some("us".into())));
        for missing in ["null", "true", "{}", "[]", "\"x\"", "\"nan\"", "[null]"] {
            assert_eq!(of(missing), Read::Missing, "{missing}");
        }
        let failure = "<kernel_tuner.util.InvalidConfig object at 0x7f>";
        assert_eq!(of(&format!("\"{failure}\"")), Read::Failure(failure.into()));
        assert!(matches!(
            failed(failure),
            Outcome::Failed {
                failure: Failure::Invalid,
                ..
            }
        ));
    }

    #[test]
    fn units_are_read_or_refused() {
        for (unit, factor) in [("", 1e-3), ("s", 1.0), ("us", 1e-6), ("miliseconds", 1e-3)] {
            assert_eq!(time_unit(unit).unwrap(), factor);
        }
        assert_eq!(energy_unit("mJ").unwrap(), 1e-3);
        assert_eq!(energy_unit("kWh").unwrap(), 3.6e6);
        let e = time_unit("fortnights").unwrap_err().to_string();
        assert!(e.contains("`fortnights`") && e.contains("ms"), "{e}");
        assert!(energy_unit("cal").is_err() && power_unit("hp").is_err());
    }
}
