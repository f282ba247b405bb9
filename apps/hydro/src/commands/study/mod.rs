//! `hydro study`: time, power and energy of steps and their parts, for both assemblies and several orders, as in
//! figures 14 to 16 and table 7 of the BLAST paper.

mod cases;
pub mod compare;
mod comparison;
mod figures;
mod page;
mod power;
mod prepared;
mod record;
pub mod report;
mod row;
mod table;

use crate::session::settings::Assembly;
use cases::{WORK, cases, check};
use clap::Args;
use greenup_app::args::{DeviceArg, FigureArgs, MachineArg, SensorArg, ThreadsArg};
use greenup_app::study::{Bench, measure};
use greenup_app::{AppError, Result, interrupt, print};
use greenup_files::Outputs;
use greenup_meter::Policy;
use greenup_report::provenance::Provenance;
use prepared::Prepared;
use record::Study;
use std::path::PathBuf;

#[derive(Args)]
pub struct StudyArgs {
    /// Kinematic intervals per direction, held constant across orders
    #[arg(long, value_name = "N", default_value_t = 48)]
    intervals: usize,
    /// Dimension of the mesh: 1, 2 or 3
    #[arg(long, value_name = "D", default_value_t = 3)]
    dim: usize,
    /// Kinematic orders; the number of zones is rounded
    #[arg(
        long,
        value_name = "K,...",
        value_delimiter = ',',
        default_value = "2,3,4"
    )]
    orders: Vec<usize>,
    /// Assembly of the operators [default: both]
    #[arg(long, value_enum)]
    assembly: Option<Assembly>,
    /// Kinds of work: whole steps, the corner force alone, the solve for accelerations alone
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        default_value = "step,corner,solve",
        value_parser = clap::builder::PossibleValuesParser::new(WORK.map(|w| w.0))
    )]
    work: Vec<String>,
    #[command(flatten)]
    device: DeviceArg,
    /// Duration of each measurement, s
    #[arg(long, value_name = "S", default_value_t = 3.0)]
    window: f64,
    #[command(flatten)]
    machine: MachineArg,
    #[command(flatten)]
    sensor: SensorArg,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Write the rows as JSON, and files of the same name: an HTML page, and the traces of power as .csv and .png
    #[arg(short, long, value_name = "FILE.json")]
    out: Option<PathBuf>,
    /// Print the rows as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: FigureArgs,
}

pub fn study(args: &StudyArgs) -> Result {
    check(args.dim, &args.orders, args.window)?;
    if let Some(path) = &args.out {
        let mut o = Outputs::new();
        o.file(path, &["json"])?;
        // All have the same name.
        for ending in ["html", "csv", "png"] {
            o.file(path.with_extension(ending), &[ending])?;
        }
    }
    args.threads.start()?;
    // Inside the pool, tasks start without waking a thread.
    rayon::scope(|_| run_in_pool(args))
}

fn run_in_pool(args: &StudyArgs) -> Result {
    let mut provenance = Provenance::of_process();
    let machine = args.machine.load()?;
    let (device, named) = (&args.device.device, args.sensor.sensor.as_deref());
    let policy = Policy {
        window_s: args.window / 3.0,
        warmup_s: args.window / 5.0,
        max_warmups: 1,
        min_repeats: 3,
        max_repeats: 3,
        ..Policy::quick()
    };
    let bench = Bench::new(device, named, policy)?.noted();
    let mut bench = bench.following(device, named);
    let mut prepared: Option<Prepared> = None;
    let rows = measure(
        &cases(&args.orders, args.assembly, &args.work),
        &mut provenance,
        |c| format!("Q{} {} {}", c.order, c.assembly.name(), c.work),
        |case| {
            // Parts of one step follow each other on the same engine.
            let same = |p: &Prepared| p.of == (case.order, case.assembly);
            let ready = match prepared.take().filter(same) {
                Some(ready) => ready,
                None => Prepared::new(case, (args.intervals, args.dim), device)?,
            };
            prepared
                .insert(ready)
                .row(case, &mut bench, machine.as_ref())
        },
        |rows, provenance| match &args.out {
            Some(path) => record::write(path, rows, provenance),
            None => Ok(()),
        },
    )?;
    let _saving = interrupt::saving();
    if args.json {
        print::json(&record::value(&rows, &provenance))?;
    } else {
        table::print(&rows);
    }
    let measured = rows.len();
    if let Some(path) = &args.out {
        record::write(path, &rows, &provenance)?;
        let study = Study {
            rows,
            provenance: provenance.facts(),
        };
        study.write_drawings(path, &provenance, &args.look.look())?;
    }
    if interrupt::requested() {
        let why = format!("stopped after {measured} measurements");
        return Err(AppError::interrupted(why));
    }
    Ok(())
}
