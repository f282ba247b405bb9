//! Numbers of rows as bars: parts of a row on top of each other, or beside each other.

use super::rows::Source;
use crate::{PaperError, Records};
use greenup_report::bar_rows::{self, RowBar};
use greenup_report::chart::{Chart, Series, Sign, Unit};
use serde::Deserialize;
use serde_json::Value;

/// The figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bars {
    /// Title.
    title: String,
    /// The rows, the first on top.
    from: Source,
    /// Pointers to the parts of the name of a row.
    name: Vec<String>,
    /// The numbers, a colour each.
    parts: Vec<Part>,
    /// Title of the axis.
    label: String,
    /// Unit with SI prefixes; `%` for shares of one.
    #[serde(default)]
    unit: String,
    /// Whether the parts of a row add up.
    #[serde(default)]
    stacked: bool,
    /// What the figure shows beyond its axes.
    #[serde(default)]
    pub(super) caption: String,
}

/// A number of a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    /// Its name in the legend.
    name: String,
    /// Pointer to it.
    at: String,
    /// Pointers to the ends of its interval.
    interval: Option<(String, String)>,
}

impl Bars {
    fn named(&self, row: &Value) -> String {
        let words: Vec<String> = (self.name.iter())
            .filter_map(|p| match row.pointer(p)? {
                Value::String(s) => Some(s.clone()),
                other => Some(other.to_string()),
            })
            .collect();
        words.join(", ")
    }

    pub(super) fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let rows = self.from.read(records)?;
        let unit = match self.unit.as_str() {
            "" => Unit::None,
            "%" => Unit::Percent,
            u => Unit::si(u),
        };
        let number = |row: &Value, at: &String| row.pointer(at).and_then(Value::as_f64);
        let ends = |row: &Value, p: &Part| {
            let (a, b) = p.interval.as_ref()?;
            Some((number(row, a)?, number(row, b)?)).filter(|(lo, hi)| lo < hi)
        };
        let rows: Vec<_> = (rows.iter())
            .map(|row| {
                let name = self.named(row);
                let bar = |part: &Part| {
                    let value = number(row, &part.at)?;
                    let tip = format!("{name}, {}: {}", part.name, unit.show(value));
                    let interval = ends(row, part);
                    Some(RowBar {
                        value,
                        interval,
                        tip,
                    })
                };
                let bars = self.parts.iter().map(bar).collect();
                (name.clone(), bars)
            })
            .collect();
        let placed = if self.stacked {
            bar_rows::Bars::Stacked
        } else {
            bar_rows::Bars::Beside
        };
        Ok(Chart {
            title: self.title.clone(),
            series: Series::all(self.parts.iter().map(|p| &p.name), Sign::Area),
            panels: vec![bar_rows::panel("", &self.label, unit, placed, &rows)],
            ..Chart::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_report::chart::What;

    #[test]
    fn parts_stand_on_top_of_or_beside_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let text = r#"[{"n":"a","k":2,"p":0.25,"q":0.5},{"n":"b","k":3,"p":0.5,"q":0.25}]"#;
        std::fs::write(dir.path().join("r.json"), text).unwrap();
        let records = Records::new(dir.path());
        for stacked in [true, false] {
            let figure: Bars = toml::from_str(&format!(
                "title = \"t\"\nfrom = {{ records = [\"r.json\"], rows = \"\" }}\nname = [\"/n\", \"/k\"]\n\
                 label = \"share\"\nunit = \"%\"\nstacked = {stacked}\n\
                 parts = [ {{ name = \"P\", at = \"/p\" }}, {{ name = \"Q\", at = \"/q\" }} ]"
            ))
            .unwrap();
            let chart = figure.chart(&records).unwrap();
            let What::Bars { bars, .. } = &chart.panels[0].layers[1].what else {
                panic!()
            };
            // The last row is at the bottom.
            assert_eq!(bars[0].from, if stacked { 0.5 } else { 0.0 });
            assert_eq!(bars[1].to - bars[1].from, 0.5);
            assert!(chart.faults(500.0).is_empty(), "{:?}", chart.faults(500.0));
        }
    }
}
