//! `hydro study` under kills and full disks: the file holds the rows measured so far, whole.

use greenup_testing::{fails, kill_after, on_a_full_disk};
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
