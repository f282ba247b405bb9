//! The cases of tables I to III on one device.

use super::args::StudyArgs;
use super::cases::cases;
use super::placed::{parameters, placed};
use crate::gpu::Device;
use crate::mesh_form_factor::Watch;
use crate::study::{CAPTION, Case, On, Row, StudyPage, columns, run};
use crate::wisdom;
use greenup_app::study::{self, Bench, Case as _, Files, Record};
use greenup_app::{AppError, Result, interrupt, print};
use greenup_device::{DeviceSpec, Usable};
use greenup_meter::Policy;
use greenup_report::provenance::Provenance;
use serde_json::json;

/// Measures the cases of the methods that the user wants.
pub fn tables(
    args: &StudyArgs,
    of_methods: impl Fn(Vec<Case>) -> Vec<Case>,
    mut provenance: Provenance,
    files: &Files,
) -> Result {
    let machine = args.machine.load()?;
    let device = only_gpu(&args.device.device)?;
    let wisdom = wisdom::read()?;
    let on = match &device {
        None => On::Cpu {
            blocks: wisdom.blocks(),
        },
        Some(device) => On::Gpu {
            device,
            config: wisdom.direct(&device.gpu),
        },
    };
    let policy = Policy {
        window_s: args.window,
        warmup_s: 0.5 * args.window,
        ..Policy::quick()
    };
    let named = args.sensor.sensor.as_deref();
    let mut bench = Bench::new(&args.device.device, named, policy)?;
    let sensor = bench.meter.main_sensor().map(str::to_owned);
    let missing = bench.missing.clone();
    let tensor = device.as_ref().is_some_and(Device::has_f16x2);
    let all = of_methods(cases(args.cases, device.is_some(), tensor));
    if all.is_empty() {
        return Err(AppError::new("no case of this study uses this method")
            .hint("use --method direct, gemm or nufft"));
    }
    let name = (device.as_ref()).map_or_else(wisdom::cpu, |d| d.gpu.name.clone());
    let threads = rayon::current_num_threads();
    let value = |rows: &[Row], provenance: &Provenance| {
        json!({
            "device": name, "threads": threads, "version": env!("CARGO_PKG_VERSION"),
            "machine": args.machine.machine, "sensor": sensor, "rows": rows, "provenance": provenance,
        })
    };
    let watch = Watch {
        progress: &|_| {},
        stop: interrupt::flag(),
    };
    let gpu = device.is_some();
    let devices = [(if gpu { 1 } else { threads }, args.pin[0])];
    let facts = study::facts(
        ("gisaxs", &name),
        &parameters(gpu),
        args.machine.machine.iter().map(|m| ("machine", m)),
        &provenance,
    );
    let rows = study::measure(
        &placed(&all, &devices, gpu),
        &mut Record::open(files.folder(), &facts)?,
        &mut provenance,
        |case| {
            let row = run(&case.case, &on, &mut bench, machine.as_ref(), &watch)?;
            Ok(row.map(|row| {
                let config = case.configs().remove(0);
                let mut trial = study::trial(config, std::slice::from_ref(&row.measured));
                trial.metrics.insert("error".into(), row.error.0);
                vec![(trial, row)]
            }))
        },
        |rows, provenance| {
            files.write("json", || {
                Ok(format!("{:#}\n", value(rows, provenance)).into())
            })?;
            files.write("html", || {
                let page = StudyPage {
                    device: &name,
                    threads,
                    missing: missing.clone(),
                    rows,
                    provenance: provenance.pairs(),
                };
                Ok(page.render()?.into())
            })
        },
    )?;
    if args.json {
        print::data(value(&rows, &provenance).to_string());
    } else {
        print::line(&name);
        print::table(&columns().table("", &rows));
        print::line(CAPTION);
        if let Some(why) = &missing {
            print::line(format!("No energy: {why}."));
        }
    }
    study::complete()
}

/// The only GPU; `None` for the CPU.
fn only_gpu(device: &DeviceSpec) -> Result<Option<Device>> {
    if Usable::ONE.check(device).is_err() {
        return Err(
            AppError::new(format!("--device {device}: cases run on one GPU"))
                .hint("name one, or add --scaling to compare numbers of GPUs"),
        );
    }
    Ok(device.gpu().map(Device::open).transpose()?)
}
