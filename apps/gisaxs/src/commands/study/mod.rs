//! `gisaxs study`.

mod cases;
mod scaling;

use super::files::write;
use super::mesh_form_factor::MethodArg;
use crate::gpu::Device;
use crate::mesh_form_factor::{Method, Watch};
use crate::study::{CAPTION, Case, On, Row, StudyPage, columns, run};
use crate::wisdom;
use cases::Cases;
use clap::Args;
use greenup_app::args::{DeviceSetArg, MachineArg, SensorArg, ThreadsArg, order, pin_pool};
use greenup_app::study::{Bench, measure};
use greenup_app::{AppError, Result, interrupt, machine, print};
use greenup_device::affinity::Pin;
use greenup_device::{DeviceSpec, Usable};
use greenup_files::Outputs;
use greenup_files::outputs::ending;
use greenup_meter::Policy;
use greenup_report::provenance::Provenance;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Args)]
pub struct StudyArgs {
    #[command(flatten)]
    device: DeviceSetArg,
    /// Cases of the HipGISAXS paper to measure
    #[arg(long, value_enum, default_value = "small")]
    cases: Cases,
    /// Measure this method only (repeatable)
    #[arg(long, value_enum)]
    method: Vec<MethodArg>,
    /// Compare 1, 2, 4, … and all GPUs of --device on the largest case of each method: time, energy, equality of all digits.
    /// Without GPUs: 1, 2, 4, … and all threads on the smallest case of each method
    #[arg(long, conflicts_with_all = ["cases", "machine", "sensor", "window"])]
    scaling: bool,
    /// Interleaved rounds of --scaling
    #[arg(long, default_value_t = 3, value_name = "N", requires = "scaling", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Do not measure energy with --scaling
    #[arg(long, requires = "scaling")]
    no_energy: bool,
    #[command(flatten)]
    machine: MachineArg,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Pin threads to CPUs: none, compact, balanced or scatter; with --scaling several, to be compared
    #[arg(long, value_name = "ORDER", default_value = "none", value_delimiter = ',', value_parser = order)]
    pin: Vec<Pin>,
    #[command(flatten)]
    sensor: SensorArg,
    /// Duration of a measurement window, s
    #[arg(long, default_value_t = 0.3, value_name = "S")]
    window: f64,
    /// Write the rows after each case: json, or html (an HTML page)
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the rows as JSON
    #[arg(long)]
    json: bool,
}

/// Formats of the output.
const ENDINGS: [&str; 2] = ["json", "html"];

pub fn study(args: &StudyArgs) -> Result {
    let mut provenance = Provenance::of_process();
    let mut page = false;
    if let Some(path) = &args.out {
        let mut out = Outputs::new();
        if let Some(machine) = args.machine.machine.as_deref().and_then(machine::file) {
            out.input(machine);
        }
        out.file(path, &ENDINGS)?;
        page = ending(path, &ENDINGS)? == "html";
    }
    args.threads.start()?;
    let on_cpu = !args.device.device.is_gpu();
    match args.pin[..] {
        // Each number of threads has a pool of its own.
        _ if args.scaling && on_cpu => {}
        [pin] => pin_pool(pin, (0, 1))?,
        _ => {
            let why = "several orders of --pin are compared by --scaling on a CPU";
            return Err(AppError::new(why).hint("name one order"));
        }
    }
    let methods: Vec<Method> = args.method.iter().copied().map(Method::from).collect();
    let of_methods = |mut all: Vec<Case>| {
        all.retain(|c| methods.is_empty() || methods.contains(&c.method));
        all
    };
    let keep = |value: &Value| match &args.out {
        Some(path) => write(path, format!("{value:#}\n")),
        None => Ok(()),
    };
    if args.scaling && page {
        return Err(AppError::new("--scaling writes json, not html"));
    }
    if args.scaling && on_cpu {
        return scaling::threads(args, &of_methods(cases::of_threads()), provenance, &keep);
    }
    if args.scaling {
        return scaling::gpus(args, &of_methods(cases::of_gpus()), provenance, &keep);
    }
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
    let all = of_methods(cases::cases(args.cases, device.is_some(), tensor));
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
    let rows = measure(
        &all,
        &mut provenance,
        Case::name,
        |case| Ok(run(case, &on, &mut bench, machine.as_ref(), &watch)?),
        |rows, provenance| match &args.out {
            Some(path) if page => {
                let page = StudyPage {
                    device: &name,
                    threads,
                    missing: missing.clone(),
                    rows,
                    provenance: provenance.pairs(),
                };
                write(path, page.render()?)
            }
            _ => keep(&value(rows, provenance)),
        },
    )?;
    print::line(if args.json {
        value(&rows, &provenance).to_string()
    } else {
        let lines = columns().table("", &rows).lines().join("\n");
        let missing = (missing.iter()).map(|why| format!("\nNo energy: {why}."));
        format!("{name}\n{lines}\n{CAPTION}{}", missing.collect::<String>())
    });
    complete(rows.len(), all.len())
}

/// An error if the user interrupted before the last case.
fn complete(done: usize, all: usize) -> Result {
    if done == all {
        return Ok(());
    }
    let why = format!("interrupted: {done} of {all} cases are above");
    Err(AppError::interrupted(why))
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
