//! A sweep's folder under rough use: files of the user's in it, two writers, a lost or broken file, another experiment.

use super::sweep::{replace, trials, tune};
use crate::common::{command, problem};
use greenup_testing::{fails, started, succeeds, text, wait_until};
use serde_json::Value as J;
use std::fs;
use std::path::Path;

#[test]
fn files_of_the_user_stay() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let out = dir.path().join("here");
    for name in ["build/precious", "libraries/mine", "notes.txt"] {
        let file = out.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "precious").unwrap();
    }
    succeeds(&mut tune(&p, &out, &["--budget", "2"]));
    let scale = [
        "scale",
        "--over",
        "size=501,1001",
        "--configs",
        "1",
        "--sensor",
        "none",
    ];
    let mut c = command(&[]);
    succeeds(c.args(scale).arg(&p).arg("--sweep").arg(&out));
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
    let p = problem(&dir.path().join("problem"));
    let text = fs::read_to_string(&p).unwrap();
    for name in ["/abs/path", "../../x", "..", ".hidden", ""] {
        fs::write(&p, text.replace("\"small\"", &format!("\"{name}\""))).unwrap();
        let mut c = command(&[]);
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
    let p = problem(&dir.path().join("problem"));
    let out = dir.path().join("s");
    let some = |more: &[&str]| {
        let set = ["--set", "unroll=1,2,3"];
        tune(&p, &out, &[&set[..], more].concat())
    };
    let mut first = started(&mut some(&["--budget", "100%"]));
    wait_until(&mut first, || !trials(&out).is_empty());
    let id = first.id();
    let e = fails(&mut some(&["--budget", "5", "--resume"]));
    assert!(e.contains(&format!("in use by process {id}")), "{e}");
    assert!(first.wait().unwrap().success());
    let all = trials(&out);
    assert_eq!(all.len(), 27);
    assert!(all.iter().all(|t| t.get("measured").is_some()), "{all:?}");
    // A second call finds all done, and measures nothing.
    let before = fs::read(out.join("trials.jsonl")).unwrap();
    succeeds(&mut some(&["--budget", "100%", "--resume"]));
    assert_eq!(fs::read(out.join("trials.jsonl")).unwrap(), before);
    let e = fails(&mut some(&["--budget", "5"]));
    assert!(e.contains("holds a sweep already"), "{e}");
}

#[test]
fn a_sweep_without_its_head_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let out = dir.path().join("s");
    succeeds(&mut tune(&p, &out, &["--budget", "3"]));
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
    let p = problem(&dir.path().join("problem"));
    let out = dir.path().join("s");
    succeeds(&mut tune(&p, &out, &["--budget", "4"]));
    let file = out.join("trials.jsonl");
    let before = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = before.lines().collect();
    let half = &lines[1][..lines[1].len() / 2];
    let edited = lines[2].replacen("\"config\":[", "\"config\":[99", 1);
    fs::write(
        &file,
        format!("{}\n{half}\n{edited}\n{}\n{half}", lines[0], lines[3]),
    )
    .unwrap();
    let out4 = succeeds(&mut tune(&p, &out, &["--budget", "4", "--resume"]));
    let e = text(&out4.stderr);
    assert!(e.contains("line 2 is left out"), "{e}");
    assert!(e.contains("not in the space"), "{e}");
    // Two of the four count; the half line at the end is gone.
    let kept = fs::read_to_string(&file).unwrap();
    assert_eq!(kept.lines().count(), 6, "{kept}");
    assert!(kept.ends_with('\n'));
}

#[test]
fn another_experiment_is_refused_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let out = dir.path().join("s");
    let resume = &["--budget", "4", "--resume"];
    succeeds(&mut tune(&p, &out, &["--budget", "3"]));
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
    succeeds(tune(&p, &out, resume).args(["--accept", "reference.tolerance"]));
    assert_eq!(trials(&out).len(), 4);
    succeeds(&mut tune(&p, &out, &["--budget", "5", "--resume"]));
}

#[test]
fn results_without_a_reference_are_said_to_be_unverified() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let text_before = fs::read_to_string(&p).unwrap();
    let from = text_before.find("[reference]").unwrap();
    let to = text_before.find("[measure]").unwrap();
    fs::write(
        &p,
        format!("{}{}", &text_before[..from], &text_before[to..]),
    )
    .unwrap();
    let out = dir.path().join("s");
    let run = succeeds(tune(&p, &out, &["--budget", "2"]).arg("--json"));
    let j: J = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(j["verified"], false);
    assert!(text(&run.stderr).contains("not verified"));
    let mut c = command(&[]);
    let shown = succeeds(c.arg("analyze").arg(&out));
    assert!(text(&shown.stderr).contains("not verified"));
}

#[test]
fn bad_arguments_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("problem"));
    let original = fs::read_to_string(&p).unwrap();
    for (from, to, words) in [
        (
            "tolerance = 1e-12",
            "tolerance = inf",
            "tolerance: invalid inf",
        ),
        (
            "tolerance = 1e-12",
            "tolerance = nan",
            "tolerance: invalid NaN",
        ),
        ("\"f64\"", "\"double\"", "did you mean f64?"),
        ("[1, 2, 3, 4, 5, 6, 7]", "\"2..256\"", "start : stop"),
        (
            "kernel.c",
            "no.c",
            "sources are searched in the problem's folder, /",
        ),
    ] {
        fs::write(&p, original.replacen(from, to, 1)).unwrap();
        let mut c = command(&[]);
        c.args(["tune", "problem.toml", "--budget", "1", "--sensor", "none"]);
        let e = fails(c.current_dir(p.parent().unwrap()));
        assert!(e.contains(words), "{to}: {e}");
    }
    // A number is as good as an expression.
    fs::write(&p, original.replace("size = \"size\"", "size = 1001")).unwrap();
    succeeds(&mut tune(&p, &dir.path().join("s"), &["--budget", "1"]));
}
