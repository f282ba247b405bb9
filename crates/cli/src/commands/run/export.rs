//! Results as JSON, CSV and Markdown.

use crate::args::RunArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::print;
use greenup_files::Outputs;
use greenup_meter::comparison::{CommandResult, InterleavedResult};
use greenup_report::si::si;
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Csv,
    Markdown,
}

pub struct Export {
    format: Format,
    pub to: Output,
}

/// What is exported where, checked before anything runs.
pub fn exports(args: &RunArgs, outputs: &mut Outputs) -> Result<Vec<Export>> {
    let mut list: Vec<&str> = args.export.iter().map(String::as_str).collect();
    if args.json {
        list.push("json");
    }
    list.into_iter()
        .map(|text| {
            let (format, file) = match text.split_once(':') {
                Some((f, file)) => (f, file),
                None => (text, "-"),
            };
            let (format, ending) = match format {
                "json" => (Format::Json, "json"),
                "csv" => (Format::Csv, "csv"),
                "md" => (Format::Markdown, "md"),
                _ => {
                    return Err(AppError::new(format!("invalid export format `{format}`"))
                        .hint("use json, csv or md, each also as FORMAT:FILE"));
                }
            };
            Ok(Export {
                format,
                to: match file {
                    // Several may be printed, one after the other.
                    "-" => Output::Stdout,
                    file => Output::file(outputs, Path::new(file), &[ending])?,
                },
            })
        })
        .collect()
}

/// Writes or prints the exports.
pub fn write(exports: &[Export], all: &InterleavedResult) -> Result {
    for e in exports {
        let text = match e.format {
            Format::Json => serde_json::to_string_pretty(all)?,
            Format::Csv => csv(all),
            Format::Markdown => markdown(all),
        };
        match &e.to {
            Output::Stdout => print::line(text.trim_end()),
            file => {
                file.write(text.as_bytes())?;
                file.print_name();
            }
        }
    }
    Ok(())
}

/// Names of all parameters, in the order of their first use.
fn names(all: &InterleavedResult) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for (name, _) in all.results.iter().flat_map(|r| &r.parameters) {
        if !out.contains(&name.as_str()) {
            out.push(name);
        }
    }
    out
}

fn csv(all: &InterleavedResult) -> String {
    let mut w = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail.
    let parameters = names(all);
    let mut header: Vec<String> = [
        "command",
        "runs",
        "median_s",
        "lo_s",
        "hi_s",
        "mean_s",
        "sd_s",
        "min_s",
        "max_s",
        "user_s",
        "system_s",
        "max_rss_bytes",
        "energy_j",
        "energy_lo_j",
        "energy_hi_j",
        "power_w",
        "name",
        "speedup",
        "speedup_lo",
        "speedup_hi",
        "times_s",
        "energy_runs",
    ]
    .map(str::to_owned)
    .into();
    header.extend(parameters.iter().map(|p| format!("parameter_{p}")));
    let _ = w.write_record(&header);
    for (i, r) in all.results.iter().enumerate() {
        let t = &r.time_s;
        let mut row = vec![r.command.clone(), t.n.to_string()];
        row.extend(
            [
                t.median, t.lo, t.hi, t.mean, t.sd, t.min, t.max, r.user_s, r.system_s,
            ]
            .map(|x| format!("{x:e}")),
        );
        row.push(r.max_rss_bytes.map_or_else(String::new, |b| b.to_string()));
        let or_empty = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:e}"));
        row.push(or_empty(r.energy_j.map(|e| e.median)));
        row.push(or_empty(r.energy_j.map(|e| e.lo)));
        row.push(or_empty(r.energy_j.map(|e| e.hi)));
        row.push(or_empty(r.power_w.map(|p| p.median)));
        row.push(r.name.clone().unwrap_or_default());
        let speedup = all.against_baseline(i).map(|c| c.speedup);
        row.push(or_empty(speedup.map(|s| s.median)));
        row.push(or_empty(speedup.map(|s| s.lo)));
        row.push(or_empty(speedup.map(|s| s.hi)));
        let times: Vec<String> = r.times_s.iter().map(|t| format!("{t:e}")).collect();
        row.push(times.join(" "));
        row.push(r.energy_runs.to_string());
        for name in &parameters {
            let value = r.parameters.iter().find(|(n, _)| n == name);
            row.push(value.map_or_else(String::new, |(_, v)| v.clone()));
        }
        let _ = w.write_record(&row);
    }
    w.into_inner()
        .map(|b| String::from_utf8_lossy(&b).into_owned())
        .unwrap_or_default()
}

fn markdown(all: &InterleavedResult) -> String {
    let parameters = names(all);
    let named = all.results.iter().any(|r| r.name.is_some());
    let mut header = vec![
        "command",
        "time",
        "95 %",
        "energy",
        "power",
        "speedup",
        "greenup",
        "95 % of speedup",
        "runs",
    ];
    if named {
        header.push("name");
    }
    header.extend(&parameters);
    let columns = header.len();
    let mut text = format!(
        "| {} |\n|:--{}|\n",
        header.join(" | "),
        "|--:".repeat(columns - 1)
    );
    let dash = || "–".to_owned();
    for (i, r) in all.results.iter().enumerate() {
        let c = all.against_baseline(i);
        text.push_str(&format!(
            "| `{}` | {} | {} … {} | {} | {} | {} | {} | {} | {} |",
            cell(&r.command),
            si(r.time_s.median, "s"),
            si(r.time_s.lo, "s"),
            si(r.time_s.hi, "s"),
            r.energy_j.map_or_else(dash, |e| si(e.median, "J")),
            r.power_w.map_or_else(dash, |p| si(p.median, "W")),
            c.map_or_else(|| "1".into(), |c| format!("{:.3}", c.speedup.median)),
            c.and_then(|c| c.greenup.as_ref())
                .map_or_else(dash, |g| format!("{:.3}", g.median)),
            c.map_or_else(
                || "baseline".into(),
                |c| format!("{:.3} … {:.3}", c.speedup.lo, c.speedup.hi)
            ),
            runs(r, all.sensor.is_some()),
        ));
        if named {
            text.push_str(&format!(" {} |", cell(r.name.as_deref().unwrap_or("–"))));
        }
        for name in &parameters {
            let value = r.parameters.iter().find(|(n, _)| n == name);
            text.push_str(&format!(
                " {} |",
                value.map_or("–".into(), |(_, v)| cell(v))
            ));
        }
        text.push('\n');
    }
    text
}

/// Number of runs, with how many have energies where some lack theirs.
fn runs(r: &CommandResult, sensor: bool) -> String {
    if sensor && r.energy_runs < r.runs {
        format!("{}, {} with energy", r.runs, r.energy_runs)
    } else {
        r.runs.to_string()
    }
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
