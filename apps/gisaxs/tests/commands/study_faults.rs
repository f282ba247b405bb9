//! `gisaxs study` under kills and full disks: the file holds the rows measured so far, whole; a folder has all of them.

use greenup_testing::{analyzed, fails, kill_after, on_a_full_disk, succeeds, trials};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const BIN: &str = env!("CARGO_BIN_EXE_gisaxs");
const STUDY: [&str; 9] = [
    "study",
    "--method",
    "nufft",
    "--window",
    "0.01",
    "--sensor",
    "none",
    "-o",
    "rows.json",
];

fn rows(file: &Path) -> Option<usize> {
    let text = fs::read_to_string(file).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    Some(value["rows"].as_array().unwrap().len())
}

fn study(dir: &Path) -> Command {
    of(&STUDY, dir)
}

/// The study with a folder as its output.
fn recorded(dir: &Path, more: &[&str]) -> Command {
    let mut c = of(&STUDY[..7], dir);
    c.args(["-o", "sweep"]).args(more);
    c
}

fn of(args: &[&str], dir: &Path) -> Command {
    let mut c = Command::new(BIN);
    c.args(args)
        .current_dir(dir)
        .env("XDG_DATA_HOME", dir.join("home"));
    c
}

#[test]
fn a_killed_study_keeps_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.json");
    for k in 0..5 {
        let _ = fs::remove_file(&file);
        let later = Duration::from_millis(100 * k);
        kill_after(
            study(dir.path()).args(["--cases", "all"]),
            || file.exists(),
            later,
        );
        assert!(rows(&file) >= Some(1));
    }
}

#[test]
fn a_full_disk_leaves_the_older_rows() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.json");
    fs::write(&file, "old").unwrap();
    let said = fails(&mut on_a_full_disk(&study(dir.path()), 0));
    assert!(said.contains("rows.json cannot be written"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
}

#[test]
fn a_killed_study_goes_on_in_its_folder_and_is_analyzed() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = dir.path().join("sweep");
    kill_after(
        &mut recorded(dir.path(), &["--cases", "paper"]),
        || !trials(&sweep).is_empty(),
        Duration::from_millis(30),
    );
    let before = trials(&sweep);
    succeeds(&mut recorded(dir.path(), &[]));
    let all = trials(&sweep);
    assert_eq!(all[..before.len()], before);
    assert_eq!(rows(&sweep.join("study.json")), Some(2));
    assert_ne!(all[0]["config"], all[1]["config"]);
    let times = all[0]["measured"]["times_s"].as_array().unwrap();
    assert_eq!(times.len(), all[0]["row"]["measured"]["runs"]);
    // Nothing is measured twice, and what was deleted is made again.
    fs::remove_file(sweep.join("study.html")).unwrap();
    succeeds(&mut recorded(dir.path(), &[]));
    assert_eq!(trials(&sweep), all);
    let page = fs::read_to_string(sweep.join("study.html")).unwrap();
    assert!(page.contains("pairs per second"));
    let analysis = analyzed(&sweep);
    assert!(analysis.contains("im_qz") && analysis.contains("threads"));
}

#[test]
fn folders_of_others_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = dir.path().join("sweep");
    let scaling = |more: &[&str]| {
        let mut c = of(&["study", "--scaling", "--method", "nufft"], dir.path());
        c.args(["--threads", "2", "-o", "sweep"]).args(more);
        c
    };
    let two = ["--rounds", "2"];
    succeeds(&mut scaling(&two));
    let all = trials(&sweep);
    assert_eq!(all.len(), 2, "one and two threads");
    for t in &all {
        assert_eq!(t["measured"]["times_s"].as_array().unwrap().len(), 2);
        assert!(t["row"]["same_bits"].as_bool().unwrap());
    }
    assert_eq!(rows(&sweep.join("study.json")), Some(2));
    assert!(analyzed(&sweep).contains("pin"));
    let said = fails(&mut recorded(dir.path(), &[]));
    assert!(said.contains("it is of `gisaxs scaling`"), "{said}");
    let said = fails(&mut scaling(&["--rounds", "3"]));
    assert!(said.contains("`rounds` was 2, now 3"), "{said}");
    fs::write(sweep.join("study.json"), "the user's").unwrap();
    let said = fails(&mut scaling(&two));
    assert!(said.contains("study.json"), "{said}");
    let kept = fs::read_to_string(sweep.join("study.json")).unwrap();
    assert_eq!((kept.as_str(), trials(&sweep)), ("the user's", all));
}
