//! `greenup run` with parameters, names, input, and commands that are not measured.

use crate::common::{command, fails, file, greenup, json, ok};
use greenup_testing::{at_a_terminal, is_ended_by, wait_until};
use std::fs;
use std::process::Stdio;

/// Two quick runs without a sensor.
fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["run", "--runs", "2", "--sensor", "none"];
    args.extend(more);
    args
}

#[test]
fn parameters_names_and_every_export() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| format!("{0}:{1}/r.{0}", name, dir.path().display());
    let (csv, md) = (at("csv"), at("md"));
    let j = json(&run(&[
        "-L",
        "s",
        "0.03,0.01",
        "-P",
        "n",
        "1",
        "2",
        "--name",
        "S {s}",
        "--compare",
        "sleep 0.06",
        "--export",
        &csv,
        "--export",
        &md,
        "--json",
        "--",
        "sleep",
        "{s}",
        "0.000{n}",
    ]));
    let results = j["results"].as_array().unwrap();
    let commands: Vec<&str> = results
        .iter()
        .map(|r| r["command"].as_str().unwrap())
        .collect();
    assert_eq!(
        commands,
        [
            "sleep 0.03 0.0001",
            "sleep 0.01 0.0001",
            "sleep 0.03 0.0002",
            "sleep 0.01 0.0002",
            "sleep 0.06"
        ]
    );
    assert_eq!(
        results[1]["parameters"],
        serde_json::json!({"n": "1", "s": "0.01"})
    );
    assert_eq!(results[1]["name"], "S 0.01");
    assert!(results[4]["name"].is_null() && results[4]["parameters"] == serde_json::json!({}));
    assert_eq!(results[4]["times_s"].as_array().unwrap().len(), 2);
    assert_eq!(j["comparisons"].as_array().unwrap().len(), 4);
    let ranking: Vec<u64> = serde_json::from_value(j["ranking"].clone()).unwrap();
    let medians: Vec<f64> = ranking
        .iter()
        .map(|&i| results[i as usize]["time_s"]["median"].as_f64().unwrap())
        .collect();
    assert!(medians.len() == 5 && medians.is_sorted(), "{medians:?}");
    let csv = fs::read_to_string(dir.path().join("r.csv")).unwrap();
    let head = csv.lines().next().unwrap();
    assert!(head.starts_with("command,runs,median_s,"), "{head}");
    assert!(head.ends_with(",parameter_n,parameter_s"), "{head}");
    assert!(csv.lines().nth(2).unwrap().ends_with(",1,0.01"), "{csv}");
    let md = fs::read_to_string(dir.path().join("r.md")).unwrap();
    assert!(
        md.contains("| S 0.03 | 2 | 0.03 |") && md.contains("| – | – | – |"),
        "{md}"
    );
    let columns: Vec<usize> = md.lines().map(|l| l.matches('|').count()).collect();
    assert!(columns.iter().all(|c| *c == columns[0]), "{md}");
}

#[test]
fn more_than_two_commands_are_ranked() {
    let dir = tempfile::tempdir().unwrap();
    let csv = dir.path().join("r.csv");
    let export = format!("csv:{}", csv.display());
    let shown = ok(&run(&[
        "-L",
        "s",
        "0.1,0.25,0.001",
        "--name",
        "x",
        "--export",
        &export,
        "--",
        "sleep",
        "{s}",
    ]));
    let table = shown
        .split("from the fastest, against x (s=0.1)")
        .nth(1)
        .unwrap();
    let order: Vec<&str> = table
        .lines()
        .skip(2)
        .filter(|l| l.contains(')'))
        .map(|l| l.split(')').next().unwrap())
        .collect();
    // By the times that were measured, whatever the host made of them.
    let csv = fs::read_to_string(csv).unwrap();
    let mut timed: Vec<(f64, &str)> = csv
        .lines()
        .skip(1)
        .map(|l| {
            let fields: Vec<&str> = l.split(',').collect();
            (fields[2].parse().unwrap(), fields[fields.len() - 1])
        })
        .collect();
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let expected: Vec<String> = timed.iter().map(|(_, s)| format!("x(s={s}")).collect();
    assert_eq!(expected.len(), 3, "{csv}");
    assert_eq!(order.join(";").replace(' ', ""), expected.join(";"));
    assert!(table.contains("baseline"));
}

#[test]
fn what_is_not_measured_runs_around_the_runs() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let say = |what: &str| format!("echo {what} >> '{}'", log.display());
    let (setup, prepare, cleanup) = (say("setup-{n}"), say("prepare"), say("cleanup"));
    let slow = format!("sleep 0.5; {prepare}");
    let args = [
        "--setup",
        &setup,
        "--prepare",
        &slow,
        "--cleanup",
        &cleanup,
        "--warmup",
        "1",
        "--json",
        "--parameter-list",
        "n",
        "1,2",
        "--",
        "true",
        "{n}",
    ];
    let j = json(&run(&args));
    // A busy host may hold up a run, but not each of the four.
    let results = j["results"].as_array().unwrap().iter();
    let fastest = results
        .map(|r| r["time_s"]["min"].as_f64().unwrap())
        .fold(f64::INFINITY, f64::min);
    assert!(fastest < 0.5, "the preparation is not timed: {fastest}");
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // Two runs and a warm-up of each of two commands.
    assert_eq!(&lines[..2], ["setup-1", "setup-2"]);
    assert_eq!(lines[2..8], ["prepare"; 6]);
    assert_eq!(lines[8..], ["cleanup"]);
    // What was set up is cleaned up also after a failure.
    fs::remove_file(&log).unwrap();
    let e = fails(&run(&["--cleanup", &cleanup, "--", "false"]));
    assert!(e.contains("exited with code 1"), "{e}");
    assert_eq!(fs::read_to_string(&log).unwrap(), "cleanup\n");
    let e = fails(&run(&["--prepare", "exit 3", "--", "true"]));
    assert!(
        e.contains("the prepare command `exit 3` exited with code 3"),
        "{e}"
    );
    let e = fails(&run(&["--cleanup", "exit 4", "--", "true"]));
    assert!(e.contains("the cleanup command"), "{e}");
}

#[test]
fn ctrl_c_still_cleans_up() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let cleanup = format!("sleep 0.2; echo done > '{}'", log.display());
    let runs = dir.path().join("runs");
    let script = format!("echo >> '{}'; sleep 0.05", runs.display());
    let mut c = command(&["run", "--runs", "1000", "--sensor", "none", "--json"]);
    c.args(["--cleanup", &cleanup, "--", "sh", "-c", &script]);
    let mut child = at_a_terminal(&c).stdout(Stdio::null()).spawn().unwrap();
    // A byte a run.
    wait_until(&mut child, || {
        fs::metadata(&runs).is_ok_and(|m| m.len() >= 2)
    });
    is_ended_by(&mut child, "INT");
    assert_eq!(fs::read_to_string(log).unwrap(), "done\n");
}

#[test]
fn each_run_reads_the_input_from_its_start() {
    let dir = tempfile::tempdir().unwrap();
    let input = file(dir.path(), "in", "one\n");
    let script = "read x && test \"$x\" = one";
    ok(&run(&["--input", &input, "--", "sh", "-c", script]));
    fails(&run(&["--", "sh", "-c", script]));
    let none = dir.path().join("none").display().to_string();
    let e = fails(&run(&["--input", &none, "--", "true"]));
    assert!(e.contains("--input") && e.contains("cannot be read"), "{e}");
    // An export must not replace it.
    let csv = file(dir.path(), "in.csv", "one\n");
    let export = format!("csv:{csv}");
    fails(&run(&["--input", &csv, "--export", &export, "--", "true"]));
    assert_eq!(fs::read_to_string(csv).unwrap(), "one\n");
}

#[test]
fn wrong_parameters_are_refused() {
    for (args, want) in [
        (
            &["-L", "n", "1,2", "--", "true"][..],
            "no command contains {n}",
        ),
        (
            &["-P", "n", "3", "1", "--", "true", "{n}"],
            "below its start",
        ),
        (
            &["-P", "n", "1", "3", "-D", "0", "--", "true", "{n}"],
            "not above 0",
        ),
        (&["-P", "n", "1", "x", "--", "true", "{n}"], "not a number"),
        (
            &["-n", "a", "-n", "b", "--", "true"],
            "--name is given 2 times",
        ),
        (
            &["-p", "a", "-p", "b", "--", "true"],
            "--prepare is given 2 times",
        ),
    ] {
        let e = fails(&run(args));
        assert!(e.contains(want), "{args:?}: {e}");
    }
    assert_eq!(
        greenup(&["run", "-D", "1", "--", "true"]).status.code(),
        Some(2)
    );
}
