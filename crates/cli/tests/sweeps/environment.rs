//! What is no fault of a config: a compiler that fails, a full disk, kills. Nothing measured is lost.

use super::sweep::{configs, trials, tune};
use crate::common::problem;
use greenup_testing::{fails, skipped, started, succeeds};
use serde_json::Value as J;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn faults_of_the_environment_are_no_trials() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    // A compiler that works for the reference and finds the disk full later.
    let cc = dir.path().join("cc");
    let script = "#!/bin/sh\ncase \"$*\" in *Dwidth=*) echo 'ld: final link failed: No space left on device' >&2; exit 1;; esac\nexec cc \"$@\"\n";
    greenup_testing::program(&cc, script);
    let text = fs::read_to_string(&p).unwrap();
    let with = |compiler: &str| {
        text.replace(
            "[build]\n",
            &format!("[build]\ncompiler = \"{compiler}\"\n"),
        )
    };
    fs::write(&p, with(&cc.display().to_string())).unwrap();
    let out = dir.path().join("s");
    let e = fails(&mut tune(&p, &out, &["--budget", "5"]));
    assert!(
        e.contains("No space left on device") && e.contains("--resume"),
        "{e}"
    );
    assert_eq!(trials(&out).len(), 0);
    fs::write(&p, with("/no/such/compiler")).unwrap();
    let e = fails(&mut tune(&p, &dir.path().join("t"), &["--budget", "5"]));
    assert!(e.contains("`/no/such/compiler` cannot be started"), "{e}");
}

/// A file system of so many KiB; none where it cannot be mounted.
struct Small(PathBuf);

impl Small {
    fn mounted(at: &Path, kib: usize) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let options = format!("size={kib}k");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "greenup-test"])
            .arg(at)
            .stderr(Stdio::null())
            .status();
        mount
            .is_ok_and(|s| s.success())
            .then(|| Self(at.to_owned()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_ends_the_run_and_keeps_what_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let Some(disk) = Small::mounted(&dir.path().join("disk"), 220) else {
        skipped("no tmpfs can be mounted");
        return;
    };
    let out = disk.0.join("s");
    let filler = disk.0.join("filler");
    fs::write(&filler, vec![1; 20 << 10]).unwrap();
    let e = fails(&mut tune(&p, &out, &["--budget", "100%"]));
    assert!(e.contains("No space left") || e.contains("no space"), "{e}");
    let kept = trials(&out);
    assert!(kept.iter().all(|t| t.get("measured").is_some()), "{kept:?}");
    // With room it goes on to the end.
    let bigger = Command::new("mount")
        .args(["-o", "remount,size=20m"])
        .arg(&disk.0)
        .status();
    assert!(bigger.unwrap().success());
    succeeds(&mut tune(&p, &out, &["--budget", "10", "--resume"]));
    assert!(trials(&out).len() >= 10);
}

#[test]
#[ignore = "slow: twenty runs that are killed"]
fn no_trial_is_lost_to_twenty_kills() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let whole = dir.path().join("whole");
    succeeds(&mut tune(&p, &whole, &["--budget", "100%", "--seed", "5"]));
    let out = dir.path().join("killed");
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..20 {
        let all = ["--budget", "100%", "--seed", "5", "--resume"];
        let mut child = started(&mut tune(&p, &out, &all));
        let before = trials(&out).len();
        std::thread::sleep(Duration::from_millis(rng.u64(50..1500)));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(trials(&out).len() >= before);
    }
    succeeds(&mut tune(
        &p,
        &out,
        &["--budget", "100%", "--seed", "5", "--resume"],
    ));
    let mut killed = configs(&out);
    let mut all = configs(&whole);
    let name = |c: &J| c.to_string();
    killed.sort_by_key(name);
    all.sort_by_key(name);
    assert_eq!(killed, all);
    let left = fs::read_dir(&out).unwrap().flatten();
    assert!(
        !left
            .map(|e| e.file_name())
            .any(|n| n.to_string_lossy().contains("scratch"))
    );
}
