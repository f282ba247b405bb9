//! Workers behind a command that behaves like `ssh`: it joins its arguments by spaces and gives them to a shell, which has another
//! environment and another folder.
#![cfg(target_os = "linux")]

use crate::common::{command, problem};
use crate::marks::{MARK, all_end, children};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SSH: &str = r#"#!/bin/sh
while :; do case $1 in -T) shift ;; -o) shift 2 ;; *) break ;; esac; done
host=$1
shift
exec env -i HOME=/ PATH=/usr/bin:/bin GREENUP_TEST_MARK="$GREENUP_TEST_MARK" sh -c "cd / && $*"
"#;

/// A folder with the command, the program and a problem, all with spaces in their paths as far as they may.
pub(crate) struct Hosts {
    dir: tempfile::TempDir,
    problem: PathBuf,
    pub(crate) launcher: String,
    mark: String,
}

impl Hosts {
    pub(crate) fn new(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        greenup_testing::program(&at("ssh"), SSH);
        std::fs::create_dir(at("my tools")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_greenup"), at("my tools/greenup")).unwrap();
        std::fs::create_dir(at("there")).unwrap();
        let problem = problem(&at("my problem"));
        let (ssh, there) = (at("ssh"), at("there"));
        Self {
            launcher: format!("{} node1 env TMPDIR={}", ssh.display(), there.display()),
            problem,
            mark: format!("{name}-{}", std::process::id()),
            dir,
        }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn tune(&self, problem: &Path, launchers: usize, more: &[&str]) -> Command {
        let mut c = command(&["tune", "--sensor", "none", "--strategy", "random"]);
        c.arg(problem).arg("--out").arg(self.at("out dir"));
        c.arg("--remote-program").arg(self.at("my tools/greenup"));
        for _ in 0..launchers {
            c.args(["--launcher", &self.launcher]);
        }
        c.args(more).env(MARK, &self.mark).stdin(Stdio::null());
        c.current_dir(self.dir.path());
        c
    }

    pub(crate) fn trials(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.at("out dir/trials.jsonl")).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(str::to_owned).collect()
    }

    /// No process and no file is left.
    pub(crate) fn nothing_left(&self) {
        all_end(&self.mark, Duration::from_secs(10));
        let left = greenup_testing::names(&self.at("there"));
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn words_and_files_arrive_through_a_shell() {
    let h = Hosts::new("ssh-words");
    let how = ["--budget", "4", "--finalists", "1"];
    let relative = Path::new("my problem/problem.toml");
    greenup_testing::succeeds(&mut h.tune(relative, 2, &how));
    assert_eq!(
        h.trials().iter().filter(|t| t.contains("times_s")).count(),
        4
    );
    h.nothing_left();
}

#[test]
fn ends_of_kernels_are_told_from_those_of_connections() {
    let h = Hosts::new("ssh-ends");
    let faults = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/faults/hostile.toml");
    let how = [
        "--budget",
        "100%",
        "--finalists",
        "1",
        "--set",
        "how=0,1,11",
    ];
    greenup_testing::succeeds(&mut h.tune(&faults, 1, &how));
    let all = h.trials();
    let of = |how: u32| {
        let start = format!("{{\"config\":[{how}]");
        all.iter().find(|t| t.starts_with(&start)).unwrap()
    };
    assert!(of(0).contains("times_s"), "{all:?}");
    assert!(of(1).contains("killed by signal 11 (invalid"), "{all:?}");
    assert!(of(11).contains("ended with code 3"), "{all:?}");
    h.nothing_left();
}

/// A search of all configs under way, with some trials measured.
fn under_way(h: &Hosts, launchers: usize) -> Child {
    let how = ["--budget", "100%", "--finalists", "1", "--measure", "0.1"];
    let mut child = greenup_testing::at_a_terminal(&h.tune(&h.problem, launchers, &how))
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    greenup_testing::wait_until(&mut child, || h.trials().len() >= 3);
    child
}

#[test]
fn an_interrupt_ends_all_launched_workers_and_the_search_goes_on_later() {
    for whole_group in [false, true] {
        let h = Hosts::new(&format!("ssh-interrupt-{whole_group}"));
        let mut child = under_way(&h, 2);
        let pid = child.id().cast_signed();
        let start = Instant::now();
        // SAFETY: only sends a signal to this test's own child, or to the group that it leads.
        unsafe { libc::kill(if whole_group { -pid } else { pid }, libc::SIGINT) };
        let status = greenup_testing::ended(&mut child).expect("it ends");
        h.nothing_left();
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{:?}",
            start.elapsed()
        );
        assert_eq!(status.code(), Some(130));
        let kept = h.trials();
        assert!((3..63).contains(&kept.len()), "{}", kept.len());
        let more = (kept.len() + 2).to_string();
        let how = [
            "--resume",
            "--budget",
            &more,
            "--finalists",
            "1",
            "--measure",
            "0.1",
        ];
        greenup_testing::succeeds(&mut h.tune(&h.problem, 2, &how));
        let all = h.trials();
        assert_eq!(all.len(), kept.len() + 2);
        assert_eq!(all[..kept.len()], kept);
        h.nothing_left();
    }
}

#[test]
fn the_end_of_the_tuner_ends_launched_workers() {
    let h = Hosts::new("ssh-kill");
    let mut child = under_way(&h, 2);
    child.kill().unwrap();
    child.wait().unwrap();
    h.nothing_left();
}

/// The launcher that a search runs: a child that leads a worker.
fn launcher_of(child: &Child) -> i32 {
    let leads = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        greenup_testing::text(&line).contains("trial-worker --remote")
    };
    let all = children(child.id());
    *all.iter().find(|pid| leads(pid)).expect("a launcher runs")
}

#[test]
fn a_connection_that_breaks_costs_no_config() {
    let h = Hosts::new("ssh-breaks");
    let how = ["--budget", "12", "--finalists", "1", "--measure", "0.1"];
    let mut child = h
        .tune(&h.problem, 1, &how)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for at in [3, 7] {
        greenup_testing::wait_until(&mut child, || h.trials().len() >= at);
        let connection = launcher_of(&child);
        // SAFETY: only sends a signal to a group that this test's child started.
        unsafe { libc::kill(-connection, libc::SIGTERM) };
    }
    let run = child.wait_with_output().unwrap();
    let e = greenup_testing::text(&run.stderr);
    assert!(run.status.success(), "{e}");
    let measured = h.trials().iter().filter(|t| t.contains("times_s")).count();
    assert_eq!((measured, h.trials().len()), (12, 12), "{e}");
    h.nothing_left();
}
