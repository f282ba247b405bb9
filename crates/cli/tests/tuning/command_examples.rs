//! Examples and the template of commands as problems.

use crate::commands::{said, tune};
use assert_cmd::Command;
use greenup_testing::skipped;
use serde_json::Value as J;
use std::path::Path;

#[test]
fn the_template_is_tuned_and_verified() {
    let dir = tempfile::tempdir().unwrap();
    let init = Command::cargo_bin("greenup")
        .unwrap()
        .args(["init", "command", "k"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(init.status.success(), "{}", said(&init));
    let k = dir.path().join("k");
    std::fs::rename(k.join("problem.toml"), k.join("p.toml")).unwrap();
    let run = tune(
        &k,
        &[
            "--budget",
            "4",
            "--measure",
            "0.01",
            "--finalists",
            "1",
            "--rounds",
            "3",
            "--json",
        ],
    );
    assert!(run.status.success(), "{}", said(&run));
    let answer: J = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(answer["verified"], true);
    assert_eq!(answer["failures"].to_string(), "{}");
}

/// Tunes an example in a few trials, where its tool is.
fn example(name: &str, tool: &str) {
    let found = std::env::var_os("PATH")
        .is_some_and(|p| std::env::split_paths(&p).any(|d| d.join(tool).is_file()));
    if !found {
        skipped(&format!("{tool} is not installed"));
        return;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/commands")
        .join(name)
        .join("problem.toml");
    let out = tempfile::tempdir().unwrap();
    let run = Command::cargo_bin("greenup")
        .unwrap()
        .arg("tune")
        .arg(&file)
        .args(["--budget", "3", "--measure", "0.01", "--finalists", "1"])
        .args(["--rounds", "3", "--sensor", "none", "--json", "--out"])
        .arg(out.path().join("s"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", said(&run));
    let answer: J = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(answer["verified"], true);
    assert_eq!(answer["failures"].to_string(), "{}");
}

#[test]
fn a_program_in_rust_is_tuned() {
    example("rust", "rustc");
}

#[test]
fn a_program_in_fortran_is_tuned() {
    example("fortran", "gfortran");
}

#[test]
fn a_script_in_julia_is_tuned() {
    example("julia", "julia");
}

#[test]
fn a_database_is_tuned() {
    example("sqlite", "python3");
}
