//! Flags of how a figure looks, refused where none is drawn.

use crate::error::{AppError, Result};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use std::path::Path;

/// Flags of [`FigureArgs`](crate::args::FigureArgs).
const LOOK: [&str; 3] = ["width", "dpi", "style"];
/// Arguments that name files or folders of figures.
const FILES: [&str; 8] = [
    "out",
    "figure",
    "png",
    "animation",
    "html",
    "line_out",
    "profile_file",
    "predict",
];
/// Endings of figures whose look can be chosen, of animations and of pages.
const DRAWN: [&str; 7] = ["svg", "png", "pdf", "gif", "mp4", "html", "htm"];

/// Checks the flags of a figure of the command that was given.
///
/// # Errors
/// No output is a figure, or none has what a flag sets.
pub fn check(command: &Command, matches: &ArgMatches) -> Result {
    let (mut command, mut m) = (command, matches);
    while let Some((name, inner)) = m.subcommand() {
        let Some(found) = command.find_subcommand(name) else {
            return Ok(());
        };
        (command, m) = (found, inner);
    }
    let knows = |id: &str| command.get_arguments().any(|a| a.get_id() == id);
    if !LOOK.iter().all(|id| knows(id)) {
        return Ok(());
    }
    let given = |id: &&&str| m.value_source(id) == Some(ValueSource::CommandLine);
    let Some(flag) = LOOK.iter().find(given) else {
        return Ok(());
    };
    let outputs: Vec<&Arg> = (command.get_arguments())
        .filter(|a| FILES.contains(&a.get_id().as_str()))
        .collect();
    let drawn: Vec<String> = outputs.iter().filter_map(|a| drawn(a, m)).collect();
    let all = |of: &[&str]| drawn.iter().all(|e| of.contains(&e.as_str()));
    let no_effect =
        |flag: &str, why: &str| AppError::new(format!("--{flag} has no effect here: {why}"));
    if drawn.is_empty() {
        let names: Vec<String> = (outputs.iter().filter_map(|a| a.get_long()))
            .map(|l| format!("--{l}"))
            .collect();
        let names = names.join(" or ");
        return Err(no_effect(flag, "no figure is drawn").hint(format!("name one by {names}")));
    }
    if all(&["html", "htm"]) {
        let why = "an HTML page has its own figures; write svg, png or pdf";
        return Err(no_effect(flag, why));
    }
    if given(&&"dpi") && all(&["svg", "pdf"]) {
        return Err(no_effect("dpi", "only png files have a resolution"));
    }
    Ok(())
}

/// The ending of the figure that an output is, or that is drawn with it; empty of a folder and of standard output.
fn drawn(output: &Arg, m: &ArgMatches) -> Option<String> {
    let file = m.try_get_raw(output.get_id().as_str()).ok()??.next()?;
    let names = output.get_value_names().unwrap_or_default().join(" ");
    // Numbers alone: they are drawn too, into a file of the same name.
    if names.contains('.') && !DRAWN.iter().any(|e| names.contains(e)) {
        return Some(String::new());
    }
    match Path::new(file).extension() {
        None => Some(String::new()),
        Some(e) => Some(e.to_string_lossy().to_lowercase()).filter(|e| DRAWN.contains(&e.as_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::FigureArgs;
    use clap::Args as _;

    #[test]
    fn flags_of_figures_need_one() {
        let demo = Command::new("demo").subcommand(FigureArgs::augment_args(
            Command::new("draw")
                .arg(
                    Arg::new("out")
                        .long("out")
                        .value_name("FILE.csv|.svg|.png|.html"),
                )
                .arg(Arg::new("line_out").long("line-out").value_name("FILE.csv")),
        ));
        let of = |args: &[&str]| {
            let mut demo = demo.clone();
            let m = demo.try_get_matches_from_mut(["demo", "draw"].iter().chain(args));
            check(&demo, &m.unwrap()).map_err(|e| e.message)
        };
        assert!(of(&[]).is_ok());
        assert!(of(&["--out", "a.svg", "--width", "400"]).is_ok());
        assert!(of(&["--out", "folder", "--dpi", "90"]).is_ok());
        assert!(of(&["--out", "a.gif", "--width", "400"]).is_ok());
        assert!(of(&["--line-out", "a.csv", "--dpi", "90"]).is_ok());
        for (args, why) in [
            (&["--dpi", "90"][..], "--dpi has no effect"),
            (
                &["--style", "dark", "--out", "a.csv"],
                "--style has no effect",
            ),
            (&["--dpi", "90", "--out", "a.svg"], "only png"),
            (&["--width", "400", "--out", "a.html"], "own figures"),
        ] {
            let e = of(args).unwrap_err();
            assert!(e.contains(why), "{e}");
        }
    }
}
