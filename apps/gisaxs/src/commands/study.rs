//! `gisaxs study`.

use super::files::write;
use super::mesh_form_factor::MethodArg;
use super::scaling::scaling;
use super::threads::threads;
use super::watched;
use crate::gpu::Device;
use crate::mesh_form_factor::{Method, Precision};
use crate::study::{Case, On, Row, StudyPage, method, run};
use crate::wisdom;
use clap::{Args, ValueEnum};
use greenup_app::args::{DeviceSetArg, MachineArg, SensorArg, ThreadsArg, order, pin_pool};
use greenup_app::progress::Bars;
use greenup_app::{AppError, Result, machine, print, sensors};
use greenup_device::affinity::Pin;
use greenup_device::{DeviceSpec, Usable};
use greenup_files::Outputs;
use greenup_files::outputs::ending;
use greenup_meter::Policy;
use greenup_meter::choose::Target;
use greenup_report::provenance::Provenance;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Cases {
    /// The smallest
    Small,
    /// Those that a CPU computes in minutes
    Paper,
    /// All
    All,
}

/// Rows and columns of balls with 6,600, 91,680 and 7,500,000 triangles.
const BALLS: [(usize, usize); 3] = [(56, 60), (192, 240), (1501, 2500)];
/// Grids of 2 and 8 million q.
const GRIDS: [(usize, usize); 2] = [(2000, 1000), (4000, 2000)];

/// `tensor`: whether the device has tensor cores for f16x2.
fn cases(which: Cases, gpu: bool, tensor: bool) -> Vec<Case> {
    let mut out = Vec::new();
    let methods = [Method::Direct, Method::Gemm, Method::Nufft];
    for (b, ball) in BALLS.into_iter().enumerate() {
        for (g, grid) in GRIDS.into_iter().enumerate() {
            for method in methods {
                for im_qz in [0.0, 0.01] {
                    let case = Case {
                        ball,
                        grid,
                        im_qz,
                        method,
                        precision: Precision::F32,
                    };
                    // Direct sums of the large meshes take minutes to hours on a CPU, those of the largest on any machine.
                    let wanted = match which {
                        Cases::Small => b == 0 && g == 0,
                        Cases::Paper => b == 0 || (b == 1 && (gpu || method == Method::Nufft)),
                        Cases::All => {
                            b < 2 || method == Method::Nufft || (tensor && method == Method::Gemm)
                        }
                    };
                    if !wanted || !(im_qz > 0.0 || method == Method::Direct || b == 0) {
                        continue;
                    }
                    // The largest factors of a product in single precision fill no GPU.
                    if b < 2 || method != Method::Gemm {
                        out.push(case);
                    }
                    if tensor && method == Method::Gemm {
                        out.push(Case {
                            precision: Precision::F16x2,
                            ..case
                        });
                    }
                }
            }
        }
    }
    out
}

/// The cases of `--scaling`: 7.5 million triangles and 8 million q by GEMM on tensor cores and by the nonuniform FFT, and
/// 91,680 triangles by direct sums.
fn scaling_cases(methods: &[Method]) -> Vec<Case> {
    let case = |ball: usize, method: Method, precision: Precision| Case {
        ball: BALLS[ball],
        grid: GRIDS[1],
        im_qz: 0.01,
        method,
        precision,
    };
    [
        case(2, Method::Gemm, Precision::F16x2),
        case(2, Method::Nufft, Precision::F32),
        case(1, Method::Direct, Precision::F32),
    ]
    .into_iter()
    .filter(|c| methods.is_empty() || methods.contains(&c.method))
    .collect()
}

/// The cases of `--scaling` without GPUs: 6,600 triangles and 2 million q by each method.
fn thread_cases(methods: &[Method]) -> Vec<Case> {
    [Method::Direct, Method::Gemm, Method::Nufft]
        .into_iter()
        .filter(|m| methods.is_empty() || methods.contains(m))
        .map(|method| Case {
            ball: BALLS[0],
            grid: GRIDS[0],
            im_qz: 0.01,
            method,
            precision: Precision::F32,
        })
        .collect()
}

/// Formats of the output.
const ENDINGS: [&str; 2] = ["json", "html"];

pub fn study(args: &StudyArgs) -> Result {
    let provenance = Provenance::of_process();
    if let Some(path) = &args.out {
        let mut out = Outputs::new();
        if let Some(machine) = args.machine.machine.as_deref().and_then(machine::file) {
            out.input(machine);
        }
        out.file(path, &ENDINGS)?;
    }
    args.threads.start()?;
    let on_cpu = !args.device.device.is_gpu();
    match args.pin[..] {
        // Each number of threads has a pool of its own.
        _ if args.scaling && on_cpu => {}
        [pin] => pin_pool(pin, (0, 1))?,
        _ => {
            return Err(AppError::new(
                "several orders of --pin are compared by --scaling on a CPU",
            )
            .hint("name one order"));
        }
    }
    let methods: Vec<Method> = args.method.iter().copied().map(Method::from).collect();
    if args.scaling {
        if let Some(path) = &args.out
            && ending(path, &ENDINGS)? == "html"
        {
            return Err(AppError::new("--scaling writes json, not html"));
        }
        let keep = |value: &serde_json::Value| match &args.out {
            Some(path) => write(path, format!("{value:#}\n")),
            None => Ok(()),
        };
        if on_cpu {
            let how = (&args.pin[..], args.rounds.into());
            return threads(&thread_cases(&methods), how, (args.json, &provenance), keep);
        }
        let some = scaling_cases(&methods);
        let how = (&args.device.device, args.rounds.into(), !args.no_energy);
        return scaling(&some, how, (args.json, &provenance), keep);
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
    let target = match &device {
        None => Target::Host,
        Some(d) => sensors::on_gpu(&d.gpu)?,
    };
    let chosen = sensors::sensors(args.sensor.sensor.as_deref(), target, 0.3)?;
    let (sensor, missing) = (chosen.main(), chosen.missing.clone());
    let mut meter = chosen.meter(policy);
    let all: Vec<Case> = cases(
        args.cases,
        device.is_some(),
        device.as_ref().is_some_and(Device::has_f16x2),
    )
    .into_iter()
    .filter(|c| methods.is_empty() || methods.contains(&c.method))
    .collect();
    if all.is_empty() {
        return Err(AppError::new("no case of this study uses this method")
            .hint("use --method direct, gemm or nufft"));
    }
    let name = device
        .as_ref()
        .map_or_else(wisdom::cpu, |d| d.gpu.name.clone());
    let start = Instant::now();
    let so_far = || {
        let mut provenance = provenance.clone();
        provenance.took("measurements", start.elapsed().as_secs_f64());
        provenance
    };
    let value = |rows: &[Row]| {
        json!({
            "device": name, "threads": rayon::current_num_threads(), "version": env!("CARGO_PKG_VERSION"),
            "machine": args.machine.machine, "sensor": sensor, "rows": rows,
            "provenance": so_far(),
        })
    };
    let keep = |rows: &[Row]| match &args.out {
        Some(path) if ending(path, &ENDINGS)? == "html" => {
            let page = StudyPage {
                device: &name,
                threads: rayon::current_num_threads(),
                missing: missing.clone(),
                rows,
                provenance: so_far().pairs(),
            };
            write(path, page.render()?)
        }
        Some(path) => write(path, format!("{:#}\n", value(rows))),
        None => Ok(()),
    };
    let rows: Vec<Row> = watched(all.len() as u64, "cases", |watch| -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for case in &all {
            if watch.stopped() {
                break;
            }
            let quiet = Bars::quiet();
            rows.extend(run(
                case,
                &on,
                &mut meter,
                machine.as_ref(),
                &quiet,
                watch.stop,
            )?);
            // So that a kill loses one case only.
            keep(&rows)?;
            watch.tick(1);
        }
        Ok(rows)
    })?;
    keep(&rows)?;
    let text = if args.json {
        value(&rows).to_string()
    } else {
        let mut text = table(&name, &rows);
        if let Some(why) = &missing {
            text.push_str(&format!("\nNo energy: {why}."));
        }
        text
    };
    print::line(text);
    if rows.len() < all.len() {
        let (done, all) = (rows.len(), all.len());
        return Err(AppError::interrupted(format!(
            "interrupted: {done} of {all} cases are above"
        )));
    }
    Ok(())
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

fn table(device: &str, rows: &[Row]) -> String {
    let mut out = format!(
        "{device}\n{:>9} {:>9} {:>13} {:>7}  {:>22}  {:>9} {:>6} {:>7}  {:>9} {:>9}  {:>8}  {:>9} {:>9}\n",
        "triangles",
        "q",
        "method",
        "q_z",
        "time, s [95 %]",
        "GFLOP/s",
        "peak",
        "/W",
        "tri–q/s",
        "tri–q/J",
        "error",
        "predicted",
        "predicted"
    );
    for r in rows {
        let t = &r.measured.time_s;
        let or = |x: Option<f64>, f: &dyn Fn(f64) -> String| x.map_or("–".to_owned(), f);
        out.push_str(&format!(
            "{:>9} {:>9} {:>13} {:>7}  {:>8.3e} [{:.3e}…{:.3e}]  {:>9.1} {:>6} {:>7}  {:>9.2e} {:>9}  {:>8.1e}  {:>9} {:>9}\n",
            r.triangles,
            r.points,
            method(&r.case),
            if r.case.im_qz > 0.0 { "complex" } else { "real" },
            t.median,
            t.lo,
            t.hi,
            r.gflops,
            or(r.of_peak, &|x| format!("{:.0} %", 100.0 * x)),
            or(r.gflops_per_watt, &|x| format!("{x:.1}")),
            r.rate,
            or(r.per_joule, &|x| format!("{x:.2e}")),
            r.error.0,
            or(r.predicted_s, &|x| format!("{x:.2e} s")),
            or(r.predicted_j, &|x| format!("{x:.2e} J")),
        ));
    }
    out.push_str("GFLOP/s: by the operation counts of direct sums in the paper (42 n_t + 2 on GPUs, 85 n_t + 16 on CPUs) for every method.");
    out
}
