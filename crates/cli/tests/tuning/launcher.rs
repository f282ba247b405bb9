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
            r#"sh -c 'case $2 in --version) echo greenup 0.0.2;; *) echo no such option >&2; exit 2;; esac' --"#,
            "greenup there has version 0.0.2, this one",
        ),
        ("true", "ended with code 0"),
        (
            "sh -c 'echo [\"Introduced\"]; exit 3' --",
            "ended with code 3; it printed `[Introduced]`",
        ),
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

/// Measured trials of a sweep.
fn measured(out: &Path) -> usize {
    let text = std::fs::read_to_string(out.join("trials.jsonl")).unwrap();
    text.lines().filter(|l| l.contains("times_s")).count()
}

#[test]
fn a_launched_worker_that_dies_costs_at_most_its_trial() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let out = dir.path().join("out");
    // Its connection breaks in each trial.
    let breaks = r#"sh -c '"$@" | { sed -u 12q; kill $$; }' --"#;
    let run = greenup_testing::succeeds(&mut tune(&p, &out, &["env", breaks]));
    let e = greenup_testing::text(&run.stderr);
    assert!(e.contains("was lost (1 of 3 in a row)"), "{e}");
    assert_eq!(measured(&out), 4);
}

/// A launcher that works at its first start, and then fails `times` times.
fn fails_later(dir: &Path, times: u32) -> String {
    let starts = dir.join(format!("starts-{times}"));
    std::fs::write(&starts, "0").unwrap();
    let starts = starts.display();
    format!(
        "sh -c 'n=$(cat {starts}); echo $((n + 1)) >{starts}; if [ $n -gt 0 ] && [ $n -le {times} ]; \
         then echo node2 reboots >&2; exit 255; fi; exec \"$@\"' --"
    )
}

#[test]
fn a_worker_that_is_lost_before_its_trial_is_started_again() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let out = dir.path().join("out");
    let launcher = fails_later(dir.path(), 1);
    let run = greenup_testing::succeeds(&mut tune(&p, &out, &[&launcher]));
    let e = greenup_testing::text(&run.stderr);
    assert!(
        e.contains("was lost (1 of 3 in a row), it is started again")
            && e.contains("node2 reboots"),
        "{e}"
    );
    assert_eq!(measured(&out), 4);

    // A host that stays away ends the search; the measurements are kept.
    let away = fails_later(dir.path(), 1000);
    let e = greenup_testing::fails(&mut tune(&p, &dir.path().join("away"), &[&away]));
    assert!(
        e.contains("no worker is left") && e.contains("node2 reboots") && e.contains("--resume"),
        "{e}"
    );
    // Beside one that stays it only costs itself.
    let both = dir.path().join("both");
    let away = fails_later(dir.path(), 1001);
    greenup_testing::succeeds(&mut tune(&p, &both, &["env", &away]));
    assert_eq!(measured(&both), 4);
}

#[test]
fn output_of_a_launcher_among_the_answers_is_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let out = dir.path().join("out");
    let rubbish = r#"sh -c 'while echo "{\"Done\":1}"; do sleep 0.02; done & exec "$@"' --"#;
    greenup_testing::succeeds(&mut tune(&p, &out, &[rubbish]));
    assert_eq!(measured(&out), 4);
}
