//! `gisaxs study` under kills and full disks: the file holds the rows measured so far, whole.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_gisaxs");
const STUDY: [&str; 9] = [
    "study",
    "--way",
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

#[test]
fn a_killed_study_keeps_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.json");
    for k in 0..5 {
        let _ = fs::remove_file(&file);
        let mut child = Command::new(BINARY)
            .args(STUDY)
            .args(["--cases", "all"])
            .current_dir(dir.path())
            .env("XDG_DATA_HOME", dir.path().join("home"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while !file.exists() {
            assert!(child.try_wait().unwrap().is_none(), "ended without a row");
            assert!(start.elapsed() < Duration::from_secs(120));
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(100 * k));
        assert!(child.try_wait().unwrap().is_none(), "ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(rows(&file) >= Some(1));
    }
}

#[test]
fn a_full_disk_leaves_the_older_rows() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.json");
    fs::write(&file, "old").unwrap();
    let run = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"",
            BINARY,
        ])
        .args(STUDY)
        .current_dir(dir.path())
        .env("XDG_DATA_HOME", dir.path().join("home"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert!(said.contains("rows.json cannot be written"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
}
