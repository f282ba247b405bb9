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
}

impl Row {
    /// Names of its spaces: `Q2Q1`.
    pub fn spaces(&self) -> String {
        spaces(self.order)
    }
}

/// Names of the spaces of a kinematic order.
pub fn spaces(order: usize) -> String {
    format!("Q{order}Q{}", order.saturating_sub(1))
}

/// What a trace is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traced {
    pub order: usize,
    pub assembly: Assembly,
    /// One of [`WORK`].
    pub work: &'static str,
}

/// Times, s, with powers, W.
pub type Trace = Vec<(f64, f64)>;

/// A study with where it comes from.
#[derive(Clone, Debug, Default)]
pub struct Study {
    pub rows: Vec<Row>,
    pub traces: Vec<(Traced, Trace)>,
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
    for o in &orders {
        compare(
            format!("{}, partial over full assembly", spaces(*o)),
            find(*o, Assembly::Full),
            find(*o, Assembly::Partial),
        );
    }
    for o in orders.iter().skip(1) {
        for kind in [Assembly::Full, Assembly::Partial] {
            compare(
                format!(
                    "{} over {}, {} assembly",
                    spaces(*o),
                    spaces(orders[0]),
                    kind.name()
                ),
                find(orders[0], kind),
                find(*o, kind),
            );
        }
    }
    out
}

/// The rows with where they come from, as `--json` prints them.
pub fn value(rows: &[Row], provenance: &Provenance) -> Value {
    json!({"provenance": provenance, "rows": rows})
}

/// Writes the rows as JSON, and the traces as CSV of the same name if there are any.
///
/// # Errors
/// A file cannot be written.
pub fn write(
    path: &Path,
    rows: &[Row],
    traces: &[(Traced, Trace)],
    provenance: &Provenance,
) -> Result {
    let text = serde_json::to_vec_pretty(&value(rows, provenance))?;
    greenup_files::write(path, text)?;
    let mut csv = String::from("work,time_s,quantity,value\n");
    for (of, trace) in traces {
        let name = format!("Q{} {} {}", of.order, of.assembly.name(), of.work);
        for (t, value) in trace {
            let _ = writeln!(csv, "{name},{t},watts,{value}");
        }
    }
    if traces.iter().any(|(_, t)| !t.is_empty()) {
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
    let Written { provenance, rows } =
        serde_json::from_str(&greenup_files::read_text(path)?).map_err(wrong)?;
    let beside = path.with_extension("csv");
    let traces = if beside.exists() {
        traces(&greenup_files::read_text(&beside)?)
    } else {
        Vec::new()
    };
    Ok(Study {
        rows,
        traces,
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

/// Traces of a CSV file; other lines are passed over.
fn traces(text: &str) -> Vec<(Traced, Trace)> {
    let mut out: Vec<(Traced, Trace)> = Vec::new();
    for line in text.lines() {
        let Some((of, point)) = traced(line) else {
            continue;
        };
        match out.iter_mut().find(|(o, _)| *o == of) {
            Some((_, trace)) => trace.push(point),
            None => out.push((of, vec![point])),
        }
    }
    out
}

fn traced(line: &str) -> Option<(Traced, (f64, f64))> {
    let mut cells = line.split(',');
    let (name, time, quantity, value) =
        (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
    if quantity != "watts" {
        return None;
    }
    let mut words = name.split(' ');
    let order = words.next()?.strip_prefix('Q')?.parse().ok()?;
    let assembly = match words.next()? {
        "full" => Assembly::Full,
        "partial" => Assembly::Partial,
        _ => return None,
    };
    let named = words.next()?;
    let (work, _) = WORK.iter().find(|(w, _)| *w == named)?;
    let of = Traced {
        order,
        assembly,
        work,
    };
    Some((of, (time.parse().ok()?, value.parse().ok()?)))
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
        };
        let of = Traced {
            order: 2,
            assembly: Assembly::Partial,
            work: "step",
        };
        let p = Provenance::of_process();
        write(
            &path,
            std::slice::from_ref(&row),
            &[(of, vec![(0.5, 300.0)])],
            &p,
        )
        .unwrap();
        let s = read(&path).unwrap();
        assert_eq!((s.rows.len(), s.rows[0].seconds), (1, 0.5));
        assert_eq!(s.traces, [(of, vec![(0.5, 300.0)])]);
        assert!(s.provenance.iter().any(|f| f.name == "host"));
        let csv =
            "work,time_s,quantity,value\nQ2 partial solve,1,joules,9\nQ2 partial solve,1,watts,7\n";
        std::fs::write(dir.path().join("s.csv"), csv).unwrap();
        assert_eq!(read(&path).unwrap().traces[0].1, [(1.0, 7.0)]);
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
