//! Runs that are killed, restarted, or have no disk left; damaged and hostile inputs.

use assert_cmd::Command;
use serde_json::Value as J;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// What a command may take to end: the two seconds that are promised, and half a second until a busy host has reaped it.
const LIMIT: Duration = Duration::from_millis(2500);

const BIN: &str = env!("CARGO_BIN_EXE_hydro");

fn hydro(args: &[&str]) -> Command {
    let mut c = Command::new(BIN);
    c.args(args).timeout(Duration::from_secs(240));
    c
}

fn numbers(args: &[&str]) -> J {
    let run = hydro(args).arg("--json").assert().success();
    serde_json::from_slice(&run.get_output().stdout).unwrap()
}

fn error(args: &[&str]) -> String {
    let run = hydro(args).assert().failure();
    let out = run.get_output();
    // A panic ends with 101, an abort with a signal.
    assert!(
        matches!(out.status.code(), Some(1 | 2)),
        "{args:?}: {:?}",
        out.status
    );
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(text.contains("error"), "{args:?}: {text}");
    text
}

fn path(dir: &tempfile::TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}

/// A small run with all the outputs that grow.
fn outputs(dir: &Path) -> Vec<String> {
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    [
        "--history",
        &at("h.csv"),
        "--vtu",
        &at("fields"),
        "--frames",
        "6",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn text(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

const TRIPLE: [&str; 11] = [
    "run",
    "--problem",
    "3",
    "--refine",
    "2",
    "--t-final",
    "0.4",
    "--threads",
    "1",
    "--every",
    "2",
];

fn started(args: &[&str]) -> Child {
    std::process::Command::new(BIN)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn same_files(a: &Path, b: &Path) {
    let names = |dir: &Path| {
        let mut all: Vec<String> = std::fs::read_dir(dir.join("fields"))
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter(|n| n.starts_with("fields_") || n == "run.pvd")
            .collect();
        all.sort();
        all
    };
    assert_eq!(names(a), names(b));
    assert_eq!(names(a).len(), 8);
    let files = names(a).into_iter().map(|n| format!("fields/{n}"));
    for name in files.chain(["h.csv".to_owned()]) {
        let read = |dir: &Path| std::fs::read(dir.join(&name)).unwrap();
        assert!(read(a) == read(b), "{name} differs");
    }
}

/// Kills a run at random moments; in the end all its files are those of one that was left alone.
fn killed(times: usize) {
    let whole_dir = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let whole = numbers(&[&TRIPLE[..], &text(&outputs(whole_dir.path()))].concat());
    let took = began.elapsed();
    let dir = tempfile::tempdir().unwrap();
    let kept = path(&dir, "k.ckpt");
    let more = outputs(dir.path());
    for _ in 0..times {
        let first = [&TRIPLE[..], &["--checkpoint", &kept], &text(&more)].concat();
        let rest = [&["restart", &kept][..], &text(&more)].concat();
        let mut child = started(if Path::new(&kept).exists() {
            &rest
        } else {
            &first
        });
        std::thread::sleep(took.mul_f64(fastrand::f64()).min(Duration::from_secs(3)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    if !Path::new(&kept).exists() {
        let first = [&TRIPLE[..], &["--checkpoint", &kept], &text(&more)].concat();
        numbers(&[&first[..], &["--steps", "3"]].concat());
    }
    let rest = numbers(&[&["restart", &kept][..], &text(&more)].concat());
    for key in ["steps", "rejected", "dt", "e_norm", "internal", "kinetic"] {
        assert_eq!(whole[key], rest[key], "{key}");
    }
    same_files(whole_dir.path(), dir.path());
}

#[test]
fn a_killed_run_leaves_the_files_of_a_whole_one() {
    killed(3);
}

#[test]
#[ignore = "slow"]
fn twenty_kills_lose_nothing() {
    killed(20);
}

#[test]
fn a_restart_goes_on_with_history_and_fields() {
    let whole = tempfile::tempdir().unwrap();
    numbers(&[&TRIPLE[..], &text(&outputs(whole.path()))].concat());
    let dir = tempfile::tempdir().unwrap();
    let more = outputs(dir.path());
    let (early, late) = (path(&dir, "early.ckpt"), path(&dir, "late.ckpt"));
    let first = [&TRIPLE[..], &text(&more)].concat();
    numbers(&[&first[..], &["--checkpoint", &early, "--steps", "10"]].concat());
    std::fs::copy(&early, &late).unwrap();
    // Past the checkpoint: what came later is replaced.
    numbers(&[&["restart", &late, "--steps", "30"][..], &text(&more)].concat());
    numbers(&[&["restart", &early][..], &text(&more)].concat());
    same_files(whole.path(), dir.path());
    // Lists and histories of others stay.
    for (name, flag) in [("h.csv", "--history"), ("fields/run.pvd", "--vtu")] {
        let other = dir.path().join(name);
        std::fs::write(&other, "mine\n").unwrap();
        let target = dir.path().join(name.split('/').next().unwrap());
        let e = error(&["restart", &early, flag, target.to_str().unwrap()]);
        assert!(e.contains("not made by this program"), "{e}");
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine\n");
    }
}

#[test]
fn a_checkpoint_names_no_files_and_its_settings_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    let kept = path(&dir, "s.ckpt");
    let (csv, png) = (path(&dir, "h.csv"), path(&dir, "a.png"));
    let run = ["run", "--refine", "1", "--t-final", "0.2", "--steps", "4"];
    numbers(
        &[
            &run[..],
            &["--checkpoint", &kept, "--history", &csv, "--png", &png],
        ]
        .concat(),
    );
    let bytes = std::fs::read(&kept).unwrap();
    let head = String::from_utf8_lossy(bytes.split(|b| *b == b'\n').next().unwrap()).into_owned();
    assert!(!head.contains("h.csv") && !head.contains("a.png"), "{head}");
    let before = std::fs::read(&csv).unwrap();
    std::fs::remove_file(&png).unwrap();
    let run = hydro(&["restart", &kept, "--cfl", "0.25", "--t-final", "0.1"])
        .assert()
        .success();
    let shown = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    for word in [
        "step 4",
        "--mesh square01_quad",
        "--refine 1",
        "--cfl 0.25",
        "--t-final 0.1",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert_eq!(std::fs::read(&csv).unwrap(), before);
    assert!(!Path::new(&png).exists());
    // What would break the state is refused with the reason.
    for (flag, value) in [
        ("--mesh", "cube01_hex"),
        ("--problem", "3"),
        ("--refine", "2"),
        ("--order", "3"),
        ("--energy-order", "2"),
        ("--e0", "2"),
    ] {
        let e = error(&["restart", &kept, flag, value]);
        assert!(e.contains("a restart cannot change"), "{e}");
    }
    hydro(&["restart", &kept, "--mesh", "square01_quad"])
        .assert()
        .success();
    let e = error(&["restart", &kept, "--t-final", "0.01"]);
    assert!(e.contains("already at t"), "{e}");
}

/// A checkpoint of the first format, whose header names files that a restart must not touch.
#[test]
fn the_first_format_goes_on_with_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let kept = path(&dir, "s.ckpt");
    let run = ["run", "--refine", "1", "--t-final", "0.2"];
    let whole = numbers(&run);
    numbers(&[&run[..], &["--checkpoint", &kept, "--steps", "4"]].concat());
    let bytes = std::fs::read(&kept).unwrap();
    let end = bytes.iter().position(|b| *b == b'\n').unwrap();
    let mut head: J = serde_json::from_slice(&bytes[..end]).unwrap();
    let victim = path(&dir, "victim.csv");
    std::fs::write(&victim, "mine\n").unwrap();
    head["format"] = "greenup-hydro/1".into();
    head["setup"] = serde_json::json!({
        "refine": 1, "t_final": 0.2, "history": victim, "vtu": null, "png": null,
    });
    let first = [head.to_string().as_bytes(), &bytes[end..bytes.len() - 4]].concat();
    std::fs::write(&kept, first).unwrap();
    let run = hydro(&["restart", &kept, "--json"]).assert().success();
    let rest: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(
        said.contains("earlier version") && said.contains("--history"),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine\n");
    for key in ["steps", "dt", "e_norm"] {
        assert_eq!(whole[key], rest[key], "{key}");
    }
}

#[test]
fn a_changed_problem_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (page, kept) = (path(&dir, "b.toml"), path(&dir, "b.ckpt"));
    let problem = "[run]\nt_final = 0.01\n[[material]]\ngamma = 1.4\ndensity = 1\npressure = \"1 if x < 0.5 else 0.1\"\n";
    std::fs::write(&page, problem).unwrap();
    numbers(&[
        "run",
        "--problem",
        &page,
        "--steps",
        "2",
        "--checkpoint",
        &kept,
    ]);
    std::fs::write(&page, problem.replace("1.4", "1.5")).unwrap();
    let e = error(&["restart", &kept]);
    assert!(e.contains("not what it was when the run began"), "{e}");
    // The file of that time, at another place.
    let moved = path(&dir, "c.toml");
    std::fs::write(&moved, problem).unwrap();
    hydro(&["restart", &kept, "--problem", &moved])
        .assert()
        .success();
}

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

#[test]
fn flipped_bits_of_a_checkpoint_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let kept = path(&dir, "f.ckpt");
    let run = ["run", "--refine", "0", "--t-final", "0.2", "--steps", "2"];
    numbers(&[&run[..], &["--checkpoint", &kept]].concat());
    let good = std::fs::read(&kept).unwrap();
    for _ in 0..150 {
        let mut bad = good.clone();
        let bit = fastrand::usize(..8 * bad.len());
        bad[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&kept, &bad).unwrap();
        error(&["restart", &kept]);
        assert_eq!(std::fs::read(&kept).unwrap(), bad);
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
    let run = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 4; exec \"$@\"",
            "sh",
            BIN,
            "restart",
            &kept,
        ])
        .assert()
        .failure();
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
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
        "study", "--nodes", "12", "--window", "60", "--sensor", "none",
    ];
    for (args, signal) in [
        (&run[..], libc::SIGINT),
        (&run, libc::SIGTERM),
        (&setup, libc::SIGTERM),
        (&study, libc::SIGINT),
    ] {
        let mut child = started(args);
        std::thread::sleep(Duration::from_millis(1500));
        // SAFETY: the child is alive or not waited for yet.
        unsafe { libc::kill(child.id() as libc::pid_t, signal) };
        let began = Instant::now();
        let status = child.wait().unwrap();
        assert!(began.elapsed() < LIMIT, "{args:?}");
        assert_eq!(status.code(), Some(130), "{args:?}");
    }
    let rest = numbers(&["restart", &kept, "--steps", "1"]);
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
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
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
    let began = Instant::now();
    while !dir.path().join("fields/run.pvd").exists() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let e = error(&["run", "--refine", "0", "--vtu", &folder]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(
        e.contains(&format!("in use by process {}", first.id())),
        "{e}"
    );
}
