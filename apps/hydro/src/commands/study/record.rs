//! What a study has measured, and its files: rows as JSON, traces of power as CSV.

use super::row::Row;
use greenup_app::study::Files;
use greenup_app::{AppError, Result};
use greenup_report::page::Fact;
use greenup_report::provenance::Provenance;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// A study with where it comes from.
#[derive(Clone, Debug, Default)]
pub struct Study {
    pub rows: Vec<Row>,
    /// Names and values.
    pub provenance: Vec<Fact>,
}

/// The rows with where they come from, as `--json` prints them.
pub fn value(rows: &[Row], provenance: &Provenance) -> Value {
    let mut rows = rows.to_vec();
    rows.iter_mut().for_each(|r| r.trace.clear());
    json!({"provenance": provenance, "rows": rows})
}

/// Writes the rows as JSON, and their traces as CSV if there are any.
///
/// # Errors
/// A file cannot be written.
pub fn write(files: &Files, rows: &[Row], provenance: &Provenance) -> Result {
    files.write("json", || {
        Ok(serde_json::to_vec_pretty(&value(rows, provenance))?)
    })?;
    let mut csv = String::from("work,time_s,quantity,value\n");
    for row in rows {
        for (t, watts) in &row.trace {
            let _ = writeln!(csv, "{},{t},watts,{watts}", row.traced());
        }
    }
    if rows.iter().any(|r| !r.trace.is_empty()) {
        files.write("csv", || Ok(csv.into()))?;
    }
    Ok(())
}

/// What [`write`] writes as JSON.
#[derive(Deserialize)]
struct Written {
    provenance: serde_json::Map<String, Value>,
    rows: Vec<Row>,
}

/// Reads a study from its JSON file, and its traces from the CSV file beside it if there is one.
///
/// # Errors
/// A file cannot be read, or the JSON is not that of a study.
pub fn read(path: &Path) -> Result<Study> {
    let wrong = |e: serde_json::Error| {
        AppError::new(format!("{}: not a study: {e}", path.display()))
            .hint("name the file that `hydro study --out` wrote")
    };
    let Written {
        provenance,
        mut rows,
    } = serde_json::from_str(&greenup_files::read_text(path)?).map_err(wrong)?;
    let beside = path.with_extension("csv");
    if beside.exists() {
        let text = greenup_files::read_text(&beside)?;
        text.lines().for_each(|line| add_point(&mut rows, line));
    }
    Ok(Study {
        rows,
        provenance: provenance.iter().map(fact).collect(),
    })
}

fn fact((name, value): (&String, &Value)) -> Fact {
    let text = match value {
        Value::String(s) => s.clone(),
        Value::Array(a) if a.is_empty() => "none".into(),
        Value::Array(a) => {
            let all: Vec<&str> = a.iter().filter_map(Value::as_str).collect();
            all.join(", ")
        }
        other => other.to_string(),
    };
    Fact::new(name, text)
}

/// Adds a line of the CSV file to the trace of its row; lines of nothing known are passed over.
fn add_point(rows: &mut [Row], line: &str) {
    let cells: Vec<&str> = line.split(',').collect();
    if let [name, time, "watts", value] = cells[..]
        && let (Ok(t), Ok(watts)) = (time.parse(), value.parse())
        && let Some(row) = rows.iter_mut().find(|r| r.traced() == name)
    {
        row.trace.push((t, watts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::study::ENDINGS;
    use crate::session::settings::Assembly;
    use greenup_files::Outputs;

    #[test]
    fn studies_are_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.json");
        let row = Row {
            order: 2,
            assembly: Assembly::Partial,
            work: "step".into(),
            zones: 8,
            unknowns: 99,
            seconds: 0.5,
            seconds_error: 0.01,
            joules: Some(3.0),
            device: "cpu".into(),
            predicted: Some((0.4, None)),
            trace: vec![(0.5, 300.0)],
            ..Row::default()
        };
        let p = Provenance::of_process();
        let files = Files::new(Some(&path), &mut Outputs::new(), &ENDINGS, true).unwrap();
        write(&files, std::slice::from_ref(&row), &p).unwrap();
        let s = read(&path).unwrap();
        assert_eq!((s.rows.len(), s.rows[0].seconds), (1, 0.5));
        assert_eq!(s.rows[0].trace, [(0.5, 300.0)]);
        assert!(s.provenance.iter().any(|f| f.name == "host"));
        let csv =
            "work,time_s,quantity,value\nQ2 partial step,1,joules,9\nQ2 partial step,1,watts,7\n";
        std::fs::write(dir.path().join("s.csv"), csv).unwrap();
        assert_eq!(read(&path).unwrap().rows[0].trace, [(1.0, 7.0)]);
        for bad in ["", "{}", "[]", "{\"provenance\":{},\"rows\":3}"] {
            std::fs::write(&path, bad).unwrap();
            assert!(read(&path).is_err(), "{bad}");
        }
    }
}
