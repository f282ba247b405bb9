//! Scaling studies of papers: values that their texts state, and the model beside them.

use crate::{Costs, Problem, Record, RecordedRun, ScalingError};
use greenup_model::Machine;
use greenup_model::machine::Label;
use greenup_model::network::{Nodes, scaled};
use serde::{Deserialize, Serialize};

/// A value of a paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Number of nodes.
    pub nodes: usize,
    /// Time, s; computed from the stated rate where that is what the paper states.
    pub time_s: f64,
    /// What the paper states.
    pub stated: String,
}

/// A scaling study of a paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// Name.
    pub name: String,
    /// hydro or gisaxs.
    pub application: String,
    /// Figure of the paper.
    pub figure: String,
    /// Shipped machine of a node.
    pub machine: String,
    /// Whether each node has the same work.
    pub weak: bool,
    /// The paper.
    pub source: String,
    /// The problem, and what is assumed.
    pub about: String,
    /// Why the model differs, as far as the paper tells.
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    triangles: f64,
    #[serde(default)]
    columns: f64,
    #[serde(default)]
    rows: f64,
    #[serde(default)]
    zones: f64,
    #[serde(default)]
    steps: f64,
    #[serde(default)]
    order: usize,
    #[serde(default)]
    dim: usize,
    /// Times of a node.
    runs: Vec<RecordedRun>,
    /// Values of the paper.
    pub points: Vec<Point>,
}

/// A study with the model beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Beside {
    /// The study.
    #[serde(flatten)]
    pub study: Study,
    /// Time of the model at each point, s.
    pub predicted_s: Vec<f64>,
    /// Nodes to which efficiencies are relative: those of the first time in weak scaling, else 1, whose time follows from the
    /// rate that the paper prints for a node.
    pub base_nodes: usize,
    /// Parallel efficiency of the paper at each point.
    pub efficiency: Vec<f64>,
    /// Parallel efficiency of the model at each point.
    pub predicted_efficiency: Vec<f64>,
    /// Nodes and times of the model, s, at powers of two.
    pub model: Vec<(usize, f64)>,
}

/// All published studies.
///
/// # Errors
/// The shipped file is broken.
pub fn all() -> Result<Vec<Study>, ScalingError> {
    let text = include_str!("../../../machines/applications/published.json");
    serde_json::from_str(text).map_err(|e| ScalingError::Unreadable {
        name: "published.json".into(),
        cause: e.to_string(),
    })
}

/// Figures of the papers that cannot be compared, with the reason.
pub fn not_stated(application: &str) -> &'static [&'static str] {
    match application {
        "hydro" => &[
            "BLAST, Fig 13 (strong scaling, 32³ zones, 30 nodes of Shannon): not compared, as the text states no time and no rate, only that \
             scaling is linear.",
        ],
        "gisaxs" => &[
            "HipGISAXS, Fig 8 (four systems on the same number of nodes): not compared, as the text states rates of one node alone, 142, 380, \
             484 and 2,172 Gflop/s on Hopper, Edison, Stampede and Titan, and of several nodes only that Hopper and Edison scale better.",
        ],
        _ => &[],
    }
}

impl Study {
    fn costs(&self, runs: Vec<RecordedRun>) -> Result<Costs, ScalingError> {
        let problem = Problem {
            weak: self.weak,
            size: self.zones.max(self.columns * self.rows),
            steps: self.steps,
            order: self.order,
            dim: self.dim,
            iterations: None,
            triangles: self.triangles,
            rows: self.rows,
            method: "direct".into(),
            precision: String::new(),
        };
        let record = Record {
            application: self.application.clone(),
            device: self.machine.clone(),
            label: Label::Published,
            about: self.about.clone(),
            sources: vec![self.source.clone()],
            commands: Vec::new(),
            runs,
        };
        Costs::new(&record, problem)
    }

    /// The model of the study on its machine. Where a study has no time of one node, that of its first point counts, less
    /// the predicted messages.
    ///
    /// # Errors
    /// The study has no run of its kind.
    pub fn beside(self, machine: &Machine) -> Result<Beside, ScalingError> {
        let time = |costs: &Costs, nodes: usize| {
            let at = Nodes::full(machine, nodes);
            let (share, traffic) = costs.share(at.devices, machine.devices_per_node());
            scaled(machine, at, &share, &traffic)
        };
        let mut runs = self.runs.clone();
        let mut costs = self.costs(runs.clone())?;
        if let Some(first) = self.points.first().filter(|p| self.weak && p.nodes > 1) {
            let s = time(&costs, first.nodes);
            let messages = s.exchange_s + s.all_reduce_s;
            for run in &mut runs {
                run.time_s = (run.time_s - messages).max(0.1 * run.time_s);
            }
            costs = self.costs(runs)?;
        }
        let most = self.points.iter().map(|p| p.nodes).max().unwrap_or(1);
        let from = if self.weak {
            self.points.first().map_or(1, |p| p.nodes)
        } else {
            1
        };
        let mut nodes: Vec<usize> = std::iter::successors(Some(from), |n| Some(2 * n))
            .take_while(|n| *n < most)
            .collect();
        nodes.push(most);
        let model = nodes
            .into_iter()
            .map(|n| (n, time(&costs, n).time_s))
            .collect();
        let predicted_s: Vec<f64> = (self.points.iter())
            .map(|p| time(&costs, p.nodes).time_s)
            .collect();
        // Work of a node over the time: of all nodes together in strong scaling.
        let base = time(&costs, from).time_s;
        let efficiency = |nodes: usize, time_s: f64| {
            if self.weak {
                base / time_s
            } else {
                base * from as f64 / (nodes as f64 * time_s)
            }
        };
        let points = self.points.iter();
        let published = points.clone().map(|p| efficiency(p.nodes, p.time_s));
        let predicted = points.zip(&predicted_s);
        let predicted = predicted.map(|(p, t)| efficiency(p.nodes, *t));
        Ok(Beside {
            base_nodes: from,
            efficiency: published.collect(),
            predicted_efficiency: predicted.collect(),
            study: self,
            predicted_s,
            model,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_model::shipped;

    #[test]
    fn published_times_follow_from_the_stated_rates() {
        for s in all().unwrap() {
            let machine = shipped::find(&s.machine).unwrap().unwrap();
            let name = s.name.clone();
            let b = s.beside(&machine).unwrap();
            for (p, t) in b.study.points.iter().zip(&b.predicted_s) {
                // The model leaves out what slows down real systems.
                assert!(
                    *t > 0.05 * p.time_s && *t < 1.1 * p.time_s,
                    "{name}: {t} {p:?}"
                );
            }
            assert!(b.model.len() > 5);
        }
    }

    #[test]
    fn losses_of_the_papers_are_those_of_their_own_rates() {
        let of = |name: &str| {
            let s = all().unwrap().into_iter().find(|s| s.name == name).unwrap();
            let machine = shipped::find(&s.machine).unwrap().unwrap();
            s.beside(&machine).unwrap()
        };
        // 1.25 Pflop/s over 8,192 nodes of 2,161.5 Gflop/s.
        let titan = of("hipgisaxs-titan-8M");
        let stated = 1.25e15 / (8192.0 * 2161.5e9);
        assert!(
            (titan.efficiency[0] / stated - 1.0).abs() < 0.02,
            "{titan:?}"
        );
        assert!(titan.predicted_efficiency[0] > 0.8 && titan.study.reason.contains("7 %"));
        let stampede = of("hipgisaxs-stampede-2M");
        assert!((stampede.efficiency[0] - 1.0).abs() < 1e-3, "{stampede:?}");
        let stated = 1e14 / (1024.0 * 456.98e9);
        assert!(
            (stampede.efficiency[1] / stated - 1.0).abs() < 0.05,
            "{stampede:?}"
        );
        let blast = of("blast-titan-weak");
        assert_eq!(blast.base_nodes, 8);
        assert!(
            (blast.efficiency[1] - 0.85 / 1.83).abs() < 1e-3,
            "{blast:?}"
        );
    }

    #[test]
    fn figures_without_numbers_are_named() {
        assert!(not_stated("hydro")[0].contains("Fig 13"));
        assert!(not_stated("gisaxs")[0].contains("Fig 8"));
        assert!(not_stated("fmm").is_empty());
    }

    #[test]
    fn weak_scaling_begins_at_the_first_point() {
        let blast = all().unwrap().into_iter().find(|s| s.weak).unwrap();
        let machine = shipped::find("titan").unwrap().unwrap();
        let b = blast.beside(&machine).unwrap();
        assert!((b.predicted_s[0] / 0.85 - 1.0).abs() < 1e-9, "{b:?}");
        assert!(b.predicted_s[1] > b.predicted_s[0]);
    }
}
