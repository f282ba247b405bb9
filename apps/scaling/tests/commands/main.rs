//! The command: predictions, comparisons, and studies of applications on this host.

mod examples;
mod predict;
mod study;

use std::process::Command;

/// The command with its arguments.
fn command(args: &[&str]) -> Command {
    let mut c = Command::new(assert_cmd::cargo::cargo_bin!("greenup-scaling"));
    c.args(args);
    c
}

/// Standard output of a command that must succeed.
fn ok(args: &[&str]) -> String {
    greenup_testing::text(&greenup_testing::succeeds(&mut command(args)).stdout)
}

/// Standard error of a command that must fail.
fn fails(args: &[&str]) -> String {
    greenup_testing::fails(&mut command(args))
}

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&ok(args)).expect("JSON")
}

#[test]
fn its_help_is_that_of_a_subcommand_and_its_completions_are_its_own() {
    let help = ok(&["--help"]);
    assert!(help.contains("\nUsage: greenup scaling [OPTIONS] [APP]\n"));
    assert!(!help.contains("completions") && !help.contains("--version"));
    assert!(ok(&["--version"]).starts_with("greenup-scaling "));
    for shell in ["bash", "zsh", "fish"] {
        assert!(ok(&["completions", shell]).contains("greenup-scaling"));
    }
    assert!(ok(&["man"]).contains(".TH greenup-scaling 1"));
}
