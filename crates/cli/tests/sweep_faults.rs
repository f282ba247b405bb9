//! A sweep's folder under rough use: files of the user's beside it, two writers, a full disk, a lost or broken file,
//! another experiment, kills.

use serde_json::Value as J;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A problem of 63 points, in a folder of its own.
fn problem(dir: &Path) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sweep");
    let to = dir.join("problem");
    fs::create_dir_all(&to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    to.join("problem.toml")
}

fn tune(problem: &Path, out: &Path, more: &[&str]) -> Command {
    let mut c = Command::new(assert_cmd::cargo::cargo_bin("greenup"));
    c.arg("tune").arg(problem).arg("--out").arg(out);
    c.args([
        "--sensor",
        "none",
        "--finalists",
        "1",
        "--strategy",
        "random",
    ]);
    c.args(more).stdin(Stdio::null());
    c
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ok(c: &mut Command) -> Output {
    let out = c.output().unwrap();
    assert!(out.status.success(), "{c:?}: {}", text(&out.stderr));
    out
}

/// Standard error of a command that must fail with code 1.
fn fails(c: &mut Command) -> String {
    let out = c.output().unwrap();
    let e = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{c:?}: {e}");
    assert!(e.contains("error:") && !e.contains("panicked"), "{e}");
    e
}

fn trials(dir: &Path) -> Vec<J> {
    let text = fs::read_to_string(dir.join("trials.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

fn configs(dir: &Path) -> Vec<J> {
    trials(dir).iter().map(|t| t["config"].clone()).collect()
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(file, text.replace(from, to)).unwrap();
}

#[test]
fn files_of_the_user_stay() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(dir.path());
    let out = dir.path().join("here");
    for name in ["build/precious", "libraries/mine", "notes.txt"] {
        let file = out.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "precious").unwrap();
    }
    ok(&mut tune(&p, &out, &["--budget", "2"]));
    let scale = [
        "scale",
        "--over",
        "size=501,1001",
        "--configs",
        "1",
        "--sensor",
        "none",
    ];
    let mut c = Command::new(assert_cmd::cargo::cargo_bin("greenup"));
    ok(c.args(scale).arg(&p).arg("--sweep").arg(&out));
    for name in ["build/precious", "libraries/mine", "notes.txt"] {
        assert_eq!(fs::read_to_string(out.join(name)).unwrap(), "precious");
    }
    // Nothing temporary is left.
    let names = fs::read_dir(&out).unwrap().flatten().map(|e| e.file_name());
    let left: Vec<_> = names
        .filter(|n| n.to_string_lossy().contains("scratch"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(dir.path());
    let text = fs::read_to_string(&p).unwrap();
    for name in ["/abs/path", "../../x", "..", ".hidden", ""] {
        fs::write(&p, text.replace("\"small\"", &format!("\"{name}\""))).unwrap();
        let mut c = Command::new(assert_cmd::cargo::cargo_bin("greenup"));
        c.arg("tune")
            .arg(&p)
            .args(["--budget", "1", "--sensor", "none"]);
        let e = fails(c.current_dir(dir.path()));
        assert!(e.contains("line 1") && e.contains("`name`"), "{e}");
    }
}

#[test]
fn two_writers_never_share_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(dir.path());
    let out = dir.path().join("s");
    let mut first = tune(&p, &out, &["--budget", "100%"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while trials(&out).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = first.id();
    let e = fails(&mut tune(&p, &out, &["--budget", "5", "--resume"]));
    assert!(e.contains(&format!("in use by process {id}")), "{e}");
    assert!(first.wait().unwrap().success());
    let all = trials(&out);
    assert_eq!(all.len(), 63);
    assert!(all.iter().all(|t| t.get("measured").is_some()), "{all:?}");
    // A second call finds all done, and measures nothing.
    let before = fs::read(out.join("trials.jsonl")).unwrap();
    ok(&mut tune(&p, &out, &["--budget", "100%", "--resume"]));
    assert_eq!(fs::read(out.join("trials.jsonl")).unwrap(), before);
    let e = fails(&mut tune(&p, &out, &["--budget", "5"]));
    assert!(e.contains("holds a sweep already"), "{e}");
}

#[test]
fn a_sweep_without_its_head_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(dir.path());
    let out = dir.path().join("s");
    ok(&mut tune(&p, &out, &["--budget", "3"]));
    fs::remove_file(out.join("sweep.json")).unwrap();
    let before = fs::read(out.join("trials.jsonl")).unwrap();
    for more in [&["--budget", "5", "--resume"][..], &["--budget", "5"]] {
        let e = fails(&mut tune(&p, &out, more));
        assert!(e.contains("no sweep.json"), "{e}");
        assert_eq!(fs::read(out.join("trials.jsonl")).unwrap(), before);
    }
}

#[test]
fn broken_lines_are_named_and_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(dir.path());
    let out = dir.path().join("s");
    ok(&mut tune(&p, &out, &["--budget", "4"]));
    let file = out.join("trials.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let half = &lines[1][..lines[1].len() / 2];
    let edited = lines[2].replacen("\"config\":[", "\"config\":[99", 1);
    fs::write(
        &file,
        format!("{}\n{half}\n{edited}\n{}\n{half}", lines[0], lines[3]),
    )
    .unwrap();
    let out4 = ok(&mut tune(&p, &out, &["--budget", "4", "--resume"]));
    let e = text_of(&out4);
    assert!(e.contains("line 2 is left out"), "{e}");
    assert!(e.contains("is no point of the space"), "{e}");
    // Two of the four count; the half line at the end is gone.
    let kept = fs::read_to_string(&file).unwrap();
    assert_eq!(kept.lines().count(), 6, "{kept}");
    assert!(kept.ends_with('\n'));
}

fn text_of(out: &Output) -> String {
    text(&out.stderr)
}

#[test]
fn another_experiment_is_refused_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(dir.path());
    let out = dir.path().join("s");
    let resume = &["--budget", "4", "--resume"];
    ok(&mut tune(&p, &out, &["--budget", "3"]));
    let before = fs::read(out.join("trials.jsonl")).unwrap();
    let beside = |name: &str| p.with_file_name(name);
    let original = fs::read_to_string(&p).unwrap();
    let header = fs::read_to_string(beside("step.h")).unwrap();
    let refused = |file: &Path, from: &str, to: &str, named: &str| {
        replace(file, from, to);
        let e = fails(&mut tune(&p, &out, resume));
        assert!(e.contains(named), "{e}");
        assert_eq!(fs::read(out.join("trials.jsonl")).unwrap(), before);
        fs::write(&p, &original).unwrap();
        fs::write(beside("step.h"), &header).unwrap();
    };
    refused(
        &p,
        "tolerance = 1e-12",
        "tolerance = 1e-6",
        "`reference.tolerance` was",
    );
    refused(
        &p,
        "[1, 2, 3, 4, 5, 6, 7]",
        "[1, 2, 3]",
        "`parameters.unroll` was",
    );
    refused(
        &p,
        "size = 1001",
        "size = 1003",
        "`constants.size` was 1001, now 1003",
    );
    refused(&p, "\"-O1\"", "\"-O2\"", "flags");
    refused(
        &p,
        "seconds = 0.005",
        "seconds = 0.006",
        "`measure.seconds`",
    );
    // Included, not listed.
    refused(
        &beside("step.h"),
        "2.0 * (x)",
        "(x) * 2.0",
        "`file step.h` changed",
    );
    let e = fails(tune(&p, &out, resume).args(["--data", "normal"]));
    assert!(e.contains("`argument in` was"), "{e}");
    // What the user says is the same goes on.
    replace(&p, "tolerance = 1e-12", "tolerance = 1e-6");
    let e = fails(tune(&p, &out, resume).args(["--accept", "measure.seconds"]));
    assert!(e.contains("--accept"), "{e}");
    ok(tune(&p, &out, resume).args(["--accept", "reference.tolerance"]));
    assert_eq!(trials(&out).len(), 4);
    ok(&mut tune(&p, &out, &["--budget", "5", "--resume"]));
}

#[test]
fn faults_of_the_environment_are_no_trials() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let p = problem(dir.path());
    // A compiler that works for the reference and finds the disk full later.
    let cc = dir.path().join("cc");
    let script = "#!/bin/sh\ncase \"$*\" in *Dwidth=*) echo 'ld: final link failed: No space left on device' >&2; exit 1;; esac\nexec cc \"$@\"\n";
    fs::write(&cc, script).unwrap();
    fs::set_permissions(&cc, fs::Permissions::from_mode(0o755)).unwrap();
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
    let p = problem(dir.path());
    let Some(disk) = Small::mounted(&dir.path().join("disk"), 220) else {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"no tmpfs can be mounted: skipped\n",
        );
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
    ok(&mut tune(&p, &out, &["--budget", "10", "--resume"]));
    assert!(trials(&out).len() >= 10);
}

#[test]
fn results_without_a_reference_are_said_to_be_unverified() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(dir.path());
    let text_before = fs::read_to_string(&p).unwrap();
    let from = text_before.find("[reference]").unwrap();
    let to = text_before.find("[measure]").unwrap();
    fs::write(
        &p,
        format!("{}{}", &text_before[..from], &text_before[to..]),
    )
    .unwrap();
    let out = dir.path().join("s");
    let run = ok(tune(&p, &out, &["--budget", "2"]).arg("--json"));
    let j: J = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(j["verified"], false);
    assert!(text(&run.stderr).contains("not verified"));
    let mut c = Command::new(assert_cmd::cargo::cargo_bin("greenup"));
    let shown = ok(c.arg("analyze").arg(&out));
    assert!(text(&shown.stderr).contains("not verified"));
}

#[test]
fn bad_arguments_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(dir.path());
    let original = fs::read_to_string(&p).unwrap();
    for (from, to, words) in [
        ("tolerance = 1e-12", "tolerance = inf", "tolerance: inf"),
        ("tolerance = 1e-12", "tolerance = nan", "tolerance: NaN"),
        ("\"f64\"", "\"double\"", "did you mean f64?"),
        ("[1, 2, 3, 4, 5, 6, 7]", "\"2..256\"", "start : stop"),
        (
            "kernel.c",
            "no.c",
            "sources are looked for beside the problem, in /",
        ),
    ] {
        fs::write(&p, original.replacen(from, to, 1)).unwrap();
        let mut c = Command::new(assert_cmd::cargo::cargo_bin("greenup"));
        c.args(["tune", "problem.toml", "--budget", "1", "--sensor", "none"]);
        let e = fails(c.current_dir(p.parent().unwrap()));
        assert!(e.contains(words), "{to}: {e}");
    }
    // A number is as good as an expression.
    fs::write(&p, original.replace("size = \"size\"", "size = 1001")).unwrap();
    ok(&mut tune(&p, &dir.path().join("s"), &["--budget", "1"]));
}

#[test]
#[ignore = "slow: twenty runs that are killed"]
fn no_trial_is_lost_to_twenty_kills() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(dir.path());
    let whole = dir.path().join("whole");
    ok(&mut tune(&p, &whole, &["--budget", "100%", "--seed", "5"]));
    let out = dir.path().join("killed");
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..20 {
        let mut child = tune(&p, &out, &["--budget", "100%", "--seed", "5", "--resume"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let before = trials(&out).len();
        std::thread::sleep(Duration::from_millis(rng.u64(50..1500)));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(trials(&out).len() >= before);
    }
    ok(&mut tune(
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
