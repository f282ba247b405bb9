//! `greenup run`.

mod columns;
mod commands;
mod conclusion;
mod export;
mod terminal;

pub(super) use commands::note_of_a_shell;

use crate::args::RunArgs;
use columns::label;
use greenup_app::error::{AppError, Result};
use greenup_app::progress::Bars;
use greenup_app::{interrupt, print, sensors};
use greenup_files::Outputs;
use greenup_meter::command::{CommandError, Executor as _, Script, Shown, Spawner};
use greenup_meter::interleaved::{InterleavedPlan, Stop, run_interleaved};
use std::path::Path;

pub fn run(args: &RunArgs) -> Result {
    if args.runs == Some(0) {
        return Err(AppError::new("--runs must be at least 1"));
    }
    let mut outputs = Outputs::new();
    let mut commands = commands::commands(args)?;
    sensors::input(args.sensor.sensor.as_deref(), &mut outputs);
    for c in &commands {
        // A file that a command names is the user's.
        for word in std::iter::once(&c.program).chain(&c.args) {
            outputs.input(word);
        }
        if let Some(file) = &c.input {
            outputs.input(file);
        }
    }
    let exports = export::exports(args, &mut outputs)?;
    let shown = shown(args, &mut outputs)?;
    for c in &mut commands {
        c.shown = shown.clone();
    }
    let setup = commands::once(args.setup.as_deref(), &commands)?;
    let cleanup = commands::once(args.cleanup.as_deref(), &commands)?;
    let plan = InterleavedPlan {
        warmup: args.warmup,
        stop: match (args.runs, args.rel_error) {
            (Some(n), _) => Stop::Runs(n),
            (None, Some(share)) => Stop::RelError(share),
            (None, None) => between(args)?,
        },
        accepted: args.ignore_failure.clone().unwrap_or_default(),
    };
    for c in &commands {
        print::detail(|| format!("command: {}", c.display()));
    }
    print::detail(|| format!("{} warm-up runs each, then {:?}", plan.warmup, plan.stop));
    let mut chosen = sensors::sensors(args.sensor.sensor.as_deref(), sensors::ANY, 0.3)?;
    if let Some(why) = &chosen.missing {
        print::note(format!("time only: {why}"));
    }
    let mut spawner = Spawner::new(&shown);
    let measured = scripts(&setup, Script::Setup, &mut spawner).and_then(|()| {
        let bars = Bars::new();
        run_interleaved(
            &commands,
            &plan,
            &mut spawner,
            &mut chosen.sensors,
            chosen.period_s,
            &bars,
        )
    });
    // Also after a failure: what was set up is there.
    let cleaned = scripts(&cleanup, Script::Cleanup, &mut spawner);
    if let (Err(_), Err(e)) = (&measured, &cleaned) {
        print::warn(e.to_string());
    }
    let result = match measured {
        Err(_) if interrupt::requested() => None,
        measured => Some(measured.map_err(failed)?).filter(|r| {
            // A run that was cut short is no result.
            !(r.results.is_empty() && interrupt::requested())
        }),
    };
    let Some(result) = result else {
        return Err(AppError::interrupted(
            "interrupted before the first run had ended",
        ));
    };
    export::write(&exports, &result)?;
    if !exports.iter().any(|e| e.to.is_stdout()) {
        terminal::print(&result);
    }
    for (i, r) in result.results.iter().enumerate() {
        for w in &r.warnings {
            print::warn(format!("{}: {w}", label(&result, i)));
        }
    }
    for w in &result.warnings {
        print::warn(format!("the sensor: {w}"));
    }
    if result.interrupted {
        print::warn("interrupted: the result rests on fewer runs");
    }
    result.failure.map_or(Ok(()), Err).map_err(failed)?;
    cleaned.map_err(failed)
}

/// The default numbers of runs, or those given.
fn between(args: &RunArgs) -> Result<Stop> {
    let (least, most) = Stop::RUNS;
    let least = args
        .min_runs
        .unwrap_or_else(|| args.max_runs.map_or(least, |most| least.min(most)));
    let most = args.max_runs.unwrap_or_else(|| most.max(least));
    if least > most {
        return Err(AppError::new(format!(
            "--min-runs {least} is above --max-runs {most}"
        )));
    }
    Ok(Stop::Between(least, most))
}

/// Where outputs of the commands go.
fn shown(args: &RunArgs, outputs: &mut Outputs) -> Result<Shown> {
    Ok(match args.output.as_deref() {
        Some("null") => Shown::Nowhere,
        None if !args.show_output => Shown::Nowhere,
        Some("pipe") => Shown::Pipe,
        // Results and outputs would be one text.
        None | Some("inherit") if args.prints_results() => Shown::StandardError,
        None | Some("inherit") => Shown::Terminal,
        Some(file) => {
            outputs.file(Path::new(file), &[])?;
            Shown::File(file.into())
        }
    })
}

/// Runs shell commands that are not measured.
fn scripts(
    all: &[String],
    what: Script,
    spawner: &mut Spawner,
) -> std::result::Result<(), CommandError> {
    all.iter().try_for_each(|script| {
        print::detail(|| format!("{}: {script}", what.name()));
        spawner.script(script, what)
    })
}

fn failed(e: CommandError) -> AppError {
    let out = AppError::new(e.to_string());
    match e {
        CommandError::Failed { .. } => out
            .hint("--ignore-failure measures it all the same; --show-output shows what it prints"),
        CommandError::Script { .. } => out.hint("--show-output shows what it prints"),
        _ => out,
    }
}
