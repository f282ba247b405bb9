//! A sweep of the small problem, and what it holds.

use crate::common::command;
use serde_json::Value as J;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

pub fn tune(problem: &Path, out: &Path, more: &[&str]) -> Command {
    let mut c = command(&["tune"]);
    c.arg(problem).arg("--out").arg(out);
    c.args([
        "--sensor",
        "none",
        "--finalists",
        "1",
        "--strategy",
        "random",
    ]);
    c.args(more).stdin(Stdio::null());
    c
}

pub fn trials(dir: &Path) -> Vec<J> {
    let text = fs::read_to_string(dir.join("trials.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

pub fn configs(dir: &Path) -> Vec<J> {
    trials(dir).iter().map(|t| t["config"].clone()).collect()
}

pub fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(file, text.replace(from, to)).unwrap();
}
