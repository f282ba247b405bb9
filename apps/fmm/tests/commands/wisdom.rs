//! `fmm tune` keeps its winner, and `fmm run` uses it.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn fmm(store: &Path, args: &str) -> Output {
    let all = args.split(' ');
    let run = Command::new(env!("CARGO_BIN_EXE_fmm"))
        .args(all)
        .env("GREENUP_WISDOM", store)
        .output();
    run.unwrap()
}

fn json(store: &Path, args: &str) -> Value {
    let run = fmm(store, args);
    assert!(run.status.success(), "{run:?}");
    serde_json::from_slice(&run.stdout).unwrap()
}

#[test]
fn the_tuned_ncrit_is_kept_and_used_for_similar_runs_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store.toml");
    let before = json(&store, "run -n 1000 --accuracy 1e-3 --json")["ncrit"].clone();
    assert_eq!(before, 120);
    json(&store, "tune -n 1000 --accuracy 1e-3 --ncrit 37 --json");
    let text = std::fs::read_to_string(&store).unwrap();
    assert!(
        text.contains("fmm_evaluation") && text.contains("ncrit = 37"),
        "{text}"
    );
    for (args, ncrit) in [
        ("run -n 1000 --accuracy 1e-3 --json", 37),
        ("run -n 2000 --accuracy 1e-3 --json", 37),
        ("run -n 1000 --accuracy 1e-3 --ncrit 50 --json", 50),
        ("run -n 1000 --accuracy 1e-3 --no-wisdom --json", 120),
        ("run -n 1000 --accuracy 1e-4 --json", 120),
        ("run -n 5000 --accuracy 1e-3 --json", 120),
        (
            "run -n 1000 --accuracy 1e-3 --distribution sphere --json",
            120,
        ),
    ] {
        assert_eq!(json(&store, args)["ncrit"], ncrit, "{args}");
    }
    let shown = fmm(&store, "run -n 1000 --accuracy 1e-3 -v");
    let text = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert!(
        text.contains("wisdom of this device") && text.contains("store.toml"),
        "{text}"
    );
}

#[test]
fn a_store_that_cannot_be_used_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store.toml");
    std::fs::write(&store, "format = 'greenup-wisdom/1'\n[[entry").unwrap();
    let run = fmm(&store, "run -n 100");
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(!run.status.success() && text.contains("line 2"), "{text}");
    // A search has its result all the same.
    let run = fmm(&store, "tune -n 100 --accuracy 1e-3 --ncrit 64");
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(
        run.status.success() && text.contains("not kept as wisdom"),
        "{text}"
    );
    assert!(String::from_utf8_lossy(&run.stdout).contains("fastest:"));
    let left = std::fs::read_to_string(&store).unwrap();
    assert_eq!(left, "format = 'greenup-wisdom/1'\n[[entry");
}
