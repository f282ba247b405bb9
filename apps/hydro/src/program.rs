//! The `hydro` command, as a function: its executable and the Python package call it.

use crate::commands::run::How;
use crate::commands::{list, mesh, restart, run, study};
use crate::session::help;
use crate::session::settings::{REMEMBERED, Settings};
use clap::{Parser, Subcommand};
use greenup_app::ranks::check_alone;
use std::path::PathBuf;
use std::process::ExitCode;

/// High-order finite-element Lagrangian hydrodynamics on CPUs and GPUs
#[derive(Parser)]
#[command(name = "hydro", after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  hydro list
  hydro run --problem sod --html sod.html";

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)]
enum Command {
    /// Run a problem
    #[command(
        after_help = "Examples:\n  hydro run --problem 1 --mesh square01_quad --refine 3 --t-final 0.8\n  hydro run --problem noh --checkpoint noh.ckpt --png noh.png\n  hydro run --problem 3 --device cuda --vtu triple --png triple.png\n  mpirun -np 4 hydro run --problem 1 --refine 4"
    )]
    Run {
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        how: How,
    },
    /// List the problems with their default mesh, final time and order
    #[command(after_help = "Example:\n  hydro list")]
    List {
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
    },
    /// Draw a plane mesh: zones with their degrees of freedom, the parts of ranks, nodes that ranks share
    Mesh(mesh::MeshArgs),
    /// Measure time, power and energy of steps and their parts, for both assemblies and several orders
    Study(study::StudyArgs),
    /// Draw a recorded study: its HTML page, or a figure
    Report(study::report::ReportArgs),
    /// Speedup, powerup and greenup of recorded studies over the first, e.g. of a GPU over the CPU
    Compare(study::compare::CompareArgs),
    /// Continue a run from a checkpoint, with identical digits
    ///
    /// The checkpoint stores the problem, its mesh and orders, which cannot change, and the settings whose default is "as in
    /// the checkpoint", which flags override. Other flags and outputs are not stored: name them again. A history and VTK files
    /// continue where the checkpoint was written. Checkpoints continue in the same file.
    #[command(
        after_help = "Example:\n  hydro run --problem sod --steps 20 --checkpoint sod.ckpt; hydro restart sod.ckpt --t-final 0.2",
        mut_args(|a| help::of_restart(a, REMEMBERED)),
        mut_arg("problem", |a| a.hide(true)),
        mut_arg("mesh", |a| a.hide(true)),
        mut_arg("refine", |a| a.hide(true)),
        mut_arg("order", |a| a.hide(true)),
        mut_arg("energy_order", |a| a.hide(true)),
        mut_arg("e0", |a| a.hide(true))
    )]
    Restart {
        /// Checkpoint that `hydro run --checkpoint` wrote
        #[arg(id = "from", value_name = "CHECKPOINT")]
        from: PathBuf,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        how: How,
    },
}

/// Commands that use tuned configs.
const USE_WISDOM: &[&str] = &["run", "restart", "study"];

/// Runs the command with the arguments of this process; returns its exit code.
pub fn main() -> ExitCode {
    greenup_app::command::run(USE_WISDOM, |cli: Cli| match cli.command {
        Command::Run { settings, how } => {
            settings.only_of_outputs()?;
            let (problem, s) = settings.resolved()?;
            run::run(&problem, &s, None, &how)
        }
        Command::List { json } => check_alone().and_then(|()| list::list(json)),
        Command::Mesh(args) => check_alone().and_then(|()| mesh::mesh(&args)),
        Command::Study(args) => check_alone().and_then(|()| study::study(&args)),
        Command::Report(args) => check_alone().and_then(|()| study::report::report(&args)),
        Command::Compare(args) => check_alone().and_then(|()| study::compare::compare(&args)),
        Command::Restart {
            from,
            settings,
            how,
        } => restart::restart(&from, &settings, &how),
    })
}
