//! The `fmm` command, as a function: its executable and the Python package call it.

use crate::commands::{direct, lists, nbody, run, study, tune};
use clap::{Parser, Subcommand};
use greenup_app::ranks::check_alone;
use std::process::ExitCode;

/// Kernel-independent fast multipole method: N-body sums in O(N) on CPUs and GPUs
#[derive(Parser)]
#[command(name = "fmm", after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  fmm run -n 1000000 --distribution plummer --gradient --check 500
  fmm nbody -n 5000 --steps 20 -o energies.html";

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)]
enum Command {
    /// Evaluate the sums of all sources at all targets
    Run(run::RunArgs),
    /// Find the best ncrit (maximum points per leaf) and M2L method
    Tune(tune::TuneArgs),
    /// Evaluate direct sums on a CPU or GPU, compared with the peak of their instruction mix
    Direct(direct::DirectArgs),
    /// Measure evaluations of several inputs, with hardware counters on a GPU, for `greenup explain`
    Study(study::StudyArgs),
    /// Draw the U, V, W and X lists of a box
    Lists(lists::ListsArgs),
    /// Simulate gravity between bodies
    Nbody(nbody::NbodyArgs),
}

/// Commands that use tuned configs.
const USE_WISDOM: &[&str] = &["run", "tune", "direct", "study"];

/// Runs the command with the arguments of this process; returns its exit code.
pub fn main() -> ExitCode {
    greenup_app::command::run(USE_WISDOM, |cli: Cli| match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Tune(args) => check_alone().and_then(|()| tune::run(&args)),
        Command::Direct(args) => check_alone().and_then(|()| direct::run(&args)),
        Command::Study(args) => check_alone().and_then(|()| study::run(&args)),
        Command::Lists(args) => check_alone().and_then(|()| lists::run(&args)),
        Command::Nbody(args) => check_alone().and_then(|()| nbody::run(&args)),
    })
}
