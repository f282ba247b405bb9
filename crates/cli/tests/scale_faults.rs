//! `greenup scale` and `gemm --tune` under kills and full disks.

mod said;

use said::text;
use serde_json::Value as J;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn greenup(args: &[&str]) -> Command {
    let mut c = Command::new(assert_cmd::cargo::cargo_bin!("greenup"));
    c.args(args).stdin(Stdio::null());
    c
}

/// As on a disk without space, no file can grow.
fn without_space(c: &Command) -> Output {
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
        .arg(c.get_program())
        .args(c.get_args());
    for (name, value) in c.get_envs() {
        limited.env(name, value.unwrap());
    }
    limited.stdin(Stdio::null()).output().unwrap()
}

fn json(path: &Path) -> J {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn sizes(path: &Path) -> usize {
    json(path)["sizes"].as_array().unwrap().len()
}

/// A sweep of a small problem.
fn sweep(dir: &Path) -> (PathBuf, PathBuf) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sweep");
    for entry in fs::read_dir(from).unwrap().flatten() {
        fs::copy(entry.path(), dir.join(entry.file_name())).unwrap();
    }
    let (problem, out) = (dir.join("problem.toml"), dir.join("s"));
    let tuned = greenup(&[
        "tune",
        "--sensor",
        "none",
        "--finalists",
        "1",
        "--budget",
        "3",
        "--out",
    ])
    .arg(&out)
    .arg(&problem)
    .output()
    .unwrap();
    assert!(tuned.status.success(), "{}", text(&tuned.stderr));
    (problem, out)
}

fn scale(problem: &Path, sweep: &Path, over: &str) -> Command {
    let mut c = greenup(&[
        "scale",
        "--configs",
        "2",
        "--sensor",
        "none",
        "--over",
        over,
        "--sweep",
    ]);
    c.arg(sweep).arg(problem);
    c
}

#[test]
fn a_killed_scaling_keeps_the_sizes_it_measured() {
    let dir = tempfile::tempdir().unwrap();
    let (problem, out) = sweep(dir.path());
    let half = out.join("scaling-unfinished.json");
    let over = "size=501,701,901,1101,1301,1501,1701,1901,2101,2301";
    for k in 0..5 {
        let _ = fs::remove_file(&half);
        let mut child = scale(&problem, &out, over)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while !half.exists() {
            assert!(child.try_wait().unwrap().is_none(), "ended without a size");
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(40 * k));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!out.join("scaling.json").exists(), "killed too late");
        assert!((1..10).contains(&sizes(&half)), "{}", sizes(&half));
    }
    // The next call works, and leaves the sizes of the killed one.
    let left = fs::read(&half).unwrap();
    let own = out.join("scaling-unfinished-2.json");
    let run = scale(&problem, &out, "size=501,701").output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(sizes(&out.join("scaling.json")), 2);
    assert!(!own.exists());
    assert_eq!(fs::read(&half).unwrap(), left);

    // All of it stays where the disk is full.
    let before = fs::read(out.join("scaling.json")).unwrap();
    let run = without_space(&scale(&problem, &out, "size=501"));
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{said}");
    let path = out.display().to_string();
    assert!(said.contains("error:") && said.contains(&path), "{said}");
    assert_eq!(fs::read(out.join("scaling.json")).unwrap(), before);
    assert!(!own.exists());
}

fn gemm(dir: &Path, out: &str, more: &[&str]) -> Command {
    let mut c = greenup(&[
        "gemm", "--n", "96", "--rounds", "1", "--tune", "--sensor", "none", "--budget", "4",
    ]);
    c.args(["--finalists", "1", "--out"]).arg(dir.join(out));
    c.arg("--wisdom").arg(dir.join("known.toml")).args(more);
    c.env("XDG_CACHE_HOME", dir.join("cache"));
    c
}

#[test]
#[ignore = "slow: seven short tuning runs, about 100 s on two busy cores"]
fn wisdom_of_gemm_stays_whole() {
    let dir = tempfile::tempdir().unwrap();
    let known = dir.path().join("known.toml");
    let start = Instant::now();
    let run = gemm(dir.path(), "first", &[]).output().unwrap();
    let took = start.elapsed();
    assert!(run.status.success(), "{}", text(&run.stderr));
    let entries = || {
        let table: toml::Table = fs::read_to_string(&known).unwrap().parse().unwrap();
        table["known"].as_array().unwrap().len()
    };
    assert_eq!(entries(), 1);
    for k in 1..=5_u32 {
        let out = format!("k{k}");
        let mut child = gemm(dir.path(), &out, &["--m", "64"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(took.mul_f64(0.18 * f64::from(k)));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!((1..=2).contains(&entries()));
        let trials =
            fs::read_to_string(dir.path().join(&out).join("trials.jsonl")).unwrap_or_default();
        for line in trials.split_inclusive('\n').filter(|l| l.ends_with('\n')) {
            serde_json::from_str::<J>(line).unwrap();
        }
    }
    // What was killed goes on.
    let run = gemm(dir.path(), "k3", &["--m", "64", "--resume"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(entries(), 2);

    let before = fs::read(&known).unwrap();
    let run = without_space(&gemm(dir.path(), "full", &["--m", "32"]));
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert!(
        said.contains("cannot be written") && said.contains(&dir.path().display().to_string()),
        "{said}"
    );
    assert_eq!(fs::read(&known).unwrap(), before);
}
