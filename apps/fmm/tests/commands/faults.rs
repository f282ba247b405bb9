//! Kills, interrupts, full disks, a lost standard output: nothing is lost, nothing hangs.
#![cfg(unix)]

use super::fmm;
use greenup_report::npy::npy;
use greenup_testing::{
    at_a_terminal, fails, is_ended_by, names, on_a_full_disk, signal, started, text,
    wait_until_handled,
};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// One source, and so many targets that writing their results takes a while.
struct Slow {
    dir: tempfile::TempDir,
}

impl Slow {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("source.csv"), "0,0,0,1\n1,1,1,1\n").unwrap();
        let n = 400_000;
        let numbers = (0..3 * n).map(|i| f64::from(i) * 1e-6);
        let targets = npy("f8", &[n as usize, 3], numbers);
        std::fs::write(dir.path().join("targets.npy"), targets).unwrap();
        Self { dir }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, out: &str) -> Command {
        let mut c = fmm("run --ncrit 1000000 -a 1e-2 --points");
        c.arg(self.at("source.csv"))
            .arg("--targets")
            .arg(self.at("targets.npy"))
            .arg("-o")
            .arg(self.at(out));
        c
    }

    /// Files that a run has not finished.
    fn unfinished(&self) -> Vec<PathBuf> {
        let all = names(self.dir.path()).into_iter();
        all.filter(|name| name.ends_with(".unfinished"))
            .map(|name| self.at(&name))
            .collect()
    }

    /// Whether a file is being written, and less than half of it is there.
    fn is_writing(&self) -> bool {
        // The check before the work makes one too, and removes it at once.
        let part = 100_000..10_000_000_u64;
        let is_part = |path: &PathBuf| path.metadata().is_ok_and(|m| part.contains(&m.len()));
        self.unfinished().iter().any(is_part)
    }

    /// A run that was stopped while it wrote over an old file. One that was faster than this test is started anew.
    fn stopped_in_writing(&self) -> Child {
        let begun = Instant::now();
        let pause = || {
            assert!(begun.elapsed() < Duration::from_secs(240), "never stopped");
            std::thread::sleep(Duration::from_millis(1));
        };
        loop {
            for rest in self.unfinished() {
                std::fs::remove_file(rest).unwrap();
            }
            std::fs::write(self.at("out.csv"), "old").unwrap();
            let mut child = started(&mut at_a_terminal(&self.run("out.csv")));
            while child.try_wait().unwrap().is_none() && !self.is_writing() {
                pause();
            }
            if child.try_wait().unwrap().is_none() {
                signal(&child, "STOP");
                while !stands(child.id()) {
                    pause();
                }
                if self.is_writing() {
                    return child;
                }
            }
            let _ = child.kill();
            let _ = child.wait();
            pause();
        }
    }
}

/// Whether all threads of a process have stopped or ended, where `/proc` says it; else true.
fn stands(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return true;
    };
    threads.flatten().all(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The name in parentheses may hold anything.
        let state = stat.rsplit(") ").next().unwrap_or_default();
        state.starts_with(['T', 'Z', 'X'])
    })
}

#[test]
fn a_killed_run_leaves_the_old_file() {
    let slow = Slow::new();
    let out = slow.at("out.csv");
    for _ in 0..3 {
        let mut child = slow.stopped_in_writing();
        signal(&child, "KILL");
        let _ = child.wait();
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "old");
    }
    // An interrupted one leaves nothing else either. Both signals are there when it goes on: asked twice, it ends at once.
    let mut child = slow.stopped_in_writing();
    signal(&child, "INT");
    signal(&child, "TERM");
    signal(&child, "CONT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(
        names(slow.dir.path()),
        ["out.csv", "source.csv", "targets.npy"]
    );
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "old");
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let slow = Slow::new();
    for name in ["out.csv", "out.npy", "out.vtu"] {
        std::fs::write(slow.at(name), "old").unwrap();
        // A limit on the size of files stands for a full disk: 64 KiB.
        let said = fails(&mut on_a_full_disk(&slow.run(name), 128));
        assert!(
            said.contains(name) && said.contains("cannot be written"),
            "{said}"
        );
        assert_eq!(std::fs::read_to_string(slow.at(name)).unwrap(), "old");
    }
    for name in ["out.csv", "out.npy", "out.vtu"] {
        let mut c = fmm("run -n 20000 -a 1e-2 --distributed --ranks 3 -o");
        let said = fails(&mut on_a_full_disk(c.arg(slow.at(name)), 128));
        assert!(
            said.contains(name) && said.matches("error: ").count() == 1,
            "{said}"
        );
        assert_eq!(std::fs::read_to_string(slow.at(name)).unwrap(), "old");
    }
    let dir = slow.dir.path().join("bodies");
    let mut c = fmm("nbody -n 300 --steps 1 -o");
    let said = fails(&mut on_a_full_disk(c.arg(dir.join("energy.png")), 1));
    assert!(said.contains("energy.png"), "{said}");
    assert_eq!(names(&dir), [""; 0]);
    let left = names(slow.dir.path());
    assert!(!left.iter().any(|n| n.ends_with(".unfinished")), "{left:?}");
}

#[test]
fn standard_output_is_not_lost_in_silence() {
    for words in [
        "run -n 100",
        "run -n 100 --json",
        "tune -n 100 --ncrit 50 -a 1e-3 --json",
        "direct -n 100",
        "nbody -n 100 --steps 1",
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let out = fmm(words).stdout(full).output().unwrap();
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{words}: {said}");
        assert!(said.contains("standard output"), "{words}: {said}");
    }
    // A reader that left is no error.
    let mut child = fmm("run -n 100").spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn interrupts_end_every_command_within_two_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let study = format!("study --device cpu -o {}", dir.path().join("s").display());
    let fifo = dir.path().join("endless.csv");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    for words in [
        "run -n 300000 --repeat 10000",
        "run -n 3000 --check 10 --measure --repeat 100000",
        "tune -n 100000 -a 1e-5",
        "direct -n 500000",
        "nbody -n 5000 --steps 1000000",
        &study,
        &format!("run --points {}", fifo.display()),
    ] {
        for name in ["INT", "TERM"] {
            let mut child = started(&mut at_a_terminal(&fmm(words)));
            wait_until_handled(&mut child, name);
            std::thread::sleep(Duration::from_millis(700));
            assert!(
                child.try_wait().unwrap().is_none(),
                "{words}: ended by itself"
            );
            is_ended_by(&mut child, name);
        }
    }
}

#[test]
fn what_an_interrupted_run_has_computed_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("energy.csv");
    let mut command = fmm("nbody -n 200 --steps 10000000 -o");
    let mut child = at_a_terminal(command.arg(&out)).spawn().unwrap();
    wait_until_handled(&mut child, "INT");
    std::thread::sleep(Duration::from_secs(3));
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.lines().count() > 2 && text.ends_with('\n'), "{text}");
}
