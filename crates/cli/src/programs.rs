//! Programs beside this one: `greenup NAME …` is `greenup-NAME …`, or the application NAME.

use crate::args::Cli;
use clap::{Arg, Command, CommandFactory as _};
use greenup_app::command::common::with_common;
use greenup_app::command::described::{DESCRIBE, Described};
use greenup_app::error::{AppError, Result};
use greenup_app::programs::{become_program, find};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

/// Programs of this repository, built by the packages `greenup-NAME`: name, file, what it does.
const OURS: [(&str, &str, &str); 5] = [
    (
        "gisaxs",
        "gisaxs",
        "Grazing-incidence X-ray scattering: images, form factors, reflectivity and fits",
    ),
    (
        "hydro",
        "hydro",
        "High-order finite-element Lagrangian hydrodynamics on CPUs and GPUs",
    ),
    (
        "fmm",
        "fmm",
        "Kernel-independent fast multipole method: N-body sums in O(N) on CPUs and GPUs",
    ),
    (
        "paper",
        "greenup-paper",
        "Redraw the figures, tables and claims of five papers from recorded runs, next to the papers' numbers",
    ),
    (
        "scaling",
        "greenup-scaling",
        "Predict weak and strong scaling of an application over nodes: time, energy, greenup; compare with measured runs",
    ),
];

/// The programs of this repository as help, manual pages and completions list them. They read their arguments themselves.
pub fn listed() -> impl Iterator<Item = Command> {
    OURS.iter().map(|(name, _, about)| {
        let args = Arg::new("args")
            .value_name("ARGS")
            .help(format!(
                "Arguments of the program; `greenup {name} --help` lists them"
            ))
            .num_args(0..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true);
        Command::new(*name).about(*about).arg(args)
    })
}

/// The parser with the commands and flags of these programs where they are there, for completions and manual pages.
pub fn filled(command: Command) -> Command {
    OURS.iter()
        .fold(command, |command, (name, ..)| match described(name) {
            Some(program) => command.mut_subcommand(name, |_| program.command(name)),
            None => command,
        })
}

/// What a program says of its arguments; nothing if it is not there, or of another version.
fn described(name: &str) -> Option<Described> {
    let mut program = std::process::Command::new(file(name)?);
    let out = program.arg(DESCRIBE).stdin(Stdio::null()).output().ok()?;
    serde_json::from_slice(&out.stdout).ok()
}

/// The file of a program: `greenup-NAME`, or the application NAME.
fn file(name: &str) -> Option<PathBuf> {
    let ours = || OURS.iter().find(|(n, ..)| *n == name);
    find(&format!("greenup-{name}")).or_else(|| find(ours()?.1))
}

/// Becomes the program that the words of the command line name, with all other words as its arguments. Returns if they name
/// none.
///
/// # Errors
/// As [`start`].
pub fn start_named(words: &[OsString]) -> Result {
    if let Some(arguments) = study_of_scaling(words) {
        return start("scaling", &arguments);
    }
    match named(words) {
        // A name with a folder is no name of a program.
        Some((name, arguments)) if !name.contains('/') => start(&name, &arguments),
        _ => Ok(()),
    }
}

/// Becomes a program. Returns if there is none of this name.
///
/// # Errors
/// It is one of this repository that is not there, or it cannot be started.
fn start(name: &str, arguments: &[OsString]) -> Result {
    let ours = OURS.iter().find(|(n, ..)| *n == name);
    match (file(name), ours) {
        (Some(found), _) => Err(become_program(&found, arguments)),
        (None, Some((_, file, _))) => Err(AppError::new(format!(
            "there is no program {file} beside greenup or on PATH"
        ))
        .hint(format!(
            "`cargo build --release -p greenup-{name}` in the repository builds it"
        ))),
        (None, None) => Ok(()),
    }
}

/// `greenup study --scaling …` as it was once called: the arguments of `greenup scaling`.
fn study_of_scaling(words: &[OsString]) -> Option<Vec<OsString>> {
    let study = words.iter().position(|w| w == "study")?;
    let flags = |w: &OsString| w.to_string_lossy().starts_with('-');
    let scaling = words.iter().position(|w| w == "--scaling")?;
    if scaling < study || !words[1..study].iter().all(flags) {
        return None;
    }
    let rest = words[1..].iter().filter(|w| *w != "--scaling");
    Some(rest.cloned().collect())
}

/// The subcommand that is none of this program's, and the words before and after it. `help NAME` is `NAME --help`.
fn named(words: &[OsString]) -> Option<(String, Vec<OsString>)> {
    let mut own = with_common(Cli::command()).allow_external_subcommands(true);
    if let [_, help, name] = words
        && help == "help"
        && own.find_subcommand(name).is_none()
    {
        return Some((name.to_str()?.to_owned(), vec!["--help".into()]));
    }
    let matches = own.try_get_matches_from_mut(words).ok()?;
    let (name, rest) = matches.subcommand()?;
    if own.find_subcommand(name).is_some() {
        return None;
    }
    let after = rest.get_many::<OsString>("").map_or(0, Iterator::count);
    let at = words.len() - after - 1;
    Some((name.to_owned(), [&words[1..at], &words[at + 1..]].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_all_words_but_its_name() {
        let of = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let (name, rest) = named(&words)?;
            let rest: Vec<String> = (rest.into_iter())
                .map(|w| w.into_string().unwrap())
                .collect();
            Some((name, rest.join(" ")))
        };
        let some = |name: &str, rest: &str| Some((name.to_owned(), rest.to_owned()));
        assert_eq!(of("greenup hydro run -q"), some("hydro", "run -q"));
        assert_eq!(of("greenup -q x -- --help"), some("x", "-q -- --help"));
        assert_eq!(of("greenup help fmm"), some("fmm", "--help"));
        assert_eq!(of("greenup fmm"), some("fmm", ""));
        for own in [
            "greenup",
            "greenup help tune",
            "greenup machines h200",
            "greenup man",
            "greenup -x fmm",
        ] {
            assert_eq!(of(own), None, "{own}");
        }
    }
}
