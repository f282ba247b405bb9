//! `greenup calibrate`.

mod common;
mod gpu;
mod levels;
mod network;

pub use common::measured_in;

use crate::args::{CalibrateArgs, MethodArg};
use crate::commands::model::fit::print;
use common::{command, estimate, file, journal, keep, options, page, save, with_provenance};
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::progress::Bars;
use greenup_app::{interrupt, print, sensors};
use greenup_calibrate::machine::build;
use greenup_calibrate::suite::{Depth, plan};
use greenup_calibrate::{record, suite};
use greenup_device::{CpuFacts, DeviceSpec, Team, Usable};
use greenup_files::Outputs;
use greenup_meter::Policy;
use greenup_report::provenance::Provenance;
use greenup_report::si::{percent, si};
use greenup_setting::shell::quoted;
use greenup_study::pages::calibration::Calibrated;
use serde_json::Value;
use std::time::Instant;

pub fn run(args: &CalibrateArgs) -> Result {
    if args.network {
        return network::run(args);
    }
    greenup_app::ranks::check_alone()?;
    if args.ranks.ranks.is_some() {
        return Err(AppError::new("--ranks is for messages between ranks").hint("add --network"));
    }
    let gpu = one_gpu(args.device.as_ref())?;
    if args.levels {
        return levels::run(args, gpu);
    }
    let page_to = check(args)?;
    let mut from = Provenance::of_process().seeded(Some(options(args).seed));
    if let Some(ordinal) = gpu {
        return gpu::run(args, ordinal, (page_to, from));
    }
    let chosen = sensors::sensors(args.sensor.sensor.as_deref(), sensors::Target::Host, 0.5)?;
    if let Some(why) = &chosen.missing {
        print::note(format!("time only: {why}"));
    }
    if chosen.missing.is_some() && args.method != MethodArg::Capped {
        print::note("--method has no effect on a machine without energies: times are roofs");
    }
    let (policy, depth) = if args.quick {
        (Policy::quick(), Depth::Quick)
    } else {
        (Policy::thorough(), Depth::Full)
    };
    let mut meter = chosen.meter(policy);
    let facts = CpuFacts::read();
    let team = Team::new(&facts.cores);
    let mut kept = journal(args)?;
    let plan = plan(depth, facts.cores.len());
    estimate(plan.len(), &meter);
    let start = Instant::now();
    let calibration = {
        let bars = Bars::new();
        suite::run(&plan, &facts, &team, &mut meter, &bars, &mut |r| {
            record::keep(&mut kept, r)
        })
        .map_err(|e| measured_in(&kept, e))?
    };
    if calibration.points.is_empty() {
        return Err(AppError::interrupted(
            "interrupted before anything was measured",
        ));
    }
    let _saving = interrupt::saving();
    from.took("measurement", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let options = options(args);
    let command = command();
    let records: Vec<_> = calibration
        .points
        .iter()
        .map(|p| p.record(facts.cores.len()))
        .collect();
    keep(args, &records)?;
    let (machine, fit, _) = build(&args.name, &calibration, &facts, &command, &options)
        .map_err(|e| measured_in(&kept, e))?;
    from.took("fit", start.elapsed().as_secs_f64());
    let calibrated = Calibrated {
        machine: &machine,
        fit: &fit,
        records: &records,
        gpu: false,
        file: Some(quoted(&file(args).to_string_lossy())),
    };
    let saved = save(args, &machine, kept).and_then(|()| page(&calibrated, &from, page_to));
    let noise = &calibration.noise;
    if args.json {
        let mut all = with_provenance(&fit, &from)?;
        if let (Value::Object(all), Value::Object(own)) = (&mut all, serde_json::to_value(noise)?) {
            all.extend(own);
        }
        print::json(&all)?;
    } else {
        if let Some(text) = noise.banner() {
            print::warn(text);
        }
        print::line(print::bold(&machine.title));
        print(&fit);
        for p in &calibration.peaks {
            print::line(format!(
                "{} peak: {}, {} [{} … {}] of cores × {} pipes × measured clock",
                p.op,
                si(p.flops_per_s, "flop/s"),
                percent(p.share.median),
                percent(p.share.lo),
                percent(p.share.hi),
                p.pipes
            ));
        }
    }
    // What was measured has been printed before a full disk can lose it.
    saved
}

/// The number of the GPU to calibrate; `None` for the host.
fn one_gpu(device: Option<&DeviceSpec>) -> Result<Option<usize>> {
    match device {
        None => Ok(None),
        Some(one) if Usable::ONE.check(one).is_ok() => Ok(one.gpu()),
        Some(several) => Err(AppError::new(format!(
            "--device {several}: one device is calibrated at a time"
        ))
        .hint("name one as cuda:N; --network measures messages between several")),
    }
}

/// Checks all outputs before anything is measured; returns the page's.
fn check(args: &CalibrateArgs) -> Result<Option<Output>> {
    let mut outputs = Outputs::new();
    sensors::input(args.sensor.sensor.as_deref(), &mut outputs);
    if args.out.is_none() && args.name.contains('/') {
        return Err(
            AppError::new(format!("invalid name of a machine: `{}`", args.name))
                .hint("a name has no `/`; --out names the file"),
        );
    }
    outputs.file(file(args), &["toml"])?;
    if let Some(path) = &args.records {
        outputs.file(path, &["csv"])?;
    }
    let page = (args.page.as_deref())
        .map(|path| Output::file(&mut outputs, path, &["html", "htm"]))
        .transpose()?;
    Ok(page)
}
