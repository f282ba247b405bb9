//! `hydro study` under kills and full disks: the file holds the rows measured so far, whole.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BIN: &str = env!("CARGO_BIN_EXE_hydro");
const STUDY: [&str; 13] = [
    "study",
    "--dim",
    "2",
    "--nodes",
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
    Some(value.as_array().unwrap().len())
}

#[test]
fn a_killed_study_keeps_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.json");
    for k in 0..5 {
        let _ = fs::remove_file(&file);
        let mut child = Command::new(BIN)
            .args(STUDY)
            .current_dir(dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while !file.exists() {
            assert!(child.try_wait().unwrap().is_none(), "ended without a row");
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(150 * k));
        assert!(child.try_wait().unwrap().is_none(), "ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!((1..18).contains(&rows(&file).unwrap()));
    }
}

#[test]
fn a_full_disk_leaves_the_older_rows() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.json");
    fs::write(&file, "old").unwrap();
    let run = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"", BIN])
        .args(STUDY)
        .current_dir(dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert!(said.contains("rows.json cannot be written"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
}
