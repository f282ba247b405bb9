//! The tuner end to end: kernels that fail in every way, a run killed at random moments, bad input.

use assert_cmd::Command;
use serde_json::Value as J;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

fn problem() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/faults/problem.toml")
}

fn greenup() -> Command {
    Command::cargo_bin("greenup").unwrap()
}

fn trials(dir: &Path) -> Vec<J> {
    std::fs::read_to_string(dir.join("trials.jsonl"))
        .unwrap_or_default()
        .lines()
        .filter_map(|l| serde_json::from_str(l).ok())
        .collect()
}

/// A run of the faults, all points in some order, that goes on where the last one stopped.
fn exhaustive(out: &Path, budget: &str) -> std::process::Command {
    let mut c = std::process::Command::new(assert_cmd::cargo::cargo_bin("greenup"));
    c.args(["tune", "--strategy", "exhaustive", "--sensor", "none"])
        .args(["--resume", "--budget", budget, "--out"])
        .arg(out)
        .arg(problem());
    c
}

#[test]
fn every_fault_is_one_failed_trial_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("sweep");
    let run = greenup()
        .args([
            "tune",
            "--strategy",
            "exhaustive",
            "--budget",
            "100%",
            "--json",
            "--sensor",
            "none",
        ])
        .arg("--out")
        .arg(&out)
        .arg(problem())
        .assert()
        .success();
    let answer: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert_eq!(answer["trials"], 20);
    // how = 0 works, with both widths.
    let finalists = answer["finalists"].as_array().unwrap();
    assert_eq!(finalists.len(), 2);
    assert!(finalists.iter().all(|f| f["config"][0] == 0));
    let mut by_fault: BTreeMap<i64, (String, String)> = BTreeMap::new();
    for t in trials(&out) {
        if let Some(f) = t.get("failed") {
            by_fault.insert(
                t["config"][0].as_i64().unwrap(),
                (
                    f["failure"].as_str().unwrap().to_owned(),
                    f["message"].as_str().unwrap().to_owned(),
                ),
            );
        }
    }
    for (how, failure, word) in [
        (1, "compile", "does not compile"),
        (2, "crash", "invalid memory access"),
        (3, "timeout", "did not end"),
        (4, "wrong", "`out`[500] is NaN"),
        (5, "wrong", "`out`[1000]"),
        (6, "wrong", "wrote outside of `out`"),
        (7, "wrong", "changed its input `in`"),
        (8, "crash", "code 3"),
        (9, "crash", "abort"),
    ] {
        let (f, m) = &by_fault[&how];
        assert_eq!(f, failure, "how = {how}: {m}");
        assert!(m.contains(word), "how = {how}: {m}");
    }
    // The exports hold every trial.
    let t4: J =
        serde_json::from_str(&std::fs::read_to_string(out.join("results-t4.json")).unwrap())
            .unwrap();
    assert_eq!(t4["results"].as_array().unwrap().len(), 20);
    assert_eq!(t4["schema_version"], "1.0.0");
    let mut csv = csv::Reader::from_path(out.join("trials.csv")).unwrap();
    assert_eq!(csv.records().filter(Result::is_ok).count(), 20);
    // The folder is a recording, too.
    greenup()
        .args([
            "replay",
            "--strategy",
            "random",
            "--budget",
            "100%",
            "--json",
        ])
        .arg(&out)
        .assert()
        .success();
}

#[test]
fn a_second_run_needs_resume_and_another_problem_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("sweep");
    let tune = |extra: &[&str], problem: &Path| {
        let mut c = greenup();
        c.args(["tune", "--strategy", "exhaustive", "--sensor", "none"])
            .args(extra)
            .arg("--out")
            .arg(&out)
            .arg(problem);
        c.assert()
    };
    // how = 0 first: the smallest budget that surely holds a working config is all of them.
    tune(&["--budget", "100%"], &problem()).success();
    let message = |a: assert_cmd::assert::Assert| {
        String::from_utf8_lossy(&a.get_output().stderr).into_owned()
    };
    let m = message(tune(&["--budget", "3"], &problem()).failure());
    assert!(m.contains("--resume"), "{m}");
    tune(&["--budget", "100%", "--resume"], &problem()).success();
    assert_eq!(trials(&out).len(), 20);
    // Changed sources are another problem.
    let copy = dir.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    for f in ["problem.toml", "kernel.c", "reference.c"] {
        let mut text = std::fs::read_to_string(problem().with_file_name(f)).unwrap();
        if f == "kernel.c" {
            text.push_str("/* changed */\n");
        }
        std::fs::write(copy.join(f), text).unwrap();
    }
    let m = message(
        tune(
            &["--budget", "100%", "--resume"],
            &copy.join("problem.toml"),
        )
        .failure(),
    );
    assert!(
        m.contains("another problem") && m.contains("`file kernel.c` changed"),
        "{m}"
    );
}

#[test]
fn bad_problems_are_refused_in_words() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(problem()).unwrap();
    for f in ["kernel.c", "reference.c"] {
        std::fs::copy(problem().with_file_name(f), dir.path().join(f)).unwrap();
    }
    for (i, (from, to, expected)) in [
        ("\"kernel.c\"", "\"kernal.c\"", "kernal.c does not exist"),
        (
            "size = \"size\"\nrole",
            "size = \"sizes\"\nrole",
            "`sizes` is not known",
        ),
        (
            "how = \"0 : 9\"",
            "how = \"0 : nine\"",
            "`nine` is not declared",
        ),
        ("timeout = 3.0", "timeout = 0.001", "seconds < timeout"),
        ("f64 = \"size\"", "f63 = \"size\"", "f63"),
        (
            "f64 = \"size\"",
            "f64 = \"2 * sizes\"",
            "`sizes` is no constant",
        ),
        ("how = \"0 : 9\"", "how = \"1 : 9\"", "no trial succeeded"),
        ("width = [1, 2]", "width = []", "the list has no values"),
        ("twice\"\nflags", "thrice\"\nflags", "no trial succeeded"),
        ("[measure]", "[mesure]", "`mesure` is not part"),
    ]
    .into_iter()
    .enumerate()
    {
        assert!(text.contains(from), "{from}");
        let p = dir.path().join("problem.toml");
        std::fs::write(&p, text.replace(from, to)).unwrap();
        let run = greenup()
            .args([
                "tune",
                "--budget",
                "100%",
                "--strategy",
                "exhaustive",
                "--sensor",
                "none",
            ])
            .arg("--out")
            .arg(dir.path().join(format!("sweep-{i}")))
            .arg(&p)
            .assert()
            .failure();
        let stderr = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(stderr.contains(expected), "{to}: {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
fn energy_without_a_sensor_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let run = greenup()
        .args(["tune", "--objective", "energy", "--sensor", "none"])
        .arg("--out")
        .arg(dir.path().join("s"))
        .arg(problem())
        .assert()
        .failure();
    let stderr = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(
        stderr.contains("needs energy") && stderr.contains("hint"),
        "{stderr}"
    );
}

#[test]
fn a_full_disk_is_reported_with_a_fix() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("sweep");
    std::fs::create_dir(&out).unwrap();
    std::os::unix::fs::symlink("/dev/full", out.join("trials.jsonl")).unwrap();
    let run = greenup()
        .args(["tune", "--budget", "5", "--sensor", "none"])
        .arg("--out")
        .arg(&out)
        .arg(problem())
        .assert()
        .failure();
    let stderr = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(
        stderr.contains("No space left") && stderr.contains("hint"),
        "{stderr}"
    );
}

/// A disk that fills up in the middle of a sweep: what was measured stays, and a second run goes on.
#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_fills_up_loses_nothing() {
    use std::io::Write as _;
    use std::os::unix::process::CommandExt as _;
    const LIMIT: u64 = 60 << 10;
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("sweep");
    assert!(exhaustive(&out, "16").output().unwrap().status.success());
    let before = trials(&out);
    assert_eq!(before.len(), 16);
    // Empty lines fill the file up to half a trial below what it may hold.
    let path = out.join("trials.jsonl");
    let mut file = std::fs::File::options().append(true).open(&path).unwrap();
    let pad = LIMIT - 150 - file.metadata().unwrap().len();
    file.write_all(&vec![b'\n'; pad as usize]).unwrap();
    let mut full = exhaustive(&out, "20");
    // SAFETY: both calls are allowed between fork and exec; they limit the child alone.
    unsafe {
        full.pre_exec(|| {
            let limit = libc::rlimit {
                rlim_cur: LIMIT,
                rlim_max: LIMIT,
            };
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
            Ok(())
        });
    }
    let run = full.output().unwrap();
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(1), "{text}");
    assert!(
        text.contains("trials.jsonl cannot be written") && text.contains("hint:"),
        "{text}"
    );
    assert_eq!(
        trials(&out),
        before,
        "every trial is still there, and no half one"
    );
    assert!(exhaustive(&out, "20").output().unwrap().status.success());
    let after = trials(&out);
    assert_eq!(after.len(), 20);
    assert_eq!(after[..16], before[..]);
}

/// Twenty kills at random moments: what was recorded stays, and the sweep comes to its end.
#[test]
#[ignore = "takes half a minute"]
fn killed_at_random_moments() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("sweep");
    let mut rng = fastrand::Rng::with_seed(11);
    let mut before = 0;
    for kill in 0..20 {
        let mut child = exhaustive(&out, "100%")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let end = Instant::now() + Duration::from_millis(rng.u64(20..900));
        while Instant::now() < end && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = trials(&out).len();
        assert!(now >= before, "kill {kill}: {now} trials of {before}");
        before = now;
    }
    assert!(exhaustive(&out, "100%").status().unwrap().success());
    let all = trials(&out);
    let mut configs: Vec<String> = all.iter().map(|t| t["config"].to_string()).collect();
    assert_eq!(configs.len(), 20);
    configs.sort();
    configs.dedup();
    assert_eq!(configs.len(), 20, "no config twice");
    // Nothing of the killed runs is left behind: not even the kernels that hang.
    #[cfg(target_os = "linux")]
    {
        let out = out.canonicalize().unwrap();
        let left = std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter(|e| {
                let maps = std::fs::read_to_string(e.path().join("maps")).unwrap_or_default();
                maps.contains(out.to_str().unwrap())
            })
            .count();
        assert_eq!(left, 0, "processes left");
    }
}

/// The examples that users copy.
#[test]
fn examples_are_tuned_and_constants_can_be_set() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (name, set) in [("stencil", "n=130"), ("spmv", "rows=6400")] {
        let dir = tempfile::tempdir().unwrap();
        let run = greenup()
            // Threads that spin on busy cores would run into the time limit.
            .env("OMP_WAIT_POLICY", "passive")
            .args(["tune", "--budget", "12", "--json", "--sensor", "none"])
            .args(["--finalists", "2", "--set", set, "--out"])
            .arg(dir.path().join("sweep"))
            .arg(examples.join(name).join("problem.toml"))
            .assert()
            .success();
        let answer: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
        assert_eq!(answer["trials"], 12, "{name}");
        assert_eq!(answer["failures"], serde_json::json!({}), "{name}");
        let facts: J = serde_json::from_str(
            &std::fs::read_to_string(dir.path().join("sweep/sweep.json")).unwrap(),
        )
        .unwrap();
        let constants = facts["more"]["constants"].as_str().unwrap();
        assert!(constants.contains(set), "{name}: {constants}");
        // Other constants are another sweep.
        let other = greenup()
            .args(["tune", "--resume", "--budget", "13", "--out"])
            .arg(dir.path().join("sweep"))
            .arg(examples.join(name).join("problem.toml"))
            .assert()
            .failure();
        let text = String::from_utf8_lossy(&other.get_output().stderr).into_owned();
        assert!(text.contains("`constants."), "{text}");
    }
}

#[test]
fn a_constant_that_is_none_is_named() {
    let run = greenup()
        .args(["tune", "--set", "nosuch=3"])
        .arg(problem())
        .assert()
        .failure();
    let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(text.contains("no constant or parameter `nosuch`"), "{text}");
    assert!(
        text.contains("its constants are") && text.contains("parameters"),
        "{text}"
    );
}
