//! `greenup study` and `calibrate` under kills and full disks: what was measured stays, the rest is whole or not there.

use crate::common::command;
use greenup_testing::{at_a_terminal, fails, is_refused, names, on_a_full_disk, signal};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const STUDY: &[&str] = &[
    "study",
    "--device",
    "cpu",
    "--sensor",
    "none",
    "--no-tuning",
    "--out",
    "s",
];
const CALIBRATE: &[&str] = &["calibrate", "--quick", "--sensor", "none", "-o", "s/m.toml"];

fn started(dir: &Path, args: &[&str]) -> Child {
    at_a_terminal(command(args).current_dir(dir))
        .stdout(Stdio::null())
        .stderr(fs::File::create(dir.join("stderr")).unwrap())
        .spawn()
        .unwrap()
}

fn journals(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries
        .map(|e| e.path())
        .filter(|p| p.to_string_lossy().ends_with("csv"))
        .collect();
    all.sort();
    all
}

/// Whole lines below the header.
fn records(file: &Path) -> usize {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.matches('\n').count().saturating_sub(1)
}

/// Waits for `n` records in one of the journals.
fn measured(dir: &Path, n: usize) {
    let start = Instant::now();
    while !journals(dir).iter().any(|j| records(j) >= n) {
        assert!(start.elapsed() < Duration::from_secs(120), "{dir:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn kept_by_a_kill(args: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("s");
    let mut before: Vec<(PathBuf, String)> = Vec::new();
    for k in 0..5 {
        let mut child = started(dir.path(), args);
        let start = Instant::now();
        let new = loop {
            let old = |j: &PathBuf| before.iter().any(|(b, _)| b == j);
            if let Some(j) = journals(&out)
                .into_iter()
                .find(|j| !old(j) && records(j) > 0)
            {
                break j;
            }
            assert!(child.try_wait().unwrap().is_none(), "{args:?}");
            assert!(start.elapsed() < Duration::from_secs(120), "{args:?}");
            std::thread::sleep(Duration::from_millis(10));
        };
        // Anywhere between two records.
        std::thread::sleep(Duration::from_millis(70 * k));
        child.kill().unwrap();
        child.wait().unwrap();
        let lines = records(&new);
        let parsed = greenup_calibrate::record::read(&new).unwrap();
        assert!(lines > 0 && parsed.len() >= lines, "{parsed:?}");
        for (file, text) in &before {
            assert_eq!(&fs::read_to_string(file).unwrap(), text, "an older one");
        }
        before.push((new.clone(), fs::read_to_string(&new).unwrap()));
    }
    for whole in ["machine.toml", "m.toml", "summary.json", "report.html"] {
        assert!(!out.join(whole).exists(), "{whole}");
    }
    let said = fs::read_to_string(dir.path().join("stderr")).unwrap();
    let name = before[4]
        .0
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    assert!(
        name.ends_with("-unfinished-5.csv") && said.contains(&name),
        "{name}: {said}"
    );
}

#[test]
#[ignore = "slow: five runs that are killed, about 30 s"]
fn a_killed_study_keeps_its_records() {
    kept_by_a_kill(STUDY);
}

#[test]
#[ignore = "slow: five runs that are killed, about 30 s"]
fn a_killed_calibration_keeps_its_records() {
    kept_by_a_kill(CALIBRATE);
}

#[test]
fn a_fit_of_too_little_says_where_the_records_are() {
    for (args, stem) in [(STUDY, "records"), (CALIBRATE, "m")] {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("s");
        let mut child = started(dir.path(), args);
        measured(&out, 1);
        signal(&child, "INT");
        let status = child.wait().unwrap();
        let said = fs::read_to_string(dir.path().join("stderr")).unwrap();
        let journal = out.join(format!("{stem}-unfinished.csv"));
        // One or two records determine no machine; where they do, its file holds them.
        if status.success() {
            assert!(!journal.exists(), "{said}");
            continue;
        }
        assert!(
            said.contains("what was measured is in") && said.contains("-unfinished.csv"),
            "{said}"
        );
        assert!(
            !greenup_calibrate::record::read(&journal)
                .unwrap()
                .is_empty()
        );
    }
}

#[test]
fn a_full_disk_ends_it_at_the_first_record() {
    for args in [STUDY, CALIBRATE] {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("s");
        fs::create_dir(&out).unwrap();
        greenup_files::ours::write(out.join("records.csv"), "old").unwrap();
        fs::write(out.join("m.toml"), "old").unwrap();
        let start = Instant::now();
        let said = fails(&mut on_a_full_disk(
            command(args).current_dir(dir.path()),
            0,
        ));
        assert!(
            said.contains("-unfinished.csv cannot be written") && said.contains("hint:"),
            "{said}"
        );
        assert!(
            start.elapsed() < Duration::from_secs(40),
            "before all is measured"
        );
        // Older results stay, nothing half is left.
        let names = names(&out);
        assert_eq!(names, [".greenup-files", "m.toml", "records.csv"]);
        for name in &names[1..] {
            assert_eq!(fs::read_to_string(out.join(name)).unwrap(), "old");
        }
    }
}

/// What a mode does not use is refused before anything is measured.
#[test]
fn flags_without_an_effect_are_refused() {
    for (args, flag) in [
        (vec!["study", "--cases", "hydro"], "--cases"),
        (vec!["doctor", "--wisdom", "mine.toml"], "--wisdom"),
        (vec!["predict", "--no-wisdom"], "--no-wisdom"),
        (vec!["calibrate", "--levels", "--name", "x"], "--name"),
        (
            vec!["calibrate", "--levels", "--method", "nnls"],
            "--method",
        ),
        (vec!["calibrate", "--levels", "-o", "m.toml"], "--out"),
        (
            vec!["calibrate", "--network", "--method", "nnls"],
            "--method",
        ),
        (
            vec!["calibrate", "--network", "--records", "r.csv"],
            "--records",
        ),
        (vec!["calibrate", "--machine", "h200"], "--network"),
        (vec!["calibrate", "--ranks", "2"], "--network"),
    ] {
        let e = is_refused(&mut command(&args));
        assert!(e.contains(flag), "{args:?}: {e}");
    }
}
