//! What limits a case on its largest number of devices: the time beyond ideal scaling, by phases and by the model's terms.

use super::measured::{Limits, Series};
use std::collections::BTreeMap;

/// Share of the time below which a difference is only rounding.
const ROUNDING: f64 = 1e-9;

impl Limits {
    /// Of the largest number of devices; `None` of one.
    pub fn of(series: &Series) -> Option<Self> {
        let (last, one) = (series.largest()?, series.alone()?);
        let n = last.devices;
        let each = last.size / n as f64;
        let many = phases(series, n);
        let ideal = phases(series, 1);
        let mut measured: Vec<(String, f64)> = (many.iter())
            .map(|(name, s)| (name.clone(), s - each * ideal.get(name).unwrap_or(&0.0)))
            .collect();
        // A phase that one device alone has is gained.
        measured.extend((ideal.iter()).filter_map(|(name, s)| {
            let gone = !many.is_empty() && !many.contains_key(name);
            gone.then(|| (name.clone(), -each * s))
        }));
        let alone = (series.predicted.iter()).find(|p| p.devices == 1);
        let mut predicted: Vec<(String, f64)> = Vec::new();
        if let (Some(model), Some(alone)) = (&last.predicted, alone) {
            predicted = (model.parts.iter())
                .map(|(name, s)| {
                    let first = alone.parts.iter().find(|p| p.0 == *name);
                    (name.clone(), s - each * first.map_or(0.0, |p| p.1))
                })
                .filter(|(_, s)| s.abs() > ROUNDING * model.time_s)
                .collect();
        }
        for all in [&mut measured, &mut predicted] {
            all.sort_by(|a, b| b.1.total_cmp(&a.1));
        }
        Some(Self {
            devices: n,
            lost_s: last.time_s.median - each * one.time_s.median,
            measured,
            predicted,
        })
    }
}

/// Means of the phases of the runs on so many devices, s.
fn phases(series: &Series, devices: usize) -> BTreeMap<String, f64> {
    let mut all: BTreeMap<String, f64> = BTreeMap::new();
    let runs = series.on(devices).count().max(1) as f64;
    for s in series.on(devices) {
        for (name, t) in &s.phases {
            *all.entry(name.clone()).or_default() += t * series.alike(s) / runs;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::study::case::{Case, CaseRun};
    use crate::study::measured::{Predicted, Series};
    use crate::study::sample::Sample;

    #[test]
    fn the_largest_loss_comes_first() {
        let sample = |devices: usize, time_s: f64, phases: [f64; 2]| Sample {
            devices,
            time_s,
            evaluations: 1.0,
            phases: [("compute", phases[0]), ("gathering", phases[1])]
                .map(|(name, s)| (name.to_owned(), s))
                .into(),
            ..Sample::default()
        };
        let model = |devices: usize, compute: f64, gathering: f64| Predicted {
            devices,
            time_s: compute + gathering,
            speedup: 1.0,
            powerup: None,
            greenup: None,
            parts: vec![
                ("computation".into(), compute),
                ("gathering".into(), gathering),
            ],
        };
        let run = |devices| CaseRun {
            devices,
            size: 1.0,
            arguments: Vec::new(),
        };
        let case = Case {
            runs: vec![run(1), run(2)],
            ..Case::default()
        };
        let models = vec![model(1, 1.0, 0.0), model(2, 0.55, 0.1)];
        let mut series = Series::new(&case, sample(1, 1.0, [1.0, 0.0]), models);
        assert_eq!(series.limits, None);
        series.add(sample(2, 0.8, [0.6, 0.2]));
        let limits = series.limits.unwrap();
        assert!((limits.lost_s - 0.3).abs() < 1e-12);
        let name = |all: &[(String, f64)]| all[0].0.clone();
        assert_eq!(name(&limits.measured), "gathering");
        assert!((limits.measured[1].1 - 0.1).abs() < 1e-12);
        assert_eq!(name(&limits.predicted), "gathering");
        assert!((limits.predicted[1].1 - 0.05).abs() < 1e-12);
    }
}
