//! Each command: what it answers, refuses and writes.

mod accepted;
mod command;
mod examples;
mod faults;
mod inputs;
mod ranks;
mod study_faults;
mod wisdom;

use assert_cmd::cargo::cargo_bin;
use std::process::{Command, Stdio};

/// The command with these words, its output caught.
fn fmm(words: &str) -> Command {
    let mut c = Command::new(cargo_bin("fmm"));
    c.args(words.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    c
}
