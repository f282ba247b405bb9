//! `greenup scale` end to end: a sweep's configs at other sizes, drawn by `analyze`, and stopped.

use crate::common::command;
use greenup_testing::{at_a_terminal, copy_files, is_ended_by, started, wait_until_handled};
use serde_json::Value as J;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The example, with time for tests beside it.
fn problem(dir: &Path) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stencil");
    copy_files(&from, dir);
    let file = dir.join("problem.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("timeout = 10.0"));
    fs::write(&file, text.replace("timeout = 10.0", "timeout = 60.0")).unwrap();
    file
}

fn scale(problem: &Path, sweep: &Path, over: &str) -> Command {
    let mut c = command(&["scale"]);
    c.arg(problem)
        .args(["--over", over, "--sensor", "none", "--sweep"])
        .arg(sweep);
    c
}

fn read(path: &Path) -> J {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn configs_are_measured_at_every_size_and_half_of_it_replaces_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let problem = problem(dir.path());
    let sweep = dir.path().join("sweep");
    let tuned = command(&["tune"])
        .arg(&problem)
        .args(["--set", "n=130", "--budget", "8", "--sensor", "none"])
        .args(["--finalists", "1", "--out"])
        .arg(&sweep)
        .output()
        .unwrap();
    assert!(tuned.status.success());

    // With 34 points a side the larger tiles leave a thread without work: filters reject them.
    let run = scale(&problem, &sweep, "n=130,34,66")
        .args(["--configs", "3"])
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let file = sweep.join("scaling.json");
    let answer = read(&file);
    let sizes: Vec<f64> = answer["sizes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["size"].as_f64().unwrap())
        .collect();
    assert_eq!(sizes, [34.0, 66.0, 130.0]);
    let configs = answer["configs"].as_array().unwrap().len();
    assert!(configs >= 2, "{configs}");
    for s in answer["sizes"].as_array().unwrap() {
        let trials = s["trials"].as_array().unwrap();
        assert_eq!(trials.len(), configs);
        for t in trials.iter().filter(|t| !t.is_null()) {
            let time = t["measured"]["time_s"].as_f64();
            assert!(time.is_some_and(|s| s > 0.0), "{t}");
        }
    }
    let all_at_the_tuned_size = &answer["sizes"][2]["trials"];
    assert!(
        all_at_the_tuned_size
            .as_array()
            .unwrap()
            .iter()
            .all(|t| !t.is_null())
    );

    let out = dir.path().join("analysis");
    let analyzed = command(&["analyze"])
        .arg(&sweep)
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!(analyzed.status.success());
    assert!(out.join("scaling.png").is_file());
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("id=\"scaling\""));

    // Stopped in the middle: the earlier measurements stay.
    let mut child = started(&mut at_a_terminal(&scale(&problem, &sweep, "n=2050,4098")));
    wait_until_handled(&mut child, "INT");
    std::thread::sleep(Duration::from_millis(700));
    is_ended_by(&mut child, "INT");
    assert_eq!(
        read(&file),
        answer,
        "half of the sizes replaced all of them"
    );

    let other = scale(&problem, &sweep, "nosuch=3").output().unwrap();
    assert_eq!(other.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&other.stderr).contains("no constant or parameter `nosuch`"));
    let none = scale(&problem, dir.path(), "n=34").output().unwrap();
    assert!(String::from_utf8_lossy(&none.stderr).contains("is not a sweep folder"));
}
