//! Power of a GPU over time in scenarios, from a log of board power and one of what ran when.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::chart::{Axis, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit};
use serde::Deserialize;
use serde_json::Value;

/// What the page adds to the figure.
pub(super) const CAPTION: &str = "All panels have the same axes; time begins with the first process, whose set-up on the CPU comes first.";

/// The figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// CSV with the columns `time_s`, `gpu`, `watts`.
    powers: String,
    /// JSON with a list `events` of `name`, `from_s`, `to_s`.
    log: String,
    /// Number of the GPU.
    #[serde(default)]
    gpu: usize,
    /// The scenarios, a panel each.
    scenarios: Vec<Scenario>,
}

/// What ran for a time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    /// What it is.
    title: String,
    /// How the names of its events begin; the whole name with a `$` at its end.
    events: String,
}

/// Times, s, with powers, W, of a GPU.
fn powers(text: &str, gpu: usize) -> Vec<(f64, f64)> {
    (text.lines())
        .filter_map(|line| {
            let mut cells = line.split(',').map(str::trim);
            let (t, of, w) = (cells.next()?, cells.next()?, cells.next()?);
            let point = (t.parse().ok()?, w.parse().ok()?);
            (of.parse::<usize>().ok()? == gpu).then_some(point)
        })
        .collect()
}

impl Power {
    fn span(&self, log: &Value, prefix: &str) -> Option<(f64, f64)> {
        let events = log.get("events")?.as_array()?.iter();
        let of = events.filter(|e| {
            let name = e.get("name").and_then(Value::as_str);
            match prefix.strip_suffix('$') {
                Some(whole) => name == Some(whole),
                None => name.is_some_and(|n| n.starts_with(prefix)),
            }
        });
        of.filter_map(|e| Some((e.get("from_s")?.as_f64()?, e.get("to_s")?.as_f64()?)))
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    pub(super) fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let path = records.path(&self.log)?;
        let log = records.json(&self.log)?;
        let all = powers(&records.text(&self.powers)?, self.gpu);
        let mut traces = Vec::new();
        for s in &self.scenarios {
            let none = || broken(&path, format!("no power while {} ran", s.events));
            let (from, to) = self.span(&log, &s.events).ok_or_else(none)?;
            let own: Vec<(f64, f64)> = (all.iter())
                .filter(|p| (from..=to).contains(&p.0))
                .map(|p| (p.0 - from, p.1))
                .collect();
            if own.len() < 2 {
                return Err(none());
            }
            traces.push((s, own));
        }
        let most = |of: fn(&(f64, f64)) -> f64| {
            traces.iter().flat_map(|t| &t.1).map(of).fold(0.0, f64::max)
        };
        let (end, highest) = (most(|p| p.0), most(|p| p.1));
        let panels = traces.iter().map(|(s, own)| {
            let mut panel = Panel::new(
                &s.title,
                Axis::new("time", Unit::si("s"), Scale::Linear).over(0.0, end),
                Axis::new("power", Unit::si("W"), Scale::Linear).over(0.0, 1.08 * highest),
            );
            panel.height = Height::Ratio(0.6);
            panel.push(Layer::line(0, own.clone(), s.title.clone()));
            panel
        });
        Ok(Chart {
            title: "Board power over time".into(),
            panels: panels.collect(),
            series: vec![Series::new("", Ink::Series(0), Sign::Line)],
            least_width: 260.0,
            ..Chart::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_has_the_power_of_its_time() {
        let dir = tempfile::tempdir().unwrap();
        let csv = "time_s,gpu,watts\n0.0,0,80\n1.0,0,100\n1.0,1,500\n1.5,0,200\n2.5,0,300\n";
        std::fs::write(dir.path().join("p.csv"), csv).unwrap();
        let log = r#"{"events":[{"name":"a_1","from_s":0.9,"to_s":1.2},{"name":"a_2","from_s":1.0,"to_s":2.0},
            {"name":"b","from_s":5.0,"to_s":6.0}]}"#;
        std::fs::write(dir.path().join("l.json"), log).unwrap();
        let records = Records::new(dir.path());
        let figure = |events: &str| -> Power {
            toml::from_str(&format!(
                "powers = \"p.csv\"\nlog = \"l.json\"\nscenarios = [ {{ title = \"t\", events = \"{events}\" }} ]"
            ))
            .unwrap()
        };
        let chart = figure("a").chart(&records).unwrap();
        let greenup_report::chart::What::Line { points, .. } = &chart.panels[0].layers[0].what
        else {
            panic!()
        };
        assert_eq!(points.len(), 2);
        assert!((points[1].0 - 0.6).abs() < 1e-12 && points[1].1 == 200.0);
        let e = figure("b").chart(&records).unwrap_err().to_string();
        assert!(e.contains("no power while b ran"), "{e}");
    }
}
