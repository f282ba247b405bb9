//! The examples in C, C++, Fortran and Rust.

use crate::common::{Case, compile, region, root};
use greenup_testing::skipped;
use std::path::PathBuf;

fn example(name: &str) -> PathBuf {
    root().join("../../examples/regions").join(name)
}

#[test]
fn c() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"];
    let program = compile(folder.path(), "cc", &flags, &[example("heat.c")], "heat");
    let mut case = Case::of(&program, &[]);
    case.ok();
    let s = case.summary();
    assert_eq!(region(&s, &["solve", "step"]).calls, 200);
    assert_eq!(region(&s, &["solve", "residual"]).calls, 20);
    // Without the library.
    let mut flags = vec!["-DGREENUP_NO_REGIONS", "-O2", "-Wall", "-Wextra", "-Werror"];
    if cfg!(target_os = "linux") {
        // The linker drops a library of which nothing is used.
        flags.push("-Wl,--as-needed");
    }
    let program = compile(folder.path(), "cc", &flags, &[example("heat.c")], "plain");
    let mut case = Case::of(&program, &[]);
    case.command.env("LD_LIBRARY_PATH", "/nowhere");
    if cfg!(target_os = "linux") {
        case.ok();
        assert!(!case.folder.path().join("out.jsonl").exists());
    }
}

#[test]
fn overhead() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-O2", "-Wall", "-Wextra", "-Werror"];
    let program = compile(
        folder.path(),
        "cc",
        &flags,
        &[example("overhead.c")],
        "overhead",
    );
    let out = Case::of(&program, &["2000"]).run();
    let said = greenup_testing::text(&out.stdout);
    assert_eq!(said.lines().count(), 9, "{said}");
    // The promise is 1 µs for a pair; a busy host may take longer now and then, but not on the median.
    for line in said.lines().filter(|l| l.contains("1 thread ")) {
        let median = line.split("median").nth(1).unwrap();
        let ns: f64 = median.split_whitespace().next().unwrap().parse().unwrap();
        assert!(ns < 1000.0, "{line}");
    }
}

#[test]
fn cpp() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [
        "-std=c++11",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
    ];
    let program = compile(
        folder.path(),
        "c++",
        &flags,
        &[example("threads.cpp")],
        "threads",
    );
    let mut case = Case::of(&program, &[]);
    case.ok();
    let s = case.summary();
    // Also by an exception.
    assert_eq!(region(&s, &["all", "work"]).calls, 2);
    assert_eq!(region(&s, &["thread", "work"]).calls, 1);
    assert!(s.notes.is_empty(), "{:?}", s.notes);
}

#[test]
fn fortran() {
    if std::process::Command::new("gfortran")
        .arg("--version")
        .output()
        .is_err()
    {
        // `.ci/run` installs it.
        assert!(std::env::var_os("CI").is_none(), "gfortran is needed");
        skipped("gfortran is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sources = [root().join("fortran/greenup.f90"), example("waves.f90")];
    let flags = ["-std=f2008", "-O2", "-Wall", "-Werror"];
    let program = compile(folder.path(), "gfortran", &flags, &sources, "waves");
    let mut case = Case::of(&program, &[]);
    case.ok();
    assert_eq!(region(&case.summary(), &["solve", "step"]).calls, 500);
}

#[test]
fn rust() {
    let exe = std::env::current_exe().unwrap();
    let program = exe.ancestors().nth(2).unwrap().join("examples/primes");
    let mut case = Case::of(&program, &[]);
    case.ok();
    let s = case.summary();
    let r = region(&s, &["thread", "count"]);
    assert_eq!((r.calls, r.threads), (20, 2));
    assert_eq!(region(&s, &["all"]).calls, 1);
}
