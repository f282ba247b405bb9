//! The command `greenup paper`, as a function: its executable and the Python package call it.

use crate::commands::args::PaperArgs;
use crate::commands::run;
use clap::{CommandFactory as _, Parser};
use greenup_app::command::common::beside_greenup;
use greenup_app::command::run_with;
use greenup_app::ranks::check_alone;
use std::process::ExitCode;

/// Redraw the figures, tables and claims of five papers from recorded runs, next to the papers' numbers
#[derive(Parser)]
#[command(
    name = "greenup-paper",
    bin_name = "greenup paper",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct Cli {
    #[command(flatten)]
    args: PaperArgs,
}

/// Runs the command with the arguments of this process; returns its exit code.
pub fn main() -> ExitCode {
    let redraw = |cli: Cli| check_alone().and_then(|()| run(&cli.args));
    run_with(
        beside_greenup(Cli::command()),
        |whole| whole,
        |_| false,
        redraw,
    )
}
