//! Recorded sweeps of this and other tuners in the commands that read them: what is no measurement, objectives by name,
//! values in a command line.

use crate::common::{fails, file, greenup, json, ok, repository};
use std::fs;
use std::path::Path;

/// A sweep folder of these lines; parameter `a` is 1, 2 or 3, and the shard is recorded.
fn sweep(dir: &Path, name: &str, shard: &str, lines: &[&str]) -> String {
    let folder = dir.join(name);
    fs::create_dir_all(&folder).unwrap();
    let facts = format!(
        r#"{{"format":"greenup-sweep/1","name":"demo","device":"d","parameters":["a"],"objective":"time","verified":true,"fingerprint":{{"parameters.a":"[1, 2, 3]"}},"more":{{"shard":"{shard}"}}}}"#
    );
    fs::write(folder.join("sweep.json"), facts).unwrap();
    fs::write(folder.join("trials.jsonl"), lines.join("\n") + "\n").unwrap();
    folder.display().to_string()
}

const GOOD: &str = r#"{"config":[1],"measured":{"times_s":[2.0],"time_s":2.0},"metrics":{"rate":3.0,"none":null,"size":1.0}}"#;

#[test]
fn what_is_no_measurement_never_wins_and_is_never_merged() {
    let dir = tempfile::tempdir().unwrap();
    let lines = [
        GOOD,
        r#"{"config":[2],"measured":{"times_s":[-1.0],"time_s":-1.0}}"#,
        r#"{"config":[2],"measured":{"times_s":[0.0],"time_s":0.0}}"#,
        r#"{"config":[2],"measured":{"times_s":[],"time_s":0.1}}"#,
        r#"{"config":[2],"measured":{"times_s":[0.1],"time_s":0.1,"energy_j":-1.0}}"#,
        r#"{"config":[9],"measured":{"times_s":[0.1],"time_s":0.1}}"#,
    ];
    let s = sweep(dir.path(), "s", "1/2", &lines);
    let best = greenup(&["best", &s, "--format", "json"]);
    let said = String::from_utf8_lossy(&best.stderr).into_owned();
    let found: serde_json::Value = serde_json::from_slice(&best.stdout).unwrap();
    assert_eq!(
        (&found["config"]["a"], &found["time_s"]),
        (&1.into(), &2.0.into())
    );
    for what in [
        "a run of -1.0 s",
        "a run of 0.0 s",
        "no times",
        "energy of -1.0 J",
        "a = 9",
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
    let other = sweep(dir.path(), "other", "2/2", &[GOOD]);
    let out = dir.path().join("out").display().to_string();
    let merged = json(&["sweeps", "merge", &out, &s, &other, "--json"]);
    assert_eq!(merged["trials"], 2);
    let third = sweep(dir.path(), "third", "1/3", &[GOOD]);
    let out = dir.path().join("none").display().to_string();
    let e = fails(&["sweeps", "merge", &out, &s, &third]);
    assert!(e.contains("1/2 and 1/3"), "{e}");
}

#[test]
fn an_objective_is_a_metric_of_the_sweep_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    let second = r#"{"config":[2],"measured":{"times_s":[1.0],"time_s":1.0},"metrics":{"rate":2.0,"size":2.0}}"#;
    let s = sweep(dir.path(), "s", "1/1", &[GOOD, second]);
    for command in [
        vec!["best", &s],
        vec!["replay", &s, "--budget", "2", "--strategy", "random"],
    ] {
        let with =
            |objective: &'static str| [command.clone(), vec!["--objective", objective]].concat();
        let e = fails(&with("metric:rat"));
        assert!(
            e.contains("`rat`; known: time, metric:rate, metric:size"),
            "{e}"
        );
        let e = fails(&with("metric:size"));
        assert!(e.contains("metric:size:max or metric:size:min"), "{e}");
        assert!(ok(&with("metric:size:max")).contains('2'));
    }
    let rate = json(&[
        "best",
        &s,
        "--objective",
        "metric:rate:max",
        "--format",
        "json",
    ]);
    assert_eq!(
        (&rate["config"]["a"], &rate["value"]),
        (&1.into(), &3.0.into())
    );
    // The recorded objective of a sweep of another tuner is kept.
    let clocks = repository("sweeps/rtx4000ada_wmma_cgemm_clocks.json.gz");
    let best = json(&["best", &clocks, "--format", "json"]);
    assert_eq!(best["objective"], "metric:TFLOPS/J");
    assert_eq!(best["config"]["nvml_gr_clock"], 1485);
    // A value has its unit.
    let shown = ok(&["replay", &s, "--budget", "2", "--strategy", "random"]);
    assert!(shown.contains("best time = 1.00 s"), "{shown}");
}

#[test]
fn results_without_times_show_a_dash_and_no_zero() {
    let dir = tempfile::tempdir().unwrap();
    let result = |b: i32, x: f64| {
        format!(
            r#"{{"configuration": {{"b": {b}}}, "times": {{"runtimes": []}}, "invalidity": "correct", "measurements": [{{"name": "GFLOP/s", "value": {x}, "unit": "GFLOP/s"}}], "objectives": ["GFLOP/s"]}}"#
        )
    };
    let text = format!(
        r#"{{"results": [{}, {}]}}"#,
        result(32, 200.0),
        result(64, 300.0)
    );
    let t4 = file(dir.path(), "t4.json", &text);
    assert_eq!(ok(&["best", &t4]), "-Db=64\n");
    let shown = ok(&["sweeps", "show", &t4]);
    assert!(
        shown.contains('—') && shown.contains("300") && !shown.contains("0 s"),
        "{shown}"
    );
    let e = fails(&["analyze", &t4]);
    assert!(e.contains("has a time") && e.contains("metric:NAME"), "{e}");
    assert!(fails(&["best", &t4, "--objective", "time"]).contains("has no times"));
}
