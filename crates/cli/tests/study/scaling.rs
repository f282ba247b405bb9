//! `study --scaling` with a program that prints what `fmm run` prints.
#![cfg(unix)]

use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

/// A program `fmm` whose evaluation on n ranks takes 1/n s.
const FMM: &str = r#"#!/bin/sh
while [ "$1" != --ranks ]; do shift; done
[ "$2" = "$FAIL" ] && { echo "error: no memory" >&2; exit 1; }
echo "{\"sources\":1000,\"accuracy\":1e-4,\"precision\":\"f64\",\"ranks\":$2,\"evaluation_s\":$(awk "BEGIN{print 1/$2}")}"
"#;

/// Runs a copy of greenup in a folder with that program alone.
fn study(dir: &Path, fail: &str) -> Output {
    let greenup = dir.join("greenup");
    std::fs::copy(assert_cmd::cargo::cargo_bin("greenup"), &greenup).unwrap();
    let fmm = dir.join("fmm");
    std::fs::write(&fmm, FMM).unwrap();
    std::fs::set_permissions(&fmm, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::process::Command::new(&greenup)
        .args([
            "study",
            "--scaling",
            "--device",
            "cpu",
            "--most",
            "2",
            "--rounds",
            "2",
        ])
        .args(["--machine", "h200", "--json", "-o"])
        .arg(dir.join("out"))
        .env("PATH", "/usr/bin:/bin")
        .env("FAIL", fail)
        .output()
        .unwrap()
}

#[test]
fn runs_are_compared_with_one_rank_and_with_the_prediction() {
    let dir = tempfile::tempdir().unwrap();
    let out = study(dir.path(), "none");
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{errors}");
    // The missing program is named with the fix.
    assert!(
        errors.contains("hydro") && errors.contains("cargo install"),
        "{errors}"
    );
    let printed: Value = serde_json::from_slice(&out.stdout).unwrap();
    let fmm = &printed["applications"][0];
    assert_eq!(fmm["samples"].as_array().unwrap().len(), 4);
    let two = &fmm["points"][1];
    assert_eq!((&two["devices"], &two["runs"]), (&2.into(), &2.into()));
    assert_eq!(two["speedup"]["median"], 2.0);
    let predicted = two["predicted"]["speedup"].as_f64().unwrap();
    assert!(predicted > 1.9 && predicted < 2.0, "{predicted}");
    let mut names = greenup_testing::names(&dir.path().join("out"));
    names.sort();
    assert_eq!(
        names,
        ["scaling.html", "scaling.json", "scaling.png", "scaling.svg"]
    );
}

#[test]
fn a_run_that_fails_is_reported_and_the_others_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let out = study(dir.path(), "2");
    assert!(out.status.success());
    let printed: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(
        printed["applications"][0]["points"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let missing = printed["missing"].to_string();
    assert!(missing.contains("fmm on 2 devices: no memory"), "{missing}");
    let other = tempfile::tempdir().unwrap();
    let none = study(other.path(), "1");
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no memory"));
}
