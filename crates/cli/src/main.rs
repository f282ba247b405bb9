//! `greenup`: measures a machine's time, energy and power, models it as an energy roofline, and
//! explains the result.

mod args;
mod choose;
mod commands;
mod error;
mod facts;
mod folders;
mod interrupt;
mod load;
mod lookup;
mod out;
mod progress;
mod rig;
mod search;

use args::{Cli, Command};
use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            let code = if e.use_stderr() { 2 } else { 0 };
            // A closed pipe is no reason to fail.
            let _ = e.print();
            return ExitCode::from(code);
        }
    };
    // It splits into two processes, which only a process of one thread may; signals are its watcher's affair.
    if !matches!(cli.command, Command::TrialWorker(_)) {
        interrupt::install();
    }
    let result = match cli.command {
        Command::Study(a) => commands::study::run(&a),
        Command::Doctor(a) => commands::doctor::run(&a),
        Command::Run(a) => commands::run::run(&a),
        Command::Calibrate(a) => commands::calibrate::run(&a),
        Command::Fit(a) => commands::fit::run(&a),
        Command::Machines(a) => commands::machines::run(&a),
        Command::Predict(a) => commands::predict::run(&a),
        Command::Whatif(a) => commands::whatif::run(&a),
        Command::Roofline(a) => commands::roofline::run(&a),
        Command::Space(a) => commands::space::run(&a),
        Command::Replay(a) => commands::replay::run(&a),
        Command::Scale(a) => commands::scale::run(&a),
        Command::Profile(a) => commands::profile::run(&a),
        Command::Explain(a) => commands::explain::run(&a),
        Command::Analyze(a) => commands::analyze::run(&a),
        Command::Tune(a) => commands::tune::run(&a),
        Command::Compile(a) => commands::compile::run(&a),
        Command::Gemm(a) => commands::gemm::run(&a),
        Command::TrialWorker(a) => commands::worker::run(&a),
        Command::ClockKeeper(a) => commands::worker::keep(&a),
    };
    match result {
        Ok(()) if interrupt::requested() => ExitCode::from(130),
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            out::error(&e);
            ExitCode::from(e.code)
        }
    }
}
