//! The command, and what it printed. Each test uses a part of it.

#![allow(dead_code)]

use assert_cmd::Command;
use std::fs;
use std::path::Path;
use std::process::Output;

pub fn greenup(args: &[&str]) -> Output {
    Command::cargo_bin("greenup")
        .expect("built")
        .args(args)
        .output()
        .expect("runs")
}

pub fn ok(args: &[&str]) -> String {
    let out = greenup(args);
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout)
}

/// Standard error of a command that must fail with code 1.
pub fn fails(args: &[&str]) -> String {
    let out = greenup(args);
    assert_eq!(
        out.status.code(),
        Some(1),
        "{args:?}: {}",
        text(&out.stdout)
    );
    let e = text(&out.stderr);
    assert!(e.contains("error:") && !e.contains("panicked"), "{e}");
    e
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
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
