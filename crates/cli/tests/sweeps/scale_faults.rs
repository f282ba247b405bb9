//! `greenup scale` and `gemm --tune` under kills and full disks.

use super::sweep::tune;
use crate::common::{command, problem};
use greenup_testing::{fails, kill_after, on_a_full_disk, started, succeeds};
use serde_json::Value as J;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn json(path: &Path) -> J {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn sizes(path: &Path) -> usize {
    json(path)["sizes"].as_array().unwrap().len()
}

fn scale(problem: &Path, sweep: &Path, over: &str) -> Command {
    let mut c = command(&[
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
    let problem = problem(dir.path());
    let out = dir.path().join("s");
    succeeds(&mut tune(&problem, &out, &["--budget", "3"]));
    let half = out.join("scaling-unfinished.json");
    let over = "size=501,701,901,1101,1301,1501,1701,1901,2101,2301";
    for k in 0..5 {
        let _ = fs::remove_file(&half);
        let later = Duration::from_millis(40 * k);
        kill_after(&mut scale(&problem, &out, over), || half.exists(), later);
        assert!(!out.join("scaling.json").exists(), "killed too late");
        assert!((1..10).contains(&sizes(&half)), "{}", sizes(&half));
    }
    // The next call works, and leaves the sizes of the killed one.
    let left = fs::read(&half).unwrap();
    let own = out.join("scaling-unfinished-2.json");
    succeeds(&mut scale(&problem, &out, "size=501,701"));
    assert_eq!(sizes(&out.join("scaling.json")), 2);
    assert!(!own.exists());
    assert_eq!(fs::read(&half).unwrap(), left);

    // All of it stays where the disk is full.
    let before = fs::read(out.join("scaling.json")).unwrap();
    let said = fails(&mut on_a_full_disk(&scale(&problem, &out, "size=501"), 0));
    assert!(said.contains(&out.display().to_string()), "{said}");
    assert_eq!(fs::read(out.join("scaling.json")).unwrap(), before);
    assert!(!own.exists());
}

fn gemm(dir: &Path, out: &str, more: &[&str]) -> Command {
    let mut c = command(&[
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
    succeeds(&mut gemm(dir.path(), "first", &[]));
    let took = start.elapsed();
    let entries = || {
        let table: toml::Table = fs::read_to_string(&known).unwrap().parse().unwrap();
        table["entry"].as_array().unwrap().len()
    };
    assert_eq!(entries(), 1);
    for k in 1..=5_u32 {
        let out = format!("k{k}");
        let mut child = started(&mut gemm(dir.path(), &out, &["--m", "64"]));
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
    succeeds(&mut gemm(dir.path(), "k3", &["--m", "64", "--resume"]));
    assert_eq!(entries(), 2);

    let before = fs::read(&known).unwrap();
    let said = fails(&mut on_a_full_disk(
        &gemm(dir.path(), "full", &["--m", "32"]),
        0,
    ));
    assert!(
        said.contains("cannot be written") && said.contains(&dir.path().display().to_string()),
        "{said}"
    );
    assert_eq!(fs::read(&known).unwrap(), before);
}
