//! `greenup calibrate --levels`: the levels of the memory hierarchy.

use crate::args::CalibrateArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::progress::Bars;
use greenup_app::{folders, interrupt, print, sensors};
use greenup_calibrate::gpu::context::BenchContext;
use greenup_calibrate::gpu::suite::policy;
use greenup_calibrate::levels::{self, Cost, LevelCost};
use greenup_device::CpuFacts;
use greenup_meter::Policy;
use greenup_report::provenance::Provenance;
use greenup_report::table::Columns;
use serde_json::json;
use std::time::Instant;

pub fn run(args: &CalibrateArgs, gpu: Option<usize>) -> Result {
    let mut from = Provenance::of_process();
    let start = Instant::now();
    let named = args.sensor.sensor.as_deref();
    let (device, all) = match gpu {
        Some(ordinal) => {
            let gpu = sensors::gpu(Some(&ordinal.to_string()))?;
            let chosen = sensors::sensors(named, sensors::on_gpu(&gpu)?, 0.5)?;
            without_energy(chosen.missing.as_deref());
            let mut meter = chosen.meter(policy(args.quick));
            let name = gpu.name.clone();
            let mut context = BenchContext::new(gpu, &folders::cache()?.join("cubins"))?;
            let all = levels::gpu(&mut context, &mut meter, &Bars::new());
            (name, all.map_err(|e| AppError::new(e.to_string()))?)
        }
        None => {
            let chosen = sensors::sensors(named, sensors::Target::Host, 0.5)?;
            without_energy(chosen.missing.as_deref());
            let mut meter = chosen.meter(if args.quick {
                Policy::quick()
            } else {
                Policy::thorough()
            });
            let facts = CpuFacts::read();
            let all = levels::cpu(&facts, &mut meter, &Bars::new());
            (format!("{}, {} cores", facts.model, facts.cores.len()), all)
        }
    };
    if all.is_empty() {
        return Err(AppError::interrupted(
            "interrupted before a level was measured",
        ));
    }
    from.took("measurement", start.elapsed().as_secs_f64());
    if args.json {
        print::json(&json!({"provenance": from, "device": device, "levels": all}))?;
    } else {
        print::line(print::bold(&device));
        table(&all);
    }
    if interrupt::requested() {
        Err(AppError::interrupted(
            "interrupted: the levels above are whole",
        ))
    } else {
        Ok(())
    }
}

fn without_energy(why: Option<&str>) {
    if let Some(why) = why {
        print::note(format!("time only: {why}"));
    }
}

fn table(all: &[LevelCost]) {
    let time = |c: &Option<Cost>| c.as_ref().map(|c| c.time_s);
    let joules = |c: &Option<Cost>| c.as_ref()?.energy_j;
    let columns = Columns::<LevelCost>::new()
        .text("level", "", |l| l.level.clone())
        .si("table", "", "B", |l| l.table_bytes as f64)
        .si("stream", "", "B/s", move |l| time(&l.byte).map(f64::recip))
        .si("time/byte", "", "s", move |l| time(&l.byte))
        .si("J/byte", "", "J", move |l| joules(&l.byte))
        .si("random", "", "/s", move |l| time(&l.access).map(f64::recip))
        .si("J/access", "", "J", move |l| joules(&l.access))
        .si("latency", "", "s", |l| l.latency_s);
    print::table(&columns.table("", all));
}
