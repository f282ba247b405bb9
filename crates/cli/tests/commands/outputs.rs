//! What commands write: checked before any work, whole or not at all, never over an input, in the format of its name.

use crate::common::{SPACE, command, fails as refused, file, json, ok, repository};
use greenup_testing::{fails, names, on_a_full_disk, started, succeeds, text};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A command that writes one file: its arguments, the last of which takes the file's name.
struct Writer {
    args: Vec<String>,
    name: &'static str,
}

fn writers(dir: &Path) -> Vec<Writer> {
    let space = file(dir, "space.toml", SPACE);
    let records = repository("docs/results/data/host/records.csv");
    let sweep = repository("sweeps/one_board_h200/form_factor_list_h200");
    let one = |args: &[&str], name| Writer {
        args: args.iter().map(|a| (*a).to_owned()).collect(),
        name,
    };
    vec![
        one(&["fit", &records, "--resamples", "20", "-o"], "fit.toml"),
        one(
            &["fit", &records, "--resamples", "20", "--roofs", "-o"],
            "roofs.toml",
        ),
        one(&["machines", "--map", "-o"], "map.svg"),
        one(&["roofline", "--machine", "h200", "-o"], "roofline.png"),
        one(&["explain", &sweep, "-o"], "explain.html"),
        one(&["explain", &sweep, "--figure"], "explain.png"),
        one(&["explain", &sweep, "--figure"], "explain.svg"),
        one(&["space", &space, "-o"], "space.svg"),
        one(&["space", &space, "--points"], "points.csv"),
        one(&["space", &space, "--json", "--points"], "json.csv"),
    ]
}

#[test]
fn a_full_disk_leaves_the_old_file_and_no_part_of_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    fs::create_dir(&out).unwrap();
    for w in writers(dir.path()) {
        for old in [None, Some("the old one")] {
            let path = out.join(w.name);
            if let Some(old) = old {
                fs::write(&path, old).unwrap();
            }
            let mut args = w.args.clone();
            args.push(path.display().to_string());
            let words: Vec<&str> = args.iter().map(String::as_str).collect();
            let mut c = command(&words);
            let e = fails(&mut on_a_full_disk(c.current_dir(dir.path()), 0));
            assert!(e.contains(w.name) && e.contains("hint:"), "{args:?}: {e}");
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), old, "{args:?}");
            assert_eq!(names(&out).len(), usize::from(old.is_some()), "{args:?}");
            let _ = fs::remove_file(&path);
        }
    }
}

#[test]
fn exports_of_a_comparison_are_whole_or_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("both.json");
    fs::write(&path, "old").unwrap();
    let export = format!("json:{}", path.display());
    let c = command(&[
        "run", "--runs", "1", "--sensor", "none", "--export", &export, "--", "true",
    ]);
    let e = fails(&mut on_a_full_disk(&c, 0));
    assert!(e.contains("both.json"), "{e}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(dir.path()).len(), 1);
}

/// Whether a file is as whole as another of the same command: figures and pages hold when they were made, and how long
/// it took.
fn same_but_for_the_date(a: &[u8], b: &[u8]) -> bool {
    a.get(..8) == b.get(..8) && a.ends_with(&b[b.len() - 12..]) && a.len().abs_diff(b.len()) < 16
}

#[test]
fn killed_writers_leave_a_whole_file() {
    let dir = tempfile::tempdir().unwrap();
    for w in writers(dir.path()) {
        let path = dir.path().join(w.name);
        let mut args = w.args.clone();
        args.push(path.display().to_string());
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let start = Instant::now();
        succeeds(&mut command(&words));
        let took = start.elapsed();
        let new = fs::read(&path).unwrap();
        for k in 1..=5 {
            fs::write(&path, "old").unwrap();
            let mut child = started(&mut command(&words));
            std::thread::sleep(took.mul_f64(0.2 * f64::from(k)));
            child.kill().unwrap();
            child.wait().unwrap();
            let now = fs::read(&path).unwrap();
            assert!(
                now == b"old" || same_but_for_the_date(&now, &new),
                "{args:?}: {} bytes",
                now.len()
            );
        }
    }
}

#[test]
fn a_name_that_says_another_format_is_refused_before_work() {
    let dir = tempfile::tempdir().unwrap();
    let space = file(dir.path(), "space.toml", SPACE);
    let records = repository("docs/results/data/host/records.csv");
    let at = |name: &str| dir.path().join(name).display().to_string();
    for name in ["x.eps", "x.jpg", "x", "x.svg.gz"] {
        for mut args in [
            vec!["roofline", "--machine", "h200", "-o"],
            vec!["machines", "--map", "-o"],
            vec!["space", &space, "-o"],
            vec!["explain", "--figure"],
        ] {
            let name = at(name);
            args.push(&name);
            let e = refused(&args);
            assert!(e.contains("known: .svg, .png, .pdf"), "{args:?}: {e}");
        }
    }
    let (json_name, html) = (at("x.json"), at("x.html"));
    for (args, known) in [
        (vec!["fit", &records, "-o", &json_name], ".toml"),
        (
            vec!["calibrate", "--records", &json_name, "-o", "m.toml"],
            ".csv",
        ),
        (vec!["calibrate", "-o", &json_name], ".toml"),
        (vec!["space", &space, "--points", &json_name], ".csv"),
        (vec!["explain", "-o", &json_name], ".html"),
        (vec!["compile", &space, "-o", &json_name], ".cubin"),
    ] {
        let e = refused(&args);
        assert!(e.contains(&format!("known: {known}")), "{args:?}: {e}");
    }
    let export = format!("json:{html}");
    let start = Instant::now();
    let e = refused(&["run", "--export", &export, "--", "sleep", "30"]);
    assert!(e.contains("known: .json"), "{e}");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(refused(&["calibrate", "--name", "../x"]).contains("invalid name"));
    assert_eq!(names(dir.path()).len(), 1, "nothing was written");
}

#[test]
fn a_dash_prints_what_would_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let space = file(dir.path(), "space.toml", SPACE);
    let records = repository("docs/results/data/host/records.csv");
    let sweep = repository("sweeps/one_board_h200/form_factor_list_h200");
    for (args, start, end) in [
        (
            vec!["roofline", "--machine", "h200", "-o", "-"],
            "<svg",
            "</svg>",
        ),
        (vec!["machines", "--map", "-o", "-"], "<svg", "</svg>"),
        (vec!["space", &space, "-o", "-"], "<svg", "</svg>"),
        (vec!["space", &space, "--points", "-"], "a,b", "40,39"),
        (vec!["explain", &sweep, "-o", "-"], "<!", "</html>"),
        (
            vec!["fit", &records, "--resamples", "20", "-o", "-"],
            "name",
            "",
        ),
        (
            vec![
                "run", "--runs", "1", "--sensor", "none", "--export", "csv:-", "--", "true",
            ],
            "command,",
            "",
        ),
    ] {
        let out = ok(&args);
        let out = out.trim();
        assert!(
            out.to_lowercase().starts_with(start) && out.ends_with(end),
            "{args:?}: {out}"
        );
    }
    for args in [
        vec!["space", &space, "--json", "-o", "-"],
        vec!["space", &space, "-o", "-", "--points", "-"],
        vec!["machines", "--map", "--json", "-o", "-"],
        vec!["compile", &space, "-o", "-"],
        vec!["calibrate", "-o", "-"],
        vec!["explain", "--figure", "-"],
    ] {
        let e = refused(&args);
        assert!(e.contains("`-`") || e.contains(": -"), "{args:?}: {e}");
    }
    // A reader that leaves is no error.
    let big = file(
        dir.path(),
        "big.toml",
        "[parameters]\na = '1 : 1000'\nb = '1 : 1000'\n",
    );
    let greenup = assert_cmd::cargo::cargo_bin!("greenup");
    let piped = format!("'{}' space {big} --points - | head -n 2", greenup.display());
    let run = Command::new("sh").args(["-c", &piped]).output().unwrap();
    assert_eq!(text(&run.stdout), "a,b\n1,1\n");
    assert_eq!(text(&run.stderr), "");
}

#[test]
fn what_fails_leaves_no_files_and_folders_are_made() {
    let dir = tempfile::tempdir().unwrap();
    let bad = file(dir.path(), "bad.toml", "[parameters]\na = '1 :'\n");
    let at = |name: &str| dir.path().join(name).display().to_string();
    refused(&["space", &bad, "-o", &at("p.svg"), "--points", &at("p.csv")]);
    assert_eq!(names(dir.path()).len(), 1);
    let space = file(dir.path(), "space.toml", SPACE);
    let deep = at("new/folder/p.svg");
    ok(&["space", &space, "-o", &deep]);
    assert!(fs::read_to_string(&deep).unwrap().starts_with("<svg"));
    let twice = at("same.csv");
    let e = refused(&["calibrate", "-o", &at("m.toml"), "--records", &at("m.toml")]);
    assert!(e.contains("known: .csv"), "{e}");
    let export = format!("csv:{twice}");
    let e = refused(&[
        "run", "--export", &export, "--export", &export, "--", "true",
    ]);
    assert!(e.contains("two outputs"), "{e}");
    assert!(!Path::new(&twice).exists());
}

#[test]
fn json_of_a_space_goes_with_its_files_and_sample() {
    let dir = tempfile::tempdir().unwrap();
    let space = file(dir.path(), "space.toml", SPACE);
    let at = |name: &str| dir.path().join(name).display().to_string();
    let (svg, csv) = (at("p.svg"), at("p.csv"));
    let s = json(&[
        "space", &space, "--json", "-o", &svg, "--points", &csv, "--sample", "4",
    ]);
    assert_eq!(s["valid"], 800);
    let sample = s["sample"].as_array().unwrap();
    assert_eq!(sample.len(), 4);
    for p in sample {
        let (a, b) = (&p["config"]["a"], &p["config"]["b"]);
        assert_eq!((a.as_i64().unwrap() + b.as_i64().unwrap()) % 2, 1, "{p}");
        assert!(p["point"].as_u64().unwrap() < 800);
    }
    assert!(fs::read_to_string(&svg).unwrap().starts_with("<svg"));
    assert_eq!(fs::read_to_string(&csv).unwrap().lines().count(), 801);
    let without = json(&["space", &space, "--json"]);
    assert!(without.get("sample").is_none());
}
