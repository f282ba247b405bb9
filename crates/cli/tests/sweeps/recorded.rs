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
        shown.contains('–') && shown.contains("300") && !shown.contains("0 s"),
        "{shown}"
    );
    let e = fails(&["analyze", &t4]);
    assert!(e.contains("has a time") && e.contains("metric:NAME"), "{e}");
    assert!(fails(&["best", &t4, "--objective", "time"]).contains("has no times"));
}

/// A cache of Kernel Tuner with one parameter, its values, and what stands in each entry.
fn cache(values: &str, entries: &[(&str, &str)]) -> String {
    let each: Vec<String> = (entries.iter())
        .map(|(v, more)| format!(r#""{}": {{"v": {v}, {more}}}"#, v.replace('"', "")))
        .collect();
    format!(
        r#"{{"device_name": "T", "kernel_name": "k", "tune_params_keys": ["v"], "tune_params": {{"v": {values}}}, "objective": "time", "cache": {{{}}}}}"#,
        each.join(", ")
    )
}

#[test]
fn a_bound_that_no_config_keeps_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    // 200, 300 and 50 W.
    let entries = [
        ("32", r#""time": 2.0, "energy": 0.4"#),
        ("64", r#""time": 1.0, "energy": 0.3"#),
        ("128", r#""time": 4.0, "energy": 0.2"#),
    ];
    let foreign = file(dir.path(), "c.json", &cache("[32, 64, 128]", &entries));
    let line = |(a, time_s, energy_j): (i64, f64, f64)| {
        format!(
            r#"{{"config":[{a}],"measured":{{"times_s":[{time_s}],"time_s":{time_s},"energy_j":{energy_j}}}}}"#
        )
    };
    let lines = [(1, 2e-3, 0.4), (2, 1e-3, 0.3), (3, 4e-3, 0.2)].map(line);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let own = sweep(dir.path(), "own", "1/1", &lines);
    for s in [&foreign, &own] {
        for command in [
            vec!["best", s, "--format", "json"],
            vec!["replay", s, "--budget", "3", "--strategy", "random"],
            vec![
                "replay",
                s,
                "--budget",
                "3",
                "--strategy",
                "random",
                "--seeds",
                "2",
            ],
            vec!["replay", s, "--budget", "50%,100%", "--strategy", "random"],
        ] {
            let with = |o: &'static str| [command.clone(), vec!["--objective", o]].concat();
            let e = fails(&with("time@power<=10"));
            let bound = "no config keeps power <= 10 W; the nearest has 50 W";
            assert!(e.contains(bound), "{e}");
            let e = fails(&with("energy@time<=0.0005"));
            let bound = "no config keeps time <= 0.0005 s; the nearest has 0.001 s";
            assert!(e.contains(bound), "{e}");
            ok(&with("time@power<=100"));
        }
        let found = json(&[
            "best",
            s,
            "--format",
            "json",
            "--objective",
            "time@power<=100",
        ]);
        assert_eq!(found["time_s"], 4e-3);
    }
    // A sweep that was made for such an objective.
    let facts = dir.path().join("own/sweep.json");
    let text = fs::read_to_string(&facts).unwrap();
    let text = text.replace(r#""objective":"time""#, r#""objective":"time@power<=10""#);
    fs::write(&facts, text).unwrap();
    let bound = "no config keeps power <= 10 W; the nearest has 50 W";
    assert!(fails(&["best", &own]).contains(bound));
    let shown = ok(&["sweeps", "show", &own]);
    assert!(
        shown.contains(&format!("best by time@power<=10: {bound}")),
        "{shown}"
    );
    assert_eq!(
        json(&["sweeps", "show", &own, "--json"])["best"],
        serde_json::json!([])
    );
    let analyzed = greenup(&["analyze", &own]);
    let said = String::from_utf8_lossy(&analyzed.stderr).into_owned();
    assert!(analyzed.status.success() && said.contains(bound), "{said}");
}

#[test]
fn values_are_written_as_the_space_writes_them() {
    let dir = tempfile::tempdir().unwrap();
    for (name, values, best, text, toml) in [
        ("none", "[null, 4]", "null", "None", "\"None\""),
        ("bool", "[true, false]", "false", "False", "false"),
        (
            "tuple",
            "[[16, 2], [32, 1]]",
            "[16, 2]",
            "(16, 2)",
            "[16, 2]",
        ),
        ("text", "[\"a b\", \"c\"]", "\"a b\"", "a b", "\"a b\""),
    ] {
        let c = cache(values, &[(best, r#""time": 1.0"#)]);
        let c = file(dir.path(), &format!("{name}.json"), &c);
        let shown = ok(&["sweeps", "show", &c]);
        let last = shown.lines().last().unwrap();
        assert!(last.trim_end().ends_with(text), "{shown}");
        let written = ok(&["best", &c, "--format", "toml"]);
        let written: toml::Table = written.parse().unwrap();
        assert_eq!(written["config"]["v"].to_string(), toml);
        let as_json = json(&["best", &c, "--format", "json"]);
        let want: serde_json::Value = serde_json::from_str(best).unwrap();
        assert_eq!(as_json["config"]["v"], want);
    }
}

#[test]
fn the_reason_of_failures_is_that_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let failed = [
        ("1", r#""time": "CompilationFailedConfig""#),
        ("2", r#""time": "RuntimeFailedConfig""#),
    ];
    let c = file(dir.path(), "c.json", &cache("[1, 2]", &failed));
    let e = fails(&["best", &c]);
    assert!(
        e.contains("no trial of the sweep succeeded: 1 compile, 1 runtime"),
        "{e}"
    );
    for command in ["best", "analyze"] {
        let e = fails(&[command, &c]);
        assert!(
            e.contains("the first failure: CompilationFailedConfig"),
            "{e}"
        );
        assert!(!e.contains("trials.jsonl"), "{e}");
    }
    let csv = file(dir.path(), "s.csv", "b,time\n32,2.0\n");
    let e = fails(&["best", &csv]);
    assert!(e.contains("or results of KTT or CLBlast, no CSV"), "{e}");
}
