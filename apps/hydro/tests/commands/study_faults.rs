//! `hydro study` under kills and full disks: the file holds the rows measured so far, whole; a folder has all of them.

use greenup_testing::{analyzed, fails, kill_after, on_a_full_disk, succeeds, trials};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const BIN: &str = env!("CARGO_BIN_EXE_hydro");
const STUDY: [&str; 13] = [
    "study",
    "--dim",
    "2",
    "--intervals",
    "8",
    "--orders",
    "2,3,4",
    "--window",
    "0.2",
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
    let mut c = Command::new(BIN);
    c.args(STUDY).current_dir(dir);
    c
}

#[test]
fn a_killed_study_keeps_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.json");
    for k in 0..5 {
        let _ = fs::remove_file(&file);
        let later = Duration::from_millis(150 * k);
        kill_after(&mut study(dir.path()), || file.exists(), later);
        assert!((1..18).contains(&rows(&file).unwrap()));
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
    let recorded = |orders: &str| {
        let mut c = Command::new(BIN);
        c.args(["study", "--dim", "1", "--intervals", "8", "--window", "0.2"])
            .args(["--sensor", "none", "--orders", orders, "-o", "sweep"])
            .current_dir(dir.path());
        c
    };
    kill_after(
        &mut recorded("2,3,4"),
        || trials(&sweep).len() > 1,
        Duration::from_millis(30),
    );
    let before = trials(&sweep);
    succeeds(&mut recorded("2"));
    let all = trials(&sweep);
    assert_eq!(all[..before.len()], before);
    assert_eq!(rows(&sweep.join("study.json")), Some(6));
    for t in &all {
        assert_eq!(all.iter().filter(|o| o["config"] == t["config"]).count(), 1);
        assert_eq!(t["measured"]["times_s"].as_array().unwrap().len(), 3);
    }
    // Nothing is measured twice, and the page is made again, also after another of its command.
    let mut page = Command::new(BIN);
    succeeds(
        page.args(["report", "sweep/study.json"])
            .current_dir(dir.path()),
    );
    succeeds(&mut recorded("2"));
    fs::remove_file(sweep.join("study.html")).unwrap();
    succeeds(&mut recorded("2"));
    assert_eq!(trials(&sweep), all);
    assert!(sweep.join("study.html").exists());
    assert!(analyzed(&sweep).contains("assembly"));
    let mut other = recorded("2");
    let said = fails(other.args(["--machine", "h200"]));
    assert!(said.contains("`machine` is new"), "{said}");
    assert_eq!(trials(&sweep), all);
}
