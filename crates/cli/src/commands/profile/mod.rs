//! `greenup profile`.

mod program;
mod sensors;
mod sweep;
mod terminal;

use super::run::note_of_a_shell;
use crate::args::ProfileArgs;
use greenup_app::error::{AppError, Result};
use greenup_meter::command::CommandLine;
use std::path::Path;

pub fn run(mut args: ProfileArgs) -> Result {
    match (args.problem.take(), args.sweep.take(), args.from.take()) {
        (Some(problem), Some(folder), _) => sweep::run(&args, &problem, &folder),
        (_, _, Some(from)) if from.is_file() => program::import(&args, &from),
        (_, _, Some(from)) => program::redraw(&args, &from),
        (Some(text), ..) => {
            args.command = words(&text)?;
            program::run(&args)
        }
        _ if args.command.is_empty() => Err(AppError::new("there is no program to profile")
            .hint("name it after `--`: greenup profile -- ./app; draw an earlier page again with --from DIR, or read a table of ncu with --from FILE.csv")),
        _ => program::run(&args),
    }
}

/// The words of a command in quotes.
fn words(text: &Path) -> Result<Vec<String>> {
    if text.extension().is_some_and(|e| e == "toml") {
        return Err(
            AppError::new(format!("{} is a problem file", text.display()))
                .hint("name the sweep whose configs are counted: --sweep DIR"),
        );
    }
    let Some(text) = text.to_str() else {
        return Err(AppError::new("the command is not UTF-8").hint("name its words after `--`"));
    };
    let command = CommandLine::parse(text).map_err(|e| AppError::new(e.to_string()))?;
    note_of_a_shell(&command);
    Ok(std::iter::once(command.program)
        .chain(command.args)
        .collect())
}
