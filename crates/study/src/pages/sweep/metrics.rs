//! Fig. 9 of Anzt et al. (2015): metrics against performance and efficiency, and the plane split by each.

use greenup_report::chart::Chart;
use greenup_report::si::{si, three};
use greenup_report::sweep_figure::{Dot, Scatter};
use greenup_tune::Sweep;
use greenup_tune::analyze::Analysis;

use super::plane::{tip, tip_names};
use serde::Deserialize;

/// A metric as it is drawn: a recorded one, divided by another or by the time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Name for people.
    pub name: String,
    /// Name in the sweep.
    pub metric: String,
    /// Divided by this metric, or by `time`.
    pub per: Option<String>,
    /// Multiplied with it.
    #[serde(default = "one")]
    pub scale: f64,
    /// Unit; empty for a number.
    #[serde(default)]
    pub unit: String,
}

fn one() -> f64 {
    1.0
}

impl Metric {
    fn values(&self, a: &Analysis, sweep: &Sweep) -> Vec<Option<f64>> {
        let value = |r: &greenup_tune::analyze::MeasuredConfig| {
            let metrics = &sweep.trials[r.trial].metrics;
            let v = self.scale * metrics.get(&self.metric).copied()?;
            Some(match self.per.as_deref() {
                None => v,
                Some("time") => v / r.time_s,
                Some(other) => v / metrics.get(other).copied()?,
            })
        };
        a.rows.iter().map(value).collect()
    }
}

/// A row of three panels for each metric: performance and efficiency against it, and the plane of both; colours say
/// whether the metric is above its mean. `None` without energies or values.
pub fn rows(a: &Analysis, sweep: &Sweep, metrics: &[Metric]) -> Option<Chart> {
    let mut all: Option<Chart> = None;
    let per_j = format!("{}/J", a.unit.trim_end_matches("/s"));
    for m in metrics {
        let values = m.values(a, sweep);
        let known: Vec<f64> = values.iter().flatten().copied().collect();
        if known.is_empty() {
            return None;
        }
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let panel = |axes: [(&str, &str); 2], at: &dyn Fn(usize, f64) -> Option<(f64, f64)>| {
            let dots = (values.iter().enumerate())
                .filter_map(|(i, v)| {
                    let v = (*v)?;
                    let (x, y) = at(i, v)?;
                    Some(Dot {
                        x,
                        y,
                        tip: tip(sweep, &a.rows[i]),
                        colour: usize::from(v <= mean),
                    })
                })
                .collect();
            let [(x_label, x_unit), (y_label, y_unit)] = axes.map(|(l, u)| (l.into(), u.into()));
            Scatter {
                x_label,
                x_unit,
                y_label,
                y_unit,
                dots,
                tip_names: tip_names(sweep),
                legend: vec!["above the mean".into(), "at or below the mean".into()],
                ..Scatter::default()
            }
            .chart()
        };
        let speed = |i: usize| a.rows[i].performance;
        let green = |i: usize| a.rows[i].efficiency;
        let (p, e, q) = (
            ("performance", a.unit),
            ("efficiency", per_j.as_str()),
            (m.name.as_str(), m.unit.as_str()),
        );
        let mut row = [
            panel([q, p], &|i, v| Some((v, speed(i)))),
            panel([q, e], &|i, v| Some((v, green(i)?))),
            panel([p, e], &|i, _| Some((speed(i), green(i)?))),
        ];
        let mean = match m.unit.as_str() {
            "" => three(mean),
            unit => si(mean, unit),
        };
        row[2].panels[0].title = format!("{}: mean {mean}", m.name);
        for chart in row {
            match &mut all {
                Some(all) => all.panels.extend(chart.panels),
                None => all = Some(chart),
            }
        }
    }
    let mut all = all?;
    all.title = format!("{}: metrics, performance and efficiency", a.name);
    all.least_width = 270.0;
    Some(all)
}
