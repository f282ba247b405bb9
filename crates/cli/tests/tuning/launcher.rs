//! Workers that launchers start.
#![cfg(target_os = "linux")]

use crate::common::{command, problem};
use serde_json::Value as J;
use std::path::Path;
use std::process::{Command, Stdio};

/// A search of 4 trials by launchers.
fn tune(problem: &Path, out: &Path, launchers: &[&str]) -> Command {
    let mut c = command(&["tune", "--sensor", "none", "--strategy", "random"]);
    c.args(["--budget", "4", "--finalists", "1"]);
    c.args(["--remote-program", env!("CARGO_BIN_EXE_greenup")]);
    c.arg(problem).arg("--out").arg(out).stdin(Stdio::null());
    for launcher in launchers {
        c.args(["--launcher", launcher]);
    }
    c
}

/// The error of a search that must not begin.
fn refused(c: &mut Command, out: &Path) -> String {
    let run = c.output().unwrap();
    assert!(!run.status.success());
    assert!(!out.join("trials.jsonl").exists());
    String::from_utf8_lossy(&run.stderr).into_owned()
}

#[test]
fn launched_workers_get_their_files_and_leave_none() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let (out, there) = (dir.path().join("out"), dir.path().join("there"));
    std::fs::create_dir(&there).unwrap();
    let plain = format!("env TMPDIR={}", there.display());
    let banner = format!("{plain} sh -c 'echo Welcome to node2; exec \"$@\"' --");
    let run = greenup_testing::succeeds(&mut tune(&p, &out, &[&plain, &banner]));
    let e = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(e.contains("Welcome to node2"), "{e}");
    let text = std::fs::read_to_string(out.join("trials.jsonl")).unwrap();
    let trials: Vec<J> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(trials.len(), 4);
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let mut measured = 0;
    for t in &trials {
        assert_eq!(t["device"]["host"], host.trim(), "{t}");
        assert_eq!(t["device"]["greenup"], env!("CARGO_PKG_VERSION"), "{t}");
        measured += usize::from(t.to_string().contains("times_s"));
    }
    assert!(measured > 0, "{text}");
    assert!(out.join("finals.json").exists());
    let left: Vec<_> = std::fs::read_dir(&there).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_launcher_that_starts_no_worker_is_named_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let out = dir.path().join("out");
    let other = r#"sh -c '"$@" | sed -u s/\"version\":\"[^\"]*\"/\"version\":\"0.0.1\"/' --"#;
    for (launcher, why) in [
        ("/no/such/launcher", "not found"),
        (
            "sh -c 'echo no route to host >&2; exit 255' --",
            "no route to host",
        ),
        (
            "sh -c 'yes garbage' --",
            "other output without an end; it printed `garbage`",
        ),
        ("sh -c 'sleep 100' --", "no answer within 2 s"),
        ("sh -c 'exec sleep 100 >&-' --", "closed"),
        (other, "has version 0.0.1"),
        (
            r#"sh -c '"$@" | sed -u s/\"cpu\":\"[^\"]*\"/\"cpu\":\"Z80\"/' --"#,
            "has a Z80",
        ),
    ] {
        let mut c = tune(&p, &out, &[launcher]);
        let e = refused(c.args(["--launcher-timeout", "2"]), &out);
        assert!(
            e.contains(why) && e.contains(&format!("'{launcher}'")),
            "{e}"
        );
    }
    let e = refused(tune(&p, &out, &["env"]).args(["--workers", "2"]), &out);
    assert!(e.contains("cannot be used with"), "{e}");
}

#[test]
fn a_launched_worker_that_dies_costs_at_most_its_trial() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let out = dir.path().join("out");
    // Its connection breaks in each trial.
    let breaks = r#"sh -c '"$@" | { sed -u 12q; kill $$; }' --"#;
    greenup_testing::succeeds(&mut tune(&p, &out, &["env", breaks]));
    let text = std::fs::read_to_string(out.join("trials.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 4, "{text}");
}
