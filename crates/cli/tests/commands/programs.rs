//! `greenup NAME`: programs beside this one.
#![cfg(unix)]

use crate::common::command;
use greenup_testing::{fails, is_refused, signal, succeeds, text, wait_until};
use std::path::Path;
use std::process::Command;

/// Writes a script.
fn program(folder: &Path, name: &str, script: &str) {
    greenup_testing::program(
        &folder.join(name),
        format!(
            "#!/bin/sh
{script}
"
        ),
    );
}

/// A copy of greenup in a folder without its programs, with `path` on PATH.
fn alone(own: &Path, path: &Path, args: &[&str]) -> Command {
    let greenup = own.join("greenup");
    if !greenup.exists() {
        let whole = assert_cmd::cargo::cargo_bin!("greenup");
        succeeds(Command::new("cp").arg(whole).arg(&greenup));
    }
    let mut command = Command::new(greenup);
    command.args(args);
    command.env("PATH", format!("{}:/usr/bin:/bin", path.display()));
    command
}

#[test]
fn a_program_beside_it_or_on_path_gets_all_arguments() {
    let (own, path) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (own, path) = (own.path(), path.path());
    program(path, "greenup-hello", "echo \"path $*\"; exit 7");
    let run = |args: &[&str]| {
        let out = alone(own, path, args).output().unwrap();
        (text(&out.stdout), out.status.code())
    };
    let line = ["-q", "hello", "a b", "--json", "--", "-x", "--help"];
    assert_eq!(
        run(&line),
        ("path -q a b --json -- -x --help\n".into(), Some(7))
    );
    assert_eq!(run(&["help", "hello"]), ("path --help\n".into(), Some(7)));
    // What lies beside it comes first.
    program(own, "greenup-hello", "echo beside");
    assert_eq!(run(&["hello"]), ("beside\n".into(), Some(0)));
    // An application is called by its own name, other programs are not.
    program(own, "fmm", "echo fmm $*");
    assert_eq!(run(&["fmm", "run"]), ("fmm run\n".into(), Some(0)));
    program(path, "hello2", "echo no");
    // As it was once called.
    program(path, "greenup-scaling", "echo scaling $*");
    let line = ["-q", "study", "--scaling", "--max", "2"];
    assert_eq!(run(&line), ("scaling -q study --max 2\n".into(), Some(0)));
    for name in ["hello2", "ls", "../greenup"] {
        let e = is_refused(&mut alone(own, path, &[name]));
        assert!(
            e.contains(&format!("unrecognized subcommand '{name}'")),
            "{e}"
        );
    }
}

#[test]
fn its_signals_are_the_programs() {
    let (own, path) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ready = path.path().join("ready");
    let script = format!(
        "trap 'exit 9' TERM; : > {}; while :; do sleep 0.05; done",
        ready.display()
    );
    program(path.path(), "greenup-waits", &script);
    let mut child = alone(own.path(), path.path(), &["waits"]).spawn().unwrap();
    wait_until(&mut child, || ready.exists());
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn what_is_missing_or_misspelt_is_explained() {
    let (own, path) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let refused = |args: &[&str]| is_refused(&mut alone(own.path(), path.path(), args));
    let e = refused(&["papr"]);
    assert!(e.contains("a similar subcommand exists: 'paper'"), "{e}");
    for args in [&["paper", "--list"][..], &["help", "paper"]] {
        let e = fails(&mut alone(own.path(), path.path(), args));
        assert!(
            e.contains("no program greenup-paper beside greenup or on PATH"),
            "{e}"
        );
        assert!(e.contains("cargo build --release -p greenup-paper"), "{e}");
    }
    let e = fails(&mut alone(own.path(), path.path(), &["study", "--scaling"]));
    assert!(e.contains("no program greenup-scaling"), "{e}");
}

#[test]
fn help_manual_pages_and_completions_list_them() {
    let shown = |args: &[&str]| text(&succeeds(&mut command(args)).stdout);
    let help = shown(&["--help"]);
    let applications = help.split("\nApplications:\n").nth(1).unwrap();
    for name in ["gisaxs", "hydro", "fmm", "scaling", "paper"] {
        assert!(
            applications.contains(&format!("\n  {name} "))
                || applications.starts_with(&format!("  {name} ")),
            "{help}"
        );
        assert!(shown(&["man"]).contains(&format!("greenup\\-{name}(1)")));
        assert!(shown(&["completions", "bash"]).contains(&format!("greenup,{name})")));
    }
}

/// What `fmm describe` prints.
const FMM: &str = r#"[ "$1" = describe ] && echo '{"name":"fmm","about":"Sums","after":null,"args":[],"commands":[{"name":"run",
"about":"Evaluate","after":"Example:","args":[{"id":"ncrit","short":null,"long":"ncrit","help":"Points of a leaf","takes_values":true,
"repeatable":false,"required":false,"is_path":false,"values":null,"value_names":["N"],"possible":[]}],"commands":[]}]}'"#;

#[test]
fn manual_pages_and_completions_have_the_flags_of_programs_that_are_there() {
    let own = tempfile::tempdir().unwrap();
    program(own.path(), "fmm", FMM);
    program(own.path(), "hydro", "echo of another version");
    let path = tempfile::tempdir().unwrap();
    let shown = |args: &[&str]| {
        let out = succeeds(&mut alone(own.path(), path.path(), args));
        text(&out.stdout)
    };
    for shell in ["bash", "zsh", "fish"] {
        assert!(shown(&["completions", shell]).contains("ncrit"), "{shell}");
    }
    let page = shown(&["man", "fmm", "run"]);
    assert!(page.contains("Points of a leaf"), "{page}");
    assert!(shown(&["man", "hydro"]).contains("Arguments of the program"));
}

/// Other programs test their commands themselves.
#[test]
fn every_command_of_the_papers_parses() {
    let mut known = 0;
    for args in greenup_testing::commands_of_papers("greenup") {
        // With it, the parser accepts any complete line and refuses unknown subcommands and flags.
        let out = command(&[]).args(&args).arg("--help").output().unwrap();
        assert!(out.status.success(), "greenup {}", args.join(" "));
        known += 1;
    }
    assert!(known > 60, "{known}");
}
