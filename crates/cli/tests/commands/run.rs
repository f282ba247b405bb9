//! Commands and sensors as a user measures with them: races, meters, folders that cannot be written, Ctrl-C.

use crate::common::{command, fails, file, greenup, json, ok};
use greenup_testing::{at_a_terminal, is_ended_by, is_refused, text, wait_until};
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
fn words_with_blanks_are_commands() {
    let r = json(&[
        "run",
        "-r",
        "2",
        "--sensor",
        "none",
        "--json",
        "sleep 0.01",
        "true",
        "sh -c 'exit 0'",
    ]);
    let names: Vec<&str> = (r["results"].as_array().unwrap().iter())
        .map(|c| c["command"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["sleep 0.01", "true", "sh -c 'exit 0'"]);
    // One command of several words, one of which has blanks.
    let r = json(&[
        "run", "-r", "2", "--sensor", "none", "--json", "sh", "-c", "exit 0",
    ]);
    assert_eq!(r["results"].as_array().unwrap().len(), 1);
    for words in [
        &["echo 1 | tail -1"][..],
        &["--compare", "echo 1 | tail -1", "true"],
    ] {
        let e = text(&greenup(&[&["run", "-r", "1", "--sensor", "none"], words].concat()).stderr);
        assert!(e.contains("`|` goes to the program as it is"), "{e}");
    }
    for (words, why) in [
        (
            &["run", "--runz", "3", "true"][..],
            "similar argument exists: '--runs'",
        ),
        (
            &["run", "sleep 0.01", "--runs", "3"],
            "options stand before the commands",
        ),
        (&["run", "sleep 'open"], "not a command line"),
    ] {
        let e = is_refused(&mut command(words));
        assert!(e.contains(why), "{e}");
    }
}

#[test]
fn run_reports_failing_and_killed_commands() {
    // A word with blanks after a program may be another program.
    let e = text(&greenup(&["run", "-r", "1", "--sensor", "none", "true", "echo a"]).stderr);
    assert!(e.contains("greenup run --compare 'echo a' -- true"), "{e}");
    let run = ["run", "-r", "1", "--sensor", "none", "--ignore-failure"];
    let e = text(&greenup(&[&run[..], &["env", "true"]].concat()).stderr);
    assert!(!e.contains("is an argument"), "{e}");
    // An input that a script makes.
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("s").display().to_string();
    let setup = format!("sh -c 'echo 1 > {made}'");
    let run = [
        "run", "-r", "1", "--sensor", "none", "--setup", &setup, "--input", &made, "cat",
    ];
    assert!(greenup(&run).status.success());
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
    assert!(fails(&["run", "--sensor", "nvml:7:energy", "--", "true"]).contains("is not usable"));
    let r = json(&[
        "run", "--runs", "2", "--sensor", "none", "-i", "--json", "--", "false",
    ]);
    assert_eq!(r["results"][0]["failures"], 2);
    assert_eq!(r["results"][0]["exit_codes"].to_string(), "[1,1]");
    assert_eq!(r["ranking"].to_string(), "[]");
    let codes = ["run", "--runs", "2", "--sensor", "none", "--json"];
    let r = json(&[&codes[..], &["-i=7", "sh", "-c", "exit 7"]].concat());
    assert_eq!(r["results"][0]["exit_codes"].to_string(), "[7,7]");
    assert!(fails(&[&codes[..], &["-i=6", "sh", "-c", "exit 7"]].concat()).contains("code 7"));
}

#[test]
fn a_late_failure_loses_no_finished_run() {
    let dir = tempfile::tempdir().unwrap();
    let (count, md) = (dir.path().join("n"), dir.path().join("r.md"));
    // Its fourth run fails; it says so on standard output.
    let script = format!(
        "sh -c 'echo x >> {0}; echo said; test $(wc -l < {0}) -lt 4'",
        count.display()
    );
    let out = greenup(&[
        "run",
        "-r",
        "6",
        "--sensor",
        "none",
        "--json",
        "--show-output",
        "--export",
        &format!("md:{}", md.display()),
        &script,
        "sleep 0.01",
    ]);
    assert!(!out.status.success());
    let (json, said) = (text(&out.stdout), text(&out.stderr));
    let r: serde_json::Value = serde_json::from_str(&json).expect("JSON alone");
    for key in [
        "exit_codes",
        "user_s",
        "run_queue_s",
        "system_s",
        "peak_memory_bytes",
        "context_switches",
    ] {
        assert_eq!(r["results"][0][key].as_array().unwrap().len(), 3, "{key}");
    }
    assert!(
        r["failure"].as_str().unwrap().contains("code 1 in run 4"),
        "{r}"
    );
    assert!(said.contains("in run 4") && said.contains("said"), "{said}");
    assert!(fs::read_to_string(md).unwrap().contains("sleep 0.01"));
    // Those that failed are not ranked.
    assert_eq!(r["ranking"].to_string(), "[1]");
}

#[test]
fn flags_of_hyperfine_mean_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let [json, csv, md] = [at("r.json"), at("r.csv"), at("r.md")];
    let out = ok(&[
        "run",
        "-N",
        "-m",
        "2",
        "-M",
        "3",
        "--sensor",
        "none",
        "--export-json",
        &json,
        "--export-csv",
        &csv,
        "--export-markdown",
        &md,
        "--show-output",
        "echo said",
        "true",
    ]);
    // Standard output has no results, so that outputs are not mixed with them.
    assert!(out.contains("said\n") && out.contains("against"), "{out}");
    let r: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(r["results"][0]["runs"], 3);
    for file in [csv, md] {
        assert!(fs::read_to_string(file).unwrap().contains("echo said"));
    }
    let e = fails(&["run", "-m", "5", "-M", "3", "true"]);
    assert!(e.contains("--min-runs 5 is above --max-runs 3"), "{e}");
}

#[test]
fn outputs_go_where_the_user_says() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("o.txt").display().to_string();
    // What standard output is, as the command sees it.
    let is = |kind: &str| format!("sh -c 'test -{kind} /dev/stdout && echo {kind}'");
    let with = |output: &str, command: &str| {
        let cleanup = "echo cleaned";
        ok(&[
            "run",
            "-r",
            "2",
            "--sensor",
            "none",
            "--cleanup",
            cleanup,
            "--output",
            output,
            command,
        ])
    };
    for (output, kind) in [("null", "c"), ("pipe", "p"), (file.as_str(), "f")] {
        with(output, &is(kind));
    }
    // That of the command alone, not of what runs after it.
    assert_eq!(fs::read_to_string(&file).unwrap(), "f\n");
    let out = with("inherit", "echo said");
    assert_eq!(out.lines().filter(|l| *l == "said").count(), 2, "{out}");
    // More than a pipe holds.
    with("pipe", "head -c 1000000 /dev/zero");
    let e = fails(&[
        "run", "--sensor", "none", "--output", &file, "--", "cat", &file,
    ]);
    assert!(e.contains("o.txt"), "{e}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "f\n");
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

/// A meter of 50 W, in Python as users write them: its clock is set back, a value is missing, or it dies.
#[cfg(target_os = "linux")]
#[test]
fn a_meter_with_a_fault_gives_all_energies_or_says_so() {
    let script = "import sys, time\nmode, zero, i = sys.argv[1], time.monotonic(), 0\nwhile True:\n    t = time.monotonic() - zero\n    \
        if mode == 'dies' and t > 1.6: break\n    if mode == 'back' and t > 1.6: t -= 0.5\n    \
        w = 50 + 0.02 * (i % 2)\n    print(f'{t:.3f};{w:.2f}'.replace('.', ',') if mode == 'commas' else \
        f'{t:.3f},nan' if mode == 'nan' and i == 70 else f'{t:.3f}, {w:.2f} W', flush=True)\n    \
        i += 1\n    time.sleep(0.02)\n";
    let dir = tempfile::tempdir().unwrap();
    let script = file(dir.path(), "meter.py", script);
    for mode in ["back", "nan", "commas", "dies"] {
        let sensor = format!("external:cmd:python3 {script} {mode}");
        let out = greenup(&[
            "run", "--runs", "6", "--sensor", &sensor, "--json", "--", "sleep", "0.3",
        ]);
        let said = text(&out.stderr);
        let all: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        let r = &all["results"][0];
        assert_eq!(r["runs"], 6, "{mode}: {said}");
        let with = r["energy_runs"].as_u64().unwrap();
        // A busy host may stop the meter: then that is said too.
        assert_eq!(
            with < 6,
            said.contains(&format!("energies of {with} of 6 runs")),
            "{mode}: {said}"
        );
        match r["power_w"]["median"].as_f64() {
            Some(w) => assert!((w / 50.01 - 1.0).abs() < 1e-3, "{mode}: {w} W"),
            None => assert!(with < 6 && r["energy_j"].is_null(), "{mode}: {r}"),
        }
        match mode {
            "back" => assert!(said.contains("its clock was set"), "{said}"),
            "nan" => assert!(said.contains("1 line skipped"), "{said}"),
            "dies" => assert!(with < 6 && said.contains("is gone"), "{said}"),
            _ => {}
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_small_command_does_not_inherit_the_memory_of_greenup() {
    let r = json(&[
        "run", "--runs", "2", "--sensor", "none", "--json", "--", "sleep", "0.3",
    ]);
    let bytes = r["results"][0]["peak_memory_bytes"][0].as_u64().unwrap();
    assert!((200 << 10..6 << 20).contains(&bytes), "{bytes}");
    let switches = r["results"][0]["context_switches"][0].as_u64().unwrap();
    assert!(switches > 0, "it slept");
}

#[test]
fn what_commands_print_reaches_no_terminal_as_it_is() {
    let name = "\u{1b}]0;evil\u{7}\u{1b}[2J\u{9b}1m";
    let out = greenup(&[
        "run", "--runs", "1", "--sensor", "none", "--name", name, "--", "true",
    ]);
    let all = text(&out.stdout) + &text(&out.stderr);
    let shown = all.chars().filter(|c| *c != '\n' && *c != '\t');
    assert!(shown.clone().all(|c| !c.is_control()), "{all:?}");
    assert!(all.contains("\\u001b]0;evil"), "{all}");
    let e = fails(&["run", "--sensor", "none", "--", "\u{1b}[31mno-such-program"]);
    assert!(!e.contains('\u{1b}') && e.contains("\\u001b[31m"), "{e}");
}

#[test]
fn the_examples_of_run_are_whole() {
    let help = ok(&["run", "--help"]);
    assert!(help.contains("./app --threads {threads}"), "{help}");
}

#[test]
fn flags_without_effect_are_refused() {
    for (args, why) in [
        (
            &[
                "profile",
                "--method",
                "cpu",
                "--launches",
                "2",
                "--",
                "true",
            ][..],
            "--launches has no effect",
        ),
        (
            &["profile", "--method", "cpu", "--cupti", "x", "--", "true"],
            "--cupti has no effect",
        ),
        (
            &[
                "profile",
                "--method",
                "cpu",
                "--machine",
                "h100",
                "--",
                "true",
            ],
            "--machine has no effect",
        ),
        (&["profile", "--configs", "2", "--", "true"], "required"),
        (
            &["profile", "--from", "x", "--sensor", "none"],
            "cannot be used with",
        ),
        (
            &["profile", "--from", "x", "--method", "cpu"],
            "cannot be used with",
        ),
        (
            &["profile", "--from", "x", "--input", "y"],
            "cannot be used with",
        ),
        (
            &["profile", "--top", "3", "--json", "--", "true"],
            "cannot be used with",
        ),
        (
            &["profile", "p.toml", "--sweep", "s", "--method", "time"],
            "cannot be used with",
        ),
        (
            &["profile", "p.toml", "--sweep", "s", "--configs", "0"],
            "whole number from 1",
        ),
        (
            &["doctor", "--sensor", "rapl:no"],
            "unknown sensor `rapl:no`",
        ),
        (&["doctor", "--sensor", "none"], "leaves nothing to look at"),
        (&["regions", "x", "--force"], "cannot be used with"),
        (&["regions", "--force"], "required"),
        (
            &["regions", "--install", "x", "--each"],
            "cannot be used with",
        ),
        (
            &["run", "--parameter-step-size", "2", "--", "true"],
            "required",
        ),
        (
            &["run", "--parameter-list", "n", "1,2", "--", "true"],
            "{n}",
        ),
        (
            &["run", "--runs", "2", "--rel-error", "1%", "--", "true"],
            "cannot be used with",
        ),
        (
            &["run", "--name", "a", "--name", "b", "--", "true"],
            "--name is given 2 times",
        ),
    ] {
        let e = is_refused(&mut command(args));
        assert!(e.contains(why), "{args:?}: {e}");
    }
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
    let told = ok(&["doctor", "--seconds", "0.1"]);
    assert!(told.contains("usable"));
    assert!(fails(&["doctor", "--seconds", "0.01", "--json"]).contains("--seconds"));
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
        e.contains("blocked/study cannot be written") && e.contains("hint: check the path"),
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
    assert!(fails(&["roofline", "--machine", "gtx-580", "--intensity", "8"]).contains("range"));
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
