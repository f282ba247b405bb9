//! What winners of other devices lose, by recorded sweeps.

use greenup_space::Value;
use greenup_tune::sweep::wisdom::{device, entry};
use greenup_tune::{Objective, Sweep};
use greenup_wisdom::lookup::{Nearness, nearer};
use greenup_wisdom::{Device, Distance, Entry, Map};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A sweep with its device and winner.
pub struct Recorded {
    sweep: Sweep,
    device: Device,
    winner: Entry,
}

impl Recorded {
    /// A sweep, with the facts of its device among those `described`, where it does not have them itself.
    pub fn new(path: &Path, sweep: Sweep, described: &[Device]) -> Result<Self, String> {
        let from = path.display().to_string();
        let winner = entry(&sweep, Objective::Time, &from).map_err(|e| format!("{from}: {e}"))?;
        let mut device = device(&sweep.facts);
        // A file may name its device only in its own name.
        let stem = path
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let named = |d: &&Device| device.name == d.name || stem.contains(&d.name);
        if device.facts.is_empty()
            && let Some(d) = described.iter().find(named)
        {
            device = d.clone();
        }
        Ok(Self {
            sweep,
            device,
            winner,
        })
    }

    fn same_space(&self, other: &Self) -> bool {
        let (a, b) = (&self.winner, &other.winner);
        let mut p = self.sweep.facts.parameters.clone();
        let mut q = other.sweep.facts.parameters.clone();
        p.sort();
        q.sort();
        p == q && a.precision == b.precision && same_sizes(a, b)
    }

    /// Time of a config; `None` if it was not measured or failed here.
    fn time(&self, config: &BTreeMap<String, Value>) -> Option<f64> {
        let names = &self.sweep.facts.parameters;
        let wanted: Vec<&Value> = names.iter().map(|n| config.get(n)).collect::<Option<_>>()?;
        let trial = (self.sweep.trials.iter())
            .position(|t| t.effort >= 1.0 && t.config.iter().eq(wanted.iter().copied()))?;
        Some(self.sweep.best_known_cost(trial)?.0.time_s)
    }
}

/// Whether the constants that both recorded are equal, but for those that come from the device.
fn same_sizes(a: &Entry, b: &Entry) -> bool {
    let of_device = [
        "cores",
        "vector_bytes",
        "lanes",
        "registers",
        "l2",
        "processors",
    ];
    let own = |n: &str| !of_device.contains(&n) && !n.starts_with("max_") && n != "every_block";
    let mut all = a.constants.iter().filter(|(n, _)| own(n));
    all.all(|(n, v)| b.constants.get(n).is_none_or(|x| x == v))
}

/// What other configs cost on a device, as multiples of the time of its own winner.
#[derive(Clone, Debug, Serialize)]
pub struct TransferCosts {
    /// Name of the problem.
    pub problem: String,
    /// The device that is left out.
    pub device: String,
    /// Configs measured on it.
    pub configs: usize,
    /// Time of its own winner, s.
    pub own_s: f64,
    /// The nearest other device whose winner runs here.
    pub nearest: String,
    /// Its distance.
    pub octaves: f64,
    /// How the distance was found.
    pub basis: &'static str,
    /// Time of that device's winner here.
    pub nearest_ratio: f64,
    /// Winners of nearer devices that failed or were not measured here.
    pub passed_over: usize,
    /// Time of the winner of the farthest device, if it is another.
    pub farthest_ratio: Option<f64>,
    /// Time of the default config.
    pub default_ratio: Option<f64>,
    /// Median time of all configs.
    pub median_ratio: f64,
}

/// Median of sorted values.
pub fn median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    match n % 2 {
        1 => sorted[n / 2],
        _ => 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]),
    }
}

/// A row for each sweep that has others of its space on other devices.
pub fn rows(all: &[Recorded], map: &Map, default: &BTreeMap<String, Value>) -> Vec<TransferCosts> {
    let row = |here: &Recorded| {
        let precision = &here.winner.precision;
        let mut others: Vec<(&Recorded, Distance)> = (all.iter())
            .filter(|o| o.same_space(here) && !o.device.same(&here.device))
            .filter_map(|o| Some((o, map.distance(&here.device, &o.device, precision)?)))
            .collect();
        // The order of the look-up.
        let far = |o: &Recorded, d: Distance| (Nearness::of(&here.device, &o.device, d), d);
        others.sort_by(|(o, a), (p, b)| nearer(far(o, *a), far(p, *b)));
        let runs: Vec<(usize, &Recorded, Distance, f64)> = (others.iter().enumerate())
            .filter_map(|(i, (o, d))| Some((i, *o, *d, here.time(&o.winner.config)?)))
            .collect();
        let (passed_over, nearest, distance, time_s) = runs.first().copied()?;
        let own_s = here.winner.time_s;
        let mut times: Vec<f64> = here.sweep.measured().map(|(_, c)| c.time_s).collect();
        times.sort_by(f64::total_cmp);
        Some(TransferCosts {
            problem: here.winner.problem.clone(),
            device: here.device.title(),
            configs: times.len(),
            own_s,
            nearest: nearest.device.title(),
            octaves: distance.octaves(),
            basis: distance.basis(),
            nearest_ratio: time_s / own_s,
            passed_over,
            farthest_ratio: (runs.len() > 1).then(|| runs[runs.len() - 1].3 / own_s),
            default_ratio: here.time(default).map(|t| t / own_s),
            median_ratio: median(&times) / own_s,
        })
    };
    all.iter().filter_map(row).collect()
}
