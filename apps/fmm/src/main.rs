//! The `fmm` command.

mod commands;

use clap::{Parser, Subcommand};
use commands::{direct, nbody, note, run, study, tune};
use greenup_app::{interrupt, stdout};
use greenup_fmm::FmmError;
use std::process::ExitCode;

/// The kernel-independent fast multipole method
#[derive(Parser)]
#[command(name = "fmm", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)]
enum Command {
    /// Sum over all charges at all targets
    Run(run::RunArgs),
    /// Choose the points of a box and the way of V lists
    Tune(tune::TuneArgs),
    /// Sum without the method, against what the instruction mix permits
    Direct(direct::DirectArgs),
    /// Measure whole evaluations of eight inputs, with counters on a GPU, for `greenup explain`
    Study(study::StudyArgs),
    /// Gravity between bodies in time, with its energy
    Nbody(nbody::NbodyArgs),
}

fn main() -> ExitCode {
    interrupt::install();
    let done = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Direct(args) => direct::run(&args),
        Command::Study(args) => study::run(&args),
        Command::Nbody(args) => nbody::run(&args),
    };
    match done.and_then(|()| stdout::finish().map_err(FmmError)) {
        Ok(()) if !interrupt::requested() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::from(interrupt::CODE),
        Err(e) => {
            note(&format!("error: {e}"));
            if interrupt::requested() {
                return ExitCode::from(interrupt::CODE);
            }
            ExitCode::FAILURE
        }
    }
}
