//! `fmm study` under kills and full disks: trials stay, the next call goes on.

use greenup_testing::{analyzed, fails, on_a_full_disk, started, succeeds, trials};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BIN: &str = env!("CARGO_BIN_EXE_fmm");

fn study(dir: &Path, out: &str, first: &str) -> Command {
    let mut c = Command::new(BIN);
    c.args([
        "study", "--device", "cpu", "--scale", "0.01", "--repeat", "1", "--first", first,
    ])
    .args(["-o", out])
    .current_dir(dir)
    .stdin(Stdio::null());
    c
}

#[test]
fn a_killed_study_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("s");
    for k in 0..5 {
        let before = trials(&out);
        let mut child = started(&mut study(dir.path(), "s", "8"));
        let start = Instant::now();
        while trials(&out).len() <= before.len() && child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(20 * k));
        let _ = child.kill();
        child.wait().unwrap();
        assert_eq!(trials(&out)[..before.len()], before);
    }
    succeeds(&mut study(dir.path(), "s", "8"));
    let all = trials(&out);
    assert_eq!(all.len(), 8, "each case once");
    for t in &all {
        assert_eq!(all.iter().filter(|o| o["config"] == t["config"]).count(), 1);
    }
    assert!(analyzed(&out).contains("ncrit"));
}

#[test]
fn a_full_disk_ends_a_study() {
    let dir = tempfile::tempdir().unwrap();
    succeeds(&mut study(dir.path(), "s", "1"));
    let before = trials(&dir.path().join("s"));
    for out in ["s", "new"] {
        let said = fails(&mut on_a_full_disk(&study(dir.path(), out, "2"), 0));
        assert!(
            said.contains(&format!("{out}/")) && said.contains("cannot be written"),
            "{said}"
        );
    }
    assert_eq!(trials(&dir.path().join("s")), before);
    succeeds(&mut study(dir.path(), "new", "1"));
}
