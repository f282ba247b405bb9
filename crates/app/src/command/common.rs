//! What every program has in common on its command line: `--version`, `-v`, `-q`, and the commands `completions` and
//! `man`.

use super::described::{DESCRIBE, Described};
use crate::error::{AppError, Result};
use crate::print::{self, Level};
use crate::stdout;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use clap_mangen::Man;
use greenup_files::{Outputs, ours};
use greenup_report::version::version;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static SHORT: LazyLock<String> = LazyLock::new(|| version().short());
static LONG: LazyLock<String> = LazyLock::new(|| version().long());

/// The command with what all have in common.
pub fn with_common(command: Command) -> Command {
    let flag = |id: &'static str, short| {
        Arg::new(id)
            .help_heading("Common options")
            .short(short)
            .long(id)
            .global(true)
            .action(ArgAction::SetTrue)
    };
    let name = command.get_name().to_owned();
    command
        .version(SHORT.as_str())
        .long_version(LONG.as_str())
        .arg(
            flag("verbose", 'v')
                .conflicts_with("quiet")
                .help("Print more notes: inputs, sensors, and how long each stage takes"),
        )
        .arg(
            flag("quiet", 'q')
                .help("Print no notes and no progress bars, only warnings, errors and results"),
        )
        .subcommand(
            Command::new("completions")
                .about("Print the completions of this program for a shell")
                .after_help(COMPLETIONS.replace("PROGRAM", &name))
                .arg(
                    Arg::new("shell")
                        .required(true)
                        .value_name("SHELL")
                        .help("Shell that reads them")
                        .value_parser(value_parser!(Shell)),
                ),
        )
        .subcommand(Command::new(DESCRIBE).hide(true))
        .subcommand(
            Command::new("man")
                .about("Print the manual page of this program or of a command, or write them all")
                .after_help(MANUALS.replace("PROGRAM", &name))
                .arg(
                    Arg::new("command")
                        .value_name("COMMAND")
                        .num_args(0..)
                        .conflicts_with("out")
                        .help("Command whose page is printed"),
                )
                .arg(
                    Arg::new("out")
                        .short('o')
                        .long("out")
                        .value_name("DIR")
                        .help("Folder to write the manual pages of all commands to, e.g. ~/.local/share/man/man1")
                        .value_parser(value_parser!(PathBuf)),
                ),
        )
}

/// The same for a program that `greenup NAME` starts: its help is that of a subcommand.
pub fn beside_greenup(command: Command) -> Command {
    let hidden = |c: Command| c.hide(true);
    let version = Arg::new("version").short('V').long("version").hide(true);
    with_common(command.disable_help_subcommand(true))
        .disable_version_flag(true)
        .arg(version.action(ArgAction::Version))
        .mut_subcommand("completions", hidden)
        .mut_subcommand("man", hidden)
}

/// Examples of `completions`, with a word for the name of the program.
const COMPLETIONS: &str = "Examples:
  PROGRAM completions bash > ~/.local/share/bash-completion/completions/PROGRAM
  PROGRAM completions fish > ~/.config/fish/completions/PROGRAM.fish
  PROGRAM completions zsh > ~/.zfunc/_PROGRAM";

const MANUALS: &str = "Examples:
  PROGRAM man > PROGRAM.1
  PROGRAM man --out ~/.local/share/man/man1";

/// How much the user wants to read.
pub fn level(matches: &ArgMatches) -> Level {
    match (matches.get_flag("quiet"), matches.get_flag("verbose")) {
        (true, _) => Level::Quiet,
        (_, true) => Level::Verbose,
        _ => Level::Normal,
    }
}

/// Runs `completions` or `man` of a parser, to which `filled` adds what takes time; `None` for the program's own commands.
pub fn run(
    command: Command,
    filled: impl FnOnce(Command) -> Command,
    matches: &ArgMatches,
) -> Option<Result> {
    match matches.subcommand()? {
        (DESCRIBE, _) => Some(print::json(&Described::of(&command))),
        ("completions", m) => {
            let shell = *m.get_one::<Shell>("shell")?;
            completions(shell, filled(command));
            Some(Ok(()))
        }
        ("man", m) => Some(match m.get_one::<PathBuf>("out") {
            None => {
                let names = m.get_many::<String>("command").into_iter().flatten();
                of(filled(command), names)
                    .and_then(page)
                    .map(|page| stdout::bytes(&page))
            }
            Some(dir) => pages(filled(command), dir),
        }),
        _ => None,
    }
}

fn completions(shell: Shell, mut command: Command) {
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    stdout::bytes(&text);
}

/// The command of these names below another one.
fn of<'a>(command: Command, names: impl Iterator<Item = &'a String>) -> Result<Command> {
    let mut command = command.disable_help_subcommand(true);
    // Gives those below it their full names.
    command.build();
    for name in names {
        let found = command.find_subcommand(name).cloned();
        command = found.ok_or_else(|| {
            AppError::new(format!("{} has no command `{name}`", command.get_name()))
                .hint("--help lists the commands; --out DIR writes the pages of all")
        })?;
    }
    Ok(command)
}

/// The manual page of a command.
fn page(command: Command) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    Ok(text)
}

/// Writes a page for the command and for each below it.
fn pages(command: Command, dir: &Path) -> Result {
    let mut command = command.disable_help_subcommand(true);
    // Gives those below it their full names.
    command.build();
    let mut all = Vec::new();
    collect(&command, &mut all)?;
    let mut outputs = Outputs::new();
    outputs.folder(dir)?;
    ours::check(dir, all.iter().map(|(name, _)| name.as_str()))?;
    for (name, text) in &all {
        ours::write(dir.join(name), text)?;
    }
    print::note(format!("wrote {} pages to {}", all.len(), dir.display()));
    Ok(())
}

fn collect(command: &Command, into: &mut Vec<(String, Vec<u8>)>) -> Result {
    let full = command
        .get_display_name()
        .unwrap_or_else(|| command.get_name());
    if full.contains('/') {
        return Err(AppError::new(format!(
            "`{full}` cannot be the name of a file"
        )));
    }
    into.push((format!("{full}.1"), page(command.clone())?));
    let mut below = command.get_subcommands().filter(|c| !c.is_hide_set());
    below.try_for_each(|c| collect(c, into))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demo() -> Command {
        let below = Command::new("measure").subcommand(Command::new("all"));
        let hidden = Command::new("secret").hide(true);
        with_common(Command::new("demo").subcommand(below).subcommand(hidden))
    }

    #[test]
    fn the_command_line_is_consistent() {
        demo().debug_assert();
    }

    #[test]
    fn flags_are_understood_everywhere() {
        let read = |args: &[&str]| demo().try_get_matches_from(args).map(|m| level(&m));
        assert_eq!(read(&["demo", "measure", "-q"]).unwrap(), Level::Quiet);
        assert_eq!(read(&["demo", "-v", "measure"]).unwrap(), Level::Verbose);
        assert_eq!(read(&["demo", "measure", "all"]).unwrap(), Level::Normal);
        assert!(read(&["demo", "measure", "-q", "-v"]).is_err());
    }

    #[test]
    fn every_command_has_a_page() {
        let dir = tempfile::tempdir().unwrap();
        pages(demo(), dir.path()).unwrap();
        let mut names: Vec<String> = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let want = ["completions", "man", "measure-all", "measure"].map(|n| format!("demo-{n}.1"));
        let mut want = [&want[..], &["demo.1".to_owned(), ours::LIST.to_owned()]].concat();
        want.sort();
        assert_eq!(names, want);
        let text = std::fs::read_to_string(dir.path().join("demo-measure.1")).unwrap();
        assert!(text.contains(".TH demo-measure 1"), "{text}");
    }
}
