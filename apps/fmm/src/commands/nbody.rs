//! `fmm nbody`: gravity in time, with its energy.

use super::drawing::DRAWN;
use super::{check_interrupt, nbody_figure};
use crate::kernel::Kernel;
use crate::memory;
use crate::nbody::{Bodies, Energies};
use crate::points::{Distribution, files, generate};
use clap::Args;
use greenup_app::args::FigureArgs;
use greenup_app::output::Output;
use greenup_app::progress::bar;
use greenup_app::{AppError, Result, interrupt, print};
use greenup_files::Outputs;
use greenup_report::provenance::Provenance;
use greenup_report::si::three;
use greenup_report::table::Columns;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  fmm nbody -n 5000 --steps 20 -o energies.html\n  fmm nbody --distribution plummer --steps 10 --bodies end.vtu"
)]
pub struct NbodyArgs {
    /// Number of bodies, of equal masses with sum 1; G is 1
    #[arg(short, long, default_value_t = 20_000)]
    n: usize,
    /// Initial distribution
    #[arg(long, value_enum, default_value = "cube")]
    distribution: Distribution,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of time steps
    #[arg(long, default_value_t = 100)]
    steps: usize,
    /// Time step
    #[arg(long, default_value = "1e-3")]
    dt: f64,
    /// Initial velocity around the z axis, as a share of the circular velocity
    #[arg(long, default_value_t = 0.7)]
    spin: f64,
    /// Relative L2 error of forces
    #[arg(short, long, default_value = "1e-5")]
    accuracy: f64,
    /// Maximum number of points per leaf
    #[arg(long, value_name = "N", default_value_t = 100)]
    ncrit: usize,
    /// Write the energies over time: numbers, an HTML page or a figure
    #[arg(short, long, value_name = "FILE.csv|.html|.svg|.png|.pdf")]
    out: Option<PathBuf>,
    /// Write the final state: .csv, .npy or .vtu
    #[arg(long, value_name = "FILE")]
    bodies: Option<PathBuf>,
    /// Print the energies as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: FigureArgs,
}

const CSV: &str = "csv";

pub fn run(args: &NbodyArgs) -> Result {
    if !(args.dt.is_finite() && args.dt != 0.0) {
        return Err(AppError::new(format!(
            "invalid --dt {}: use a time step, such as 1e-3",
            args.dt
        )));
    }
    if args.n == 0 {
        return Err(AppError::new("no bodies: use -n 1 or more"));
    }
    let mut outputs = Outputs::new();
    let endings = [CSV, DRAWN[0], DRAWN[1], DRAWN[2], DRAWN[3]];
    let out = (args.out.as_ref())
        .map(|path| Output::file(&mut outputs, path, &endings))
        .transpose()?;
    if let Some(path) = &args.bodies {
        outputs.file(path, &files::WRITTEN)?;
    }
    memory::check_points::<f64>(Kernel::Laplace, true, args.n, args.n)?;
    let mut positions = generate(args.distribution, args.n, args.seed);
    for x in &mut positions.x {
        let mean = x.iter().sum::<f64>() / x.len().max(1) as f64;
        x.iter_mut().for_each(|x| *x -= mean);
    }
    let mut bodies = Bodies::new(positions, args.accuracy, args.ncrit)?;
    bodies.spin(args.spin);
    let mut provenance = Provenance::of_process().seeded(Some(args.seed));
    let begin = Instant::now();
    let bar = bar(args.steps as u64, "steps");
    let mut all = vec![bodies.energies(0.0)];
    for step in 1..=args.steps {
        bodies.step(args.dt)?;
        all.push(bodies.energies(step as f64 * args.dt));
        bar.inc(1);
        if interrupt::requested() {
            print::note("stopped; the steps so far are written");
            break;
        }
    }
    bar.finish_and_clear();
    let saving = interrupt::saving();
    provenance.took("steps", begin.elapsed().as_secs_f64());
    write(args, out.as_ref(), &bodies, &all, &provenance)?;
    drop(saving);
    let (first, last) = (all[0], all[all.len() - 1]);
    let worst = all
        .iter()
        .map(|e| ((e.total() - first.total()) / first.total()).abs())
        .fold(0.0, f64::max);
    if args.json {
        print::json(&json!({"provenance": provenance, "energies": all}))?;
        return check_interrupt();
    }
    print::line(format!(
        "{} bodies, {} steps to t = {}: energy {:.9e} to {:.9e}, largest drift {worst:.2e}",
        args.n,
        all.len() - 1,
        three(last.t),
        first.total(),
        last.total()
    ));
    check_interrupt()
}

fn write(
    args: &NbodyArgs,
    out: Option<&Output>,
    bodies: &Bodies,
    all: &[Energies],
    provenance: &Provenance,
) -> Result {
    if let Some(path) = &args.bodies {
        let numbers: Vec<f64> = bodies.velocities.iter().flatten().copied().collect();
        let names = ["velocity_x", "velocity_y", "velocity_z"];
        files::write(path, &bodies.positions, &names, &numbers)?;
        print::note(files::written(path, &names));
    }
    let Some(out) = out else { return Ok(()) };
    if !out.has_ending(CSV) {
        let drawing = nbody_figure::drawing(all, args.n);
        return drawing.write(out, &args.look.look(), provenance);
    }
    let columns = Columns::<Energies>::new()
        .exact("t", |e| e.t)
        .exact("kinetic", |e| e.kinetic)
        .exact("potential", |e| e.potential)
        .exact("total", Energies::total);
    out.write(columns.csv(all).as_bytes())?;
    out.print_name();
    Ok(())
}
