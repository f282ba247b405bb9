//! Runs that are killed and restarted, and checkpoints that are damaged or of other problems.

use super::common::{TRIPLE, error, hydro, numbers, outputs, path, started, words};
use greenup_testing::text;
use std::path::Path;
use std::time::{Duration, Instant};

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
    let whole = numbers(&[&TRIPLE[..9], &words(&outputs(whole_dir.path()))].concat());
    let took = began.elapsed();
    let dir = tempfile::tempdir().unwrap();
    let kept = path(&dir, "k.ckpt");
    let more = outputs(dir.path());
    let mut rng = fastrand::Rng::with_seed(13);
    for _ in 0..times {
        let first = [&TRIPLE[..], &["--checkpoint", &kept], &words(&more)].concat();
        let rest = [&["restart", &kept][..], &words(&more)].concat();
        let mut child = started(if Path::new(&kept).exists() {
            &rest
        } else {
            &first
        });
        std::thread::sleep(took.mul_f64(rng.f64()).min(Duration::from_secs(3)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    if !Path::new(&kept).exists() {
        let first = [&TRIPLE[..], &["--checkpoint", &kept], &words(&more)].concat();
        numbers(&[&first[..], &["--steps", "3"]].concat());
    }
    let rest = numbers(&[&["restart", &kept][..], &words(&more)].concat());
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
    numbers(&[&TRIPLE[..9], &words(&outputs(whole.path()))].concat());
    let dir = tempfile::tempdir().unwrap();
    let more = outputs(dir.path());
    let (early, late) = (path(&dir, "early.ckpt"), path(&dir, "late.ckpt"));
    let first = [&TRIPLE[..], &words(&more)].concat();
    numbers(&[&first[..], &["--checkpoint", &early, "--steps", "10"]].concat());
    std::fs::copy(&early, &late).unwrap();
    // Past the checkpoint: what came later is replaced.
    numbers(&[&["restart", &late, "--steps", "30"][..], &words(&more)].concat());
    numbers(&[&["restart", &early][..], &words(&more)].concat());
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
    let shown = text(&run.get_output().stderr);
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
    assert!(e.contains("changed since the run began"), "{e}");
    // The file of that time, at another position.
    let moved = path(&dir, "c.toml");
    std::fs::write(&moved, problem).unwrap();
    hydro(&["restart", &kept, "--problem", &moved])
        .assert()
        .success();
}

#[test]
fn flipped_bits_of_a_checkpoint_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let kept = path(&dir, "f.ckpt");
    let run = ["run", "--refine", "0", "--t-final", "0.2", "--steps", "2"];
    numbers(&[&run[..], &["--checkpoint", &kept]].concat());
    let good = std::fs::read(&kept).unwrap();
    let mut rng = fastrand::Rng::with_seed(14);
    for _ in 0..150 {
        let mut bad = good.clone();
        let bit = rng.usize(..8 * bad.len());
        bad[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&kept, &bad).unwrap();
        error(&["restart", &kept]);
        assert_eq!(std::fs::read(&kept).unwrap(), bad);
    }
}

/// The help of a restart names what the checkpoint remembers, which is what it then uses.
#[test]
fn the_help_of_a_restart_shows_what_is_remembered() {
    let shown = hydro(&["restart", "--help"]).assert().success();
    let shown = text(&shown.get_output().stdout);
    let of = |flag: &str| {
        let from = shown.find(&format!("      {flag} ")).unwrap();
        let rest = &shown[from + 8..];
        let end = rest.find("\n      --").unwrap_or(rest.len());
        rest[..end].split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for flag in ["--t-final", "--ode", "--device", "--cfl", "--every"] {
        assert!(
            of(flag).contains("[default: as in the checkpoint]"),
            "{}",
            of(flag)
        );
        assert_eq!(of(flag).matches("default").count(), 1, "{}", of(flag));
    }
    for flag in ["--steps", "--history", "--partition"] {
        assert!(!of(flag).contains("checkpoint]"), "{}", of(flag));
    }
    let dir = tempfile::tempdir().unwrap();
    let kept = path(&dir, "k.ckpt");
    let first = [
        "run",
        "--problem",
        "2",
        "--mesh",
        "8",
        "--refine",
        "0",
        "--steps",
        "2",
    ];
    numbers(
        &[
            &first[..],
            &["--cfl", "0.3", "--ode", "rk2", "--checkpoint", &kept],
        ]
        .concat(),
    );
    let e = error(&["restart", &kept, "--steps", "1"]);
    assert!(e.contains("already at step 2"), "{e}");
    let rest = hydro(&["restart", &kept, "--steps", "3"])
        .assert()
        .success();
    let note = text(&rest.get_output().stderr);
    assert!(
        note.contains("--cfl 0.3") && note.contains("--ode rk2"),
        "{note}"
    );
}
