//! `scaling study` with a program that prints what `fmm run` prints.
#![cfg(unix)]

use crate::{fails, json, ok};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// A program `fmm` whose evaluation of n points on r ranks takes n / (1000 r) s. It counts its runs in a file beside it.
const FMM: &str = r#"#!/bin/sh
echo "$*" >> "$(dirname "$0")/calls"
while [ "$1" != -n ]; do shift; done
points=$2
while [ "$1" != --ranks ]; do shift; done
[ "$2" = "$FAIL" ] && { echo "error: no memory" >&2; exit 1; }
echo "{\"sources\":$points,\"accuracy\":1e-4,\"precision\":\"f64\",\"ranks\":$2,\"errors\":{\"potential\":1e-5},\
\"evaluation_s\":$(awk "BEGIN{print $points/1000/$2}"),\"timings\":{\"compute_s\":$(awk "BEGIN{print $points/1000/$2}")}}"
"#;

/// Runs a copy of the program in a folder with that program alone, on 1 and 2 ranks.
fn study(dir: &Path, fail: &str) -> Output {
    study_with(dir, fail, &["--rounds", "2"])
}

fn study_with(dir: &Path, fail: &str, more: &[&str]) -> Output {
    let own = dir.join("greenup-scaling");
    let scaling = std::fs::read(assert_cmd::cargo::cargo_bin!("greenup-scaling")).unwrap();
    greenup_testing::program(&own, scaling);
    greenup_testing::program(&dir.join("fmm"), FMM);
    std::process::Command::new(&own)
        .args([
            "study",
            "--device",
            "cpu",
            "--max",
            "2",
            "--fmm-points",
            "1000",
        ])
        .args(more)
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
        [
            ".greenup-files",
            "scaling-runs.jsonl",
            "scaling.html",
            "scaling.json",
            "scaling.png",
            "scaling.svg"
        ]
    );
}

/// Number of runs so far.
fn calls(dir: &Path) -> usize {
    let text = std::fs::read_to_string(dir.join("calls")).unwrap_or_default();
    text.lines().count()
}

#[test]
fn a_study_continues_and_its_table_is_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let cases = ["--rounds", "1", "--cases", "fmm,fmm-weak", "--resume"];
    // The weak case ends with two ranks: first they fail.
    let first = study_with(dir.path(), "2", &cases);
    assert!(first.status.success());
    assert_eq!(calls(dir.path()), 4);
    let second = study_with(dir.path(), "none", &cases);
    assert!(second.status.success());
    // Only what failed ran again.
    assert_eq!(calls(dir.path()), 6);
    let printed: Value = serde_json::from_slice(&second.stdout).unwrap();
    let weak = &printed["applications"][1];
    assert_eq!(
        (&weak["case"], &weak["weak"]),
        (&"fmm-weak".into(), &true.into())
    );
    // Twice the points in the same time.
    assert_eq!(weak["points"][1]["speedup"]["median"], 2.0);
    assert_eq!(weak["points"][1]["size"], 2.0);
    let strong = &printed["applications"][0]["points"][1];
    assert_eq!(strong["digits"]["same"], true);
    let third = study_with(dir.path(), "none", &cases);
    assert!(third.status.success());
    assert_eq!(calls(dir.path()), 6);
    let folder = dir.path().join("out");
    let file = |name: &str| folder.join(name).display().to_string();
    let table = ok(&["--study", &folder.display().to_string()]);
    assert!(table.contains("fmm-weak: "), "{table}");
    assert!(table.contains("Mean error"), "{table}");
    ok(&["fmm", "--study", &file("scaling.json"), "-o", &file("x.md")]);
    ok(&["--study", &file(""), "-o", &file("x.svg")]);
    let error = fails(&["tune", "--study", &file("")]);
    assert!(error.contains("no case of tune"), "{error}");
    // Another device is not mixed in.
    let runs = std::fs::read_to_string(file("scaling-runs.jsonl")).unwrap();
    let other = runs.replacen("\"device\":\"", "\"device\":\"Another ", 1);
    std::fs::write(file("scaling-runs.jsonl"), other).unwrap();
    let refused = study_with(dir.path(), "none", &cases);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--out"));
    // Without --resume the runs are put aside.
    let anew = study_with(dir.path(), "none", &["--rounds", "1"]);
    assert!(anew.status.success());
    assert!(folder.join("scaling-runs-before.jsonl").exists());
}

#[test]
fn a_budget_ends_the_study() {
    let dir = tempfile::tempdir().unwrap();
    let out = study_with(dir.path(), "none", &["--budget", "1s"]);
    assert_eq!(out.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(errors.contains("no time left"), "{errors}");
    assert_eq!(calls(dir.path()), 0);
}

/// All cases at the smallest sizes, by the real programs.
#[test]
#[ignore = "needs greenup, hydro, gisaxs and fmm beside it: cargo build --workspace"]
fn all_cases_run_on_one_rank_and_two() {
    let dir = tempfile::tempdir().unwrap();
    let printed = json(&[
        "study",
        "--device",
        "cpu",
        "--all-cases",
        "--counts",
        "1,2",
        "--rounds",
        "1",
        "--hydro-zones",
        "6",
        "--hydro-weak-zones",
        "6",
        "--hydro-steps",
        "2",
        "--fmm-points",
        "4000",
        "--gisaxs-grid",
        "41",
        "--gisaxs-triangles",
        "2000",
        "--gisaxs-image",
        "12",
        "--tune-trials",
        "3",
        "--json",
        "-o",
        dir.path().to_str().unwrap(),
    ]);
    assert_eq!(printed["missing"].to_string(), "[]");
    let all = printed["applications"].as_array().unwrap();
    assert_eq!(all.len(), 11);
    for a in all {
        let two = &a["points"][1];
        assert_eq!(two["devices"], 2, "{a}");
        // One round on a busy host: what does not scale may have taken longer than the rest.
        assert!(two["predicted"]["speedup"].as_f64().unwrap() > 0.0, "{a}");
        let compared = a["weak"] == false && a["application"] != "tune";
        assert_eq!(two["digits"]["same"] == true, compared, "{a}");
    }
    let tune = all.iter().find(|a| a["case"] == "tune").unwrap();
    assert!(
        tune["points"][1]["disturbance"]["time"]["median"]
            .as_f64()
            .unwrap()
            > 0.1
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
