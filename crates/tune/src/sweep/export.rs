//! A sweep for others: T4 results (JSON) and CSV.

use super::error::FolderError;
use super::record::{Failure, Outcome, STOPPED, Sweep, Trial};
use greenup_files::AtomicFile;
use greenup_files::date::utc;
use greenup_report::table::Columns;
use serde_json::{Value as J, json};
use std::io::Write;
use std::path::Path;

/// Name of the T4 results in a sweep's folder.
pub(super) const T4: &str = "results-t4.json";
/// Name of the table in a sweep's folder.
pub(super) const CSV: &str = "trials.csv";

/// The community's T4 results, schema 1.0.0; times in milliseconds as there.
///
/// # Errors
/// A value cannot be written as JSON.
pub fn to_t4(sweep: &Sweep) -> Result<String, serde_json::Error> {
    let results: Vec<J> = sweep
        .trials
        .iter()
        .map(|t| {
            let configuration: serde_json::Map<String, J> = sweep
                .facts
                .parameters
                .iter()
                .cloned()
                .zip(t.config.iter().map(|v| json!(v)))
                .collect();
            let (invalidity, correctness, runtimes, mut measurements) = match &t.outcome {
                Outcome::Measured {
                    times_s,
                    time_s,
                    energy_j,
                    ..
                } => {
                    let mut m = Vec::new();
                    if time_s.is_finite() {
                        m.push(json!({"name": "time", "value": time_s * 1e3, "unit": "ms"}));
                    }
                    if let Some(e) = energy_j {
                        m.push(json!({"name": "energy", "value": e, "unit": "J"}));
                    }
                    let runs: Vec<f64> = times_s.iter().map(|t| t * 1e3).collect();
                    ("correct", 1, runs, m)
                }
                Outcome::Failed { failure, .. } => {
                    let name = match failure {
                        Failure::Invalid => "constraints",
                        Failure::Compile => "compile",
                        Failure::Timeout => "timeout",
                        Failure::Wrong => "correctness",
                        _ => "runtime",
                    };
                    (name, 0, Vec::new(), Vec::new())
                }
            };
            for (name, v) in t.metrics.iter().filter(|m| m.1.is_finite()) {
                measurements.push(json!({"name": name, "value": v, "unit": ""}));
            }
            if t.stopped {
                measurements.push(json!({"name": STOPPED, "value": 1.0, "unit": ""}));
            }
            json!({
                "timestamp": timestamp(t.at),
                "configuration": configuration,
                "times": {
                    "compilation_time": t.build_s * 1e3,
                    "framework": 0.0,
                    "search_algorithm": 0.0,
                    "validation": t.verify_s * 1e3,
                    "runtimes": runtimes,
                },
                "invalidity": invalidity,
                "correctness": correctness,
                "measurements": measurements,
                "objectives": [objective(sweep)],
            })
        })
        .collect();
    let document = json!({
        "schema_version": "1.0.0",
        "metadata": {"timeunit": "miliseconds"},
        "results": results,
    });
    serde_json::to_string_pretty(&document)
}

fn objective(sweep: &Sweep) -> &str {
    match sweep.facts.objective.as_deref() {
        Some("energy") => "energy",
        Some(o) => match o.strip_prefix("metric:") {
            Some(name) => name.trim_end_matches(":max").trim_end_matches(":min"),
            None => "time",
        },
        None => "time",
    }
}

/// Seconds since 1970 as `2026-11-21 10:00:00+00:00`.
fn timestamp(at: f64) -> String {
    let text = utc(at.max(0.0) as u64);
    text.replace('T', " ").replace('Z', "+00:00")
}

/// Writes `results-t4.json` and `trials.csv` into the folder of a sweep.
///
/// # Errors
/// A file cannot be written.
pub fn write_exports(sweep: &Sweep, dir: &Path) -> Result<(), FolderError> {
    let path = dir.join(T4);
    let text = to_t4(sweep).map_err(|source| FolderError::Json {
        path: path.clone(),
        source,
    })?;
    greenup_files::write(path, text)?;
    write_csv(sweep, &dir.join(CSV))
}

/// Writes a sweep as CSV.
///
/// # Errors
/// The file cannot be written.
fn write_csv(sweep: &Sweep, path: &Path) -> Result<(), FolderError> {
    let mut file = AtomicFile::create(path)?;
    to_csv(sweep, &mut file).map_err(|source| FolderError::Csv {
        path: path.to_owned(),
        source,
    })?;
    Ok(file.commit()?)
}

/// One row a trial, for a spreadsheet.
///
/// # Errors
/// The writer's.
pub fn to_csv(sweep: &Sweep, out: impl Write) -> Result<(), csv::Error> {
    let mut metrics: Vec<&String> = sweep.trials.iter().flat_map(|t| t.metrics.keys()).collect();
    metrics.sort();
    metrics.dedup();
    let finite = |x: Option<f64>| x.filter(|v| v.is_finite());
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    Columns::<Trial>::new()
        .and_each(sweep.facts.parameters.iter().enumerate(), |all, (i, p)| {
            all.text(p, "", move |t| t.config[i].to_string())
        })
        .exact("time_s", |t| finite(t.cost().map(|c| c.time_s)))
        .exact("energy_j", |t| finite(t.cost()?.energy_j))
        .exact("power_w", |t| finite(t.cost()?.power_w()))
        .text("failure", "", |t| text(t.failure().map(|f| f.0.name())))
        .text("message", "", |t| {
            text(t.failure().and_then(|f| f.1.lines().next()))
        })
        .text("effort", "", |t| t.effort.to_string())
        .text("stopped", "", |t| t.stopped.to_string())
        .exact("build_s", |t| finite(Some(t.build_s)))
        .exact("verify_s", |t| finite(Some(t.verify_s)))
        .exact("measure_s", |t| finite(Some(t.measure_s)))
        .text("flags", "", |t| t.flags.join("; "))
        .and_each(metrics, |all, m| {
            all.exact(m, |t| finite(t.metrics.get(m).copied()))
        })
        .write_csv(&sweep.trials, out)
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn dates() {
        assert_eq!(timestamp(0.0), "1970-01-01 00:00:00+00:00");
        assert_eq!(timestamp(951_827_696.0), "2000-02-29 12:34:56+00:00");
        assert_eq!(timestamp(1_795_255_200.0), "2026-11-21 10:00:00+00:00");
    }
}
