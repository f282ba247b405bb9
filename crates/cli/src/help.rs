//! The parser of the program, whose help groups the commands by job.

use crate::args::Cli;
use crate::programs;
use clap::{Command, CommandFactory as _};
use greenup_app::command::common::with_common;
use greenup_app::wisdom::with_flags;

/// The groups of the help and their commands, in its order.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Measure",
        &[
            "study",
            "doctor",
            "run",
            "regions",
            "energy",
            "profile",
            "calibrate",
        ],
    ),
    (
        "Model",
        &["fit", "machines", "predict", "whatif", "roofline"],
    ),
    (
        "Tune",
        &[
            "init", "tune", "best", "space", "compile", "gemm", "replay", "sweeps", "scale",
            "wisdom",
        ],
    ),
    ("Explain", &["analyze", "explain"]),
    (
        "Applications",
        &["gisaxs", "hydro", "fmm", "scaling", "paper"],
    ),
    ("General", &["completions", "man", "help"]),
];

/// Commands that use tuned configs.
const USE_WISDOM: [&str; 8] = [
    "tune",
    "gemm",
    "wisdom list",
    "wisdom show",
    "wisdom find",
    "wisdom export",
    "wisdom import",
    "wisdom forget",
];

/// The parser, with the programs beside this one.
pub fn parser() -> Command {
    let own = with_flags(with_common(Cli::command()), &USE_WISDOM);
    let all = own.subcommands(programs::listed());
    let names = GROUPS.iter().flat_map(|(_, names)| *names);
    let ordered = names.enumerate().fold(all, |all, (k, name)| match *name {
        // Its own order is the last.
        "help" => all,
        name => all.mut_subcommand(name, |c| c.display_order(k)),
    });
    let header = ordered.get_styles().get_header();
    let heading = |name: &str| format!("{header}{name}:{header:#}\n");
    let list = (ordered.clone().help_template("{subcommands}")).render_help();
    let (plain, styled) = (list.to_string(), list.ansi().to_string());
    let mut grouped = String::new();
    for (plain, styled) in plain.lines().zip(styled.lines()) {
        // Continued sentences are further in.
        let name = plain.strip_prefix("  ").and_then(|l| l.split(' ').next());
        if let Some((group, _)) = GROUPS.iter().find(|(_, all)| Some(all[0]) == name) {
            let gap = if grouped.is_empty() { "" } else { "\n" };
            grouped += &format!("{gap}{}", heading(group));
        }
        grouped += &format!("{styled}\n");
    }
    let options = heading("Options");
    ordered.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{grouped}\n{options}{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        parser().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut built = parser();
        built.build();
        let shown = built.get_subcommands().filter(|c| !c.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, all)| *all).copied().collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(shown, grouped);
        let help = parser().render_help().to_string();
        for (group, all) in GROUPS {
            assert!(
                help.contains(&format!("\n{group}:\n  {} ", all[0])),
                "{help}"
            );
        }
    }
}
