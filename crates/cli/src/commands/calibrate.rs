//! `greenup calibrate`.

use crate::args::CalibrateArgs;
use crate::commands::fit::print;
use crate::error::{CliError, Result, write};
use crate::progress::Bars;
use crate::{choose, out};
use greenup_calibrate::machine::build;
use greenup_calibrate::suite::{Depth, plan};
use greenup_calibrate::{FitOptions, record, suite};
use greenup_device::{CpuFacts, Team};
use greenup_meter::Policy;
use greenup_report::si::{percent, si};
use std::path::PathBuf;

pub fn run(args: &CalibrateArgs) -> Result {
    let out_path = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("machines").join(format!("{}.toml", args.name)));
    let chosen = choose::sensors(args.sensor.sensor.as_deref(), choose::Target::Host, 0.5)?;
    if let Some(why) = &chosen.missing {
        out::note(format!("time only: {why}"));
    }
    let (policy, depth) = if args.quick {
        (Policy::quick(), Depth::Quick)
    } else {
        (Policy::thorough(), Depth::Full)
    };
    let mut meter = chosen.meter(policy);
    let facts = CpuFacts::read();
    let team = Team::new(&facts.cores);
    let calibration = {
        let bars = Bars::new();
        suite::run(
            &plan(depth, facts.cores.len()),
            &facts,
            &team,
            &mut meter,
            &bars,
        )
    };
    if calibration.points.is_empty() {
        return Err(CliError::new("interrupted before anything was measured"));
    }
    let options = FitOptions {
        method: args.method.into(),
        ..FitOptions::default()
    };
    let command = format!(
        "greenup calibrate --name {}{}",
        args.name,
        if args.quick { " --quick" } else { "" }
    );
    // The records come first: they are kept even where the fit fails.
    if let Some(path) = &args.records {
        let records: Vec<_> = calibration
            .points
            .iter()
            .map(|p| p.record(facts.cores.len()))
            .collect();
        write(path, record::to_csv(&records).as_bytes())?;
        out::note(format!("wrote {}", path.display()));
    }
    let (machine, fit, _) = build(&args.name, &calibration, &facts, &command, &options)?;
    let saved = write(&out_path, machine.to_toml()?.as_bytes());
    if args.json {
        out::json(&fit)?;
    } else {
        out::line(out::bold(&machine.title));
        print(&fit);
        for p in &calibration.peaks {
            out::line(format!(
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
    saved?;
    out::note(format!("wrote {}", out_path.display()));
    Ok(())
}
