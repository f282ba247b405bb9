//! Commands and sensors as a user measures with them: races, meters, folders that cannot be written, Ctrl-C.

use crate::common::{command, fails, file, greenup, json, ok};
use greenup_testing::{at_a_terminal, is_ended_by, text, wait_until};
use std::fs;
use std::process::Stdio;

#[test]
fn run_measures_compares_and_exports() {
    let r = json(&[
        "run",
        "--runs",
        "5",
        "--compare",
        "sleep 0.05",
        "--sensor",
        "none",
        "--json",
        "--",
        "sleep",
        "0.3",
    ]);
    let s = &r["comparisons"][0]["speedup"];
    let speedup = s["median"].as_f64().unwrap();
    let time = |i: usize| r["results"][i]["time_s"]["median"].as_f64().unwrap();
    // A busy host makes both runs longer, by how much differs.
    assert!((speedup / (time(0) / time(1)) - 1.0).abs() < 1e-9, "{s}");
    assert!(speedup > 1.2, "{s}");
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
    // On a busy host the meter's lines come late and runs take longer: one attempt must be in time.
    let mut seen = Vec::new();
    let in_time = (0..10).any(|_| {
        let out = greenup(&[
            "run", "--runs", "4", "--sensor", METER, "--json", "--", "sleep", "0.2",
        ]);
        let r: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        let of = |key: &str| r["results"][0][key]["median"].as_f64();
        let (power, energy) = (of("power_w"), of("energy_j"));
        seen.push((power, energy, text(&out.stderr)));
        power.is_some_and(|p| (p / 25.5 - 1.0).abs() < 0.03)
            && energy.is_some_and(|e| (e / (25.5 * 0.2) - 1.0).abs() < 0.2)
    });
    assert!(in_time, "never 25.5 W and 5.1 J: {seen:?}");
    let d = json(&["doctor", "--seconds", "1", "--sensor", METER, "--json"]);
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
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let script = format!("echo >> '{}'; sleep 0.05", log.display());
    let mut child = at_a_terminal(&command(&[
        "run", "--runs", "1000", "--sensor", "none", "--json", "--", "sh", "-c", &script,
    ]))
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    // A byte a run: when the fifth one has begun, four have ended.
    wait_until(&mut child, || {
        fs::metadata(&log).is_ok_and(|m| m.len() >= 5)
    });
    is_ended_by(&mut child, "INT");
    let mut out = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut out).unwrap();
    let r: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(r["interrupted"], true);
    assert!(r["results"][0]["time_s"]["n"].as_u64().unwrap() >= 4);
}
