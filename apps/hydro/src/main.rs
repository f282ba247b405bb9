//! The `hydro` command.

mod frames;
mod go;
mod history;
mod settings;
mod study;

use clap::{Parser, Subcommand};
use greenup_hydro::checkpoint;
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
    /// Measure time, power and energy of steps and their parts, over operators and orders
    Study(study::StudyArgs),
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

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run { settings, json } => go::run(&settings, None, json),
        Command::Study(args) => study::study(&args),
        Command::Restart {
            checkpoint,
            t_final,
            steps,
            json,
        } => checkpoint::read::<Settings>(&checkpoint).and_then(|(mut s, energy, clock, state)| {
            s.t_final = t_final.or(s.t_final);
            s.steps = steps;
            s.checkpoint = Some(checkpoint);
            go::run(&s, Some((energy, clock, state)), json)
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
