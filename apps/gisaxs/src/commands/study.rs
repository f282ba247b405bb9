//! `gisaxs study`.

use super::device::DeviceArg;
use super::files::write;
use super::numeric::WayArg;
use super::{Result, watched};
use clap::{Args, ValueEnum};
use greenup_app::{interrupt, machine, stdout};
use greenup_files::Outputs;
use greenup_gisaxs::gpu::Device;
use greenup_gisaxs::numeric::{Precision, Way};
use greenup_gisaxs::study::{Case, On, Row, run};
use greenup_gisaxs::{GisaxsError, wisdom};
use greenup_meter::choose::{Target, sensors};
use greenup_meter::observe::Observer;
use greenup_meter::{Policy, Problem};
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct StudyArgs {
    #[command(flatten)]
    device: DeviceArg,
    /// Problems: the smallest of the paper, all of it that a CPU can do in minutes, or all
    #[arg(long, value_enum, default_value = "small")]
    cases: Cases,
    /// Only this way; again for more
    #[arg(long, value_enum)]
    way: Vec<WayArg>,
    /// Machine to predict by: a name of `greenup machines`, or a file as `greenup fit` writes it
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,
    /// Threads; by default all cores
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Energy sensor; none: time alone
    #[arg(long, value_name = "ID")]
    sensor: Option<String>,
    /// Seconds of a measuring window
    #[arg(long, default_value_t = 0.3, value_name = "S")]
    window: f64,
    /// Keep the rows as JSON
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the rows as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Cases {
    Small,
    Paper,
    All,
}

/// Rows and columns of balls with 6,600, 91,680 and 7,500,000 triangles.
const BALLS: [(usize, usize); 3] = [(56, 60), (192, 240), (1501, 2500)];
/// Grids of 2 and 8 million q.
const GRIDS: [(usize, usize); 2] = [(2000, 1000), (4000, 2000)];

/// `tensor`: whether there are tensor cores for products of halves.
fn cases(which: Cases, gpu: bool, tensor: bool) -> Vec<Case> {
    let mut out = Vec::new();
    let ways = [Way::Direct, Way::Product, Way::Nufft];
    for (b, ball) in BALLS.into_iter().enumerate() {
        for (g, grid) in GRIDS.into_iter().enumerate() {
            for way in ways {
                for damping in [0.0, 0.01] {
                    let case = Case {
                        ball,
                        grid,
                        damping,
                        way,
                        precision: Precision::Single,
                    };
                    // Direct sums of the large ones take a CPU minutes to hours; the largest any machine.
                    let wanted = match which {
                        Cases::Small => b == 0 && g == 0,
                        Cases::Paper => b == 0 || (b == 1 && (gpu || way == Way::Nufft)),
                        Cases::All => b < 2 || way == Way::Nufft || (tensor && way == Way::Product),
                    };
                    if !wanted || !(damping > 0.0 || way == Way::Direct || b == 0) {
                        continue;
                    }
                    // The largest factors of a product in single precision fill no GPU.
                    if b < 2 || way != Way::Product {
                        out.push(case);
                    }
                    if tensor && way == Way::Product {
                        out.push(Case {
                            precision: Precision::Split,
                            ..case
                        });
                    }
                }
            }
        }
    }
    out
}

/// Shows nothing; ends when the user wants to stop.
struct Quiet;

impl Observer for Quiet {
    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}

pub fn study(args: &StudyArgs) -> Result<()> {
    let wrong = |m: String| GisaxsError::Sample(m);
    if let Some(path) = &args.out {
        let mut out = Outputs::new();
        if let Some(machine) = args.machine.as_deref().and_then(machine::file) {
            out.input(machine);
        }
        out.file(path, &["json"])?;
    }
    if let Some(n) = args.threads {
        let _ = rayon::ThreadPoolBuilder::new()
            .num_threads(n.max(1))
            .build_global();
    }
    let machine = match &args.machine {
        None => None,
        Some(name) => Some(machine::load(name).map_err(|e| {
            wrong(match e.hint() {
                Some(hint) => format!("{e}: {hint}"),
                None => e.to_string(),
            })
        })?),
    };
    let device = args.device.open()?;
    let wisdom = wisdom::read().map_err(wrong)?;
    let on = match &device {
        None => On::Cpu {
            blocks: wisdom.blocks(&wisdom::cpu()),
        },
        Some(device) => On::Gpu {
            device,
            config: wisdom.direct(&device.gpu.name),
        },
    };
    let policy = Policy {
        window_s: args.window,
        warmup_s: 0.5 * args.window,
        ..Policy::quick()
    };
    let unusable = |p: Problem| wrong(format!("{}: {}; {}", p.id, p.cause, p.cure));
    let target = match &device {
        None => Target::Host,
        Some(d) => Target::Gpu(d.gpu.bus_id.parse().map_err(unusable)?),
    };
    let chosen = sensors(args.sensor.as_deref(), target, 0.3, &mut busy).map_err(unusable)?;
    let (sensor, missing) = (chosen.main(), chosen.missing.clone());
    let mut meter = chosen.meter(policy);
    let ways: Vec<Way> = args.way.iter().copied().map(Way::from).collect();
    let all: Vec<Case> = cases(
        args.cases,
        device.is_some(),
        device.as_ref().is_some_and(Device::multiplies_halves),
    )
    .into_iter()
    .filter(|c| ways.is_empty() || ways.contains(&c.way))
    .collect();
    let name = device
        .as_ref()
        .map_or_else(wisdom::cpu, |d| d.gpu.name.clone());
    let value = |rows: &[Row]| {
        json!({
            "device": name, "threads": rayon::current_num_threads(), "version": env!("CARGO_PKG_VERSION"),
            "machine": args.machine, "sensor": sensor, "rows": rows,
        })
    };
    let keep = |rows: &[Row]| match &args.out {
        Some(path) => write(path, format!("{:#}\n", value(rows))),
        None => Ok(()),
    };
    let rows: Vec<Row> = watched(all.len() as u64, "cases", |watch| -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for case in &all {
            if watch.stopped() {
                break;
            }
            rows.extend(
                run(case, &on, &mut meter, machine.as_ref(), &Quiet, watch.stop).map_err(wrong)?,
            );
            // A kill loses only what is being measured.
            keep(&rows)?;
            watch.tick(1);
        }
        Ok(rows)
    })?;
    // Also where nothing was measured.
    keep(&rows)?;
    let text = if args.json {
        value(&rows).to_string()
    } else {
        let mut text = table(&name, &rows);
        if let Some(why) = missing {
            text.push_str(&format!("\nNo joules: {why}."));
        }
        text
    };
    stdout::line(text);
    if rows.len() < all.len() {
        let (done, all) = (rows.len(), all.len());
        return Err(wrong(format!("stopped: {done} of {all} cases are above")));
    }
    Ok(())
}

/// All cores busy for so many seconds.
fn busy(seconds: f64) {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    rayon::broadcast(|_| {
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    });
}

fn way(case: &Case) -> String {
    let name = json!(case.way);
    let name = name.as_str().unwrap_or_default();
    match case.precision {
        Precision::Split => format!("{name} f16x2"),
        _ => name.to_owned(),
    }
}

fn table(device: &str, rows: &[Row]) -> String {
    let mut out = format!(
        "{device}\n{:>9} {:>9} {:>13} {:>7}  {:>22}  {:>9} {:>6} {:>7}  {:>9} {:>9}  {:>8}  {:>9} {:>9}\n",
        "triangles",
        "q",
        "way",
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
            way(&r.case),
            if r.case.damping > 0.0 { "complex" } else { "real" },
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
    out.push_str("GFLOP/s by the paper's counts of direct sums (42 n_t + 2 on GPUs, 85 n_t + 16 on CPUs), whatever was executed.");
    out
}
