//! What a run of a scaling study measured.

use crate::Record;
use crate::ScalingError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Number of devices.
    pub devices: usize,
    /// Its round.
    pub round: usize,
    /// hydro: of the steps; gisaxs and fmm: of an evaluation with its transfers, or of an image; tune: of the search, s.
    pub time_s: f64,
    /// Energy of all devices over `energy_time_s`, by their own counters, J.
    pub energy_j: Option<f64>,
    /// Time of what the energy is of, s: hydro: the steps; an image and tune: the process; else an evaluation that was repeated.
    pub energy_time_s: Option<f64>,
    /// hydro: evaluations of the forces, which rejected steps add to; else 1.
    pub evaluations: f64,
    /// Of the process, with its set-up, s.
    pub process_s: f64,
    /// Energy of the devices over the whole process, J.
    pub process_j: Option<f64>,
    /// Parts of the time, s.
    pub phases: BTreeMap<String, f64>,
    /// Numbers of the result, which are the same on any number of devices.
    pub digits: BTreeMap<String, f64>,
    /// What must be equal.
    pub exact: BTreeMap<String, String>,
    /// tune: a kernel with all workers at once over alone.
    pub disturbance: Option<Disturbance>,
}

/// A kernel on the first worker while all others work, over alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Ratio of the times.
    pub time: Spread,
    /// Ratio of the energies.
    pub energy: Option<Spread>,
}

/// Parts of the time by application: pointers into what it prints.
const PHASES: [(&str, &[(&str, &str)]); 3] = [
    (
        "hydro",
        &[
            ("stresses", "/timings/stress_s"),
            ("forces", "/timings/force_s"),
            ("CG solves", "/timings/solve_s"),
            ("updates", "/timings/update_s"),
        ],
    ),
    (
        "gisaxs",
        &[
            ("kernels", "/kernel_s"),
            ("upload", "/upload_s"),
            ("download", "/download_s"),
            ("host", "/host_s"),
        ],
    ),
    (
        "fmm",
        &[
            ("phases of the method", "/timings/compute_s"),
            ("permutation", "/timings/permutation_s"),
            ("transfers", "/timings/transfers_s"),
            ("exchange", "/timings/exchange_s"),
            ("gathering", "/timings/gather_s"),
        ],
    ),
];

/// Numbers of a result by application.
const DIGITS: [(&str, &[&str]); 3] = [
    ("hydro", &["/t", "/dt", "/internal", "/kinetic", "/e_norm"]),
    ("gisaxs", &["/maximum"]),
    ("fmm", &["/errors/potential"]),
];

/// What is equal, by application.
const EXACT: [(&str, &[&str]); 1] = [("hydro", &["/steps", "/rejected", "/zones"])];

impl Sample {
    /// Reads what an application printed, also as a record to predict from. `process`: its time, s, and the energy of the
    /// devices meanwhile, J.
    ///
    /// # Errors
    /// It is no result of that application.
    pub fn parse(
        name: &str,
        value: &Value,
        (devices, round): (usize, usize),
        process: (f64, Option<f64>),
    ) -> Result<(Self, Record), ScalingError> {
        let mut record = Record::of(name, value)?;
        let wrong = |cause: &str| ScalingError::Unreadable {
            name: name.to_owned(),
            cause: cause.to_owned(),
        };
        if record.application != name {
            return Err(wrong("it printed the result of another application"));
        }
        let n = |key: &str| value.pointer(key).and_then(Value::as_f64);
        let boards = n("/boards/total_j").zip(longest(value));
        // One device has no boards.
        let alone = n("/measured/energy_j/median").zip(n("/measured/time_s/median"));
        let whole = process.1.map(|j| (j, process.0));
        let energy = (boards.or(alone).or(whole)).filter(|(j, s)| *j > 0.0 && *s > 0.0);
        let run = (record.runs.first_mut()).ok_or_else(|| wrong("it has no runs"))?;
        run.devices = devices;
        // The mean power counts, over the time that is predicted.
        run.energy_j = energy.map(|(j, s)| j / s * run.time_s);
        let phases = of_application(&PHASES, name).iter();
        let digits = of_application(&DIGITS, name).iter();
        let exact = of_application(&EXACT, name).iter();
        let short = |key: &str| key.trim_start_matches('/').to_owned();
        let sample = Self {
            devices,
            round,
            time_s: run.time_s,
            energy_j: energy.map(|e| e.0),
            energy_time_s: energy.map(|e| e.1),
            evaluations: run.evaluations.max(1.0),
            process_s: process.0,
            process_j: process.1,
            phases: phases
                .filter_map(|(phase, key)| Some(((*phase).to_owned(), n(key)?)))
                .filter(|(_, s)| *s > 0.0)
                .collect(),
            digits: digits
                .filter_map(|key| Some((short(key), n(key)?)))
                .collect(),
            exact: exact
                .filter_map(|key| Some((short(key), n(key)?.to_string())))
                .collect(),
            disturbance: disturbance(value),
        };
        Ok((sample, record))
    }

    /// Mean power, W.
    pub fn power_w(&self) -> Option<f64> {
        Some(self.energy_j? / self.energy_time_s?)
    }
}

fn of_application<T: ?Sized>(table: &[(&str, &'static T)], name: &str) -> &'static T
where
    &'static T: Default,
{
    let found = table.iter().find(|(a, _)| *a == name);
    found.map(|(_, all)| *all).unwrap_or_default()
}

/// The longest time of the boards.
fn longest(value: &Value) -> Option<f64> {
    let times = value.pointer("/boards/time_s")?.as_array()?;
    times.iter().filter_map(Value::as_f64).reduce(f64::max)
}

fn disturbance(value: &Value) -> Option<Disturbance> {
    let of = |key: &str| {
        let ratio = value.pointer("/disturbance")?.get(key)?;
        let n = |key: &str| ratio.get(key)?.as_f64();
        Some(Spread {
            median: n("median")?,
            lo: n("lo")?,
            hi: n("hi")?,
        })
    };
    Some(Disturbance {
        time: of("time_ratio")?,
        energy: of("energy_ratio"),
    })
}

/// A result compared with that of one device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Digits {
    /// Largest difference of a number, relative to the larger of it and 1.
    pub difference: f64,
    /// Whether what must be equal is, and the numbers differ by at most 10⁻¹².
    pub same: bool,
}

impl Digits {
    /// Largest difference of numbers that are the same but for the order of sums.
    pub const MOST: f64 = 1e-12;

    /// Compares; `None` if there is nothing to compare.
    pub fn of(one: &Sample, other: &Sample) -> Option<Self> {
        if one.digits.is_empty() && one.exact.is_empty() {
            return None;
        }
        let difference = (one.digits.iter())
            .map(|(key, a)| match other.digits.get(key) {
                Some(b) => (a - b).abs() / a.abs().max(1.0),
                None => f64::INFINITY,
            })
            .fold(0.0, f64::max);
        Some(Self {
            difference,
            same: difference <= Self::MOST && one.exact == other.exact,
        })
    }

    /// The worse of two.
    pub fn worse(self, other: Self) -> Self {
        Self {
            difference: self.difference.max(other.difference),
            same: self.same && other.same,
        }
    }
}

/// Median and range of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Smallest.
    pub lo: f64,
    /// Largest.
    pub hi: f64,
}

impl Spread {
    /// Of some values; `None` of none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut all: Vec<f64> = values.into_iter().collect();
        all.sort_by(f64::total_cmp);
        let middle = all.len() / 2;
        let median = match all.len() % 2 {
            1 => *all.get(middle)?,
            _ => 0.5 * (all.get(middle.checked_sub(1)?)? + all.get(middle)?),
        };
        Some(Self {
            median,
            lo: *all.first()?,
            hi: *all.last()?,
        })
    }

    /// A number over these values.
    pub(super) fn under(&self, x: f64) -> Self {
        Self {
            median: x / self.median,
            lo: x / self.hi,
            hi: x / self.lo,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_differ_by_rounding_at_most() {
        let of = |kinetic: f64, steps: u32| {
            let text = format!(
                "{{\"zones\":4096,\"unknowns\":140579,\"steps\":{steps},\"rejected\":0,\"wall_s\":1.0,\"kinetic\":{kinetic},\
                 \"timings\":{{\"iterations\":900,\"solves\":24,\"evaluations\":25,\"solve_s\":0.6,\"force_s\":0.0}}}}"
            );
            let value = serde_json::from_str(&text).unwrap();
            Sample::parse("hydro", &value, (1, 0), (2.0, None))
                .unwrap()
                .0
        };
        let one = of(0.25, 6);
        assert_eq!((one.evaluations, one.phases["CG solves"]), (25.0, 0.6));
        assert!(!one.phases.contains_key("forces"));
        let near = Digits::of(&one, &of(0.25 + 1e-15, 6)).unwrap();
        assert!(near.same && near.difference > 0.0);
        assert!(!Digits::of(&one, &of(0.2501, 6)).unwrap().same);
        assert!(!Digits::of(&one, &of(0.25, 7)).unwrap().same);
        assert_eq!(Digits::of(&Sample::default(), &one), None);
    }

    #[test]
    fn a_search_has_the_energy_of_its_process_and_the_disturbance_of_its_workers() {
        let ratio = |x: f64| format!("{{\"median\":{x},\"lo\":{x},\"hi\":{x}}}");
        let text = format!(
            "{{\"search_s\":9.5,\"trials\":20,\"workers\":[{{}},{{}}],\"disturbance\":{{\"time_ratio\":{},\"energy_ratio\":{}}}}}",
            ratio(1.01),
            ratio(1.02)
        );
        let value = serde_json::from_str(&text).unwrap();
        let (s, record) = Sample::parse("tune", &value, (2, 0), (12.0, Some(3000.0))).unwrap();
        assert_eq!((s.time_s, s.power_w()), (9.5, Some(250.0)));
        assert_eq!(record.runs[0].trials, 20.0);
        let d = s.disturbance.unwrap();
        assert_eq!((d.time.median, d.energy.unwrap().median), (1.01, 1.02));
    }
}
