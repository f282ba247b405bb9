//! Selected configs of a sweep measured again at other problem sizes (Anzt et al. 2015, Fig. 4).

use crate::error::TuneError;
use crate::objective::Objective;
use crate::plan::Plan;
use crate::points::{Indexed, Points as _};
use crate::problem::Problem;
use crate::sweep::{Sweep, Trial};
use crate::trial::bench::{Bench, record_baseline};
use crate::trial::finals::within_trial;
use greenup_files::{FolderLock, Scratch};
use greenup_meter::Observer;
use greenup_meter::stats::median;
use greenup_space::{Index, Limits, Value};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// One size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SizePoint {
    /// Value of the constant that varies.
    pub size: f64,
    /// A trial for each config; none where the filters of this size reject it.
    pub trials: Vec<Option<Trial>>,
}

/// Configs over size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scaling {
    /// What is varied.
    pub over: String,
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Why each was selected, and its values.
    pub configs: Vec<(String, Vec<Value>)>,
    /// Results by size, in the order of measurement.
    pub sizes: Vec<SizePoint>,
}

impl Scaling {
    /// Name of the file in a sweep's folder.
    pub const FILE: &'static str = "scaling.json";
    /// The same while not all sizes are measured, without its ending.
    pub const UNFINISHED: &'static str = "scaling-unfinished";

    /// Performance and efficiency of a config at a size, in flops where the work is known, else in
    /// runs: a second with its interval, and a joule.
    pub fn rates(&self, at: &SizePoint, config: usize) -> Option<Rates> {
        let t = at.trials.get(config)?.as_ref()?;
        let cost = t.cost()?;
        let work = t.flops().unwrap_or(1.0);
        Some(Rates {
            per_second: work / cost.time_s,
            relative_error: within_trial(t),
            per_joule: cost.energy_j.map(|e| work / e),
        })
    }

    /// The same of the problem's baseline, by the median of its times next to the trials; without an interval.
    pub fn baseline(&self, at: &SizePoint) -> Option<Rates> {
        let trials = || at.trials.iter().flatten();
        let work = trials().find_map(Trial::flops).unwrap_or(1.0);
        let of = |name: &str| -> Vec<f64> {
            trials()
                .filter_map(|t| t.metrics.get(name).copied())
                .collect()
        };
        let (times, energies) = (of("baseline_s"), of("baseline_j"));
        (!times.is_empty()).then(|| Rates {
            per_second: work / median(&times),
            relative_error: 0.0,
            per_joule: (!energies.is_empty()).then(|| work / median(&energies)),
        })
    }
}

/// What a config reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Flops per second where the work is known, else runs per second.
    pub per_second: f64,
    /// Half-width of its 95 % interval over the rate.
    pub relative_error: f64,
    /// Flops per joule, else runs per joule; `None` if no energy was measured.
    pub per_joule: Option<f64>,
}

/// The fastest, the lowest-energy where energy was measured, and others evenly down the order of speed.
pub fn select(sweep: &Sweep, n: usize) -> Vec<(String, Vec<Value>)> {
    let order: Vec<&Trial> = (sweep.ranked(Objective::Time).into_iter())
        .map(|i| &sweep.trials[i])
        .collect();
    let mut out: Vec<(String, Vec<Value>)> = Vec::new();
    let mut add = |label: String, t: &Trial| match out.iter_mut().find(|(_, c)| *c == t.config) {
        Some((l, _)) if !l.contains(&label) => {
            let _ = write!(l, ", {label}");
        }
        Some(_) => {}
        None => out.push((label, t.config.clone())),
    };
    if let Some(t) = order.first() {
        add("fastest".into(), t);
    }
    if let Some(i) = sweep.winner(Objective::Energy) {
        add("lowest-energy".into(), &sweep.trials[i]);
    }
    let more = n.saturating_sub(1);
    for i in 1..=more {
        let at = i * order.len().saturating_sub(1) / more.max(1);
        if let Some(t) = order.get(at) {
            add(format!("number {} of {}", at + 1, order.len()), t);
        }
    }
    out
}

/// Builds, verifies and measures the configs at every size; `keep` is given what there is after each. Also says
/// whether it came to its end or the user stopped it.
///
/// # Errors
/// The folder, a reference, or those of `keep`; a config that fails is a failed trial.
pub fn scaling(
    over: &str,
    problems: &[(f64, Problem)],
    configs: Vec<(String, Vec<Value>)>,
    plan: &Plan,
    observer: &dyn Observer,
    keep: &mut dyn FnMut(&Scaling) -> Result<(), TuneError>,
) -> Result<(Scaling, bool), TuneError> {
    observer.stage("scaling", problems.len() * configs.len());
    let _lock = FolderLock::acquire(&plan.out)?;
    Scratch::remove_stale(&plan.out);
    let scratch = Scratch::create(&plan.out)?;
    let mut out = Scaling {
        over: over.to_owned(),
        parameters: problems
            .first()
            .map(|(_, p)| p.space.names().map(str::to_owned).collect())
            .unwrap_or_default(),
        configs,
        sizes: Vec::new(),
    };
    let mut complete = true;
    'sizes: for (size, problem) in problems {
        let limits = Limits {
            cancelled: &|| observer.cancelled(),
            ..Limits::default()
        };
        let index = Index::build(&problem.space, &limits).map_err(|cause| TuneError::Size {
            over: over.to_owned(),
            size: size.to_string(),
            cause,
        })?;
        let points = Indexed::new(&index);
        let mut bench = Bench::new(problem, plan, observer, scratch.path().to_owned())?;
        // Kernels have it around each trial.
        let baseline = bench.first_baseline()?;
        let mut trials = Vec::new();
        for (_, config) in &out.configs {
            let trial = match index.position(config) {
                None => None,
                Some(point) => {
                    let config = points.config(point);
                    let made = bench.builder.made(&config);
                    let Some(mut t) = bench.trial(config, 1.0, &made)? else {
                        complete = false;
                        break 'sizes;
                    };
                    if let Some(b) = baseline.as_ref().filter(|_| t.cost().is_some()) {
                        record_baseline(&[b.time_s], b.energy_j, &mut t);
                    }
                    Some(t)
                }
            };
            observer.step(&format!("{over} = {size}"));
            trials.push(trial);
        }
        out.sizes.push(SizePoint {
            size: *size,
            trials,
        });
        keep(&out)?;
    }
    Ok((out, complete))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_has_the_median_of_its_times_and_the_work_of_the_configs() {
        let trial = |baseline: &str| -> Option<Trial> {
            let text = format!(
                r#"{{"config":[1],"measured":{{"times_s":[0.5],"time_s":0.5}},"metrics":{{"gflops":4.0{baseline}}}}}"#
            );
            Some(serde_json::from_str(&text).unwrap())
        };
        let scaling = Scaling {
            over: "n".into(),
            parameters: vec!["tile".into()],
            configs: Vec::new(),
            sizes: Vec::new(),
        };
        let mut at = SizePoint {
            size: 8.0,
            trials: vec![
                trial(r#","baseline_s":0.25,"baseline_j":8.0"#),
                None,
                trial(r#","baseline_s":1.0"#),
                trial(r#","baseline_s":0.4"#),
            ],
        };
        let rates = scaling.baseline(&at).unwrap();
        assert!((rates.per_second - 5e9).abs() < 1.0 && rates.per_joule == Some(2.5e8));
        at.trials = vec![trial("")];
        assert_eq!(scaling.baseline(&at), None);
    }
}
