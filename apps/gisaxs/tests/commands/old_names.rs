//! Flags of version 0.1 still work, with a note on standard error.

use assert_cmd::Command;
use std::path::Path;

/// Standard error of a run that must succeed.
fn run(dir: &Path, args: &str) -> String {
    let out = Command::cargo_bin("gisaxs")
        .unwrap()
        .current_dir(dir)
        .args(args.split_whitespace())
        .output()
        .unwrap();
    let text = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.success(), "{args}: {text}");
    text
}

#[test]
fn old_flags_give_the_same_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let shape = format!("{}/examples/icosahedron.toml", env!("CARGO_MANIFEST_DIR"));
    let grid = format!("form-factor {shape} --grid 0.1 -1:1:21 0:1.5:17 --accuracy 1e-3");
    let new = run(
        dir.path(),
        &format!("{grid} --method gemm --quadrature six --im-qz 0.02 -o new.csv"),
    );
    assert!(!new.contains("note:"), "{new}");
    let old = run(
        dir.path(),
        &format!("{grid} --way product --points six --damping=0.02 -o old.csv"),
    );
    for note in [
        "`--way` is now `--method`",
        "`product` of `--method` is now `gemm`",
        "`--points` is now `--quadrature`",
        "`--damping` is now `--im-qz`",
    ] {
        assert!(old.contains(note), "{note}: {old}");
    }
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(read("new.csv"), read("old.csv"));
}

#[test]
fn the_old_flag_of_wisdom_is_known() {
    let out = Command::cargo_bin("gisaxs")
        .unwrap()
        .args(["wisdom", "no/such/sweep", "--greenest"])
        .output()
        .unwrap();
    let text = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1), "{text}");
    assert!(
        text.contains("`--greenest` is now `--lowest-energy`"),
        "{text}"
    );
}
