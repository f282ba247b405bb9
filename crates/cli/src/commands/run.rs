//! `greenup run`.

use crate::args::RunArgs;
use crate::error::{CliError, Result};
use crate::progress::Bars;
use crate::{choose, interrupt, out};
use greenup_app::output::Output;
use greenup_files::Outputs;
use greenup_meter::Summary;
use greenup_meter::command::{CommandLine, Spawner};
use greenup_meter::race::{RacePlan, Stop, race};
use greenup_meter::race_result::{Race, RaceResult};
use greenup_report::si::si;
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Csv,
    Markdown,
}

struct Export {
    format: Format,
    to: Output,
}

/// What is exported where, checked before anything runs.
fn exports(args: &RunArgs, outputs: &mut Outputs) -> Result<Vec<Export>> {
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
                    return Err(CliError::new(format!("`{format}` is no export format"))
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

pub fn run(args: &RunArgs) -> Result {
    if args.runs == Some(0) {
        return Err(CliError::new("--runs must be at least 1"));
    }
    let mut commands = vec![CommandLine {
        program: args.command[0].clone(),
        args: args.command[1..].to_vec(),
        show_output: args.show_output,
    }];
    for text in &args.compare {
        let mut c = CommandLine::parse(text)?;
        c.show_output = args.show_output;
        commands.push(c);
    }
    let mut outputs = Outputs::new();
    choose::input(args.sensor.sensor.as_deref(), &mut outputs);
    for c in &commands {
        // A file that a command names is the user's.
        for word in std::iter::once(&c.program).chain(&c.args) {
            outputs.input(word);
        }
    }
    let exports = exports(args, &mut outputs)?;
    let plan = RacePlan {
        warmup: args.warmup,
        stop: match (args.runs, args.rel_error) {
            (Some(n), _) => Stop::Runs(n),
            (None, Some(share)) => Stop::RelError(share),
            (None, None) => Stop::Default,
        },
        ignore_failure: args.ignore_failure,
    };
    let mut chosen = choose::sensors(args.sensor.sensor.as_deref(), choose::ANY, 0.3)?;
    if let Some(why) = &chosen.missing {
        out::note(format!("time only: {why}"));
    }
    let race = {
        let bars = Bars::new();
        race(
            &commands,
            &plan,
            &mut Spawner::default(),
            &mut chosen.sensors,
            chosen.period_s,
            &bars,
        )
        .map_err(|e| match e {
            greenup_meter::command::CommandError::Failed { .. } => CliError::new(e.to_string())
                .hint(
                    "--ignore-failure measures it all the same; --show-output shows what it prints",
                ),
            e => CliError::from(e),
        })?
    };
    if race.results.is_empty() && interrupt::requested() {
        return Err(CliError::interrupted(
            "interrupted before the first run had ended",
        ));
    }
    for e in &exports {
        let text = match e.format {
            Format::Json => serde_json::to_string_pretty(&race)?,
            Format::Csv => csv(&race),
            Format::Markdown => markdown(&race),
        };
        match &e.to {
            Output::Stdout => out::line(text.trim_end()),
            file => {
                file.write(text.as_bytes())?;
                out::wrote(file);
            }
        }
    }
    if !exports.iter().any(|e| e.to.is_stdout()) {
        print(&race);
    }
    for r in &race.results {
        for w in &r.warnings {
            out::warn(format!("{}: {w}", r.command));
        }
    }
    if race.interrupted {
        out::warn("interrupted: the result rests on fewer runs");
    }
    Ok(())
}

fn print(race: &Race) {
    for (i, r) in race.results.iter().enumerate() {
        if i > 0 {
            out::line("");
        }
        out::line(out::bold(&r.command));
        print_one(r, race.sensor.as_deref());
    }
    for c in &race.comparisons {
        out::line("");
        let word = |s: &Summary, better: &str, worse: &str| {
            let verdict = if s.lo > 1.0 {
                better
            } else if s.hi < 1.0 {
                worse
            } else {
                "no difference beyond the noise"
            };
            format!("{:.3}  [{:.3} … {:.3}]  {verdict}", s.median, s.lo, s.hi)
        };
        out::line(format!("{} against {}", out::bold(&c.command), c.baseline));
        out::line(format!(
            "  speedup  {}",
            word(&c.speedup, "faster", "slower")
        ));
        if let Some(p) = &c.powerup {
            out::line(format!(
                "  powerup  {}",
                word(p, "draws less power", "draws more power")
            ));
        }
        if let Some(g) = &c.greenup {
            out::line(format!("  greenup  {}", word(g, "greener", "less green")));
        }
    }
}

fn print_one(r: &RaceResult, sensor: Option<&str>) {
    let s = |x: f64| si(x, "s");
    let t = &r.time_s;
    out::line(format!(
        "  time    {:>10}  [{} … {}]   {} runs",
        s(t.median),
        s(t.lo),
        s(t.hi),
        t.n
    ));
    out::line(format!(
        "          mean {} ± {}, range {} … {}",
        s(t.mean),
        s(t.sd),
        s(t.min),
        s(t.max)
    ));
    out::line(format!(
        "          user {}, system {}, peak memory {}",
        s(r.user_s),
        s(r.system_s),
        si(r.max_rss_bytes as f64, "B")
    ));
    match (&r.energy_j, &r.power_w) {
        (Some(e), Some(p)) => {
            out::line(format!(
                "  energy  {:>10}  [{} … {}]   {}",
                si(e.median, "J"),
                si(e.lo, "J"),
                si(e.hi, "J"),
                sensor.unwrap_or_default()
            ));
            out::line(format!(
                "  power   {:>10}  [{} … {}]",
                si(p.median, "W"),
                si(p.lo, "W"),
                si(p.hi, "W")
            ));
        }
        _ if sensor.is_some() => {
            out::line("  energy  unknown: the runs were too few or too short for the sensor");
        }
        _ => {}
    }
}

fn csv(race: &Race) -> String {
    let mut w = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail.
    let _ = w.write_record([
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
    ]);
    for r in &race.results {
        let t = &r.time_s;
        let mut row = vec![r.command.clone(), t.n.to_string()];
        row.extend(
            [
                t.median, t.lo, t.hi, t.mean, t.sd, t.min, t.max, r.user_s, r.system_s,
            ]
            .map(|x| format!("{x:e}")),
        );
        row.push(r.max_rss_bytes.to_string());
        let or_empty = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:e}"));
        row.push(or_empty(r.energy_j.map(|e| e.median)));
        row.push(or_empty(r.energy_j.map(|e| e.lo)));
        row.push(or_empty(r.energy_j.map(|e| e.hi)));
        row.push(or_empty(r.power_w.map(|p| p.median)));
        let _ = w.write_record(&row);
    }
    w.into_inner()
        .map(|b| String::from_utf8_lossy(&b).into_owned())
        .unwrap_or_default()
}

fn markdown(race: &Race) -> String {
    let mut text = String::from(
        "| command | time | 95 % | energy | power | speedup | greenup |\n|:--|--:|--:|--:|--:|--:|--:|\n",
    );
    let dash = || "–".to_owned();
    for r in &race.results {
        let c = race.comparisons.iter().find(|c| c.command == r.command);
        text.push_str(&format!(
            "| `{}` | {} | {} … {} | {} | {} | {} | {} |\n",
            r.command.replace('|', "\\|"),
            si(r.time_s.median, "s"),
            si(r.time_s.lo, "s"),
            si(r.time_s.hi, "s"),
            r.energy_j.map_or_else(dash, |e| si(e.median, "J")),
            r.power_w.map_or_else(dash, |p| si(p.median, "W")),
            c.map_or_else(|| "1".into(), |c| format!("{:.3}", c.speedup.median)),
            c.and_then(|c| c.greenup.as_ref())
                .map_or_else(dash, |g| format!("{:.3}", g.median)),
        ));
    }
    text
}
