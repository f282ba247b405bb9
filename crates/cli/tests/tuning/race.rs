//! Configs that cannot win are stopped after a few batches, and say so.

use super::cheats::{ARRAYS, problem};
use super::commands::{said, tune};
use assert_cmd::Command;
use serde_json::Value as J;
use std::fs;
use std::path::Path;

/// Writes x as often as the config says.
const KERNEL: &str = "void k(double *y, const double *x) {
  for (int r = 0; r < how; r++)
    for (int i = 0; i < n; i++) ((volatile double *)y)[i] = x[i];
}\n";

fn files(dir: &Path) {
    fs::write(
        dir.join("p.toml"),
        problem("[1, 2, 8, 16, 32]", ARRAYS, "").replace("drift = false\n", ""),
    )
    .unwrap();
    fs::write(dir.join("k.c"), KERNEL).unwrap();
    let reference = KERNEL.replace("how", "1");
    fs::write(dir.join("r.c"), reference.replace("i < n", "i < 100000")).unwrap();
}

fn trials(dir: &Path, sweep: &str) -> Vec<J> {
    let text = fs::read_to_string(dir.join(sweep).join("trials.jsonl")).unwrap();
    (text.lines())
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

#[test]
fn slow_configs_are_stopped_and_the_best_is_found() {
    let dir = tempfile::tempdir().unwrap();
    files(dir.path());
    let all = ["--budget", "100%", "--strategy", "exhaustive", "--json"];
    // Whatever sensor the host has: with one, the first five are measured in full.
    let time = ["--energy", "none", "--out", "s"];
    let out = tune(dir.path(), &[&all[..], &time].concat());
    assert!(out.status.success(), "{}", said(&out));
    let answer: J = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(answer["trials"], 5, "{answer}");
    let seconds = |key: &str| answer[key].as_f64().unwrap();
    assert!(
        seconds("search_s") + seconds("finals_s") <= seconds("total_s"),
        "{answer}"
    );
    let found = trials(dir.path(), "s");
    // The first two are measured in full: they show the machine's drift.
    let stopped: Vec<i64> = (found.iter())
        .filter(|t| t["stopped"] == true)
        .map(|t| t["config"][0].as_i64().unwrap())
        .collect();
    assert!(!stopped.is_empty() && !stopped.contains(&1), "{stopped:?}");
    let order: Vec<i64> = (found.iter())
        .map(|t| t["config"][0].as_i64().unwrap())
        .collect();
    let slowest = order.iter().position(|c| *c == 32).unwrap();
    assert!(
        slowest < 2 || stopped.contains(&32),
        "{order:?} {stopped:?}"
    );
    assert_eq!(answer["stopped"], stopped.len(), "{answer}");
    for t in &found {
        assert!(t["measured"]["time_s"].as_f64().unwrap() > 0.0, "{t}");
    }
    let facts = fs::read_to_string(dir.path().join("s/sweep.json")).unwrap();
    let facts: J = serde_json::from_str(&facts).unwrap();
    assert_eq!(facts["energy"], "none");
    let run = |args: &[&str]| {
        let mut c = Command::cargo_bin("greenup").unwrap();
        let out = c.args(args).current_dir(dir.path()).output().unwrap();
        assert!(out.status.success(), "{}", said(&out));
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    assert!(run(&["sweeps", "show", "s"]).contains("stopped early"));
    run(&["analyze", "s", "--out", "a"]);
    let page = fs::read_to_string(dir.path().join("a/report.html")).unwrap();
    assert!(page.contains("stopped early, as "));
    // A file for other tools says so too, and is read back.
    assert!(run(&["sweeps", "show", "a/results-t4.json"]).contains("stopped early"));
    // Each in full, if wanted.
    let out = tune(
        dir.path(),
        &[&all[..], &["--energy", "all", "--out", "t"]].concat(),
    );
    assert!(out.status.success(), "{}", said(&out));
    assert!(
        trials(dir.path(), "t")
            .iter()
            .all(|t| t["stopped"].is_null())
    );
}
