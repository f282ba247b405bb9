//! Recorded runs of applications on one device or several: what scaling is predicted from, and compared with.

use crate::ScalingError;
use greenup_setting::setting;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A run, with what its time depends on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedRun {
    /// Number of devices or ranks; 1 if it is missing.
    pub devices: usize,
    /// Time, s.
    pub time_s: f64,
    /// Energy of all devices, J.
    pub energy_j: Option<f64>,
    /// Whether the devices are cores of a host, a rank on each, instead of GPUs.
    pub cores: bool,
    /// hydro: dimensions.
    pub dim: usize,
    /// hydro: order of the kinematic space.
    pub order: usize,
    /// hydro: zones.
    pub zones: usize,
    /// hydro: accepted steps.
    pub steps: f64,
    /// hydro: iterations of all solves; `None` if they are not known.
    pub iterations: Option<f64>,
    /// hydro: time of all solves, s; 0 if it is not known.
    pub solve_s: f64,
    /// hydro: solves.
    pub solves: f64,
    /// hydro: evaluations of the forces.
    pub evaluations: f64,
    /// gisaxs: method of the form factor.
    pub method: String,
    /// gisaxs: triangles of the shape.
    pub triangles: f64,
    /// gisaxs: values of q or pixels; fmm: points.
    pub points: f64,
    /// fmm: precision.
    pub precision: String,
    /// fmm: accuracy.
    pub accuracy: f64,
    /// fmm: time that each device repeats, s.
    pub repeated_s: f64,
    /// fmm: time of permuting and converting charges and results, s; 0 if it is not part of the time.
    pub permutation_s: f64,
    /// fmm: time of copies to and from the device, s; 0 if it is not part of the time.
    pub transfers_s: f64,
    /// fmm: charges of a point; 1 if it is missing.
    pub inputs: f64,
    /// fmm: results of a point; 1 if it is missing.
    pub outputs: f64,
    /// fmm: bytes that the phases move at least.
    pub moved_bytes: f64,
    /// tune: trials.
    pub trials: f64,
}

impl RecordedRun {
    /// Number of devices.
    pub fn on(&self) -> usize {
        self.devices.max(1)
    }
}

/// Runs of one application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// hydro, gisaxs, fmm or tune.
    pub application: String,
    /// Device of the runs.
    #[serde(default)]
    pub device: String,
    /// Where the numbers come from.
    #[serde(default)]
    pub label: greenup_model::machine::Label,
    /// What was run.
    #[serde(default)]
    pub about: String,
    /// Files of the numbers.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Commands that made them.
    #[serde(default)]
    pub commands: Vec<String>,
    /// The runs.
    pub runs: Vec<RecordedRun>,
}

/// Shipped records by application and machine.
const SHIPPED: [(&str, &str, &str); 3] = [
    (
        "hydro",
        "h200",
        include_str!("../../../machines/applications/hydro_h200.json"),
    ),
    (
        "gisaxs",
        "h200",
        include_str!("../../../machines/applications/gisaxs_h200.json"),
    ),
    (
        "fmm",
        "h200",
        include_str!("../../../machines/applications/fmm_h200.json"),
    ),
];

impl Record {
    /// The shipped record of an application on a machine.
    ///
    /// # Errors
    /// There is none.
    pub fn shipped(application: &str, machine: &str) -> Result<Self, ScalingError> {
        let found = SHIPPED
            .iter()
            .find(|(a, m, _)| *a == application && *m == machine);
        match found {
            Some((_, _, text)) => Self::parse(machine, text),
            None => Err(ScalingError::NoRecord {
                application: application.to_owned(),
                machine: machine.to_owned(),
            }),
        }
    }

    /// Reads a record, or what an application prints with `--json`.
    ///
    /// # Errors
    /// It is neither, or its times are not positive.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScalingError> {
        let wrong = |cause: String| ScalingError::Unreadable {
            name: name.to_owned(),
            cause,
        };
        let value: Value = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
        Self::of(name, &value)
    }

    /// The same, of JSON that was read.
    ///
    /// # Errors
    /// It is neither, or its times are not positive.
    pub fn of(name: &str, value: &Value) -> Result<Self, ScalingError> {
        let wrong = |cause: String| ScalingError::Unreadable {
            name: name.to_owned(),
            cause,
        };
        let record: Self = if value.get("runs").is_some() {
            Self::deserialize(value).map_err(|e| wrong(e.to_string()))?
        } else {
            of_run(value).ok_or_else(|| {
                wrong(format!(
                    "it is neither a record nor the output of `hydro run`, `gisaxs simulate`, `gisaxs form-factor`, `fmm run` or \
                     `greenup tune` with {}",
                    setting("json").on()
                ))
            })?
        };
        let bad = |r: &RecordedRun| !(r.time_s > 0.0 && r.time_s.is_finite());
        match record.runs.iter().position(bad) {
            Some(i) => Err(wrong(format!("the time of run {i} is not above 0"))),
            None if record.runs.is_empty() => Err(wrong("it has no runs".into())),
            None => Ok(record),
        }
    }
}

/// The record of a run, from what the application printed.
fn of_run(v: &Value) -> Option<Record> {
    let n = |key: &str| v.pointer(key).and_then(Value::as_f64);
    let text = |key: &str| {
        v.pointer(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let devices = ["/ranks", "/devices", "/gpus"]
        .into_iter()
        .filter_map(n)
        .fold(1.0, f64::max) as usize;
    let energy_j = ["/energy_j", "/boards/total_j"].into_iter().find_map(n);
    let (application, run) = if let Some(unknowns) = n("/unknowns") {
        let zones = n("/zones")? as usize;
        let (dim, order) = space(zones, unknowns as usize)?;
        let run = RecordedRun {
            dim,
            order,
            zones,
            steps: n("/steps")?,
            time_s: n("/wall_s")?,
            iterations: n("/timings/iterations"),
            solve_s: n("/timings/solve_s").unwrap_or(0.0),
            solves: n("/timings/solves")?,
            evaluations: n("/timings/evaluations")?,
            ..RecordedRun::default()
        };
        ("hydro", run)
    } else if let Some(points) = n("/sources") {
        let inputs = match text("/kernel").as_str() {
            "stokes" => 3.0,
            "helmholtz" => 2.0,
            _ => 1.0,
        };
        let gradient = v.pointer("/gradient").and_then(Value::as_bool);
        let phases = v.pointer("/work").and_then(Value::as_array);
        let bytes = |w: &Value| w.get("bytes").and_then(Value::as_f64);
        let run = RecordedRun {
            points,
            inputs,
            outputs: inputs * if gradient == Some(true) { 4.0 } else { 1.0 },
            permutation_s: n("/timings/permutation_s").unwrap_or(0.0),
            transfers_s: n("/timings/transfers_s").unwrap_or(0.0),
            moved_bytes: phases.map_or(0.0, |all| all.iter().filter_map(bytes).sum()),
            precision: text("/precision"),
            accuracy: n("/accuracy")?,
            time_s: n("/evaluation_s")?,
            repeated_s: n("/phases/p2m_m2m_s").unwrap_or(0.0),
            ..RecordedRun::default()
        };
        ("fmm", run)
    } else if let Some(time_s) = n("/search_s") {
        let run = RecordedRun {
            trials: n("/trials")?,
            time_s,
            ..RecordedRun::default()
        };
        ("tune", run)
    } else if let Some(points) = n("/points") {
        let run = RecordedRun {
            method: text("/method"),
            triangles: n("/triangles").unwrap_or(1.0),
            points,
            time_s: n("/evaluation_s")?,
            ..RecordedRun::default()
        };
        ("gisaxs", run)
    } else {
        let run = RecordedRun {
            method: "image".into(),
            triangles: 1.0,
            points: n("/rows")? * n("/columns")?,
            time_s: n("/seconds")?,
            ..RecordedRun::default()
        };
        ("gisaxs", run)
    };
    Some(Record {
        application: application.into(),
        device: text("/device"),
        label: greenup_model::machine::Label::Measured,
        about: String::new(),
        sources: Vec::new(),
        commands: vec![text("/provenance/command")],
        runs: vec![RecordedRun {
            devices,
            energy_j,
            cores: ![text("/device"), text("/provenance/command")]
                .iter()
                .any(|t| t.contains("cuda") || t.contains("NVIDIA")),
            ..run
        }],
    })
}

/// Dimensions and order of a space on a box: unknowns are the velocities at the nodes and the energies of the zones.
fn space(zones: usize, unknowns: usize) -> Option<(usize, usize)> {
    let fits = |dim: usize, order: usize| {
        let nodes = unknowns.checked_sub(zones * order.pow(dim as u32))?;
        let inner = zones * order.pow(dim as u32);
        let nodes = (nodes % dim == 0).then_some(nodes / dim)?;
        // A cube has the fewest nodes of all boxes, and a row of zones the most.
        let side = (zones as f64).powf(1.0 / dim as f64) * order as f64 + 1.0;
        let least = side.powi(dim as i32);
        (nodes > inner && nodes as f64 >= 0.999 * least).then_some(nodes as f64 / least - 1.0)
    };
    let all = (1..=3).flat_map(|dim| (1..=8).map(move |order| (dim, order)));
    all.filter_map(|(dim, order)| Some((fits(dim, order)?, dim, order)))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, dim, order)| (dim, order))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_told_from_their_sizes() {
        for (zones, unknowns, dim, order) in [
            (1_000_000, 32_361_803, 3, 2),
            (300_763, 32_847_825, 3, 3),
            (125_000, 32_361_803, 3, 4),
            (4096, 49_666, 2, 2),
            (1024, 49_666, 2, 4),
            (32_768, 140_579, 3, 1),
        ] {
            assert_eq!(space(zones, unknowns), Some((dim, order)), "{zones}");
        }
    }

    #[test]
    fn shipped_records_are_valid() {
        for (application, machine, _) in SHIPPED {
            let r = Record::shipped(application, machine).unwrap();
            assert_eq!(r.application, application);
            assert!(!r.sources.is_empty() && !r.commands.is_empty());
        }
        assert!(Record::shipped("hydro", "none").is_err());
        for bad in [
            "",
            "{}",
            "{\"runs\": [], \"application\": \"fmm\"}",
            "{\"runs\": [{}], \"application\": \"fmm\"}",
        ] {
            assert!(Record::parse("x", bad).is_err(), "{bad}");
        }
    }
}
