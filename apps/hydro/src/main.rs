//! The `hydro` command.

use clap::{Args, Parser, Subcommand};
use greenup_hydro::hydro::Hydro;
use greenup_hydro::mesh::Mesh;
use greenup_hydro::ode::Ode;
use greenup_hydro::problem::Problem;
use greenup_hydro::run::Run;
use greenup_hydro::start::Orders;
use greenup_hydro::{HydroError, checkpoint};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// High-order Lagrangian hydrodynamics
#[derive(Parser)]
#[command(name = "hydro", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a standard problem
    Run(RunArgs),
    /// Go on from a checkpoint, with the same digits
    Restart {
        checkpoint: PathBuf,
        /// Another end
        #[arg(long)]
        t_final: Option<f64>,
        /// At most so many steps in all
        #[arg(long)]
        steps: Option<usize>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args, Clone, Serialize, Deserialize)]
struct RunArgs {
    /// 0 Taylor–Green, 1 Sedov, 2 Sod, 3 triple point, 4 Gresho, 5 and 6 Riemann problems, 7 Rayleigh–Taylor
    #[arg(long, default_value_t = 1)]
    problem: usize,
    /// Built-in mesh: segment01, square01_quad, cube01_hex, rectangle01_quad, box01_hex, square_gresho, rt2D
    #[arg(long, default_value = "square01_quad")]
    mesh: String,
    /// Times that each zone is halved along each direction
    #[arg(long, default_value_t = 2)]
    refine: usize,
    /// End
    #[arg(long, default_value_t = 0.6, allow_hyphen_values = true)]
    t_final: f64,
    /// At most so many steps
    #[arg(long)]
    steps: Option<usize>,
    /// Order of places and velocities
    #[arg(long, default_value_t = 2)]
    order: usize,
    /// Order of energies; one less than the other by default
    #[arg(long)]
    energy_order: Option<usize>,
    #[arg(long, value_enum, default_value = "rk4")]
    ode: Ode,
    /// Courant's number
    #[arg(long, default_value_t = 0.5)]
    cfl: f64,
    /// Relative tolerance of the solves for accelerations
    #[arg(long, default_value_t = 1e-12)]
    cg_tol: f64,
    /// Most iterations of a solve
    #[arg(long, default_value_t = 300)]
    cg_max: usize,
    /// Energy of Sedov's point in all of space
    #[arg(long, default_value_t = 1.0)]
    e0: f64,
    /// Keep the run in this file, to go on from with `hydro restart`; also when stopped
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Steps between checkpoints
    #[arg(long, default_value_t = 100, value_name = "N")]
    every: usize,
    /// Time, time step and energies of every step, as CSV
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Threads; by default all cores
    #[arg(long)]
    threads: Option<usize>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

static STOP: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => run(&args, None),
        Command::Restart {
            checkpoint,
            t_final,
            steps,
            json,
        } => checkpoint::read::<RunArgs>(&checkpoint).and_then(|(mut args, energy, kept)| {
            args.t_final = t_final.unwrap_or(args.t_final);
            (args.steps, args.json) = (steps, json);
            args.checkpoint = Some(checkpoint);
            run(&args, Some((energy, kept)))
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn positive(name: &str, x: f64) -> Result<(), HydroError> {
    if x > 0.0 && x.is_finite() {
        Ok(())
    } else {
        Err(HydroError(format!("{name} {x}: it must be above 0")))
    }
}

/// Runs, from the start or from what was kept with the energy at the start.
fn run(args: &RunArgs, kept: Option<(f64, Run)>) -> Result<(), HydroError> {
    for (name, x) in [
        ("--t-final", args.t_final),
        ("--cfl", args.cfl),
        ("--cg-tol", args.cg_tol),
        ("--e0", args.e0),
    ] {
        positive(name, x)?;
    }
    if args.refine > 12 {
        return Err(HydroError(format!("--refine {}: at most 12", args.refine)));
    }
    if let Some(n) = args.threads {
        // The first pool of the process.
        let _ = rayon::ThreadPoolBuilder::new()
            .num_threads(n.max(1))
            .build_global();
    }
    let mesh = Mesh::named(&args.mesh)?.refined(args.refine);
    let orders = Orders {
        kinematic: args.order,
        energy: args.energy_order.unwrap_or(args.order.saturating_sub(1)),
        cg_tol: args.cg_tol,
        cg_max: args.cg_max,
        cfl: args.cfl,
    };
    let (hydro, state) = Hydro::new(&mesh, Problem::of(args.problem)?, &orders, args.e0)?;
    let unknowns = state.v.len() + state.e.len();
    let (start, first) = match kept {
        Some((energy, kept))
            if kept.state.x.len() == state.x.len() && kept.state.e.len() == state.e.len() =>
        {
            (energy, kept)
        }
        Some(_) => return Err(HydroError("the checkpoint is of another mesh".into())),
        None => {
            let (inner, outer) = hydro.energy(&state);
            (inner + outer, Run::new(&hydro, state))
        }
    };
    let before = first.steps;
    let mut history = match &args.history {
        None => None,
        Some(path) => Some(History::new(path, before > 0)?),
    };
    // Without a handler Ctrl-C ends the program at once.
    let _ = ctrlc::set_handler(|| STOP.store(true, std::sync::atomic::Ordering::Relaxed));
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent}% {msg}, {eta} left") {
        bar.set_style(style);
    }
    let begin = Instant::now();
    let keep = |r: &Run| match &args.checkpoint {
        Some(path) => checkpoint::write(path, args, start, r),
        None => Ok(()),
    };
    let ended = first.go(
        &hydro,
        args.ode,
        (args.t_final, args.steps),
        &STOP,
        &mut |r| {
            bar.set_position((1000.0 * r.t / args.t_final) as u64);
            bar.set_message(format!("step {}, t {:.5}, dt {:.3e}", r.steps, r.t, r.dt));
            if let Some(h) = &mut history {
                h.add(r, hydro.energy(&r.state), start)?;
            }
            if r.steps.is_multiple_of(args.every.max(1)) {
                keep(r)?;
            }
            Ok(())
        },
    )?;
    keep(&ended)?;
    bar.finish_and_clear();
    let wall = begin.elapsed().as_secs_f64();
    let report = ended.report(&hydro, start);
    let rate = 1e-6 * (unknowns * (ended.steps - before)) as f64 / wall;
    let mut out = std::io::stdout();
    let text = if args.json {
        let mut value = serde_json::to_value(&report).map_err(|e| HydroError(e.to_string()))?;
        value["wall_s"] = wall.into();
        value["mdof_steps_per_s"] = rate.into();
        value.to_string()
    } else {
        format!(
            "{} zones, {unknowns} unknowns: {} steps to t = {}, dt {:.6}, |e| {:.10e}\n\
             energy {:.12} internal + {:.12} kinetic, drift {:.1e}; {wall:.2} s, {rate:.3} Mdof steps/s",
            hydro.space.zones,
            report.steps,
            report.t,
            report.dt,
            report.e_norm,
            report.internal,
            report.kinetic,
            report.energy_drift
        )
    };
    let _ = writeln!(out, "{text}");
    if ended.t < args.t_final && args.steps.is_none() {
        return Err(HydroError(format!("stopped at t = {}", ended.t)));
    }
    Ok(())
}

/// Lines of a CSV file, one a step.
struct History {
    file: std::fs::File,
    path: PathBuf,
}

impl History {
    fn new(path: &Path, more: bool) -> Result<Self, HydroError> {
        let mut options = std::fs::OpenOptions::new();
        options
            .create(true)
            .write(true)
            .append(more)
            .truncate(!more);
        let file = options
            .open(path)
            .map_err(|e| HydroError(format!("{} cannot be written: {e}", path.display())))?;
        let mut out = Self {
            file,
            path: path.to_owned(),
        };
        if !more {
            out.line("step,t,next_dt,internal,kinetic,drift")?;
        }
        Ok(out)
    }

    fn add(
        &mut self,
        r: &Run,
        (internal, kinetic): (f64, f64),
        start: f64,
    ) -> Result<(), HydroError> {
        let drift = (internal + kinetic - start) / start;
        let (steps, t, dt) = (r.steps, r.t, r.dt);
        self.line(&format!(
            "{steps},{t:e},{dt:e},{internal:.17e},{kinetic:.17e},{drift:e}"
        ))
    }

    fn line(&mut self, text: &str) -> Result<(), HydroError> {
        writeln!(self.file, "{text}")
            .map_err(|e| HydroError(format!("{} cannot be written: {e}", self.path.display())))
    }
}
