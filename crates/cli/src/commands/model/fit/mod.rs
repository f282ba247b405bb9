//! `greenup fit`.

mod dvfs_data;
mod terminal;

pub use terminal::{print, print_clocked};

use crate::args::FitArgs;
use dvfs_data::run_dvfs;
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::{output, print};
use greenup_calibrate::fit::clocked::fit_clocked;
use greenup_calibrate::fit::leakage::fit_leakage;
use greenup_calibrate::fit::{FitError, FitOptions, fit};
use greenup_calibrate::machine::of_records;
use greenup_calibrate::record::{self, Record};
use greenup_files::Outputs;
use greenup_model::Machine;
use greenup_report::provenance::Provenance;
use greenup_setting::shell::quoted;
use greenup_study::pages::calibration::Calibrated;
use std::path::Path;
use std::time::Instant;
use terminal::print_leakage;

pub fn run(args: &FitArgs) -> Result {
    if args.dvfs {
        return run_dvfs(args);
    }
    let mut outputs = Outputs::new();
    outputs.input(&args.file);
    let to = output::optional(&mut outputs, args.out.as_deref(), &["toml"], args.json)?;
    let page_to = (args.page.as_deref())
        .map(|path| Output::file(&mut outputs, path, &["html", "htm"]))
        .transpose()?;
    let mut from = Provenance::of_process();
    let start = Instant::now();
    let records = record::read(&args.file)?;
    let options = FitOptions {
        method: args.method.into(),
        resamples: args.resamples.max(20),
        ..FitOptions::default()
    };
    if args.clocked {
        return run_clocked(args, &records, &options, to);
    }
    let title = format!("fitted to {}", args.file.display());
    let of_file = |e: String| AppError::new(format!("{}: {e}", args.file.display()));
    let seeded = options.seed;
    let (machine, fit) = if args.roofs {
        let (machine, fit, _) = of_records(&args.name, &title, &records, &options)
            .map_err(|e| of_file(e.to_string()))?;
        (Some(machine), fit)
    } else {
        let fit = fit(&records, &options).map_err(|e| of_file(e.to_string()))?;
        let wanted = to.is_some() || page_to.is_some();
        let machine = wanted.then(|| fit.to_machine(&args.name, &title));
        (machine.transpose()?, fit)
    };
    if let Some(machine) = &machine {
        save(to.as_ref(), machine)?;
        if let Some(to) = &page_to {
            from.took("fit", start.elapsed().as_secs_f64());
            // Only records of a GPU hold its clock.
            let calibrated = Calibrated {
                machine,
                fit: &fit,
                records: &records,
                gpu: machine.clock.is_some(),
                file: (args.out.as_deref())
                    .filter(|f| *f != Path::new("-"))
                    .map(|f| quoted(&f.to_string_lossy())),
            };
            write_page(&calibrated, &from.seeded(Some(seeded)), to)?;
        }
    }
    if args.json {
        return print::json(&fit);
    }
    if to.is_some_and(|to| to.is_stdout()) {
        return Ok(());
    }
    print(&fit);
    if !args.roofs && is_calibration(&records) {
        print::note(
            "times are least squares over all records; `calibrate` and `study` take the best rate that any sustained: --roofs does the same",
        );
    }
    Ok(())
}

/// Whether `greenup calibrate` or `study` wrote these records.
fn is_calibration(records: &[Record]) -> bool {
    records.iter().all(|r| r.note("_time_lo_s").is_some())
}

/// Writes the page of a calibration.
pub fn write_page(calibrated: &Calibrated, from: &Provenance, to: &Output) -> Result {
    let mut page = calibrated.page()?;
    page.provenance = from.facts();
    to.write(page.render()?.as_bytes())?;
    to.print_name();
    Ok(())
}

fn save(to: Option<&Output>, machine: &Machine) -> Result {
    if let Some(to) = to {
        to.write(machine.to_toml()?.as_bytes())?;
        to.print_name();
    }
    Ok(())
}

/// The cap through the clock.
fn run_clocked(
    args: &FitArgs,
    records: &[Record],
    options: &FitOptions,
    to: Option<Output>,
) -> Result {
    let fit = fit_clocked(records, options.resamples).map_err(|e| {
        let error = AppError::new(format!("{}: {e}", args.file.display()));
        match e {
            FitError::Clock { .. } => error,
            _ => error.hint("records need the columns energy_j and _clock_hz; `greenup calibrate --device cuda` writes them"),
        }
    })?;
    if to.is_some() {
        let title = format!("fitted to {}", args.file.display());
        let (machine, ..) = of_records(&args.name, &title, records, options)?;
        save(to.as_ref(), &machine)?;
    }
    // Records of other programs may hold no temperature.
    let leakage = fit_leakage(records, options.resamples.min(60)).ok();
    if args.json {
        let mut all = serde_json::to_value(&fit)?;
        if let Some(all) = all.as_object_mut() {
            all.insert("leakage".into(), serde_json::to_value(&leakage)?);
        }
        return print::json(&all);
    }
    if !to.is_some_and(|to| to.is_stdout()) {
        print_clocked(&fit);
        if let Some(leakage) = &leakage {
            print_leakage(leakage);
        }
    }
    Ok(())
}
