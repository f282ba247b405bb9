//! Full disks, signals, and runs that share a folder.

use super::common::{BIN, TRIPLE, error, hydro, numbers, one_more_step, path, started};
use greenup_testing::{fails, is_ended_by, on_a_full_disk, text, wait_until, wait_until_handled};
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn runs_side_by_side_do_not_share_temporary_files() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (path(&dir, "sh.sedov"), path(&dir, "sh.triple"));
    std::fs::write(path(&dir, "sh.part"), "mine\n").unwrap();
    let sedov = ["run", "--refine", "1", "--t-final", "0.2", "--every", "1"];
    let triple = [&TRIPLE[..9], &["--every", "1"]].concat();
    let mut a = started(&[&sedov[..], &["--checkpoint", &one]].concat());
    let mut b = started(&[&triple[..], &["--checkpoint", &two]].concat());
    assert!(a.wait().unwrap().success() && b.wait().unwrap().success());
    assert_eq!(
        std::fs::read_to_string(path(&dir, "sh.part")).unwrap(),
        "mine\n"
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3);
    for (file, problem) in [(&one, "\"problem\":\"1\""), (&two, "\"problem\":\"3\"")] {
        let head = std::fs::read(file).unwrap();
        assert!(String::from_utf8_lossy(&head[..200]).contains(problem));
        hydro(&["restart", file]).assert().success();
    }
}

/// The outputs of a run on a full disk: an error that says so, and the numbers are printed.
#[test]
fn a_full_disk_is_named_for_each_output() {
    let dir = tempfile::tempdir().unwrap();
    let folder = path(&dir, "fields");
    std::fs::create_dir(&folder).unwrap();
    let link = |name: &str| symlink("/dev/full", dir.path().join(name)).unwrap();
    for name in [
        "a.png",
        "a.csv",
        "r.csv",
        "a.ckpt",
        "fields/fields_0001.vtu",
    ] {
        link(name);
    }
    let run = ["run", "--refine", "0", "--t-final", "0.05"];
    for (flag, name) in [
        ("--png", "a.png"),
        ("--radial", "r.csv"),
        ("--history", "a.csv"),
        ("--checkpoint", "a.ckpt"),
        ("--vtu", "fields"),
    ] {
        let e = error(&[&run[..], &[flag, &path(&dir, name)]].concat());
        assert!(
            e.contains("cannot be written: No space left on device"),
            "{flag}: {e}"
        );
    }
    let run = hydro(&[&run[..], &["--png", &path(&dir, "a.png"), "--json"]].concat());
    let run = { run }.assert().failure();
    assert!(run.get_output().stdout.starts_with(b"{"));
}

/// `ulimit -f` stands for a disk that fills up while a run goes on.
#[test]
fn a_disk_that_fills_up_leaves_the_last_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let kept = path(&dir, "full.ckpt");
    let run = [
        "run",
        "--refine",
        "2",
        "--t-final",
        "0.3",
        "--checkpoint",
        &kept,
    ];
    numbers(&[&run[..], &["--steps", "5"]].concat());
    let before = std::fs::read(&kept).unwrap();
    assert!(before.len() > 4096);
    let mut again = std::process::Command::new(BIN);
    let said = fails(&mut on_a_full_disk(again.args(["restart", &kept]), 4));
    assert!(said.contains("cannot be written"), "{said}");
    assert_eq!(std::fs::read(&kept).unwrap(), before);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    numbers(&["restart", &kept]);
}

/// INT and TERM end a run within two seconds, in its steps and in its set-up, and what it did stays.
#[test]
fn signals_end_a_run_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let kept = path(&dir, "t.ckpt");
    let run = [
        "run",
        "--mesh",
        "16x16",
        "--threads",
        "1",
        "--t-final",
        "1e6",
        "--checkpoint",
        &kept,
    ];
    let setup = ["run", "--mesh", "6x6x6", "--refine", "0", "--order", "8"];
    let study = [
        "study",
        "--intervals",
        "12",
        "--window",
        "60",
        "--sensor",
        "none",
    ];
    for (args, signal) in [
        (&run[..], "INT"),
        (&run, "TERM"),
        (&setup, "TERM"),
        (&study, "INT"),
    ] {
        let mut child = started(args);
        wait_until_handled(&mut child, signal);
        std::thread::sleep(Duration::from_millis(1500));
        let early = child.try_wait().unwrap();
        assert!(early.is_none(), "{args:?} ended by itself: {early:?}");
        is_ended_by(&mut child, signal);
    }
    let rest = one_more_step(&kept);
    assert!(rest["steps"].as_u64().unwrap() > 0);
}

#[test]
fn standard_output_that_is_full_is_an_error() {
    for args in [
        &["list"][..],
        &["run", "--refine", "0", "--t-final", "0.01"],
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let out = std::process::Command::new(BIN)
            .args(args)
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(1));
        let said = text(&out.stderr);
        assert!(said.contains("standard output"), "{said}");
    }
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let folder = path(&dir, "fields");
    let mut first = started(&[
        "run",
        "--mesh",
        "48x48",
        "--t-final",
        "1e6",
        "--vtu",
        &folder,
    ]);
    wait_until(&mut first, || dir.path().join("fields/run.pvd").exists());
    let e = error(&["run", "--refine", "0", "--vtu", &folder]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(
        e.contains(&format!("in use by process {}", first.id())),
        "{e}"
    );
}
