//! Measured runs of an application on several numbers of devices, and their ratios to one device.

use super::record::Record;
use super::study::Application;
use super::{Row, ScalingError};
use serde::Serialize;
use serde_json::Value;

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Number of devices.
    pub devices: usize,
    /// Its round.
    pub round: usize,
    /// hydro: of the steps; else of an evaluation with its transfers, s.
    pub time_s: f64,
    /// Energy of all devices over `energy_time_s`, by their own counters, J.
    pub energy_j: Option<f64>,
    /// Time of what the energy is of, s: hydro: the steps; else an evaluation that was repeated.
    pub energy_time_s: Option<f64>,
}

impl Sample {
    /// Reads what an application printed, also as a record to predict from.
    ///
    /// # Errors
    /// It is no result of that application.
    pub fn parse(
        name: &str,
        text: &str,
        (devices, round): (usize, usize),
    ) -> Result<(Self, Record), ScalingError> {
        let mut record = Record::parse(name, text)?;
        let wrong = |cause: &str| ScalingError::Unreadable {
            name: name.to_owned(),
            cause: cause.to_owned(),
        };
        if record.application != name {
            return Err(wrong("it printed the result of another application"));
        }
        let value: Value = serde_json::from_str(text).map_err(|e| wrong(&e.to_string()))?;
        let n = |key: &str| value.pointer(key).and_then(Value::as_f64);
        let boards = n("/boards/total_j").zip(longest(&value));
        // One device has no boards.
        let alone = n("/measured/energy_j/median").zip(n("/measured/time_s/median"));
        let energy = boards.or(alone).filter(|(j, s)| *j > 0.0 && *s > 0.0);
        let run = (record.runs.first_mut()).ok_or_else(|| wrong("it has no runs"))?;
        run.devices = devices;
        // The mean power counts, over the time that is predicted.
        run.energy_j = energy.map(|(j, s)| j / s * run.time_s);
        let sample = Self {
            devices,
            round,
            time_s: run.time_s,
            energy_j: energy.map(|e| e.0),
            energy_time_s: energy.map(|e| e.1),
        };
        Ok((sample, record))
    }

    fn power_w(&self) -> Option<f64> {
        Some(self.energy_j? / self.energy_time_s?)
    }
}

/// The longest time of the boards.
fn longest(value: &Value) -> Option<f64> {
    let times = value.pointer("/boards/time_s")?.as_array()?;
    times.iter().filter_map(Value::as_f64).reduce(f64::max)
}

/// Median and range of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
    fn under(&self, x: f64) -> Self {
        Self {
            median: x / self.median,
            lo: x / self.hi,
            hi: x / self.lo,
        }
    }
}

/// What the model predicts from the first run on one device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Predicted {
    /// Time, s.
    pub time_s: f64,
    /// Time of one device over this time.
    pub speedup: f64,
    /// Power of one device over the power of all.
    pub powerup: Option<f64>,
    /// Energy of one device over the energy of all.
    pub greenup: Option<f64>,
}

/// A number of devices. The ranges are those of the rounds, over the median of one device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Number of devices.
    pub devices: usize,
    /// Runs.
    pub runs: usize,
    /// Time, s.
    pub time_s: Spread,
    /// Energy of all devices, J.
    pub energy_j: Option<Spread>,
    /// Mean power of all devices, W.
    pub power_w: Option<Spread>,
    /// Median time of one device over this time.
    pub speedup: Spread,
    /// Median power of one device over the power of all.
    pub powerup: Option<Spread>,
    /// Median energy of one device over the energy of all.
    pub greenup: Option<Spread>,
    /// By the model.
    pub predicted: Option<Predicted>,
}

/// An application on several numbers of devices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// hydro, gisaxs or fmm.
    pub application: String,
    /// The problem in words.
    pub problem: String,
    /// Its command, without the devices.
    pub command: String,
    /// Each number of devices that was measured.
    pub points: Vec<Point>,
    /// Each run.
    pub samples: Vec<Sample>,
    #[serde(skip)]
    predicted: Vec<(usize, Predicted)>,
}

impl Series {
    /// The first run, on one device, with what is predicted from it.
    pub fn new(application: &Application, first: Sample, rows: &[Row]) -> Self {
        let predicted = rows
            .iter()
            .map(|r| {
                let p = Predicted {
                    time_s: r.scaled.time_s,
                    speedup: r.speedup,
                    powerup: r.powerup,
                    greenup: r.greenup,
                };
                (r.scaled.devices, p)
            })
            .collect();
        let mut out = Self {
            application: application.name.to_owned(),
            problem: application.problem.clone(),
            command: format!("{} {}", application.name, application.arguments.join(" ")),
            points: Vec::new(),
            samples: Vec::new(),
            predicted,
        };
        out.add(first);
        out
    }

    /// Adds a run.
    pub fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
        self.points = self.all();
    }

    /// The point of one device.
    pub fn alone(&self) -> Option<&Point> {
        self.points.iter().find(|p| p.devices == 1)
    }

    fn all(&self) -> Vec<Point> {
        let of = |n: usize| self.samples.iter().filter(move |s| s.devices == n);
        let time = |n: usize| Spread::of(of(n).map(|s| s.time_s));
        // An energy that a run lacks is missing of all.
        let whole = |n: usize, f: fn(&Sample) -> Option<f64>| {
            Spread::of(of(n).map(f).collect::<Option<Vec<f64>>>()?)
        };
        let energy = |n: usize| whole(n, |s| s.energy_j);
        let power = |n: usize| whole(n, Sample::power_w);
        let Some(one) = time(1) else {
            return Vec::new();
        };
        let mut counts: Vec<usize> = self.samples.iter().map(|s| s.devices).collect();
        counts.sort_unstable();
        counts.dedup();
        let over = |one: Option<Spread>, all: Option<Spread>| Some(all?.under(one?.median));
        (counts.into_iter())
            .filter_map(|n| {
                let time_s = time(n)?;
                Some(Point {
                    devices: n,
                    runs: of(n).count(),
                    time_s,
                    energy_j: energy(n),
                    power_w: power(n),
                    speedup: time_s.under(one.median),
                    powerup: over(power(1), power(n)),
                    greenup: over(energy(1), energy(n)),
                    predicted: self.predicted.iter().find(|p| p.0 == n).map(|p| p.1),
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::rows_of;
    use greenup_model::Machine;
    use std::path::PathBuf;

    fn fmm(ranks: usize, evaluation_s: f64, boards: &str) -> String {
        format!(
            "{{\"sources\":1000,\"accuracy\":1e-4,\"precision\":\"f32\",\"ranks\":{ranks},\
             \"evaluation_s\":{evaluation_s},\"phases\":{{\"p2m_m2m_s\":0.1}}{boards}}}"
        )
    }

    #[test]
    fn ratios_are_those_of_medians_over_one_device() {
        let one = ",\"measured\":{\"time_s\":{\"median\":0.9},\"energy_j\":{\"median\":360.0}}";
        let two =
            ",\"boards\":{\"time_s\":[0.5,0.45],\"energy_j\":[200.0,200.0],\"total_j\":400.0}";
        let machine = Machine::from_toml(
            "name='m'\ntitle='M'\n[link]\nlatency_s = { value = 1e-6 }\nbandwidth_bytes_per_s = { value = 1e10 }\n\
             idle_power_w = { value = 100.0 }\n",
        )
        .unwrap();
        let (first, record) = Sample::parse("fmm", &fmm(1, 1.0, one), (1, 0)).unwrap();
        let rows = rows_of(&machine, &record, &[1, 2]).unwrap();
        let application = Application {
            name: "fmm",
            program: PathBuf::new(),
            arguments: vec!["run".into()],
            problem: String::new(),
        };
        let mut series = Series::new(&application, first, &rows);
        for (n, t, text) in [(2, 0.5, two), (1, 1.2, one), (2, 0.6, two), (1, 1.1, one)] {
            let (sample, _) = Sample::parse("fmm", &fmm(n, t, text), (n, 1)).unwrap();
            series.add(sample);
        }
        let p = series.points[1];
        assert_eq!((p.devices, p.runs), (2, 2));
        assert!((p.time_s.median - 0.55).abs() < 1e-12);
        assert!((p.speedup.median - 1.1 / 0.55).abs() < 1e-12);
        assert!((p.speedup.hi - 1.1 / 0.5).abs() < 1e-12);
        // 400 W on one, 800 W on two, by the times of the boards.
        assert!((p.powerup.unwrap().median - 0.5).abs() < 1e-12);
        assert!((p.greenup.unwrap().median - 0.9).abs() < 1e-12);
        let model = p.predicted.unwrap();
        // A tenth is repeated on each device: 0.1 + 0.9 / 2.
        assert!((model.time_s - 0.55).abs() < 1e-3, "{model:?}");
        assert!(
            (model.greenup.unwrap() - 1.0 / 1.1).abs() < 1e-3,
            "{model:?}"
        );
        assert_eq!(series.alone().unwrap().speedup.median, 1.0);
    }

    #[test]
    fn without_energies_there_is_no_greenup() {
        let (sample, record) = Sample::parse("fmm", &fmm(1, 1.0, ""), (1, 0)).unwrap();
        assert_eq!((sample.energy_j, record.runs[0].energy_j), (None, None));
        for (name, text) in [("hydro", fmm(1, 1.0, "")), ("fmm", "no JSON".into())] {
            assert!(Sample::parse(name, &text, (1, 0)).is_err());
        }
        assert_eq!(Spread::of([]), None);
        let even = Spread::of([4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!((even.median, even.lo, even.hi), (2.5, 1.0, 4.0));
    }
}
