//! Rows of JSON records: a table of them, and what bars are drawn from.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::si::{si, three};
use greenup_report::table::{Cell, Columns, Table};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Rows of records.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// JSON records, one after another.
    pub records: Vec<String>,
    /// Pointer to the list of rows in each; a record without one is a row.
    pub rows: Option<String>,
    /// Values that a row must have, by pointer.
    #[serde(default)]
    pub only: BTreeMap<String, Value>,
}

impl Source {
    /// The rows.
    ///
    /// # Errors
    /// A record is missing, or there is no such row.
    pub fn read(&self, records: &Records) -> Result<Vec<Value>, PaperError> {
        let mut out = Vec::new();
        for record in &self.records {
            let path = records.path(record)?;
            let json = records.json(record)?;
            let all = match &self.rows {
                None => vec![json],
                Some(at) => (json.pointer(at).and_then(Value::as_array))
                    .ok_or_else(|| broken(&path, format!("no list at {at}")))?
                    .clone(),
            };
            let before = out.len();
            let wanted = |row: &Value| self.only.iter().all(|(p, v)| row.pointer(p) == Some(v));
            out.extend(all.into_iter().filter(wanted));
            if out.len() == before {
                return Err(broken(&path, format!("no row with {:?}", self.only)));
            }
        }
        Ok(out)
    }
}

/// A table of rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// Where they come from.
    from: Source,
    /// Their columns.
    columns: Vec<Column>,
    /// What the table shows.
    #[serde(default)]
    caption: String,
}

/// A column.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    /// Its title.
    title: String,
    /// Pointer to its value in a row.
    at: String,
    /// Unit with SI prefixes; `%` for shares of one.
    #[serde(default)]
    unit: String,
    /// Decimals behind the point; three digits without.
    decimals: Option<usize>,
    /// Pointers to the ends of the interval.
    interval: Option<(String, String)>,
}

impl Column {
    fn show(&self, v: f64) -> String {
        match (self.unit.as_str(), self.decimals) {
            ("%", d) => format!("{:.*} %", d.unwrap_or(1), 100.0 * v),
            (unit, Some(d)) => format!("{v:.d$} {unit}").trim_end().to_owned(),
            ("", None) if v == v.trunc() && v.abs() < 1e6 => format!("{v}"),
            ("", None) => three(v),
            (unit, None) => si(v, unit),
        }
    }

    fn cell(&self, row: &Value) -> Cell {
        match row.pointer(&self.at) {
            Some(Value::String(s)) => Cell::text(s.as_str()),
            v => Cell::shown(v.and_then(Value::as_f64), |x| {
                let end = |p: &String| row.pointer(p).and_then(Value::as_f64);
                let ends = self.interval.as_ref().and_then(|(a, b)| end(a).zip(end(b)));
                match ends.filter(|(lo, hi)| lo < hi) {
                    Some((lo, hi)) => {
                        let [x, lo, hi] = [x, lo, hi].map(|v| self.show(v));
                        format!("{x} [{lo} … {hi}]")
                    }
                    None => self.show(x),
                }
            }),
        }
    }
}

impl Rows {
    /// The table.
    ///
    /// # Errors
    /// A record is missing or lacks the rows.
    pub fn table(&self, records: &Records) -> Result<Table, PaperError> {
        let rows = self.from.read(records)?;
        Ok(Columns::<Value>::new()
            .and_each(&self.columns, |columns, c| {
                columns.cell(&c.title, "", |row| c.cell(row))
            })
            .table(&self.caption, rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(only: &str) -> Rows {
        toml::from_str(&format!(
            "caption = \"c\"\n\
             from = {{ records = [\"r.json\"], rows = \"/rows\", only = {{ \"/work\" = \"{only}\" }} }}\n\
             columns = [ {{ title = \"name\", at = \"/name\" }}, {{ title = \"share\", at = \"/share\", unit = \"%\" }}, \
             {{ title = \"time\", at = \"/t/value\", unit = \"s\", interval = [\"/t/lo\", \"/t/hi\"] }} ]"
        ))
        .unwrap()
    }

    #[test]
    fn values_have_units_and_intervals() {
        let dir = tempfile::tempdir().unwrap();
        let text = r#"{"rows":[{"work":"step","name":"a","share":0.25,"t":{"value":0.002,"lo":0.001,"hi":0.003}},
            {"work":"corner","name":"b"},{"work":"step","name":"c","share":null}]}"#;
        std::fs::write(dir.path().join("r.json"), text).unwrap();
        let records = Records::new(dir.path());
        let t = rows("step").table(&records).unwrap();
        let texts: Vec<Vec<&str>> = (t.rows.iter())
            .map(|r| r.iter().map(|c| c.text.as_str()).collect())
            .collect();
        assert_eq!(texts[0][..2], ["a", "25.0 %"]);
        assert!(
            texts[0][2].contains("2 ms") || texts[0][2].contains("2.00 ms"),
            "{texts:?}"
        );
        assert!(texts[0][2].contains('…'));
        assert_eq!(texts[1], ["c", "–", "–"]);
        let e = rows("none").table(&records).unwrap_err().to_string();
        assert!(e.contains("no row"), "{e}");
    }
}
