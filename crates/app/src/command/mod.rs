//! The frame of a `main`: interrupts, arguments, exit code.

pub mod common;
pub mod described;
mod figures;

use crate::error::AppError;
use crate::{print, ranks, stdout};
use clap::{Command, Parser};
use greenup_process::interrupt;
use greenup_report::provenance::arguments;
use greenup_report::si::si;
use greenup_report::version::version;
use greenup_setting::{Style, name_settings};
use std::io::ErrorKind;
use std::process::ExitCode;
use std::time::Instant;

/// Runs a command: reads its arguments, prints its error with the suggestion, and returns its exit code: 0; 1 after an
/// error; 2 for invalid arguments; 130 if the user stopped it. It gets `--version`, `-v`, `-q` and the commands
/// `completions` and `man`; those of its commands that use tuned configs get the flags of [`crate::wisdom`].
pub fn run<C: Parser, E: Into<AppError>>(
    use_wisdom: &[&str],
    command: impl FnOnce(C) -> Result<(), E>,
) -> ExitCode {
    let parser = crate::wisdom::with_flags(common::with_common(C::command()), use_wisdom);
    run_with(parser, |whole| whole, |_| false, command)
}

/// The same for a program that adds to its parser, and more to that of its completions and manual pages, or some of whose
/// commands handle signals by themselves; for the others signals set [`interrupt::requested`].
pub fn run_with<C: Parser, E: Into<AppError>>(
    mut parser: Command,
    filled: impl FnOnce(Command) -> Command,
    handles_signals: impl FnOnce(&C) -> bool,
    command: impl FnOnce(C) -> Result<(), E>,
) -> ExitCode {
    let start = Instant::now();
    greenup_process::group::usual_signals();
    settings_by_keywords();
    // Completions build it with another name.
    let whole = parser.clone();
    let parsed = parser
        .try_get_matches_from_mut(std::env::args_os())
        .and_then(|matches| {
            print::set_level(common::level(&matches));
            crate::wisdom::set(&matches);
            ranks::mute_all_but_one();
            if let Some(done) = common::run(whole, filled, &matches) {
                return Ok(Err(done));
            }
            if let Err(e) = figures::check(&parser, &matches) {
                return Ok(Err(Err(e)));
            }
            let cli = C::from_arg_matches(&matches).map_err(|e| e.format(&mut parser))?;
            Ok(Ok(cli))
        });
    let args = match parsed {
        Ok(Ok(args)) => args,
        Ok(Err(done)) => return end(done.map(|()| 0)),
        Err(e) => return end(refused(&e)),
    };
    let v = version();
    print::detail(|| format!("greenup {}, {}: {}", v.short(), v.target, arguments()));
    if !handles_signals(&args) {
        interrupt::install();
    }
    let code = match command(args) {
        Err(e) => Err(e.into()),
        Ok(()) if interrupt::requested() => Ok(interrupt::CODE),
        Ok(()) => Ok(0),
    };
    print::detail(|| format!("took {}", si(start.elapsed().as_secs_f64(), "s")));
    end(code)
}

/// Names settings as keywords where a function of the Python package raises what this command says.
fn settings_by_keywords() {
    const ASKED: &str = "GREENUP_KEYWORDS";
    if std::env::var_os(ASKED).is_some() {
        name_settings(Style::Keywords);
        // Not for what this command starts.
        // SAFETY: this process has no other thread yet.
        unsafe { std::env::remove_var(ASKED) };
    }
}

/// Prints a parser's message, which may be the help that was asked for.
fn refused(e: &clap::Error) -> Result<u8, AppError> {
    let code = if e.use_stderr() { 2 } else { 0 };
    if ranks::is_another_printing() {
        return Ok(code);
    }
    match e.print() {
        // A reader that closed its pipe is no reason to fail.
        Err(cause) if code == 0 && cause.kind() != ErrorKind::BrokenPipe => {
            Err(lost(format!("standard output cannot be written: {cause}")))
        }
        _ => Ok(code),
    }
}

/// This program, for commands that start it again as a process of its own.
///
/// # Errors
/// The system does not tell.
pub fn this_program() -> crate::Result<std::path::PathBuf> {
    std::env::current_exe()
        .map_err(|e| AppError::new(format!("the program's own file is unknown: {e}")))
}

/// Prints the error; returns the exit code. Data that did not reach standard output is an error too.
pub fn end(result: Result<u8, AppError>) -> ExitCode {
    match result.and_then(|code| {
        stdout::finish()
            .map(|()| code)
            .map_err(|e| lost(e.to_string()))
    }) {
        Ok(code) => {
            ranks::finish();
            ExitCode::from(code)
        }
        Err(e) => {
            let code = if interrupt::requested() {
                interrupt::CODE
            } else {
                e.code
            };
            ranks::end_all(&e, code);
            ExitCode::from(code)
        }
    }
}

fn lost(message: String) -> AppError {
    AppError::new(message).hint("free some space, or send it to another place")
}
