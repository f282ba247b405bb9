//! Processes that the commands start: none is left behind, whatever a kernel or a command does, and however the command
//! itself ends.
#![cfg(target_os = "linux")]

use crate::marks::{MARK, all_end, marked};
use serde_json::Value as J;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn greenup(mark: &str, arguments: &[&str]) -> Command {
    let mut c = Command::new("env");
    // Whoever runs the tests may have switched signals off.
    c.arg("--default-signal=INT,TERM,HUP")
        .arg(assert_cmd::cargo::cargo_bin("greenup"))
        .args(arguments)
        .env(MARK, mark)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    c
}

fn tune(mark: &str, out: &Path, problem: &str, how: &str) -> Command {
    let faults = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/faults");
    let mut c = greenup(
        mark,
        &["tune", "--strategy", "exhaustive", "--budget", "100%"],
    );
    c.args([
        "--sensor",
        "none",
        "--finalists",
        "1",
        "--set",
        how,
        "--out",
    ])
    .arg(out)
    .arg(faults.join(problem));
    c
}

fn outcomes(out: &Path) -> BTreeMap<i64, String> {
    std::fs::read_to_string(out.join("trials.jsonl"))
        .unwrap_or_default()
        .lines()
        .filter_map(|l| serde_json::from_str::<J>(l).ok())
        .map(|t| {
            let word = |k: &str| t["failed"][k].as_str().unwrap_or("ok").to_owned();
            let text = format!("{}: {}", word("failure"), word("message"));
            (t["config"][0].as_i64().unwrap(), text)
        })
        .collect()
}

#[test]
fn hostile_kernels_are_seen_and_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("sweep");
    let mark = format!("hostile-{}", std::process::id());
    let start = Instant::now();
    let all = "how=0,1,2,3,4,5,6,7,8,9,10,11,12,13";
    let run = tune(&mark, &out, "hostile.toml", all).output().unwrap();
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success(), "{text}");
    // A grandchild that lives on holds up nobody.
    assert!(start.elapsed() < Duration::from_secs(100));
    all_end(&mark, Duration::from_secs(10));
    let found = outcomes(&out);
    let wrote = "it wrote outside of `out`: ";
    for (how, expected) in [
        (0, "ok".to_owned()),
        (1, "crash: it was killed by signal 11".to_owned()),
        (2, "ok".to_owned()),
        (3, "wrong: `out`[3]".to_owned()),
        (4, "crash: its process ended with code 0".to_owned()),
        // By its results on fresh data, or by a time too short to write them.
        (5, "wrong: ".to_owned()),
        (6, format!("wrong: {wrote}4793 bytes behind its end")),
        (7, format!("wrong: {wrote}4793 bytes before its start")),
        (8, format!("wrong: {wrote}160001 bytes behind its end")),
        (
            9,
            "crash: it read outside of `in`: 161 bytes behind its end".to_owned(),
        ),
        (10, "crash: ".to_owned()),
        (11, "crash: its process ended with code 3".to_owned()),
        (12, "crash: it was killed by signal 9".to_owned()),
        (13, "ok".to_owned()),
    ] {
        let got = &found[&how];
        assert!(got.starts_with(&expected), "how = {how}: {got}");
    }
}

/// Ends a command with a signal while a process of it lives that left its group; everything is over in two seconds.
fn ends_with(mut child: Child, mark: &str, signal: i32, least: usize) -> Option<i32> {
    let start = Instant::now();
    while marked(mark).len() < least {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{:?}",
            marked(mark)
        );
        assert!(child.try_wait().unwrap().is_none(), "it ended early");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    let start = Instant::now();
    // SAFETY: only sends a signal to this test's own child, which is not yet waited for.
    unsafe { libc::kill(child.id().cast_signed(), signal) };
    let status = child.wait().unwrap();
    // Two seconds, and some for a busy machine.
    assert!(
        start.elapsed() < Duration::from_secs(6),
        "{:?}",
        start.elapsed()
    );
    all_end(mark, Duration::from_secs(20));
    status.code()
}

#[test]
fn a_tuner_that_ends_takes_its_kernels_with_it() {
    for (signal, code) in [
        (libc::SIGINT, Some(130)),
        (libc::SIGTERM, Some(130)),
        (libc::SIGKILL, None),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mark = format!("tuner-{signal}-{}", std::process::id());
        // A kernel that leaves a process in a session of its own, and hangs.
        let mut command = tune(&mark, &dir.path().join("sweep"), "hang.toml", "size=1001");
        let child = command.stderr(Stdio::null()).spawn().unwrap();
        // The tuner, the watcher, the worker, and the one that left.
        assert_eq!(ends_with(child, &mark, signal, 4), code, "signal {signal}");
    }
}

#[test]
fn a_measured_command_ends_with_greenup() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let mark = format!("run-{signal}-{}", std::process::id());
        let script = "sleep 1000 & sleep 1000; true";
        let mut command = greenup(
            &mark,
            &["run", "--sensor", "none", "--", "sh", "-c", script],
        );
        let child = command.stderr(Stdio::null()).spawn().unwrap();
        assert_eq!(
            ends_with(child, &mark, signal, 4),
            Some(130),
            "signal {signal}"
        );
    }
}

#[test]
fn arguments_larger_than_memory_are_refused_with_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let mark = format!("large-{}", std::process::id());
    let out = dir.path().join("sweep");
    let mut command = tune(&mark, &out, "hostile.toml", "size=300000000");
    // SAFETY: the call is allowed between fork and exec; it limits the child alone.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit {
                rlim_cur: 4_000_000_000,
                rlim_max: 4_000_000_000,
            };
            libc::setrlimit(libc::RLIMIT_AS, &raw const limit);
            Ok(())
        });
    }
    let run = command.output().unwrap();
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(1), "{text}");
    let all = ["9.6 GB of memory", "`out` has 2.4 GB", "there are 4.0 GB"];
    assert!(all.iter().all(|part| text.contains(part)), "{text}");
}
