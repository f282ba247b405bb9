//! `greenup study`: the main job.

use super::calibrate::measured_in;
use crate::args::StudyArgs;
use crate::error::{CliError, Result};
use crate::progress::Bars;
use crate::{choose, lookup, out, rig};
use greenup_app::interrupt;
use greenup_calibrate::record;
use greenup_calibrate::suite::Depth;
use greenup_files::{Journal, Outputs, write};
use greenup_meter::{Flag, Policy};
use greenup_report::page::Fact;
use greenup_report::png::png;
use greenup_report::si::{percent, si, three};
use greenup_study::page::{headline, page, roofline_figure};
use greenup_study::{Kept, Study, StudyOptions, TuningOptions};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What is written, the raw records first.
const FILES: [&str; 6] = [
    "records.csv",
    "machine.toml",
    "summary.json",
    "report.html",
    "roofline.svg",
    "roofline.png",
];

pub fn run(args: &StudyArgs) -> Result {
    let mut outputs = Outputs::new();
    choose::input(args.sensor.sensor.as_deref(), &mut outputs);
    let assume = args
        .assume
        .as_deref()
        .map(|name| lookup::input(name, &mut outputs))
        .transpose()?;
    if let Some(m) = assume.as_ref().filter(|m| !m.has_energy()) {
        return Err(CliError::new(format!(
            "`{}` has no energy costs to assume",
            m.name
        )));
    }
    // Find out before measuring, not after.
    outputs.folder(&args.out)?;
    for name in FILES {
        outputs.file(args.out.join(name), &[])?;
    }
    let chosen = choose::sensors(args.sensor.sensor.as_deref(), choose::Target::Host, 0.5)?;
    if let Some(why) = &chosen.missing {
        out::note(format!("time only: {why}"));
    }
    if chosen.gpu_seen {
        out::note("an NVIDIA GPU is here; this version studies the CPU");
    }
    let (policy, depth) = if args.full {
        (Policy::thorough(), Depth::Full)
    } else {
        (Policy::quick(), Depth::Quick)
    };
    let sensor = chosen.main().map(|id| (id, chosen.period_s));
    let mut meter = chosen.meter(policy);
    let options = StudyOptions {
        name: args.name.clone(),
        depth,
        assume,
        tuning: (!args.no_tuning)
            .then(|| -> Result<TuningOptions> {
                Ok(TuningOptions {
                    dir: args.out.join("tuning"),
                    launcher: rig::launcher(
                        sensor
                            .as_ref()
                            .map(|(id, period_s)| (id.as_str(), *period_s)),
                    )?,
                    seconds: if args.full { 120.0 } else { 20.0 },
                    n: 1024,
                })
            })
            .transpose()?,
        command: command(args),
    };
    let mut kept = Kept {
        records: Journal::create(&args.out, "records-unfinished", "csv")?,
        kernels: Journal::create(&args.out, "kernels-unfinished", "jsonl")?,
    };
    out::note(format!(
        "records are kept in {} until the end",
        kept.records.path().display()
    ));
    let study = {
        let bars = Bars::new();
        greenup_study::run(&options, &mut meter, &bars, &mut kept)
            .map_err(|e| measured_in(&kept.records, e))?
    };
    let _saving = interrupt::saving();
    let summary = summary(&study);
    let saved = save(&study, &summary, &args.out);
    if saved.is_ok() {
        kept.records.done();
        kept.kernels.done();
    }
    let written = saved.or_else(|e| rescue(&study, &summary, &args.out, e));
    if args.json {
        out::json(&summary)?;
    } else {
        print(&study);
    }
    let dir = written?;
    out::note(format!("\nopen {}", dir.join("report.html").display()));
    Ok(())
}

fn command(args: &StudyArgs) -> String {
    let mut text = String::from("greenup study");
    if args.full {
        text.push_str(" --full");
    }
    if args.no_tuning {
        text.push_str(" --no-tuning");
    }
    for (flag, value) in [
        ("--assume", &args.assume),
        ("--sensor", &args.sensor.sensor),
    ] {
        if let Some(value) = value {
            text.push_str(&format!(" {flag} {value}"));
        }
    }
    text
}

/// Writes [`FILES`].
fn save(study: &Study, summary: &Value, dir: &Path) -> Result<PathBuf> {
    let figure = || -> Result<String> { Ok(roofline_figure(study)?.svg()) };
    for name in FILES {
        let bytes = match name {
            "records.csv" => record::to_csv(&study.records).into_bytes(),
            "machine.toml" => study.machine.to_toml()?.into_bytes(),
            "summary.json" => serde_json::to_string_pretty(summary)?.into_bytes(),
            "report.html" => page(study)?.render()?.into_bytes(),
            "roofline.svg" => figure()?.into_bytes(),
            _ => png(&figure()?, 2.0)?,
        };
        write(dir.join(name), bytes)?;
    }
    Ok(dir.to_owned())
}

/// A second place for results whose folder turned out full or gone: a new folder that nobody else knows.
fn rescue(study: &Study, summary: &Value, dir: &Path, first: CliError) -> Result<PathBuf> {
    let Ok(other) = tempfile::Builder::new().prefix("greenup-study-").tempdir() else {
        return Err(first);
    };
    // Without the results it is removed again.
    if save(study, summary, other.path()).is_err() {
        return Err(first);
    }
    let place = other.keep();
    out::warn(format!(
        "{} failed ({}); the results are in {}",
        dir.display(),
        first.message,
        place.display()
    ));
    Ok(place)
}

fn summary(study: &Study) -> Value {
    let machine = &study.machine;
    json!({
        "greenup": env!("CARGO_PKG_VERSION"),
        "command": study.command,
        "interrupted": study.interrupted,
        "cpu": study.facts,
        "sensor": study.sensor,
        "machine": machine,
        "peaks": study.calibration.peaks,
        "clock_hz": study.calibration.clock_hz,
        "drift": study.calibration.drift,
        "fit_errors": { "time": study.fit.time_errors, "energy": study.fit.energy_errors },
        "validation": study.fit.validation,
        "kernels": study.kernels,
        "tuning": study.tuning.as_ref().and_then(|t| t.as_ref().ok()),
        "assumed_machine": study.assume.as_ref().map(|m| json!({ "name": m.name, "label": m.label })),
    })
}

fn print(study: &Study) {
    out::line(out::bold(&study.machine.title));
    for Fact { name, value } in headline(study) {
        out::line(format!("  {name:<18} {value}"));
    }
    out::line("");
    let rows = study
        .kernels
        .iter()
        .filter_map(|k| {
            let m = k.measured.as_ref()?;
            Some(vec![
                k.name.clone(),
                three(k.intensity),
                si(m.time_s.median, "s"),
                format!("±{}", percent(m.time_s.relative_error())),
                si(k.predicted.time_s, "s"),
                k.predicted.bound.to_string(),
                k.roof_then.map_or("–".into(), percent),
                percent(k.share_then()?),
                si(k.flops / m.time_s.median, "flop/s"),
                m.energy_j.map_or("–".into(), |e| si(e.median, "J")),
                k.predicted.energy_j.map_or("–".into(), |e| si(e, "J")),
            ])
        })
        .collect();
    out::table(
        &[
            "kernel",
            "flop/B",
            "time",
            "",
            "predicted",
            "bound",
            "roof then",
            "of roof",
            "rate",
            "energy",
            "predicted E",
        ],
        rows,
    );
    for k in &study.kernels {
        if let Some(m) = &k.measured {
            for f in m.flags.iter().filter(|f| **f != Flag::NoEnergy) {
                out::warn(format!("{}: {f}", k.name));
            }
        }
    }
    out::line("");
    for k in &study.kernels {
        if let [first, second, ..] = &k.advice[..] {
            out::line(format!("{}: {first} {second}", k.name));
        }
    }
    match &study.tuning {
        Some(Ok(t)) => out::line(format!("dgemm tuned: {}", t.describe())),
        Some(Err(why)) => out::warn(format!("dgemm could not be tuned: {why}")),
        None => {}
    }
    for w in &study.machine.warnings {
        out::warn(w);
    }
    if study.interrupted {
        out::warn("interrupted: this is what had been measured");
    }
}
