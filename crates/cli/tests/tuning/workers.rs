//! A search with several workers, in shards, and workers that are killed.
#![cfg(target_os = "linux")]

use crate::common::{command, fails, json, ok, problem};
use crate::marks::{MARK, workers};
use serde_json::Value as J;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn tune(problem: &Path, out: &Path, more: &[&str]) -> Command {
    let mut c = command(&["tune", "--sensor", "none", "--strategy", "random"]);
    c.arg(problem).arg("--out").arg(out).args(more);
    c.stdin(Stdio::null());
    c
}

fn trials(out: &Path) -> Vec<J> {
    let text = std::fs::read_to_string(out.join("trials.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

fn configs(out: &Path) -> BTreeSet<String> {
    trials(out)
        .iter()
        .map(|t| t["config"].to_string())
        .collect()
}

#[test]
fn two_workers_try_the_configs_that_one_tries() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    let how = ["--budget", "12", "--finalists", "2", "--json"];
    greenup_testing::succeeds(&mut tune(&p, &one, &how));
    let run = greenup_testing::succeeds(tune(&p, &two, &how).args(["--workers", "2"]));
    assert_eq!(configs(&one), configs(&two));
    let all = trials(&two);
    assert_eq!(all.len(), 12);
    // Both worked, and each trial names its worker.
    let found: J = serde_json::from_slice(&run.stdout).unwrap();
    let by_worker: Vec<u64> = (0..2)
        .map(|i| found["workers"][i]["trials"].as_u64().unwrap())
        .collect();
    assert_eq!(by_worker.iter().sum::<u64>(), 12);
    for (i, n) in by_worker.iter().enumerate() {
        assert!(*n >= 1, "{by_worker:?}");
        let own = all.iter().filter(|t| t["device"]["worker"] == i as u64);
        assert_eq!(own.count() as u64, *n);
    }
    // How much they disturb each other is recorded and shown.
    let head: J = serde_json::from_slice(&std::fs::read(two.join("sweep.json")).unwrap()).unwrap();
    let d = &head["disturbance"];
    assert_eq!(d["workers"], serde_json::json!(["cpu:0", "cpu:1"]));
    assert_eq!(d["alone"]["times_s"].as_array().unwrap().len(), 6, "{d}");
    assert_eq!(d["together"][1]["times_s"].as_array().unwrap().len(), 5);
    assert!(d["time_ratio"]["median"].as_f64().unwrap() > 0.0);
    assert_eq!(found["disturbance"]["time_ratio"], d["time_ratio"]);
    let page = dir.path().join("page");
    ok(&[
        "analyze",
        two.to_str().unwrap(),
        "--out",
        page.to_str().unwrap(),
    ]);
    let html = std::fs::read_to_string(page.join("report.html")).unwrap();
    assert!(html.contains("all 2 workers at once"));
    // The order of the results is recorded, so it can be replayed.
    let replayed = json(&["replay", two.to_str().unwrap(), "--budget", "12", "--json"]);
    assert_eq!(replayed["evaluations"], 12);
}

#[test]
#[ignore = "takes half a minute on a busy host"]
fn a_worker_that_is_killed_costs_its_trial_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let out = dir.path().join("sweep");
    let mark = format!("workers-{}", std::process::id());
    let mut child = tune(&p, &out, &["--budget", "100%", "--finalists", "1"])
        .args(["--workers", "2", "--set", "unroll=1,2,3,4"])
        .env(MARK, &mark)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let mut kills = 0;
    let mut at = 3;
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(120));
        // One kill for every five trials.
        if kills < 6
            && trials(&out).len() >= at
            && let Some(pid) = workers(&mark).first()
        {
            // SAFETY: only sends a signal to a process that this test's child started a moment ago.
            unsafe { libc::kill(*pid, libc::SIGKILL) };
            kills += 1;
            at += 5;
        }
        std::thread::sleep(Duration::from_millis(3));
    }
    assert!(child.wait().unwrap().success());
    assert!(kills >= 3, "{kills}");
    let all = trials(&out);
    assert_eq!(all.len(), 36);
    assert_eq!(configs(&out).len(), 36);
    let failed: Vec<&J> = all.iter().filter(|t| t.get("failed").is_some()).collect();
    assert!(failed.len() <= kills, "{failed:?}");
    for t in failed {
        let message = t["failed"]["message"].as_str().unwrap();
        assert!(message.contains("killed by signal 9"), "{t}");
    }
}

/// Of 63 points 21.
const FEW: &str = "width=1,2,3";

#[test]
fn shards_are_merged() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let folder = |name: &str| dir.path().join(name);
    let path = |name: &str| folder(name).display().to_string();
    for i in ["1", "2", "3"] {
        let more = [
            "--budget",
            "100%",
            "--finalists",
            "1",
            "--set",
            FEW,
            "--shard",
        ];
        greenup_testing::succeeds(tune(&p, &folder(i), &more).arg(format!("{i}/3")));
        assert_eq!(trials(&folder(i)).len(), 7);
    }
    let done = json(&[
        "sweeps",
        "merge",
        &path("all"),
        &path("1"),
        &path("2"),
        &path("3"),
        "--json",
    ]);
    assert_eq!(
        (&done["trials"], &done["failed"]),
        (&J::from(21), &J::from(0))
    );
    assert_eq!(configs(&folder("all")).len(), 21);
    // The finalists of all are measured on one device; no trial is added.
    let finals = [
        "--resume",
        "--budget",
        "1",
        "--finalists",
        "2",
        "--set",
        FEW,
    ];
    greenup_testing::succeeds(&mut tune(&p, &folder("all"), &finals));
    assert!(folder("all").join("finals.json").exists());
    assert_eq!(trials(&folder("all")).len(), 21);
    let listed = json(&[
        "sweeps",
        "list",
        &dir.path().display().to_string(),
        "--json",
    ]);
    assert_eq!(listed.as_array().unwrap().len(), 4);
    assert_eq!(listed[1]["shard"], "2/3");

    // What is in it, and which shards are missing from another.
    let shown = json(&["sweeps", "show", &path("all"), "--json"]);
    assert_eq!(
        (&shown["points"], &shown["trials"]),
        (&J::from(21), &J::from(21))
    );
    assert_eq!(shown["merged"].as_array().unwrap().len(), 3);
    assert_eq!(shown["missing_shards"], serde_json::json!([]));
    assert_eq!(shown["best"][0]["measured_again"], true);
    ok(&["sweeps", "merge", &path("two"), &path("1"), &path("3")]);
    let shown = json(&["sweeps", "show", &path("two"), "--json"]);
    assert_eq!(shown["missing_shards"], serde_json::json!([2]));
    assert_eq!(shown["best"][0]["measured_again"], false);
    let text = ok(&["sweeps", "show", &path("two")]);
    for part in [
        "21 points",
        "14, none failed",
        "shard 3/3",
        "missing     shards 2",
        "single trials",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }

    // Nothing is overwritten, and other experiments are refused by what differs.
    let e = fails(&["sweeps", "merge", &path("all"), &path("1")]);
    assert!(e.contains("is not empty"), "{e}");
    let more = ["--budget", "3", "--finalists", "1", "--set", "size=999"];
    greenup_testing::succeeds(&mut tune(&p, &folder("other"), &more));
    let e = fails(&["sweeps", "merge", &path("new"), &path("1"), &path("other")]);
    assert!(
        e.contains("constants.size") && e.contains("--accept"),
        "{e}"
    );
    assert!(!folder("new").exists());
    // A shard is not continued as another.
    let wrong = tune(
        &p,
        &folder("1"),
        &["--resume", "--set", FEW, "--shard", "2/3"],
    )
    .output()
    .unwrap();
    let e = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        !wrong.status.success() && e.contains("`shard` was 1/3, now 2/3"),
        "{e}"
    );
    let e = greenup_testing::is_refused(&mut command(&["tune", "p.toml", "--shard", "4/3"]));
    assert!(e.contains("I/N"), "{e}");
    let e = fails(&[
        "tune",
        &p.display().to_string(),
        "--out",
        &path("x"),
        "--shard",
        "64/64",
    ]);
    assert!(e.contains("has no points"), "{e}");
}
