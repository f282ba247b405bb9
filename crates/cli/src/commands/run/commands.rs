//! The commands to measure, from the arguments.

use crate::args::RunArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_meter::command::CommandLine;
use greenup_meter::parameters::{Parameter, ParameterError, substitute, variants};
use greenup_profile::activity::library::on_path;
use greenup_setting::shell::quoted;
use std::fs::File;
use std::path::Path;

/// Every command with every value of its parameters; the baseline first.
pub fn commands(args: &RunArgs) -> Result<Vec<CommandLine>> {
    let mut commands = positional(&args.command)?;
    for text in &args.compare {
        let other = CommandLine::parse(text)?;
        note_of_a_shell(&other);
        commands.push(other);
    }
    let n = commands.len();
    if args.name.len() > n {
        return Err(AppError::new(format!(
            "--name is given {} times for {n} commands",
            args.name.len()
        ))
        .hint("give one name per command, the baseline's first"));
    }
    if args.prepare.len() > 1 && args.prepare.len() != n {
        return Err(AppError::new(format!(
            "--prepare is given {} times for {n} commands",
            args.prepare.len()
        ))
        .hint("give it once for all commands, or once per command"));
    }
    for (i, c) in commands.iter_mut().enumerate() {
        c.input.clone_from(&args.input);
        c.name = args.name.get(i).cloned();
        c.prepare = match &args.prepare[..] {
            [one] => Some(one.clone()),
            each => each.get(i).cloned(),
        };
    }
    let all = variants(&commands, &given(args)?).map_err(refused)?;
    // What a script writes before the runs is not there yet.
    let is_made = args.setup.is_some() || !args.prepare.is_empty();
    for c in &all {
        if let Some(path) = &c.input
            && (!is_made || path.exists())
        {
            let readable = File::open(path).and_then(|f| f.metadata());
            let cause = match readable {
                Ok(m) if m.is_dir() => "it is a folder".to_owned(),
                Ok(_) => continue,
                Err(e) => e.to_string(),
            };
            return Err(AppError::new(format!(
                "--input {} cannot be read: {cause}",
                path.display()
            ))
            .hint("name a file, relative to this folder; --setup or --prepare may write it"));
        }
    }
    Ok(all)
}

/// Whether the first word of a text is a program.
fn starts_a_program(text: &str) -> bool {
    let first = text.split_whitespace().next();
    first.is_some_and(|w| on_path(w).is_some())
}

/// One command of several words; or, where the first word has blanks and is no file, a command in each word.
fn positional(words: &[String]) -> Result<Vec<CommandLine>> {
    let first = &words[0];
    let has_blanks = first.contains(char::is_whitespace) && !Path::new(first).exists();
    if !has_blanks {
        if let [_, others @ ..] = words
            && !others.is_empty()
            && others.iter().any(|w| w.contains(' '))
            && others.iter().all(|w| starts_a_program(w))
        {
            let all: String = others
                .iter()
                .map(|c| format!(" --compare {}", quoted(c)))
                .collect();
            print::warn(format!(
                "`{}` is an argument of `{first}` here; to compare programs: greenup run{all} -- {first}",
                others[0],
            ));
        }
        return Ok(vec![CommandLine {
            program: first.clone(),
            args: words[1..].to_vec(),
            ..CommandLine::default()
        }]);
    }
    if let Some(option) = words.iter().find(|w| w.starts_with('-')) {
        return Err(AppError::new(format!("`{option}` is no command"))
            .hint("options stand before the commands"));
    }
    let all = words.iter().map(|w| CommandLine::parse(w));
    let all = all.collect::<std::result::Result<Vec<_>, _>>()?;
    all.iter().for_each(note_of_a_shell);
    Ok(all)
}

/// Says which word of a quoted command no shell will read.
pub fn note_of_a_shell(c: &CommandLine) {
    if let Some(word) = c.of_a_shell() {
        print::warn(format!(
            "`{}` runs without a shell, so `{word}` goes to the program as it is; for a shell write \"sh -c '…'\"",
            c.display()
        ));
    }
}

fn given(args: &RunArgs) -> Result<Vec<Parameter>> {
    let step = args.parameter_step_size.as_deref().unwrap_or("1");
    let scans = args
        .parameter_scan
        .chunks_exact(3)
        .map(|s| Parameter::scan(&s[0], &s[1], &s[2], step));
    let lists = args
        .parameter_list
        .chunks_exact(2)
        .map(|s| Parameter::list(&s[0], &s[1]));
    scans.chain(lists).map(|p| p.map_err(refused)).collect()
}

fn refused(e: ParameterError) -> AppError {
    let out = AppError::new(e.to_string());
    match e {
        ParameterError::Unused(name) => out.hint(format!(
            "write {{{name}}} in a command. Commands are interleaved: where --setup builds a program per value, name \
             its file by the value too, e.g. app-{{{name}}}"
        )),
        _ => out,
    }
}

/// A shell command that runs once: for each combination of values that it contains.
///
/// # Errors
/// It contains parameters that no command has together.
pub fn once(script: Option<&str>, commands: &[CommandLine]) -> Result<Vec<String>> {
    let mut out: Vec<String> = Vec::new();
    let Some(script) = script else {
        return Ok(out);
    };
    for c in commands {
        let text = substitute(script, &c.parameters);
        // A command without the parameter leaves its braces.
        let fits = |t: &String| {
            let names = commands.iter().flat_map(|c| &c.parameters);
            !names
                .into_iter()
                .any(|(n, _)| t.contains(&format!("{{{n}}}")))
        };
        if fits(&text) && !out.contains(&text) {
            out.push(text);
        }
    }
    if out.is_empty() {
        return Err(
            AppError::new(format!("no command has all parameters of `{script}`"))
                .hint("write {VAR} of each of them in one command"),
        );
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setup_runs_once_for_each_value_that_it_contains() {
        let all = ["a {n}", "b {n}", "c"].map(|c| CommandLine::parse(c).unwrap());
        let all = variants(&all, &[Parameter::list("n", "1,2").unwrap()]).unwrap();
        assert_eq!(once(Some("cc {n}"), &all).unwrap(), ["cc 1", "cc 2"]);
        assert_eq!(once(Some("make"), &all).unwrap(), ["make"]);
        assert!(once(None, &all).unwrap().is_empty());
        let apart = ["a {n}", "b {m}"].map(|c| CommandLine::parse(c).unwrap());
        let both = ["n", "m"].map(|p| Parameter::list(p, "1").unwrap());
        let all = variants(&apart, &both).unwrap();
        assert!(once(Some("{n} {m}"), &all).is_err());
    }
}
