//! `hydro study`: time, power and energy of steps and their parts, for both assemblies and several orders, as in
//! figures 14 to 16 and table 7 of the BLAST paper.

pub mod compare;
mod figures;
mod page;
mod prepared;
mod record;
pub mod report;

use crate::engine::Part;
use crate::session::settings::Assembly;
use clap::Args;
use greenup_app::args::{DeviceArg, FigureArgs, MachineArg, SensorArg, ThreadsArg};
use greenup_app::output::write_chart;
use greenup_app::study::{Bench, measure};
use greenup_app::{AppError, Result, interrupt, print};
use greenup_files::Outputs;
use greenup_meter::Policy;
use greenup_report::provenance::Provenance;
use prepared::Prepared;
use record::{Row, Study, WORK};
use std::path::{Path, PathBuf};

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

/// Work on the Sedov problem at one order.
struct Case {
    order: usize,
    assembly: Assembly,
    /// One of [`WORK`].
    work: &'static str,
    part: Option<Part>,
}

impl StudyArgs {
    fn check(&self) -> Result {
        if !(1..=3).contains(&self.dim) {
            return Err(AppError::new(format!("--dim {}: use 1, 2 or 3", self.dim)));
        }
        if let Some(order) = self.orders.iter().find(|o| !(1..=8).contains(*o)) {
            return Err(AppError::new(format!("--orders {order}: use 1 to 8")));
        }
        if !(self.window > 0.0 && self.window.is_finite()) {
            return Err(AppError::new(format!(
                "--window {}: it must be above 0",
                self.window
            )));
        }
        if let Some(path) = &self.out {
            let mut o = Outputs::new();
            for ending in ["json", "html", "csv", "png"] {
                // All have the same name.
                let path = match ending {
                    "json" => path.clone(),
                    _ => path.with_extension(ending),
                };
                o.file(path, &[ending])?;
            }
        }
        Ok(())
    }

    fn bench(&self) -> Result<Bench> {
        let (device, named) = (&self.device.device, self.sensor.sensor.as_deref());
        let policy = Policy {
            window_s: self.window / 3.0,
            warmup_s: self.window / 5.0,
            max_warmups: 1,
            min_repeats: 3,
            max_repeats: 3,
            ..Policy::quick()
        };
        let bench = Bench::new(device, named, policy)?.noted();
        Ok(bench.following(device, named))
    }

    fn cases(&self) -> Vec<Case> {
        let mut out = Vec::new();
        for order in &self.orders {
            for assembly in [Assembly::Full, Assembly::Partial] {
                for (work, part) in WORK {
                    let wanted = self.assembly.is_none_or(|only| only == assembly);
                    if wanted && self.work.iter().any(|w| w == work) {
                        let order = *order;
                        out.push(Case {
                            order,
                            assembly,
                            work,
                            part,
                        });
                    }
                }
            }
        }
        out
    }
}

pub fn study(args: &StudyArgs) -> Result {
    args.check()?;
    args.threads.start()?;
    // Inside the pool, tasks start without waking a thread.
    rayon::scope(|_| run_in_pool(args))
}

fn run_in_pool(args: &StudyArgs) -> Result {
    let mut provenance = Provenance::of_process();
    let machine = args.machine.load()?;
    let mut bench = args.bench()?;
    let mut prepared: Option<Prepared> = None;
    let rows = measure(
        &args.cases(),
        &mut provenance,
        |c| format!("Q{} {} {}", c.order, c.assembly.name(), c.work),
        |case| {
            // Parts of one step follow each other on the same engine.
            let same = |p: &Prepared| p.of == (case.order, case.assembly);
            let ready = match prepared.take().filter(same) {
                Some(ready) => ready,
                None => Prepared::new(args, case)?,
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
        page::print(&rows);
    }
    let measured = rows.len();
    if let Some(path) = &args.out {
        record::write(path, &rows, &provenance)?;
        write_drawings(path, rows, &provenance, args)?;
    }
    if interrupt::requested() {
        let why = format!("stopped after {measured} measurements");
        return Err(AppError::interrupted(why));
    }
    Ok(())
}

/// Writes the page, and the figure of the traces if there are any.
fn write_drawings(path: &Path, rows: Vec<Row>, from: &Provenance, args: &StudyArgs) -> Result {
    let study = Study {
        rows,
        provenance: from.facts(),
    };
    let page = path.with_extension("html");
    greenup_files::write(&page, page::page(&study)?)?;
    print::note(format!("wrote {} and {}", path.display(), page.display()));
    let Some(mut chart) = figures::power(&study.rows) else {
        return Ok(());
    };
    chart.origin = from.pairs();
    write_chart(&path.with_extension("png"), &chart, &args.look.look())
}
