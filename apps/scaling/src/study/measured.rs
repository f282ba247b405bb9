//! Measured runs of a case on several numbers of devices, and their ratios to one device.

use super::case::Case;
use super::sample::{Digits, Disturbance, Sample, Spread};
use crate::prediction::{problem_of, rows};
use crate::{Costs, Record, Row, ScalingError};
use greenup_model::Machine;
use greenup_model::network::Nodes;
use serde::{Deserialize, Serialize};

/// What the model predicts from the first run on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// Number of devices.
    pub devices: usize,
    /// Time, s.
    pub time_s: f64,
    /// Time of one device for the same work over this time.
    pub speedup: f64,
    /// Power of one device over the power of all.
    pub powerup: Option<f64>,
    /// Energy of one device for the same work over the energy of all.
    pub greenup: Option<f64>,
    /// Parts of the time, s.
    pub parts: Vec<(String, f64)>,
}

impl From<&Row> for Predicted {
    fn from(r: &Row) -> Self {
        Self {
            devices: r.scaled.devices,
            time_s: r.scaled.time_s,
            speedup: r.speedup,
            powerup: r.powerup,
            greenup: r.greenup,
            parts: (r.parts().into_iter())
                .map(|(name, s)| (name.to_owned(), s))
                .collect(),
        }
    }
}

/// A number of devices. The ranges are those of the rounds, over the median of one device. hydro's times and energies are
/// for as many evaluations of the forces as on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Number of devices.
    pub devices: usize,
    /// Size of the problem, in units of that of one device.
    pub size: f64,
    /// Runs.
    pub runs: usize,
    /// Time, s.
    pub time_s: Spread,
    /// Energy of all devices, J.
    pub energy_j: Option<Spread>,
    /// Mean power of all devices, W.
    pub power_w: Option<Spread>,
    /// Median time of one device for the same work over this time.
    pub speedup: Spread,
    /// Median power of one device over the power of all.
    pub powerup: Option<Spread>,
    /// Median energy of one device for the same work over the energy of all.
    pub greenup: Option<Spread>,
    /// By the model.
    pub predicted: Option<Predicted>,
    /// Compared with one device.
    pub digits: Option<Digits>,
    /// tune: of the last run.
    pub disturbance: Option<Disturbance>,
}

impl Point {
    /// (predicted − measured) / measured, of the time.
    pub fn error(&self) -> Option<f64> {
        Some(self.predicted.as_ref()?.time_s / self.time_s.median - 1.0)
    }

    /// Speedup over the number of devices.
    pub fn efficiency(&self) -> f64 {
        self.speedup.median / self.devices as f64
    }
}

/// A case on several numbers of devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name of the case.
    pub case: String,
    /// hydro, gisaxs, fmm or tune.
    pub application: String,
    /// The problem in words.
    pub problem: String,
    /// Whether the work of each device stays the same.
    pub weak: bool,
    /// Its command on one device.
    pub command: String,
    /// Each number of devices that was measured.
    pub points: Vec<Point>,
    /// What the largest number of devices loses against ideal scaling.
    pub limits: Option<Limits>,
    /// Each run.
    pub samples: Vec<Sample>,
    /// Before any run on several devices.
    pub predicted: Vec<Predicted>,
    /// Sizes of the problem by devices, in units of that of one.
    sizes: Vec<(usize, f64)>,
}

impl Series {
    /// The first run, on one device, with what is predicted from it.
    pub fn new(case: &Case, first: Sample, predicted: Vec<Predicted>) -> Self {
        let mut out = Self {
            case: case.name.to_owned(),
            application: case.application.to_owned(),
            problem: case.problem.clone(),
            weak: case.weak,
            command: case.command(),
            points: Vec::new(),
            limits: None,
            samples: Vec::new(),
            predicted,
            sizes: case.runs.iter().map(|r| (r.devices, r.size)).collect(),
        };
        out.add(first);
        out
    }

    /// Adds a run.
    pub fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
        self.points = self.all();
        self.limits = Limits::of(self);
    }

    /// The point of one device.
    pub fn alone(&self) -> Option<&Point> {
        self.points.iter().find(|p| p.devices == 1)
    }

    /// The point of the most devices, if they are several.
    pub fn largest(&self) -> Option<&Point> {
        self.points.last().filter(|p| p.devices > 1)
    }

    /// Size of the problem on so many devices, in units of that of one.
    pub fn size(&self, devices: usize) -> f64 {
        let found = self.sizes.iter().find(|s| s.0 == devices);
        found.map_or(1.0, |s| s.1)
    }

    /// The runs on so many devices.
    pub fn on(&self, devices: usize) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |s| s.devices == devices)
    }

    /// What the times of a run are multiplied by: they count for as many evaluations as those of the first run.
    pub fn alike(&self, s: &Sample) -> f64 {
        let first = self
            .samples
            .first()
            .map_or(s.evaluations, |f| f.evaluations);
        first / s.evaluations
    }

    fn all(&self) -> Vec<Point> {
        let time = |n: usize| Spread::of(self.on(n).map(|s| s.time_s * self.alike(s)));
        // An energy that a run lacks is missing of all.
        let whole = |n: usize, f: &dyn Fn(&Sample) -> Option<f64>| {
            Spread::of(self.on(n).map(f).collect::<Option<Vec<f64>>>()?)
        };
        let energy = |n: usize| whole(n, &|s| Some(s.energy_j? * self.alike(s)));
        let power = |n: usize| whole(n, &Sample::power_w);
        let Some(one) = time(1) else {
            return Vec::new();
        };
        let mut counts: Vec<usize> = self.samples.iter().map(|s| s.devices).collect();
        counts.sort_unstable();
        counts.dedup();
        (counts.into_iter())
            .filter_map(|n| {
                let (time_s, size) = (time(n)?, self.size(n));
                let over = |one: Option<Spread>, all: Option<Spread>, times: f64| {
                    Some(all?.under(one?.median * times))
                };
                Some(Point {
                    devices: n,
                    size,
                    runs: self.on(n).count(),
                    time_s,
                    energy_j: energy(n),
                    power_w: power(n),
                    speedup: time_s.under(one.median * size),
                    powerup: over(power(1), power(n), 1.0),
                    greenup: over(energy(1), energy(n), size),
                    predicted: self.predicted.iter().find(|p| p.devices == n).cloned(),
                    digits: self.digits(n),
                    disturbance: self.on(n).filter_map(|s| s.disturbance).last(),
                })
            })
            .collect()
    }

    /// The results of all runs on so many devices, compared with the first on one.
    fn digits(&self, devices: usize) -> Option<Digits> {
        // Other sizes have other results.
        if self.weak && devices > 1 {
            return None;
        }
        let one = self.on(1).next()?;
        self.on(devices)
            .filter(|s| !std::ptr::eq(*s, one))
            .map(|s| Digits::of(one, s))
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .reduce(Digits::worse)
    }
}

/// Predicts the runs of a case from the first run of a record, which is on one device.
///
/// # Errors
/// The record has no run on one device.
pub fn predicted(
    machine: &Machine,
    record: &Record,
    case: &Case,
) -> Result<Vec<Predicted>, ScalingError> {
    let run = record.runs.first().ok_or_else(|| ScalingError::NoRun {
        application: record.application.clone(),
        known: "none".into(),
    })?;
    let mut out = Vec::with_capacity(case.runs.len());
    for r in &case.runs {
        let mut problem = problem_of(&record.application, run);
        problem.size *= r.size;
        let costs = Costs::new(record, problem)?;
        let at = Nodes {
            devices: r.devices,
            nodes: 1,
        };
        out.extend(rows(machine, &costs, &[at]).iter().map(Predicted::from));
    }
    Ok(out)
}

/// Time beyond ideal scaling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Number of devices.
    pub devices: usize,
    /// Time beyond that of ideal scaling, s.
    pub lost_s: f64,
    /// The same of each phase, the largest first; empty where the application times none.
    pub measured: Vec<(String, f64)>,
    /// The same of each term of the model, the largest first.
    pub predicted: Vec<(String, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::case::CaseRun;
    use greenup_model::Machine;

    fn parsed(text: &str, at: (usize, usize)) -> Result<(Sample, Record), ScalingError> {
        let value = serde_json::from_str(text).unwrap_or_default();
        Sample::parse("fmm", &value, at, (1.0, None))
    }

    fn case(sizes: &[(usize, f64)]) -> Case {
        let runs = sizes.iter().map(|(devices, size)| CaseRun {
            devices: *devices,
            size: *size,
            arguments: vec!["run".into()],
        });
        Case {
            name: "fmm",
            application: "fmm",
            runs: runs.collect(),
            ..Case::default()
        }
    }

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
        let (first, record) = parsed(&fmm(1, 1.0, one), (1, 0)).unwrap();
        let case = case(&[(1, 1.0), (2, 1.0)]);
        let mut series = Series::new(&case, first, predicted(&machine, &record, &case).unwrap());
        for (n, t, text) in [(2, 0.5, two), (1, 1.2, one), (2, 0.6, two), (1, 1.1, one)] {
            let (sample, _) = parsed(&fmm(n, t, text), (n, 1)).unwrap();
            series.add(sample);
        }
        let p = &series.points[1];
        assert_eq!((p.devices, p.runs), (2, 2));
        assert!((p.time_s.median - 0.55).abs() < 1e-12);
        assert!((p.speedup.median - 1.1 / 0.55).abs() < 1e-12);
        assert!((p.speedup.hi - 1.1 / 0.5).abs() < 1e-12);
        // 400 W on one, 800 W on two, by the times of the boards.
        assert!((p.powerup.unwrap().median - 0.5).abs() < 1e-12);
        assert!((p.greenup.unwrap().median - 0.9).abs() < 1e-12);
        let model = p.predicted.clone().unwrap();
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
        let (sample, record) = parsed(&fmm(1, 1.0, ""), (1, 0)).unwrap();
        assert_eq!((sample.energy_j, record.runs[0].energy_j), (None, None));
        assert!(parsed("no JSON", (1, 0)).is_err());
        let value = serde_json::from_str(&fmm(1, 1.0, "")).unwrap();
        assert!(Sample::parse("hydro", &value, (1, 0), (1.0, None)).is_err());
        assert_eq!(Spread::of([]), None);
        let even = Spread::of([4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!((even.median, even.lo, even.hi), (2.5, 1.0, 4.0));
    }

    #[test]
    fn weak_scaling_compares_as_much_work_and_as_many_evaluations() {
        let machine = Machine::from_toml(
            "name='m'\ntitle='M'\n[link]\nlatency_s = { value = 1e-9 }\nbandwidth_bytes_per_s = { value = 1e13 }\n",
        )
        .unwrap();
        let (first, record) = parsed(&fmm(1, 1.0, ""), (1, 0)).unwrap();
        let case = Case {
            weak: true,
            ..case(&[(1, 1.0), (2, 2.1)])
        };
        let mut series = Series::new(&case, first, predicted(&machine, &record, &case).unwrap());
        let (mut two, _) = parsed(&fmm(2, 2.1, ""), (2, 0)).unwrap();
        // A fifth of the steps was repeated.
        two.evaluations = 1.2;
        two.time_s = 1.2 * 1.05;
        series.add(two);
        let p = &series.points[1];
        assert!((p.time_s.median - 1.05).abs() < 1e-12, "{p:?}");
        assert!((p.speedup.median - 2.0).abs() < 1e-12, "{p:?}");
        assert_eq!(p.digits, None);
        // A tenth is repeated: 2.1 (0.1 + 0.9 / 2).
        let model = p.predicted.as_ref().unwrap();
        assert!((model.time_s - 2.1 * 0.55).abs() < 0.02, "{model:?}");
        assert!((model.speedup - 1.0 / 0.55).abs() < 0.04, "{model:?}");
    }
}
