//! A config with its problem, device, result and origin.

use crate::device::Device;
use greenup_files::Cache;
use greenup_space::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The best known config of a problem on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Name of the problem, as its file gives it.
    pub problem: String,
    /// Precision of the arithmetic, `f32` or `f64`; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub precision: String,
    /// What the config is the best by, one of [`OBJECTIVES`].
    pub objective: String,
    /// Time of one run, s.
    pub time_s: f64,
    /// Smallest and largest time of the rounds it was measured in, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_range_s: Option<[f64; 2]>,
    /// Energy of one run, J.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_j: Option<f64>,
    /// Smallest and largest energy of the rounds, J.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_range_j: Option<[f64; 2]>,
    /// Values of the parameters by name.
    pub config: BTreeMap<String, Value>,
    /// Constants of the problem by name: its size and variant.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, Value>,
    /// Device that measured it.
    pub device: Device,
    /// Where it comes from.
    #[serde(default)]
    pub provenance: Provenance,
}

/// Where an entry comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// When it was measured, seconds since 1970; 0 if unknown.
    #[serde(default)]
    pub at: u64,
    /// Number of configs that it is the best of.
    #[serde(default)]
    pub trials: usize,
    /// Whether results were compared with a reference.
    #[serde(default)]
    pub verified: bool,
    /// Fingerprint of the kernel's sources.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sources: String,
    /// Arguments of the command that measured it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// Version of greenup.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub greenup: String,
    /// Name and version of the compiler.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub compiler: String,
    /// Energy sensor.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sensor: String,
    /// Recorded sweep that it was taken from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from: String,
}

/// Objectives by which results of different runs can be compared.
pub const OBJECTIVES: [&str; 4] = ["time", "energy", "edp", "ed2p"];
/// Longest name or text of an entry.
const LONGEST: usize = 4096;
/// Most parameters or constants.
const MOST: usize = 256;

impl Entry {
    /// What tells two entries apart: the question, and the sources of the kernel where they are known. A problem of the same
    /// name with other sources is another one.
    pub fn key(&self) -> Vec<String> {
        let mut key = self.question();
        let sources = &self.provenance.sources;
        key.extend((!sources.is_empty()).then(|| format!("sources {sources}")));
        key
    }

    /// What a lookup asks for: problem, precision, objective, constants, names of the parameters and device.
    pub(crate) fn question(&self) -> Vec<String> {
        let d = &self.device;
        let constants = self.constants.iter().map(|(n, v)| format!("{n}={v}"));
        [
            self.problem.clone(),
            self.precision.clone(),
            self.objective.clone(),
            d.kind.name().to_owned(),
            d.name.clone(),
            d.units().unwrap_or(0).to_string(),
        ]
        .into_iter()
        .chain(constants)
        .chain(self.config.keys().cloned())
        .collect()
    }

    /// Eight hexadecimal digits that stay the same when a better config takes its place.
    pub fn id(&self) -> String {
        Cache::key(self.key())[..8].to_owned()
    }

    /// Whether one would take the place of the other.
    pub fn same_key(&self, other: &Self) -> bool {
        self.key() == other.key()
    }

    /// What is minimised: energy times time to a power, which is 0 for `energy`, 1 for `edp`, 2 for `ed2p`; else the time.
    pub fn value(&self) -> f64 {
        let energy = self.energy_j.unwrap_or(f64::INFINITY);
        match self.objective.as_str() {
            "energy" => energy,
            "edp" => energy * self.time_s,
            "ed2p" => energy * self.time_s * self.time_s,
            _ => self.time_s,
        }
    }

    /// The config as `name=value` separated by spaces.
    pub fn config_text(&self) -> String {
        let each: Vec<String> = (self.config.iter())
            .map(|(n, v)| format!("{n}={v}"))
            .collect();
        each.join(" ")
    }

    /// Checks what the types do not.
    ///
    /// # Errors
    /// A number or a text is out of its range, in words.
    pub fn check(&self) -> Result<(), String> {
        let name = |what: &str, text: &str| {
            let control = text.chars().any(char::is_control);
            if text.is_empty() || text.len() > LONGEST || control {
                return Err(format!("invalid {what}"));
            }
            Ok(())
        };
        name("problem", &self.problem)?;
        name("objective", &self.objective)?;
        name("device name", &self.device.name)?;
        let positive = |what: &str, x: f64| {
            if x.is_finite() && x > 0.0 {
                return Ok(());
            }
            Err(format!("{what} = {x}: it must be above 0"))
        };
        positive("time_s", self.time_s)?;
        if let Some(e) = self.energy_j {
            positive("energy_j", e)?;
        }
        for (what, range) in [
            ("time_range_s", self.time_range_s),
            ("energy_range_j", self.energy_range_j),
        ] {
            for x in range.into_iter().flatten() {
                positive(what, x)?;
            }
        }
        if !OBJECTIVES.contains(&self.objective.as_str()) {
            let known = OBJECTIVES.join(", ");
            return Err(format!("objective = `{}`: use {known}", self.objective));
        }
        if self.objective != "time" && self.energy_j.is_none() {
            return Err(format!("the best by {} has no energy_j", self.objective));
        }
        if self.config.is_empty() {
            return Err("the config is empty".into());
        }
        for (what, values) in [("config", &self.config), ("constants", &self.constants)] {
            if values.len() > MOST {
                return Err(format!("{what}: more than {MOST} values"));
            }
            for (n, v) in values {
                name(&format!("name in {what}"), n)?;
                match v {
                    Value::Str(s) if !s.is_empty() => name(&format!("{what}.{n}"), s)?,
                    Value::Float(x) if !x.is_finite() => {
                        return Err(format!("{what}.{n} = {x}: it must be finite"));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::device::DeviceKind;

    pub(crate) fn entry(problem: &str, device: &str, cores: i64, n: i64, time_s: f64) -> Entry {
        Entry {
            problem: problem.into(),
            precision: "f64".into(),
            objective: "time".into(),
            time_s,
            time_range_s: Some([time_s, 1.1 * time_s]),
            energy_j: None,
            energy_range_j: None,
            config: BTreeMap::from([("tile".into(), Value::Int(8))]),
            constants: BTreeMap::from([("n".into(), Value::Int(n))]),
            device: Device {
                kind: DeviceKind::Cpu,
                name: device.into(),
                architecture: "x86_64-avx2".into(),
                facts: BTreeMap::from([("cores".into(), cores), ("l2_bytes".into(), 1 << 20)]),
            },
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn the_result_does_not_change_the_id_but_the_size_does() {
        let a = entry("p", "d", 2, 100, 1.0);
        assert_eq!(a.id(), entry("p", "d", 2, 100, 2.0).id());
        assert_ne!(a.id(), entry("p", "d", 2, 200, 1.0).id());
        assert_ne!(a.id(), entry("p", "d", 4, 100, 1.0).id());
        assert_eq!(a.config_text(), "tile=8");
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let good = entry("p", "d", 2, 100, 1.0);
        assert_eq!(good.check(), Ok(()));
        let bad = |change: fn(&mut Entry)| {
            let mut e = good.clone();
            change(&mut e);
            e.check().unwrap_err()
        };
        assert!(bad(|e| e.time_s = f64::NAN).contains("time_s"));
        assert!(bad(|e| e.time_s = -1.0).contains("time_s"));
        assert!(bad(|e| e.energy_j = Some(0.0)).contains("energy_j"));
        assert!(bad(|e| e.config.clear()).contains("empty"));
        assert!(bad(|e| e.problem = "a\nb".into()).contains("problem"));
        assert!(bad(|e| e.objective = "energy".into()).contains("energy"));
        assert!(bad(|e| e.objective = "metric:x".into()).contains("use time, energy"));
        let nan = |e: &mut Entry| {
            e.config.insert("x".into(), Value::Float(f64::NAN));
        };
        assert!(bad(nan).contains("finite"));
    }
}
