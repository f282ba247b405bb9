//! Outputs belong to the run that made them, and nothing else is replaced.

use super::common::{error, hydro, numbers, path};
use std::path::Path;

const SEDOV: [&str; 9] = [
    "run",
    "--refine",
    "1",
    "--t-final",
    "0.4",
    "--steps",
    "6",
    "--every",
    "2",
];

#[test]
fn a_restart_continues_no_outputs_of_another_run() {
    let dir = tempfile::tempdir().unwrap();
    let [one, two, csv, fields] = ["1.ckpt", "2.ckpt", "h.csv", "fields"].map(|n| path(&dir, n));
    let outputs = ["--history", &csv, "--vtu", &fields, "--snapshots", "4"];
    numbers(&[&SEDOV[..], &outputs, &["--checkpoint", &one]].concat());
    // Of another problem, and of the same with another CFL number.
    for other in [
        &["--problem", "0", "--mesh", "square01_quad"][..],
        &["--cfl", "0.25"],
    ] {
        let _ = std::fs::remove_file(&two);
        numbers(&[&SEDOV[..], other, &["--checkpoint", &two]].concat());
        let before = std::fs::read(&csv).unwrap();
        let list = std::fs::read(Path::new(&fields).join("run.pvd")).unwrap();
        let e = error(&["restart", &two, "--steps", "9", "--history", &csv]);
        assert!(
            e.contains("history of another run") && e.contains("--history"),
            "{e}"
        );
        let e = error(&["restart", &two, "--steps", "9", "--vtu", &fields]);
        assert!(e.contains("snapshots of another run"), "{e}");
        let e = error(&["restart", &two, "--steps", "9", "--checkpoint", &one]);
        assert!(e.contains("checkpoint of another run: problem 1"), "{e}");
        let e = error(&[&SEDOV[..], other, &["--checkpoint", &one]].concat());
        assert!(e.contains("checkpoint of another run"), "{e}");
        assert_eq!(std::fs::read(&csv).unwrap(), before);
        assert_eq!(
            std::fs::read(Path::new(&fields).join("run.pvd")).unwrap(),
            list
        );
    }
    // Its own outputs go on, also after a change of a flag, and the run may begin anew.
    let own = ["restart", &one, "--steps", "9", "--cfl", "0.4"];
    numbers(&[&own[..], &outputs].concat());
    numbers(&["restart", &one, "--steps", "10", "--history", &csv]);
    numbers(&[&SEDOV[..], &outputs, &["--checkpoint", &one]].concat());
    let lines = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(lines.lines().count(), 7, "{lines}");
}

#[test]
fn a_history_of_another_run_or_program_stays() {
    let dir = tempfile::tempdir().unwrap();
    let [ckpt, csv] = ["a.ckpt", "h.csv"].map(|n| path(&dir, n));
    numbers(&[&SEDOV[..], &["--checkpoint", &ckpt, "--history", &csv]].concat());
    let marked = std::fs::read_to_string(&csv).unwrap();
    let without: String = marked
        .lines()
        .map(|l| l.rsplit_once(',').unwrap().0.to_owned() + "\n")
        .collect();
    for (bad, why) in [
        (marked.replace("\n6,", "\n6,1"), "history of another run"),
        (without, "not made by this program"),
    ] {
        std::fs::write(&csv, &bad).unwrap();
        let e = error(&["restart", &ckpt, "--history", &csv]);
        assert!(e.contains(why), "{e}");
        assert_eq!(std::fs::read_to_string(&csv).unwrap(), bad);
    }
}

#[test]
fn files_of_the_user_are_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let run = ["run", "--refine", "0", "--t-final", "0.01"];
    let mine = |name: &str| {
        let file = path(&dir, name);
        std::fs::create_dir_all(Path::new(&file).parent().unwrap()).unwrap();
        std::fs::write(&file, "mine\n").unwrap();
        file
    };
    let at = |name: &str| path(&dir, name);
    for (file, flag, value) in [
        ("data.ckpt", "--checkpoint", "data.ckpt"),
        ("data.csv", "--history", "data.csv"),
        ("a/run.pvd", "--vtu", "a"),
        ("b/fields_0001.vtu", "--vtu", "b"),
        ("c/fields_0000_1.vtu", "--vtu", "c"),
        ("r.radial.png", "--radial", "r.csv"),
        ("l.line.png", "--line-out", "l.csv"),
    ] {
        let file = mine(file);
        let e = error(&[&run[..], &[flag, &at(value)]].concat());
        assert!(
            e.contains("not made by this program") || e.contains("no checkpoint"),
            "{flag}: {e}"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine\n");
    }
    // Its own figures are replaced.
    for _ in 0..2 {
        hydro(&[&run[..], &["--radial", &at("own.csv")]].concat())
            .assert()
            .success();
    }
}

#[test]
fn a_problem_file_names_no_outputs() {
    let dir = tempfile::tempdir().unwrap();
    let file = path(&dir, "p.toml");
    for key in [
        "history",
        "checkpoint",
        "png",
        "vtu",
        "profile_file",
        "problem",
        "mark",
    ] {
        let victim = path(&dir, "victim.png");
        std::fs::write(&victim, "mine\n").unwrap();
        let text = format!(
            "[run]\n{key} = \"{victim}\"\n[[material]]\ngamma = 1.4\ndensity = 1\npressure = 1\n"
        );
        std::fs::write(&file, text).unwrap();
        let e = error(&["run", "--problem", &file]);
        assert!(
            e.contains(&format!("`{key}`")) && e.contains("names no outputs"),
            "{e}"
        );
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine\n");
    }
}

/// What a run goes on with behind its final time: not with the step that was cut to end there.
#[test]
fn a_restart_behind_the_end_has_the_time_step_of_before() {
    let dir = tempfile::tempdir().unwrap();
    let (ckpt, csv) = (path(&dir, "e.ckpt"), path(&dir, "h.csv"));
    let run = ["run", "--refine", "1", "--t-final", "0.2"];
    let whole = numbers(&["run", "--refine", "1", "--t-final", "0.4"]);
    numbers(&[&run[..], &["--checkpoint", &ckpt, "--history", &csv]].concat());
    let rest = numbers(&["restart", &ckpt, "--t-final", "0.4"]);
    let steps = |j: &serde_json::Value| j["steps"].as_f64().unwrap();
    assert!(
        (steps(&whole) - steps(&rest)).abs() <= 2.0,
        "{whole} {rest}"
    );
}

#[test]
fn a_restart_continues_no_outputs_that_end_before_its_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let [ckpt, csv, fields] = ["a.ckpt", "h.csv", "fields"].map(|n| path(&dir, n));
    let list = Path::new(&fields).join("run.pvd");
    let outputs = ["--history", &csv, "--vtu", &fields];
    let run = |t: &str, more: &[&str]| {
        let args = ["run", "--refine", "1", "--t-final", t];
        numbers(&[&args[..], &outputs, more].concat())
    };
    let far = run("0.1", &["--checkpoint", &ckpt]);
    let near = run("0.05", &[]);
    assert!(near["steps"].as_u64() < far["steps"].as_u64());
    let before = [&csv, list.to_str().unwrap()].map(|f| std::fs::read(f).unwrap());
    let go_on = ["restart", &ckpt, "--t-final", "0.12"];
    for (flag, value, why) in [
        ("--history", &csv, format!("ends at step {}", near["steps"])),
        ("--vtu", &fields, "ends at t = 0.05".to_owned()),
    ] {
        let e = error(&[&go_on[..], &[flag, value]].concat());
        assert!(e.contains(&why) && e.contains("missing"), "{e}");
    }
    let after = [&csv, list.to_str().unwrap()].map(|f| std::fs::read(f).unwrap());
    assert!(before == after);
    // A history that begins behind the checkpoint, or has no line yet, has no gap.
    let kept = std::fs::read(&ckpt).unwrap();
    let fresh = path(&dir, "fresh.csv");
    for _ in 0..2 {
        std::fs::write(&ckpt, &kept).unwrap();
        numbers(&[&go_on[..], &["--history", &fresh]].concat());
    }
    let head = std::fs::read_to_string(&fresh).unwrap();
    std::fs::write(&fresh, head.lines().next().unwrap().to_owned() + "\n").unwrap();
    std::fs::write(&ckpt, &kept).unwrap();
    numbers(&[&go_on[..], &["--history", &fresh]].concat());
    assert_eq!(std::fs::read_to_string(&fresh).unwrap(), head);
    // A refused restart has not cut the history.
    std::fs::write(&ckpt, &kept).unwrap();
    error(&[&go_on[..], &["--history", &fresh, "--vtu", &fields]].concat());
    assert_eq!(std::fs::read_to_string(&fresh).unwrap(), head);
}
