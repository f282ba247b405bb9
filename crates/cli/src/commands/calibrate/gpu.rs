//! `greenup calibrate --gpu N`.

use super::{command, journal, keep, measured_in, options, save};
use crate::args::CalibrateArgs;
use crate::commands::compile::failed;
use crate::commands::fit::{print, print_clocked};
use crate::error::{CliError, Result};
use crate::progress::Bars;
use crate::{choose, folders, out};
use greenup_calibrate::gpu::bed::Bed;
use greenup_calibrate::gpu::suite::{plan, run as measure};
use greenup_calibrate::machine::build_gpu;
use greenup_calibrate::record;
use greenup_meter::Policy;

pub fn run(args: &CalibrateArgs) -> Result {
    let gpu = choose::gpu(args.gpu.as_deref())?;
    let chosen = choose::sensors(args.sensor.sensor.as_deref(), choose::on_gpu(&gpu)?, 0.5)?;
    if let Some(why) = &chosen.missing {
        out::note(format!("time only: {why}"));
    }
    let mut meter = chosen.meter(policy(args.quick));
    let multiprocessors = u32::try_from(gpu.multiprocessors).unwrap_or(1);
    let mut bed = Bed::new(gpu, &folders::cache()?.join("cubins")).map_err(failed)?;
    let mut kept = journal(args)?;
    let calibration = {
        let bars = Bars::new();
        measure(
            &plan(multiprocessors, args.quick),
            &mut bed,
            &mut meter,
            &bars,
            &mut |r| record::keep(&mut kept, r),
        )
        .map_err(|e| measured_in(&kept, e))?
    };
    for why in &calibration.failed {
        out::warn(why);
    }
    if calibration.records.is_empty() {
        return Err(match calibration.interrupted {
            true => CliError::interrupted("interrupted before anything was measured"),
            false => CliError::new("nothing was measured"),
        });
    }
    let _saving = greenup_app::interrupt::saving();
    keep(args, &calibration.records)?;
    let (machine, fit, clocked) = build_gpu(
        &args.name,
        &calibration,
        &bed.gpu,
        &command(args),
        &options(args),
    )
    .map_err(|e| measured_in(&kept, e))?;
    let saved = save(args, &machine, kept);
    if args.json {
        out::json(&fit)?;
    } else {
        out::line(out::bold(&machine.title));
        print(&fit);
        if let Some(c) = &clocked {
            print_clocked(c);
        }
    }
    saved
}

/// Windows long enough for a counter that ticks ten times a second.
fn policy(quick: bool) -> Policy {
    let (window_s, min_ticks, repeats) = if quick { (0.5, 5, 1) } else { (1.0, 10, 1) };
    Policy {
        window_s,
        min_ticks,
        warmup_s: 0.5 * window_s,
        max_warmups: 1,
        min_repeats: repeats,
        max_repeats: repeats,
        rel_error: 0.005,
    }
}
