//! What a study has measured, and its files: rows as JSON, traces of power as CSV.

use crate::engine::Part;
use crate::session::settings::Assembly;
use greenup_app::{AppError, Result};
use greenup_report::page::Fact;
use greenup_report::provenance::Provenance;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Measurement of one kind of work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub order: usize,
    pub assembly: Assembly,
    /// `step`, `corner` or `solve`.
    pub work: String,
    pub zones: usize,
    pub unknowns: usize,
    /// Time of one repetition, s.
    pub seconds: f64,
    /// Half width of its 95 % interval, relative; 0 where it was not recorded.
    #[serde(default)]
    pub seconds_error: f64,
    pub watts: Option<f64>,
    pub joules: Option<f64>,
    /// Energy per unknown and step, J; `None` for parts of a step.
    pub joules_per_unknown: Option<f64>,
    /// What computed it, as `--device` takes it.
    pub device: String,
    /// Power of the CPU while a GPU computed, W; `None` without a sensor of the CPU.
    #[serde(default)]
    pub host_watts: Option<f64>,
    /// Prediction of the machine model: time, s, and energy, J.
    #[serde(default)]
    pub predicted: Option<(f64, Option<f64>)>,
    /// Times, s, with powers, W, while it was measured; in a file of its own.
    #[serde(skip)]
    pub trace: Vec<(f64, f64)>,
}

impl Row {
    /// Names of its spaces: `Q2Q1`.
    pub fn spaces(&self) -> String {
        spaces(self.order)
    }

    /// The spaces with the assembly.
    pub fn name(&self) -> String {
        format!("{}, {} assembly", self.spaces(), self.assembly.name())
    }

    /// The name of its trace.
    fn traced(&self) -> String {
        format!("Q{} {} {}", self.order, self.assembly.name(), self.work)
    }
}

/// Names of the spaces of a kinematic order.
pub fn spaces(order: usize) -> String {
    format!("Q{order}Q{}", order.saturating_sub(1))
}

/// A study with where it comes from.
#[derive(Clone, Debug, Default)]
pub struct Study {
    pub rows: Vec<Row>,
    /// Names and values.
    pub provenance: Vec<Fact>,
}

/// Speedup, powerup and greenup of one way to compute over another.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub what: String,
    pub speedup: f64,
    pub powerup: Option<f64>,
    pub greenup: Option<f64>,
}

/// Comparisons of whole steps: partial over full assembly, and every order over the first.
pub fn comparisons(rows: &[Row]) -> Vec<Comparison> {
    let find = |order: usize, assembly: Assembly| {
        rows.iter()
            .find(|r| r.order == order && r.assembly == assembly && r.work == "step")
    };
    let mut out = Vec::new();
    let mut compare = |what: String, base: Option<&Row>, new: Option<&Row>| {
        let (Some(base), Some(new)) = (base, new) else {
            return;
        };
        let speedup = base.seconds / new.seconds;
        let greenup = base.joules.zip(new.joules).map(|(a, b)| a / b);
        out.push(Comparison {
            what,
            speedup,
            powerup: greenup.map(|g| g / speedup),
            greenup,
        });
    };
    let mut orders: Vec<usize> = rows.iter().map(|r| r.order).collect();
    orders.dedup();
    let both = [Assembly::Full, Assembly::Partial];
    for o in &orders {
        let what = format!("{}, partial over full assembly", spaces(*o));
        compare(what, find(*o, both[0]), find(*o, both[1]));
    }
    for o in orders.iter().skip(1) {
        for kind in both {
            let (new, old, kind_) = (spaces(*o), spaces(orders[0]), kind.name());
            let what = format!("{new} over {old}, {kind_} assembly");
            compare(what, find(orders[0], kind), find(*o, kind));
        }
    }
    out
}

/// The rows with where they come from, as `--json` prints them.
pub fn value(rows: &[Row], provenance: &Provenance) -> Value {
    json!({"provenance": provenance, "rows": rows})
}

/// Writes the rows as JSON, and their traces as CSV of the same name if there are any.
///
/// # Errors
/// A file cannot be written.
pub fn write(path: &Path, rows: &[Row], provenance: &Provenance) -> Result {
    let text = serde_json::to_vec_pretty(&value(rows, provenance))?;
    greenup_files::write(path, text)?;
    let mut csv = String::from("work,time_s,quantity,value\n");
    for row in rows {
        for (t, watts) in &row.trace {
            let _ = writeln!(csv, "{},{t},watts,{watts}", row.traced());
        }
    }
    if rows.iter().any(|r| !r.trace.is_empty()) {
        greenup_files::write(path.with_extension("csv"), csv)?;
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

/// Kinds of work: whole steps and their parts.
pub(super) const WORK: [(&str, Option<Part>); 3] = [
    ("step", None),
    ("corner", Some(Part::Corner)),
    ("solve", Some(Part::Solve)),
];

#[cfg(test)]
mod tests {
    use super::*;

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
            watts: None,
            joules: Some(3.0),
            joules_per_unknown: None,
            device: "cpu".into(),
            host_watts: None,
            predicted: Some((0.4, None)),
            trace: vec![(0.5, 300.0)],
        };
        let p = Provenance::of_process();
        write(&path, std::slice::from_ref(&row), &p).unwrap();
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

    #[test]
    fn comparisons_need_both_sides() {
        assert!(comparisons(&[]).is_empty());
    }
}
