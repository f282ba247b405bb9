//! The command `greenup scaling`, as a function: its executable and the Python package call it.

use crate::commands::args::ScalingArgs;
use crate::commands::study::args::StudyArgs;
use crate::commands::{predict, study};
use clap::{CommandFactory as _, Parser, Subcommand};
use greenup_app::command::common::beside_greenup;
use greenup_app::command::run_with;
use greenup_app::ranks::check_alone;
use std::process::ExitCode;

/// Predict weak and strong scaling of an application over nodes: time, energy, greenup; compare with measured runs
#[derive(Parser)]
#[command(
    name = "greenup-scaling",
    bin_name = "greenup scaling",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct Cli {
    #[command(subcommand)]
    measured: Option<Measured>,
    #[command(flatten)]
    predicted: ScalingArgs,
}

#[derive(Subcommand)]
enum Measured {
    /// Measure applications on 1, 2, 4, … all GPUs, or without GPUs on as many ranks as cores; compare with the prediction
    Study(StudyArgs),
}

/// Runs the command with the arguments of this process; returns its exit code.
pub fn main() -> ExitCode {
    let run = |cli: Cli| {
        check_alone()?;
        match cli.measured {
            Some(Measured::Study(args)) => study::run(&args),
            None => predict::run(&cli.predicted),
        }
    };
    run_with(
        beside_greenup(Cli::command()),
        |whole| whole,
        |_| false,
        run,
    )
}
