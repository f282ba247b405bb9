//! What commands write: checked before any work, whole or not at all, never over an input, in the format of its name.

mod said;

use assert_cmd::Command;
use said::{fails, file, greenup, json, ok, text};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn repository(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

const SPACE: &str =
    "name = 's'\n[parameters]\na = '1 : 40'\nb = '1 : 40'\n[hard]\nodd = '(a + b) % 2 == 1'\n";

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

/// As many bytes as a disk without space takes: none.
fn without_space(args: &[String], dir: &Path) -> std::process::Output {
    std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
        .arg(assert_cmd::cargo::cargo_bin!("greenup"))
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap()
}

fn names(dir: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    names.sort();
    names
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
            let run = without_space(&args, dir.path());
            let e = text(&run.stderr);
            assert_eq!(run.status.code(), Some(1), "{args:?}: {e}");
            assert!(e.contains(w.name) && e.contains("hint:"), "{args:?}: {e}");
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), old, "{args:?}");
            assert_eq!(names(&out).len(), usize::from(old.is_some()), "{args:?}");
            let _ = fs::remove_file(&path);
        }
    }
}

#[test]
fn exports_of_a_race_are_whole_or_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("race.json");
    fs::write(&path, "old").unwrap();
    let args = ["run", "--runs", "1", "--sensor", "none", "--export"];
    let mut args: Vec<String> = args.map(str::to_owned).to_vec();
    args.push(format!("json:{}", path.display()));
    args.extend(["--".to_owned(), "true".to_owned()]);
    let run = without_space(&args, dir.path());
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).contains("race.json"));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(dir.path()).len(), 1);
}

#[test]
fn killed_writers_leave_a_whole_file() {
    let dir = tempfile::tempdir().unwrap();
    for w in writers(dir.path()) {
        let path = dir.path().join(w.name);
        let mut args = w.args.clone();
        args.push(path.display().to_string());
        let run = || {
            let mut c = std::process::Command::new(assert_cmd::cargo::cargo_bin!("greenup"));
            c.args(&args)
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null());
            c
        };
        let start = Instant::now();
        assert!(run().status().unwrap().success(), "{args:?}");
        let took = start.elapsed();
        let new = fs::read(&path).unwrap();
        for k in 1..=5 {
            fs::write(&path, "old").unwrap();
            let mut child = run().spawn().unwrap();
            std::thread::sleep(took.mul_f64(0.2 * f64::from(k)));
            child.kill().unwrap();
            child.wait().unwrap();
            let now = fs::read(&path).unwrap();
            assert!(now == b"old" || now == new, "{args:?}: {} bytes", now.len());
        }
    }
}

#[test]
fn an_input_is_never_an_output() {
    let dir = tempfile::tempdir().unwrap();
    let machine = fs::read_to_string(repository("machines/gtx-580.toml")).unwrap();
    let records = fs::read_to_string(repository("docs/results/data/host/records.csv")).unwrap();
    // Named so that only the check of inputs can refuse them.
    let toml = file(dir.path(), "records.toml", &records);
    let svg = file(dir.path(), "m.svg", &machine);
    let html = file(dir.path(), "m.html", &machine);
    let csv = file(dir.path(), "data.csv", "1\n");
    let space = file(dir.path(), "s.csv", SPACE);
    let cubin = file(dir.path(), "k.cubin", "__global__ void k() {}\n");
    let sweep = repository("sweeps/one_board_h200/form_factor_list_h200");
    let study = dir.path().join("study");
    fs::create_dir(&study).unwrap();
    let assumed = file(&study, "machine.toml", &machine);
    let study = study.display().to_string();
    let export = format!("csv:{csv}");
    let recorded = format!("recorded:{csv}");
    let cases: &[(&[&str], &str)] = &[
        (&["fit", &toml, "-o", &toml], &toml),
        (&["roofline", "--machine", &svg, "-o", &svg], &svg),
        (
            &["roofline", "--machine", "h200", "--sweep", &svg, "-o", &svg],
            &svg,
        ),
        (&["machines", &svg, "--map", "-o", &svg], &svg),
        (&["explain", &sweep, "--machine", &html, "-o", &html], &html),
        (&["space", &space, "--points", &space], &space),
        (
            &["compile", &cubin, "--arch", "sm_90", "-o", &cubin],
            &cubin,
        ),
        (
            &["run", "--runs", "1", "--export", &export, "--", "cat", &csv],
            &csv,
        ),
        (
            &[
                "run", "--sensor", &recorded, "--export", &export, "--", "true",
            ],
            &csv,
        ),
        (&["study", "--assume", &assumed, "--out", &study], &assumed),
    ];
    for (args, input) in cases {
        let before = fs::read(input).unwrap();
        let e = fails(args);
        assert!(e.contains("also an input"), "{args:?}: {e}");
        assert_eq!(fs::read(input).unwrap(), before, "{args:?}");
    }
}

#[test]
fn a_name_that_says_another_format_is_refused_before_work() {
    let dir = tempfile::tempdir().unwrap();
    let space = file(dir.path(), "space.toml", SPACE);
    let records = repository("docs/results/data/host/records.csv");
    let at = |name: &str| dir.path().join(name).display().to_string();
    for name in ["x.pdf", "x.jpg", "x", "x.svg.gz"] {
        for mut args in [
            vec!["roofline", "--machine", "h200", "-o"],
            vec!["machines", "--map", "-o"],
            vec!["space", &space, "-o"],
            vec!["explain", "--figure"],
        ] {
            let name = at(name);
            args.push(&name);
            let e = fails(&args);
            assert!(e.contains("known: .svg, .png"), "{args:?}: {e}");
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
        let e = fails(&args);
        assert!(e.contains(&format!("known: {known}")), "{args:?}: {e}");
    }
    let export = format!("json:{html}");
    let start = Instant::now();
    let e = fails(&["run", "--export", &export, "--", "sleep", "30"]);
    assert!(e.contains("known: .json"), "{e}");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(fails(&["calibrate", "--name", "../x"]).contains("invalid name"));
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
        let e = fails(&args);
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
    fails(&["space", &bad, "-o", &at("p.svg"), "--points", &at("p.csv")]);
    assert_eq!(names(dir.path()).len(), 1);
    let space = file(dir.path(), "space.toml", SPACE);
    let deep = at("new/folder/p.svg");
    ok(&["space", &space, "-o", &deep]);
    assert!(fs::read_to_string(&deep).unwrap().starts_with("<svg"));
    let twice = at("same.csv");
    let e = fails(&["calibrate", "-o", &at("m.toml"), "--records", &at("m.toml")]);
    assert!(e.contains("known: .csv"), "{e}");
    let export = format!("csv:{twice}");
    let e = fails(&[
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

#[test]
fn names_need_not_be_utf8() {
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join(OsStr::from_bytes(b"odd\xff"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("space.toml"), SPACE).unwrap();
    let name = |ending: &str| {
        let mut n = b"x\xfe.".to_vec();
        n.extend(ending.as_bytes());
        OsStr::from_bytes(&n).to_owned()
    };
    let records = repository("docs/results/data/host/records.csv");
    fs::copy(&records, odd.join(name("csv"))).unwrap();
    let cases: &[(&[&str], &str, &str)] = &[
        (&["roofline", "--machine", "h200"], "-o", "svg"),
        (&["machines", "--map"], "-o", "png"),
        (&["space", "space.toml"], "--points", "csv"),
        (&["space", "space.toml", "--json"], "-o", "svg"),
        (&["fit", &records, "--resamples", "20"], "-o", "toml"),
    ];
    for (args, flag, ending) in cases {
        let path = odd.join(name(ending));
        let _ = fs::remove_file(&path);
        let run = Command::cargo_bin("greenup")
            .unwrap()
            .current_dir(&odd)
            .args(*args)
            .arg(flag)
            .arg(name(ending))
            .output()
            .unwrap();
        assert!(run.status.success(), "{args:?}: {}", text(&run.stderr));
        assert!(fs::metadata(&path).unwrap().len() > 0, "{args:?}");
    }
    for args in [
        &[
            "run", "--runs", "1", "--sensor", "none", "--json", "--", "true",
        ][..],
        &["machines"],
        &["doctor", "--seconds", "0.05"],
        &["compile", "none.cu"],
        &["calibrate", "-o", "x.json"],
        &["gemm", "--list"],
        &["explain"],
    ] {
        let run = Command::cargo_bin("greenup")
            .unwrap()
            .current_dir(&odd)
            .args(args)
            .output()
            .unwrap();
        let e = text(&run.stderr);
        assert!(run.status.code().is_some_and(|c| c < 2), "{args:?}: {e}");
        assert!(!e.contains("panicked"), "{args:?}: {e}");
    }
}

#[test]
fn endless_inputs_and_absurd_sizes_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let space = file(dir.path(), "space.toml", SPACE);
    for args in [
        vec!["fit", "/dev/zero"],
        vec!["fit", "--dvfs", "/dev/zero"],
        vec!["space", "/dev/zero"],
        vec!["predict", "--machine", "/dev/zero", "--op", "f64=1"],
        vec![
            "roofline",
            "--machine",
            "h200",
            "--sweep",
            "/dev/zero",
            "-o",
            "-",
        ],
        vec!["compile", "/dev/zero", "--arch", "sm_90"],
        vec!["gemm", "--list", "--wisdom", "/dev/zero"],
    ] {
        let e = fails(&args);
        assert!(e.contains("too large"), "{args:?}: {e}");
    }
    for args in [
        vec!["gemm", "--n", "18446744073709551615"],
        vec!["gemm", "--n", "3000000000", "--k", "3000000000"],
    ] {
        assert!(fails(&args).contains("the matrices take"), "{args:?}");
    }
    let records = repository("docs/results/data/host/records.csv");
    for args in [
        vec!["fit", &records, "--resamples", "1000000000"],
        vec!["space", &space, "--sample", "1000000000000"],
        vec!["space", &space, "--time", "-1"],
        vec!["space", &space, "--time", "1e300"],
        vec!["space", &space, "--time", "nan"],
    ] {
        let run = greenup(&args);
        assert_eq!(
            run.status.code(),
            Some(2),
            "{args:?}: {}",
            text(&run.stderr)
        );
    }
}
