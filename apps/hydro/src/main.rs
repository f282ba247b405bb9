//! The `hydro` command.

mod checks;
mod frames;
mod go;
mod history;
mod list;
mod restart;
mod settings;
mod study;

use clap::{Parser, Subcommand};
use greenup_app::{interrupt, stdout};
use greenup_hydro::HydroError;
use settings::Settings;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// High-order Lagrangian hydrodynamics
#[derive(Parser)]
#[command(name = "hydro", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)]
enum Command {
    /// Run a problem
    Run {
        #[command(flatten)]
        settings: Settings,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the problems with the mesh, final time and order that each has by default
    List {
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure time, power and energy of steps and their parts, over operators and orders
    Study(study::StudyArgs),
    /// Go on from a checkpoint, with the same digits
    ///
    /// The checkpoint remembers the problem, its mesh and orders, which cannot change, and the other settings, which flags
    /// change. Outputs are those that flags name: a history and the files for ParaView go on where the checkpoint was made.
    /// Checkpoints go on in the same file.
    #[command(
        mut_arg("problem", |a| a.hide(true)),
        mut_arg("mesh", |a| a.hide(true)),
        mut_arg("refine", |a| a.hide(true)),
        mut_arg("order", |a| a.hide(true)),
        mut_arg("energy_order", |a| a.hide(true)),
        mut_arg("e0", |a| a.hide(true))
    )]
    Restart {
        #[arg(id = "from", value_name = "CHECKPOINT")]
        from: PathBuf,
        #[command(flatten)]
        settings: Settings,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    interrupt::install();
    let done = match Cli::parse().command {
        Command::Run { settings, json } => settings
            .resolved()
            .and_then(|(problem, s)| go::run(problem, &s, None, json)),
        Command::List { json } => {
            list::list(json);
            Ok(())
        }
        Command::Study(args) => study::study(&args),
        Command::Restart {
            from,
            settings,
            json,
        } => restart::restart(&from, &settings, json),
    };
    let printed = stdout::finish().map_err(HydroError);
    match done.and(printed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "error: {e}");
            if interrupt::requested() {
                ExitCode::from(interrupt::CODE)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}
