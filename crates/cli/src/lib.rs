//! `greenup`: measures a machine's time, energy and power, models it as an energy roofline, and
//! explains the result. Its executable and the Python package call [`main`].

mod args;
mod commands;
mod help;
mod programs;
mod search;

pub use search::facts;

use args::{Cli, Command, WorkerCli, WorkerCommand};
use clap::CommandFactory as _;
use greenup_app::command::common::with_common;
use greenup_app::command::{end, run_with};
use std::process::ExitCode;

/// Runs the command with the arguments of this process, or the program that they name; returns its exit code.
pub fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    if let Err(e) = programs::start_named(&words) {
        return end(Err(e));
    }
    if words.get(1).is_some_and(|w| w == "trial-worker") {
        let parser = with_common(WorkerCli::command());
        // It splits into two processes, which only a process of one thread may; its watcher handles signals.
        return run_with(parser, |own| own, |_| true, worker);
    }
    run_with(help::parser(), programs::filled, |_| false, run)
}

fn worker(cli: WorkerCli) -> greenup_app::Result {
    greenup_app::ranks::check_alone()?;
    let WorkerCommand::TrialWorker(a) = cli.command;
    commands::tuning::worker::run(&a)
}

fn run(cli: Cli) -> greenup_app::Result {
    // Only messages are measured by several processes.
    if !matches!(&cli.command, Command::Calibrate(a) if a.network) {
        greenup_app::ranks::check_alone()?;
    }
    match cli.command {
        Command::Study(a) => commands::study::run(&a),
        Command::Init(a) => commands::tuning::init::run(&a),
        Command::Doctor(a) => commands::doctor::run(&a),
        Command::Run(a) => commands::run::run(&a),
        Command::Energy(a) => commands::energy::run(&a),
        Command::Regions(a) => commands::regions::run(&a),
        Command::Calibrate(a) => commands::model::calibrate::run(&a),
        Command::Fit(a) => commands::model::fit::run(&a),
        Command::Machines(a) => commands::model::machines::run(&a),
        Command::Predict(a) => commands::model::predict::run(&a),
        Command::Whatif(a) => commands::model::whatif::run(&a),
        Command::Roofline(a) => commands::model::roofline::run(&a),
        Command::Space(a) => commands::tuning::space::run(&a),
        Command::Replay(a) => commands::tuning::replay::run(&a),
        Command::Sweeps(a) => commands::tuning::sweeps::run(&a),
        Command::Scale(a) => commands::tuning::scale::run(&a),
        Command::Profile(a) => commands::profile::run(a),
        Command::Explain(a) => commands::explain::run(&a),
        Command::Analyze(a) => commands::tuning::analyze::run(&a),
        Command::Best(a) => commands::tuning::best::run(&a),
        Command::Tune(a) => commands::tuning::tune::run(&a),
        Command::Compile(a) => commands::tuning::compile::run(&a),
        Command::Gemm(a) => commands::tuning::gemm::run(&a),
        Command::Wisdom(a) => commands::wisdom::run(&a),
        Command::ClockKeeper(a) => commands::tuning::worker::keep(&a),
    }
}
