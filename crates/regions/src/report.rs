//! The summary of what was collected.

use crate::clock::{now, seconds};
use crate::names::PathId;
use crate::process::{Collector, Core};
use crate::sensing::Source;
use crate::spin::lock_soon;
use crate::summary::{Accumulated, FORMAT, Region, SensorSummary, Summary};
use std::collections::{BTreeMap, BTreeSet};

impl Collector {
    /// All regions so far.
    pub fn summary(&self, core: &Core, is_final: bool) -> Summary {
        let to = now();
        let sensors = self.sources.iter().map(|s| self.sensor(s, to)).collect();
        let mut regions: Vec<(Vec<PathId>, Region)> = Vec::new();
        for (i, total) in self.totals.iter().enumerate().skip(1) {
            if total.threads == 0 {
                continue;
            }
            let (order, path) = {
                let Some(paths) = lock_soon(&core.paths) else {
                    break;
                };
                (paths.ids(i as PathId), paths.names(i as PathId))
            };
            regions.push((order, self.region(i as PathId, path)));
        }
        // A region comes before those within it, and otherwise in the order of first begins.
        regions.sort_by(|a, b| a.0.cmp(&b.0));
        Summary {
            greenup_regions: FORMAT,
            process: self.process.clone(),
            is_final,
            wall_s: seconds(self.start, to),
            sensors,
            problems: self.problems.clone(),
            notes: (core.notes().into_iter())
                .chain(self.sources.iter().flat_map(Source::notes))
                .collect(),
            regions: regions.into_iter().map(|r| r.1).collect(),
        }
    }

    fn sensor(&self, source: &Source, to: u64) -> SensorSummary {
        let curve = &source.curve;
        let to = curve.known_until().map_or(to, |k| k.min(to));
        let joules = curve.between(self.start, to);
        let cause = source
            .failed
            .clone()
            .or_else(|| match (curve.known_until(), curve.ticks()) {
                (Some(_), _) => None,
                (None, 0) => Some("its value did not change during the run".into()),
                (None, _) => Some("the run was shorter than two of its ticks".into()),
            });
        SensorSummary {
            id: source.info().id.clone(),
            scope: source.info().scope.clone(),
            tick_s: curve.tick().map(|t| t as f64 * 1e-9),
            ticks: curve.ticks(),
            joules,
            cause,
        }
    }

    fn region(&self, id: PathId, path: Vec<String>) -> Region {
        let total = &self.totals[id as usize];
        let c = total.counted;
        let mut joules = BTreeMap::new();
        let mut exclusive = BTreeMap::new();
        let mut watts = BTreeMap::new();
        let mut covered = BTreeMap::new();
        let mut accumulated = BTreeMap::new();
        for (i, source) in self.sources.iter().enumerate() {
            let Some(e) = self.attribution.of(i, id) else {
                continue;
            };
            let name = source.info().id.clone();
            joules.insert(name.clone(), e.joules);
            exclusive.insert(name.clone(), e.exclusive_joules);
            watts.insert(name.clone(), e.joules / e.active_s);
            let all = self.attribution.active_s(id);
            if e.active_s < 0.99 * all {
                covered.insert(name.clone(), e.active_s / all);
            }
            let tick = source.curve.tick().unwrap_or(0);
            if c.calls > 0 && c.inclusive / c.calls < tick {
                let made_of = Accumulated {
                    calls: c.calls,
                    ticks: e.ticks,
                };
                accumulated.insert(name, made_of);
            }
        }
        let known = !joules.is_empty();
        let s = |ns: u64| ns as f64 * 1e-9;
        Region {
            path,
            calls: c.calls,
            threads: total.threads,
            inclusive_s: s(c.inclusive),
            exclusive_s: s(c.exclusive),
            min_s: (c.calls > 0).then(|| s(c.shortest)),
            max_s: (c.calls > 0).then(|| s(c.longest)),
            joules: known.then_some(joules),
            exclusive_joules: known.then_some(exclusive),
            watts: known.then_some(watts),
            covered: (!covered.is_empty()).then_some(covered),
            accumulated: (!accumulated.is_empty()).then_some(accumulated),
        }
    }
}

impl Summary {
    /// Sensors that gave energy, of the run or of a region.
    pub(crate) fn with_energy(&self) -> impl Iterator<Item = &SensorSummary> {
        let regions = self.regions.iter().flat_map(|r| &r.joules);
        let of_regions: BTreeSet<&String> = regions.flat_map(BTreeMap::keys).collect();
        (self.sensors.iter()).filter(move |s| s.joules.is_some() || of_regions.contains(&s.id))
    }

    /// Their ids.
    pub fn energy_sensors(&self) -> Vec<String> {
        self.with_energy().map(|s| s.id.clone()).collect()
    }

    /// Why there is no energy at all; `None` if there is.
    pub fn why_no_energy(&self) -> Option<String> {
        if self.with_energy().next().is_some() {
            return None;
        }
        let of_sensors = self
            .sensors
            .iter()
            .filter_map(|s| Some(format!("{}: {}", s.id, s.cause.as_ref()?)));
        // What a host does not have at all is named only.
        let unusable = self.problems.iter().filter(|p| p.present);
        let unusable = unusable.map(|p| format!("{}: {}", p.id, p.cause));
        let mut causes: Vec<String> = of_sensors.chain(unusable).collect();
        let missing = self.problems.iter().filter(|p| !p.present);
        let missing: Vec<&str> = missing.map(|p| p.id.as_str()).collect();
        if let [only] = missing.as_slice() {
            let cause = self.problems.iter().find(|p| p.id == **only);
            causes.extend(cause.map(|p| format!("{}: {}", p.id, p.cause)));
        } else if !missing.is_empty() {
            causes.push(format!("this host has no {}", missing.join(", ")));
        }
        Some(format!(
            "seconds only, no energy: {}; `greenup doctor` shows causes and fixes",
            causes.join("; ")
        ))
    }
}
