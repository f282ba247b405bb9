//! Flags of how a figure looks, refused where none is drawn.

use crate::error::{AppError, Result};
use clap::ArgMatches;
use clap::parser::ValueSource;
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
/// Endings of files without a figure.
const NUMBERS: [&str; 5] = ["csv", "json", "npy", "vtu", "toml"];

/// Checks the flags of a figure of the command that was given.
///
/// # Errors
/// No output is a figure, or none has what a flag sets.
pub fn check(matches: &ArgMatches) -> Result {
    let mut m = matches;
    while let Some((_, inner)) = m.subcommand() {
        m = inner;
    }
    let knows = |id: &str| m.try_contains_id(id).is_ok();
    if !LOOK.iter().all(|id| knows(id)) {
        return Ok(());
    }
    let given = |id: &&&str| m.value_source(id) == Some(ValueSource::CommandLine);
    let Some(flag) = LOOK.iter().find(given) else {
        return Ok(());
    };
    let own: Vec<&str> = FILES.into_iter().filter(|id| knows(id)).collect();
    let endings: Vec<String> = own
        .iter()
        .filter_map(|id| {
            let file = m.try_get_raw(id).ok()??.next()?;
            // Tables of lines and radii are drawn too.
            let drawn = ["line_out", "profile_file"].contains(id);
            let ending = Path::new(file).extension().filter(|_| !drawn);
            Some(ending.map_or_else(String::new, |e| e.to_string_lossy().to_lowercase()))
        })
        .collect();
    let is_figure = |e: &String| !NUMBERS.contains(&e.as_str());
    if !endings.iter().any(is_figure) {
        let names: Vec<String> = own.iter().map(|id| flag_of(id)).collect();
        return Err(
            AppError::new(format!("--{flag} has no effect here: no figure is drawn"))
                .hint(format!("name one by {}", names.join(" or "))),
        );
    }
    let is_vector = |e: &String| ["svg", "pdf"].contains(&e.as_str());
    if given(&&"dpi") && endings.iter().filter(|e| is_figure(e)).all(is_vector) {
        return Err(AppError::new(
            "--dpi has no effect here: only png files have a resolution",
        ));
    }
    Ok(())
}

/// An argument as a flag.
fn flag_of(id: &str) -> String {
    match id {
        "profile_file" => "--radial".to_owned(),
        id => format!("--{}", id.replace('_', "-")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::FigureArgs;
    use clap::{Arg, Args as _, Command};

    #[test]
    fn flags_of_figures_need_one() {
        let demo = || {
            let draw =
                FigureArgs::augment_args(Command::new("draw").arg(Arg::new("out").long("out")));
            Command::new("demo").subcommand(draw)
        };
        let of = |args: &[&str]| {
            let all = ["demo", "draw"].iter().chain(args);
            check(&demo().try_get_matches_from(all).unwrap()).map_err(|e| e.message)
        };
        assert!(of(&[]).is_ok());
        assert!(of(&["--out", "a.svg", "--width", "400"]).is_ok());
        assert!(of(&["--out", "folder", "--dpi", "90"]).is_ok());
        for (args, why) in [
            (&["--dpi", "90"][..], "--dpi has no effect"),
            (
                &["--style", "dark", "--out", "a.csv"],
                "--style has no effect",
            ),
            (&["--dpi", "90", "--out", "a.svg"], "only png"),
        ] {
            let e = of(args).unwrap_err();
            assert!(e.contains(why), "{e}");
        }
    }
}
