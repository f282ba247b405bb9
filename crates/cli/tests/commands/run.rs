//! Commands and sensors as a user measures with them: races, meters, folders that cannot be written, Ctrl-C.

use crate::common::{command, fails, file, json, ok};
use greenup_testing::{at_a_terminal, is_ended_by};
use std::fs;
use std::process::Stdio;

#[test]
fn run_measures_compares_and_exports() {
    let r = json(&[
        "run",
        "--runs",
        "5",
        "--compare",
        "sleep 0.04",
        "--sensor",
        "none",
        "--json",
        "--",
        "sleep",
        "0.08",
    ]);
    let s = &r["comparisons"][0]["speedup"];
    assert!((s["median"].as_f64().unwrap() - 2.0).abs() < 0.4, "{s}");
    assert_eq!(r["results"][0]["time_s"]["n"], 5);
    let dir = tempfile::tempdir().unwrap();
    let csv = dir.path().join("r.csv").display().to_string();
    let out = ok(&[
        "run",
        "--runs",
        "3",
        "--sensor",
        "none",
        "--export",
        &format!("csv:{csv}"),
        "--export",
        "md",
        "--",
        "true",
    ]);
    assert!(out.starts_with("| command |"));
    assert!(fs::read_to_string(&csv).unwrap().contains("true,3,"));
    let shown = ok(&[
        "run", "--runs", "3", "--warmup", "1", "--sensor", "none", "--", "true",
    ]);
    assert!(shown.contains("time") && shown.contains("3 runs"));
}

#[test]
fn run_reports_failing_and_killed_commands() {
    let e = fails(&["run", "--sensor", "none", "--", "sh", "-c", "exit 7"]);
    assert!(
        e.contains("exited with code 7") && e.contains("--ignore-failure"),
        "{e}"
    );
    assert!(
        fails(&["run", "--sensor", "none", "--", "sh", "-c", "kill -9 $$"]).contains("signal 9")
    );
    assert!(
        fails(&["run", "--sensor", "none", "--", "/no/such/program"]).contains("cannot be started")
    );
    assert!(fails(&["run", "--runs", "0", "--", "true"]).contains("at least 1"));
    assert!(fails(&["run", "--export", "xml", "--", "true"]).contains("xml"));
    assert!(fails(&["run", "--sensor", "nvml:7:energy", "--", "true"]).contains("unknown sensor"));
    let r = json(&[
        "run", "--runs", "2", "--sensor", "none", "-i", "--json", "--", "false",
    ]);
    assert_eq!(r["results"][0]["failures"], 2);
}

/// An external meter of 25.5 W on average, as a command that prints lines for ever.
const METER: &str = "external:cmd:sh -c 'while :; do echo $(date +%s.%N),25; sleep 0.004; \
                     echo $(date +%s.%N),26; sleep 0.004; done'";

#[cfg(target_os = "linux")]
#[test]
fn an_external_meter_gives_energy() {
    let r = json(&[
        "run", "--runs", "4", "--sensor", METER, "--json", "--", "sleep", "0.2",
    ]);
    let p = r["results"][0]["power_w"]["median"].as_f64().unwrap();
    let e = r["results"][0]["energy_j"]["median"].as_f64().unwrap();
    assert!((p / 25.5 - 1.0).abs() < 0.03, "{p}");
    assert!((e / (25.5 * 0.2) - 1.0).abs() < 0.2, "{e}");
    let d = json(&["doctor", "--seconds", "0.3", "--sensor", METER, "--json"]);
    assert_eq!(d["sensors"][0]["usable"], true, "{}", d["sensors"][0]);
}

#[test]
fn doctor_speaks_of_every_sensor() {
    let d = json(&["doctor", "--seconds", "0.1", "--json"]);
    let sensors = d["sensors"].as_array().unwrap();
    assert!(!sensors.is_empty());
    for s in sensors {
        assert!(
            s["usable"] == true || (s["cause"].is_string() && s["fix"].is_string()),
            "{s}"
        );
    }
    assert!(
        sensors.iter().all(|s| s["cure"] == s["fix"]),
        "the old name"
    );
    let told = ok(&["doctor", "--seconds", "0.1"]);
    assert!(told.contains("usable"));
    assert!(fails(&["doctor", "--seconds", "0", "--json"]).contains("--seconds"));
    if d["usable"] == 0 {
        assert!(
            fails(&["doctor", "--seconds", "0.1", "--square-wave"]).contains("no usable sensor")
        );
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_refused_before_measuring() {
    // A file where the folder should be: refused for root as well.
    let dir = tempfile::tempdir().unwrap();
    let blocked = file(dir.path(), "blocked", "");
    let start = std::time::Instant::now();
    let e = fails(&["study", "--out", &format!("{blocked}/study")]);
    assert!(
        e.contains("cannot be written") && e.contains("--out"),
        "{e}"
    );
    assert!(start.elapsed().as_secs() < 20);
    let e = fails(&[
        "roofline",
        "--machine",
        "gtx-580",
        "-o",
        &format!("{blocked}/x.svg"),
    ]);
    assert!(e.contains("blocked"), "{e}");
    assert!(
        fails(&["roofline", "--machine", "gtx-580", "--intensity", "8", "1"]).contains("range")
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_measured() {
    let mut child = at_a_terminal(&command(&[
        "run", "--runs", "1000", "--sensor", "none", "--json", "--", "sleep", "0.05",
    ]))
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(900));
    is_ended_by(&mut child, "INT");
    let mut out = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut out).unwrap();
    let r: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(r["interrupted"], true);
    assert!(r["results"][0]["time_s"]["n"].as_u64().unwrap() >= 3);
}
