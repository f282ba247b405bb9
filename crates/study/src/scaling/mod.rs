//! Scaling of applications over nodes: predicted from runs on one device and a machine's network, and compared with runs on
//! several.
//!
//! | module | contents |
//! |---|---|
//! | [`record`] | recorded runs |
//! | [`cost`] | share and traffic of each device |
//! | [`bytes`] | bytes that applications move in the memory of a host |
//! | [`published`] | scaling studies of papers, and the model beside them |
//! | [`case`] | what a study runs on 1, 2, 4, … devices of this host |
//! | [`study`] | the runs |
//! | `process` | their processes: energy, result, error |
//! | [`runs_file`] | each run in a file, from which a study continues |
//! | [`sample`] | what a run measured |
//! | [`measured`] | the runs of a case, and the ratios to one device |
//! | [`limits`] | what the largest number of devices loses |

pub mod bytes;
pub mod case;
pub mod cost;
pub mod limits;
pub mod measured;
mod process;
pub mod published;
pub mod record;
pub mod runs_file;
pub mod sample;
pub mod study;

pub use cost::{Costs, Problem};
use greenup_setting::setting;
pub use record::{Record, RecordedRun};

use case::Case;
use greenup_model::Machine;
use greenup_model::network::{Nodes, Scaled, Traffic, scaled};
use measured::Predicted;
use serde::Serialize;

/// Why scaling cannot be predicted.
#[derive(Debug, thiserror::Error)]
pub enum ScalingError {
    /// There is no record.
    #[error(
        "there is no record of {application} on `{machine}`. Fix: {} with the output of a run on one device with --json",
        setting("record")
    )]
    NoRecord {
        /// The application.
        application: String,
        /// The machine.
        machine: String,
    },
    /// No run matches.
    #[error("the record of {application} has no run on one device of this kind; it has {known}")]
    NoRun {
        /// The application.
        application: String,
        /// What it has.
        known: String,
    },
    /// A file is not a record.
    #[error("{name}: {cause}")]
    Unreadable {
        /// Its name.
        name: String,
        /// What is wrong.
        cause: String,
    },
}

/// Prediction for a number of nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Time, energy and their parts.
    #[serde(flatten)]
    pub scaled: Scaled,
    /// Parallel efficiency, 1 in the first row: speedup a device, relative to the first row.
    pub efficiency: f64,
    /// Time of one device for the same work over this time.
    pub speedup: f64,
    /// Power of one device over the power of all.
    pub powerup: Option<f64>,
    /// Energy of one device for the same work over this energy.
    pub greenup: Option<f64>,
}

impl Row {
    /// The parts of the time, s, with their names: the largest tells what binds.
    pub fn parts(&self) -> [(&'static str, f64); 5] {
        let s = &self.scaled;
        [
            ("computation", s.compute_s - s.sharing_s),
            ("messages", s.exchange_s),
            ("all-reduces", s.all_reduce_s),
            ("shared memory", s.sharing_s),
            ("gathering", s.gather_s),
        ]
    }

    /// The largest part of the time.
    pub fn bound_by(&self) -> &'static str {
        let parts = self.parts();
        parts[1..]
            .iter()
            .fold(parts[0], |most, p| if p.1 > most.1 { *p } else { most })
            .0
    }
}

/// Predicts each number of nodes.
pub fn rows(machine: &Machine, costs: &Costs, at: &[Nodes]) -> Vec<Row> {
    let mut out: Vec<Row> = Vec::with_capacity(at.len());
    for nodes in at {
        let (share, traffic) = costs.share(nodes.devices, nodes.group(machine));
        let s = scaled(machine, *nodes, &share, &traffic);
        let one = Nodes {
            devices: 1,
            nodes: 1,
        };
        let alone = costs.alone(nodes.devices);
        let alone = scaled(machine, one, &alone, &Traffic::default());
        let speedup = alone.time_s / s.time_s;
        let greenup = alone.energy_j.zip(s.energy_j).map(|(a, b)| a / b);
        let each = speedup / nodes.devices as f64;
        let first = out
            .first()
            .map_or(each, |r| r.speedup / r.scaled.devices as f64);
        out.push(Row {
            scaled: s,
            efficiency: each / first,
            speedup,
            powerup: greenup.map(|g| g / speedup),
            greenup,
        });
    }
    out
}

/// A run that was measured, and predicted from the runs on one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Its file.
    pub file: String,
    /// Number of devices or ranks.
    pub devices: usize,
    /// Measured time, s.
    pub measured_s: f64,
    /// Predicted time, s.
    pub predicted_s: f64,
    /// Measured energy, J.
    pub measured_j: Option<f64>,
    /// Predicted energy, J.
    pub predicted_j: Option<f64>,
}

impl Compared {
    /// (predicted − measured) / measured, of the time.
    pub fn error(&self) -> f64 {
        self.predicted_s / self.measured_s - 1.0
    }
}

/// Predicts measured runs. Runs on one device among them join the record.
///
/// # Errors
/// No run on one device matches.
pub fn compare(
    machine: &Machine,
    record: &Record,
    measured: &[(String, Record)],
) -> Result<Vec<Compared>, ScalingError> {
    let mut all = record.clone();
    for (_, m) in measured {
        all.runs
            .extend(m.runs.iter().filter(|r| r.on() == 1).cloned());
    }
    let mut out = Vec::new();
    for (file, m) in measured {
        for run in &m.runs {
            let problem = problem_of(&m.application, run);
            let costs = Costs::new(&all, problem)?;
            let at = Nodes::of_devices(machine, run.on());
            let (share, traffic) = costs.share(run.on(), at.group(machine));
            let s = scaled(machine, at, &share, &traffic);
            out.push(Compared {
                file: file.clone(),
                devices: run.on(),
                measured_s: run.time_s,
                predicted_s: s.time_s,
                measured_j: run.energy_j,
                predicted_j: s.energy_j,
            });
        }
    }
    Ok(out)
}

/// Mean relative error of the times of runs on several devices; `None` without any.
pub fn mean_error(all: &[Compared]) -> Option<f64> {
    let errors: Vec<f64> = (all.iter().filter(|c| c.devices > 1))
        .map(|c| c.error().abs())
        .collect();
    (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
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

fn problem_of(application: &str, r: &RecordedRun) -> Problem {
    let image = application == "gisaxs";
    Problem {
        weak: false,
        size: if application == "hydro" {
            r.zones as f64
        } else {
            r.points.max(r.trials)
        },
        steps: r.steps,
        order: r.order,
        dim: r.dim,
        iterations: r.iterations.map(|n| n / r.solves.max(1.0)),
        triangles: r.triangles,
        rows: if image { r.points.sqrt().round() } else { 1.0 },
        method: r.method.clone(),
        precision: r.precision.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_model::shipped;

    fn problem(size: f64, weak: bool) -> Problem {
        Problem {
            weak,
            size,
            steps: 10.0,
            order: 2,
            dim: 3,
            iterations: None,
            triangles: 91_680.0,
            rows: 2000.0,
            method: "direct".into(),
            precision: "f32".into(),
        }
    }

    fn predicted(application: &str, p: Problem, nodes: &[usize]) -> Vec<Row> {
        let machine = shipped::find("h200").unwrap().unwrap();
        let costs = Costs::new(&Record::shipped(application, "h200").unwrap(), p).unwrap();
        let at: Vec<Nodes> = nodes
            .iter()
            .map(|n| Nodes::of_devices(&machine, *n))
            .collect();
        rows(&machine, &costs, &at)
    }

    #[test]
    fn one_device_costs_what_was_recorded() {
        let one = predicted("hydro", problem(1e6, false), &[1]);
        // 11 steps of a million zones took 3.04 s.
        assert!(
            (one[0].scaled.time_s / (3.044 * 10.0 / 11.0) - 1.0).abs() < 0.05,
            "{one:?}"
        );
        assert_eq!(one[0].efficiency, 1.0);
        let direct = predicted("gisaxs", problem(8e6, false), &[1]);
        assert!(
            (direct[0].scaled.time_s / 0.477 - 1.0).abs() < 0.05,
            "{direct:?}"
        );
    }

    #[test]
    fn efficiency_falls_with_nodes_and_less_in_weak_scaling() {
        for application in ["hydro", "gisaxs", "fmm"] {
            let strong = predicted(application, problem(2_097_152.0, false), &[1, 8, 64, 512]);
            assert!(
                strong.windows(2).all(|w| w[1].efficiency < w[0].efficiency),
                "{application} {strong:?}"
            );
            assert!(
                strong
                    .windows(2)
                    .all(|w| w[1].scaled.energy_j >= w[0].scaled.energy_j),
                "{application} {strong:?}"
            );
        }
        let weak = predicted("hydro", problem(262_144.0, true), &[1, 8, 64, 4096]);
        let strong = predicted("hydro", problem(262_144.0, false), &[1, 8, 64, 4096]);
        assert!(weak[3].efficiency > 2.0 * strong[3].efficiency);
        assert!(
            weak[3].efficiency > 0.5 && weak[3].efficiency < 1.0,
            "{weak:?}"
        );
    }

    #[test]
    fn a_host_converts_charges_for_all_its_gpus() {
        let run = |gpus: usize| {
            let text = format!(
                "{{\"kernel\":\"laplace\",\"sources\":4e7,\"accuracy\":1e-4,\"precision\":\"f32\",\"device\":\"NVIDIA H100\",\
                 \"ranks\":{gpus},\"evaluation_s\":0.112,\"phases\":{{\"p2m_m2m_s\":0.007}},\
                 \"timings\":{{\"permutation_s\":0.018,\"transfers_s\":0.007}}}}"
            );
            (gpus.to_string(), Record::parse("x", &text).unwrap())
        };
        let files = [run(1), run(2)];
        let predicted = |host: &str| {
            let link =
                "[link]\nlatency_s = { value = 3e-6 }\nbandwidth_bytes_per_s = { value = 4e11 }\n";
            let machine =
                Machine::from_toml(&format!("name='m'\ntitle='M'\n{link}{host}")).unwrap();
            let empty = Record {
                runs: Vec::new(),
                ..files[0].1.clone()
            };
            let all = compare(&machine, &empty, &files).unwrap();
            assert!((all[0].predicted_s - 0.112).abs() < 1e-9, "{all:?}");
            all[1].predicted_s
        };
        // 24 B of a charge and 20 B of a result are moved to convert them; both GPUs need all charges. 4 B are copied each.
        let compute = 0.007 + 0.080 / 2.0;
        let converted = 0.018 * (2.0 * 24.0 + 20.0) / 44.0;
        let copied = 0.007 * 0.75;
        let gathered = 4e7 * 28.0 / 2e11;
        let t = predicted("[host]\nmemory_bytes_per_s = { value = 2e11 }\n");
        let expected = compute + converted + copied + gathered;
        assert!((t / expected - 1.0).abs() < 1e-3, "{t} {expected}");
        // Without a bandwidth, the conversion's rate counts: 44 B of each point in 18 ms.
        let gathered = 0.018 * 28.0 / 44.0;
        let expected = compute + converted + copied + gathered;
        assert!((predicted("") / expected - 1.0).abs() < 1e-3);
    }

    #[test]
    fn runs_are_predicted_from_those_on_one_device() {
        let run = |ranks: usize, wall_s: f64| {
            let text = format!(
                "{{\"zones\":4096,\"unknowns\":140579,\"steps\":6,\"wall_s\":{wall_s},\"ranks\":{ranks},\
                 \"timings\":{{\"iterations\":900,\"solves\":24,\"evaluations\":25}}}}"
            );
            (format!("{ranks}.json"), Record::parse("x", &text).unwrap())
        };
        let files = [run(1, 2.0), run(2, 1.1)];
        let machine = Machine::from_toml(
            "name = 'm'\ntitle = 'M'\n[link]\nlatency_s = { value = 1e-6 }\nbandwidth_bytes_per_s = { value = 1e10 }\n",
        )
        .unwrap();
        let empty = Record {
            runs: Vec::new(),
            ..files[0].1.clone()
        };
        let all = compare(&machine, &empty, &files).unwrap();
        assert!((all[0].predicted_s - 2.0).abs() < 1e-9);
        assert!(
            all[1].predicted_s > 1.0 && all[1].predicted_s < 1.1,
            "{all:?}"
        );
        let mean = mean_error(&all).unwrap();
        assert!((mean - all[1].error().abs()).abs() < 1e-12);
        assert!(compare(&machine, &empty, &files[1..]).is_err());
    }
}
