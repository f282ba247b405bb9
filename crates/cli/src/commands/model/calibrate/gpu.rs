//! `greenup calibrate --device cuda:N`.

use super::{
    command, estimate, file, journal, keep, measured_in, options, page, save, with_provenance,
};
use crate::args::CalibrateArgs;
use crate::commands::model::fit::{print, print_clocked};
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::progress::Bars;
use greenup_app::{folders, print, sensors};
use greenup_calibrate::gpu::context::BenchContext;
use greenup_calibrate::gpu::suite::{plan, policy, run as measure};
use greenup_calibrate::machine::build_gpu;
use greenup_calibrate::record;
use greenup_report::provenance::Provenance;
use greenup_setting::shell::quoted;
use greenup_study::pages::calibration::Calibrated;
use std::time::Instant;

pub fn run(
    args: &CalibrateArgs,
    ordinal: usize,
    (page_to, mut from): (Option<Output>, Provenance),
) -> Result {
    let gpu = sensors::gpu(Some(&ordinal.to_string()))?;
    let chosen = sensors::sensors(args.sensor.sensor.as_deref(), sensors::on_gpu(&gpu)?, 0.5)?;
    if let Some(why) = &chosen.missing {
        print::note(format!("time only: {why}"));
    }
    let mut meter = chosen.meter(policy(args.quick));
    let multiprocessors = u32::try_from(gpu.multiprocessors).unwrap_or(1);
    let mut context = BenchContext::new(gpu, &folders::cache()?.join("cubins"))?;
    let mut kept = journal(args)?;
    let plan = plan(multiprocessors, args.quick);
    estimate(plan.len(), &meter);
    let start = Instant::now();
    let calibration = {
        let bars = Bars::new();
        measure(&plan, &mut context, &mut meter, &bars, &mut |r| {
            record::keep(&mut kept, r)
        })
        .map_err(|e| measured_in(&kept, e))?
    };
    for why in &calibration.failed {
        print::warn(why);
    }
    if calibration.records.is_empty() {
        return Err(if calibration.interrupted {
            AppError::interrupted("interrupted before anything was measured")
        } else {
            AppError::new("no microbenchmark of the GPU was measured")
                .hint("the warnings above say why")
        });
    }
    let _saving = greenup_app::interrupt::saving();
    from.took("measurement", start.elapsed().as_secs_f64());
    let start = Instant::now();
    keep(args, &calibration.records)?;
    let (machine, fit, clocked) = build_gpu(
        &args.name,
        &calibration,
        &context.gpu,
        &command(),
        &options(args),
    )
    .map_err(|e| measured_in(&kept, e))?;
    from.took("fit", start.elapsed().as_secs_f64());
    let calibrated = Calibrated {
        machine: &machine,
        fit: &fit,
        records: &calibration.records,
        gpu: true,
        file: Some(quoted(&file(args).to_string_lossy())),
    };
    let saved = save(args, &machine, kept).and_then(|()| page(&calibrated, &from, page_to));
    if args.json {
        print::json(&with_provenance(&fit, &from)?)?;
    } else {
        print::line(print::bold(&machine.title));
        print(&fit);
        if let Some(c) = &clocked {
            print_clocked(c);
        }
    }
    saved
}
