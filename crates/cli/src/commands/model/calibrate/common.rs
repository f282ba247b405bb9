//! What calibrations of CPUs, GPUs and networks have in common.

use crate::args::CalibrateArgs;
use crate::commands::model::fit::write_page;
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::print;
use greenup_calibrate::fit::Fit;
use greenup_calibrate::{FitOptions, Record, record};
use greenup_files::{Journal, write};
use greenup_meter::Meter;
use greenup_model::Machine;
use greenup_report::provenance::Provenance;
use greenup_study::pages::calibration::Calibrated;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Prints how long so many microbenchmarks take.
pub(super) fn estimate(benches: usize, meter: &Meter) {
    // Two references before and after them.
    let each = meter.typical_s();
    print::estimate(
        (benches + 4) as f64 * each,
        format!(
            "{benches} microbenchmarks of about {}",
            print::duration(each)
        ),
    );
}

/// The fit with where it comes from.
pub(super) fn with_provenance(fit: &Fit, from: &Provenance) -> Result<Value> {
    let mut all = serde_json::to_value(fit)?;
    if let Value::Object(keys) = &mut all {
        keys.insert("provenance".into(), serde_json::to_value(from)?);
    }
    Ok(all)
}

/// Writes the page, if one was wanted.
pub(super) fn page(calibrated: &Calibrated, from: &Provenance, to: Option<Output>) -> Result {
    to.map_or(Ok(()), |to| write_page(calibrated, from, &to))
}

/// The machine's file.
pub(super) fn file(args: &CalibrateArgs) -> PathBuf {
    args.out
        .clone()
        .unwrap_or_else(|| PathBuf::from("machines").join(format!("{}.toml", args.name)))
}

/// Where the records are until the machine is written: beside it.
pub(super) fn journal(args: &CalibrateArgs) -> Result<Journal> {
    let file = file(args);
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let folder = file.parent().unwrap_or(Path::new(""));
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let kept = Journal::create(folder, &format!("{stem}-unfinished"), "csv")?;
    print::note(format!(
        "records are kept in {} until the end",
        kept.path().display()
    ));
    Ok(kept)
}

/// An error of a calibration, with where its records are.
pub fn measured_in(kept: &Journal, e: impl Into<AppError>) -> AppError {
    let mut e = e.into();
    if kept.lines() > 0 {
        let place = kept.path().display();
        e.message
            .push_str(&format!("; what was measured is in {place}"));
    }
    e
}

pub(super) fn options(args: &CalibrateArgs) -> FitOptions {
    FitOptions {
        method: args.method.into(),
        ..FitOptions::default()
    }
}

/// The command that was given, as a machine records it.
pub(super) fn command() -> String {
    format!("greenup {}", greenup_report::provenance::arguments())
}

/// Writes the records, which are kept even where the fit fails.
pub(super) fn keep(args: &CalibrateArgs, records: &[Record]) -> Result {
    if let Some(path) = &args.records {
        write(path, record::to_csv(records).as_bytes())?;
        print::note(format!("wrote {}", path.display()));
    }
    Ok(())
}

pub(super) fn save(args: &CalibrateArgs, machine: &Machine, kept: Journal) -> Result {
    let path = file(args);
    let written = || -> Result { Ok(write(&path, machine.to_toml()?.as_bytes())?) };
    written().map_err(|e| measured_in(&kept, e))?;
    kept.done();
    print::note(format!("wrote {}", path.display()));
    Ok(())
}
