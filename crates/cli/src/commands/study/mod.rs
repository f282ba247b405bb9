//! `greenup study`: the main job.

mod files;
mod setup;
mod terminal;

use super::model::calibrate::measured_in;
use crate::args::StudyArgs;
use files::{check, rescue, save};
use greenup_app::error::{AppError, Result};
use greenup_app::progress::Bars;
use greenup_app::{interrupt, machine, present, print, sensors};
use greenup_files::{Journal, Outputs};
use greenup_study::device::suffix;
use greenup_study::{Journals, Provenance, StudyOptions, summary};
use std::collections::BTreeMap;

pub fn run(args: &StudyArgs) -> Result {
    let mut outputs = Outputs::new();
    sensors::input(args.sensor.sensor.as_deref(), &mut outputs);
    let assume = args
        .assume
        .as_deref()
        .map(|name| machine::input(name, &mut outputs))
        .transpose()?;
    if let Some(m) = assume.as_ref().filter(|m| !m.has_energy()) {
        return Err(
            AppError::new(format!("`{}` has no energy costs to assume", m.name))
                .hint("`greenup machines` shows which machines have them"),
        );
    }
    let found = present::find(&args.device)?;
    // Find out before measuring, not after.
    let devices = found.names();
    outputs.folder(&args.out)?;
    check(&mut outputs, &args.out, &devices)?;
    let (cpu, gpus) = setup::options(args, found.cpu, found.gpus, assume.is_some())?;
    let known = found.missing.len();
    for why in &found.missing {
        print::warn(why);
    }
    let mut options = StudyOptions {
        cpu,
        gpus,
        missing: found.missing,
        assume,
        provenance: Provenance::of_process(),
    };
    print::note(format!(
        "studies {}: about {}",
        devices.join(", "),
        duration(options.seconds())
    ));
    let records = devices
        .iter()
        .map(|d| {
            let name = format!("records{}-unfinished", suffix(d));
            Ok((d.clone(), Journal::create(&args.out, &name, "csv")?))
        })
        .collect::<Result<BTreeMap<_, _>>>()?;
    let mut kept = Journals {
        records,
        kernels: Journal::create(&args.out, "kernels-unfinished", "jsonl")?,
    };
    for journal in kept.records.values() {
        print::note(format!(
            "records are kept in {} until the end",
            journal.path().display()
        ));
    }
    let study = {
        let bars = Bars::new();
        greenup_study::run(&mut options, &bars, &mut kept).map_err(|e| {
            let e = AppError::from(e);
            match kept.with_records() {
                Some(journal) => measured_in(journal, e),
                None => e,
            }
        })?
    };
    let _saving = interrupt::saving();
    let summary = summary(&study);
    let saved = save(&study, &summary, &args.out);
    if saved.is_ok() {
        kept.done(&study);
    }
    let written = saved.or_else(|e| rescue(&study, &summary, &args.out, e));
    if args.json {
        print::json(&summary)?;
    } else {
        terminal::print(&study, known);
    }
    let dir = written?;
    print::note(format!("\nopen {}", dir.join("report.html").display()));
    Ok(())
}

/// A duration in words.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{:.0} s", (s / 10.0).ceil() * 10.0),
        s => format!("{:.1} min", s / 60.0),
    }
}
