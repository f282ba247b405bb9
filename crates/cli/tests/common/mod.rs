//! The command, and what it printed. Each test uses a part of it.

#![allow(dead_code)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The command with its arguments.
pub fn command(args: &[&str]) -> Command {
    let mut c = Command::new(assert_cmd::cargo::cargo_bin!("greenup"));
    c.args(args);
    c
}

pub fn greenup(args: &[&str]) -> Output {
    command(args).output().expect("it starts")
}

/// Standard output of a command that must succeed.
pub fn ok(args: &[&str]) -> String {
    greenup_testing::text(&greenup_testing::succeeds(&mut command(args)).stdout)
}

/// Standard error of a command that must fail.
pub fn fails(args: &[&str]) -> String {
    greenup_testing::fails(&mut command(args))
}

pub fn json(args: &[&str]) -> serde_json::Value {
    let out = ok(args);
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e}\n{out}"))
}

pub fn file(dir: &Path, name: &str, content: &str) -> String {
    let path = dir.join(name);
    fs::write(&path, content).expect("writable");
    path.display().to_string()
}

/// A file of the repository.
pub fn repository(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

/// A problem of 63 points, copied into a folder of its own.
pub fn problem(dir: &Path) -> std::path::PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sweep");
    greenup_testing::copy_files(&from, dir);
    dir.join("problem.toml")
}

/// A space of 800 points.
pub const SPACE: &str =
    "name = 's'\n[parameters]\na = '1 : 40'\nb = '1 : 40'\n[hard]\nodd = '(a + b) % 2 == 1'\n";
