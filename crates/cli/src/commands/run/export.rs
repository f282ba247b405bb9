//! Results as JSON, CSV and Markdown.

use crate::args::RunArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::print;
use greenup_files::Outputs;
use greenup_meter::Summary;
use greenup_meter::comparison::{CommandResult, InterleavedResult};
use greenup_report::table::{Cell, Columns};
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
    (args.exports().iter())
        .map(|text| {
            let (format, file) = match text.split_once(':') {
                Some((f, file)) => (f, file),
                None => (text.as_str(), "-"),
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

/// The place of a result, and the result.
type Row<'a> = (usize, &'a CommandResult);

fn csv(all: &InterleavedResult) -> String {
    let speedup = |r: &Row| all.against_baseline(r.0).map(|c| &c.speedup);
    let columns = Columns::<Row>::new()
        .text("command", "", |(_, r)| r.command.clone())
        .count("runs", "", |(_, r)| r.time_s.n as u64)
        .exact("median_s", |(_, r)| r.time_s.median)
        .exact("lo_s", |(_, r)| r.time_s.lo)
        .exact("hi_s", |(_, r)| r.time_s.hi)
        .exact("mean_s", |(_, r)| r.time_s.mean)
        .exact("sd_s", |(_, r)| r.time_s.sd)
        .exact("min_s", |(_, r)| r.time_s.min)
        .exact("max_s", |(_, r)| r.time_s.max)
        .exact("user_s", |(_, r)| r.cpu_s()[0])
        .exact("system_s", |(_, r)| r.cpu_s()[1])
        .cell("max_rss_bytes", "", |(_, r)| {
            Cell::known(r.peak_memory().map(|b| b.to_string()))
        })
        .exact("energy_j", |(_, r)| r.energy_j.map(|e| e.median))
        .exact("energy_lo_j", |(_, r)| r.energy_j.map(|e| e.lo))
        .exact("energy_hi_j", |(_, r)| r.energy_j.map(|e| e.hi))
        .exact("power_w", |(_, r)| r.power_w.map(|p| p.median))
        .cell("name", "", |(_, r)| Cell::known(r.name.as_ref()))
        .exact("speedup", |r| speedup(r).map(|s| s.median))
        .exact("speedup_lo", |r| speedup(r).map(|s| s.lo))
        .exact("speedup_hi", |r| speedup(r).map(|s| s.hi))
        .text("times_s", "", |(_, r)| {
            let times: Vec<String> = r.times_s.iter().map(|t| format!("{t:e}")).collect();
            times.join(" ")
        })
        .count("energy_runs", "", |(_, r)| r.energy_runs as u64)
        .and_each(names(all), |columns, name| {
            columns.cell(format!("parameter_{name}"), "", move |(_, r)| {
                value(r, name)
            })
        });
    columns.csv(all.results.iter().enumerate())
}

fn markdown(all: &InterleavedResult) -> String {
    let against = |r: &Row| all.against_baseline(r.0);
    let ratio = |s: &Summary| format!("{:.3}", s.median);
    let columns = Columns::<Row>::new()
        .text("command", "", |(_, r)| format!("`{}`", r.command))
        .si("time", "", "s", |(_, r)| r.time_s.median)
        .range("95 %", "", "s", |(_, r)| (r.time_s.lo, r.time_s.hi))
        .si("energy", "", "J", |(_, r)| r.energy_j.map(|e| e.median))
        .si("power", "", "W", |(_, r)| r.power_w.map(|p| p.median))
        .text("speedup", "", |r| {
            against(r).map_or_else(|| "1".into(), |c| ratio(&c.speedup))
        })
        .cell("greenup", "", |r| {
            Cell::known(against(r).and_then(|c| c.greenup.as_ref().map(ratio)))
        })
        .text("95 % of speedup", "", |r| match against(r) {
            Some(c) => format!("{:.3} … {:.3}", c.speedup.lo, c.speedup.hi),
            None => "baseline".into(),
        })
        .text("runs", "", |(_, r)| runs(r, all.sensor.is_some()))
        .cell("name", "", |(_, r)| Cell::known(r.name.as_ref()))
        .where_known()
        .and_each(names(all), |columns, name| {
            columns.cell(name, "", move |(_, r)| value(r, name))
        });
    let rows = all.results.iter().enumerate();
    columns.table("", rows).markdown()
}

/// The value of a parameter.
fn value(r: &CommandResult, name: &str) -> Cell {
    let value = r.parameters.iter().find(|(n, _)| n == name);
    Cell::known(value.map(|(_, v)| v))
}

/// Number of runs, with how many have energies where some lack theirs.
fn runs(r: &CommandResult, sensor: bool) -> String {
    if sensor && r.energy_runs < r.runs {
        format!("{}, {} with energy", r.runs, r.energy_runs)
    } else {
        r.runs.to_string()
    }
}
