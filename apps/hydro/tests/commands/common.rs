//! The command, and what it printed.

use assert_cmd::Command;
use greenup_testing::{at_a_terminal, is_refused, text};
use serde_json::Value as J;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

pub const BIN: &str = env!("CARGO_BIN_EXE_hydro");

pub fn hydro(args: &[&str]) -> Command {
    let mut c = Command::new(BIN);
    c.args(args).timeout(Duration::from_secs(240));
    c
}

pub fn numbers(args: &[&str]) -> J {
    let run = hydro(args).arg("--json").assert().success();
    serde_json::from_slice(&run.get_output().stdout).unwrap()
}

/// Standard error of a command that must fail.
pub fn error(args: &[&str]) -> String {
    is_refused(std::process::Command::new(BIN).args(args))
}

/// A checkpoint goes on by a step, whichever one it is at: 0, or that which the refusal of a lower one names.
pub fn one_more_step(file: &str) -> J {
    let args = ["restart", file, "--json", "--steps"];
    let first = hydro(&args).arg("1").output().unwrap();
    if first.status.success() {
        return serde_json::from_slice(&first.stdout).unwrap();
    }
    let said = text(&first.stderr);
    let rest = said.split("already at step ").nth(1).unwrap_or_default();
    let at = rest.split(';').next().unwrap_or_default();
    let at: u64 = at.parse().unwrap_or_else(|_| panic!("{said}"));
    numbers(&["restart", file, "--steps", &(at + 1).to_string()])
}

pub fn path(dir: &tempfile::TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}

/// A small run with all the outputs that grow.
pub fn outputs(dir: &Path) -> Vec<String> {
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    [
        "--history",
        &at("h.csv"),
        "--vtu",
        &at("fields"),
        "--snapshots",
        "6",
    ]
    .map(str::to_owned)
    .to_vec()
}

pub fn words(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

pub const TRIPLE: [&str; 11] = [
    "run",
    "--problem",
    "3",
    "--refine",
    "2",
    "--t-final",
    "0.4",
    "--threads",
    "1",
    "--every",
    "2",
];

pub fn started(args: &[&str]) -> Child {
    greenup_testing::started(&mut at_a_terminal(
        std::process::Command::new(BIN).args(args),
    ))
}
