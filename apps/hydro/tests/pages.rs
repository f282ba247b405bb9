//! Pages, recorded studies drawn again, and where files come from.
#![cfg(unix)]

use assert_cmd::Command;
use greenup_testing::browser::{Browser, WIDTHS};
use greenup_testing::is_refused;
use serde_json::Value;
use std::path::{Path, PathBuf};

const BIN: &str = env!("CARGO_BIN_EXE_hydro");

fn hydro(args: &[&str]) -> Command {
    let mut c = Command::new(BIN);
    c.args(args);
    c
}

/// Standard error of a command that must fail.
fn error(args: &[&str]) -> String {
    is_refused(std::process::Command::new(BIN).args(args))
}

fn path(dir: &tempfile::TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}

/// A recorded study of the H200.
fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/results/data/hydro/study_h200.json")
        .canonicalize()
        .unwrap()
}

fn read(file: &str) -> String {
    std::fs::read_to_string(file).unwrap()
}

const NAMES: [&str; 7] = [
    "date", "host", "kernel", "command", "version", "commit", "compiler",
];

#[test]
fn files_of_a_run_say_where_they_come_from() {
    let dir = tempfile::tempdir().unwrap();
    let (svg, page, animation) = (
        path(&dir, "a.svg"),
        path(&dir, "a.html"),
        path(&dir, "a.png"),
    );
    let line = path(&dir, "l.csv");
    let run = [
        "run",
        "--problem",
        "sod",
        "--refine",
        "2",
        "--t-final",
        "0.1",
        "--width",
        "300",
        "--dpi",
        "48",
        "--png",
        &svg,
        "--html",
        &page,
        "--line-out",
        &line,
        "--animation",
        &animation,
        "--animation-frames",
        "2",
        "--json",
    ];
    let out = hydro(&run).assert().success();
    let json: Value = serde_json::from_slice(&out.get_output().stdout).unwrap();
    let provenance = &json["provenance"];
    for name in NAMES {
        assert!(
            provenance[name].as_str().is_some_and(|v| !v.is_empty()),
            "{name}"
        );
    }
    assert!(provenance["durations_s"]["steps"].as_f64().unwrap() > 0.0);
    let command = provenance["command"].as_str().unwrap();
    assert!(command.starts_with("hydro run --problem sod"), "{command}");
    let text = read(&svg);
    let metadata = text.split("<metadata>").nth(1).unwrap();
    assert!(metadata.contains("command: hydro run") && metadata.contains("compiler: rustc"));
    let html = read(&page);
    assert!(html.contains("Hydrodynamics: sod") && html.contains("--t-final"));
    assert!(html.contains(">exact<") && html.contains("hydro run --problem sod"));
    // The page of one dimension has no radius.
    assert!(!html.contains("distance from the origin"));
    for file in [&animation, &path(&dir, "l.line.png")] {
        let bytes = std::fs::read(file).unwrap();
        assert!(bytes.windows(11).any(|w| w == b"iTXtcommand"), "{file}");
    }
    let pdf = path(&dir, "a.pdf");
    hydro(&["run", "--refine", "0", "--t-final", "0.02", "--png", &pdf])
        .assert()
        .success();
    assert!(std::fs::read(&pdf).unwrap().starts_with(b"%PDF"));
}

#[test]
fn a_study_is_drawn_again() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| path(&dir, name);
    let (json, svg) = (at("s.json"), at("c.svg"));
    let study = [
        "study",
        "--dim",
        "1",
        "--intervals",
        "4",
        "--orders",
        "1",
        "--window",
        "0.02",
        "--sensor",
        "none",
        "-o",
        &json,
    ];
    hydro(&study).assert().success();
    let value: Value = serde_json::from_str(&read(&json)).unwrap();
    assert_eq!(value["rows"].as_array().unwrap().len(), 6);
    assert!(value["provenance"]["commit"].is_string());
    let html = read(&at("s.html"));
    assert!(html.contains("No energy") && html.contains("hydro study --dim 1"));
    // Without power a figure shows the costs.
    hydro(&["report", &json, "-o", &svg]).assert().success();
    let text = read(&svg);
    assert!(text.contains("time of a step") && text.contains("command: hydro study"));
    let why = error(&["report", &json, "-o", &svg, "--figure", "power"]);
    assert!(
        why.contains("nothing to draw") && why.contains("--figure costs"),
        "{why}"
    );
    let recorded = recorded();
    let recorded = recorded.to_str().unwrap();
    hydro(&["report", recorded, "-o", &svg]).assert().success();
    let text = read(&svg);
    for name in [
        "Q2Q1, step",
        "Q4Q3, solve",
        ">full assembly<",
        ">partial assembly<",
    ] {
        assert!(text.contains(name), "{name}");
    }
    // What cannot be a study is refused, and inputs stay.
    std::fs::write(at("e.json"), "{\"provenance\":{},\"rows\":[]}").unwrap();
    std::fs::write(at("n.json"), "[]").unwrap();
    for (name, word) in [
        ("e.json", "no rows"),
        ("n.json", "not a study"),
        ("x.json", "x.json"),
    ] {
        let why = error(&["report", &at(name)]);
        assert!(why.contains(word), "{name}: {why}");
    }
    assert!(error(&["report", &json, "-o", &json]).contains("s.json"));
    assert_eq!(serde_json::from_str::<Value>(&read(&json)).unwrap(), value);
}

/// A gas at rest: every field is constant.
fn at_rest(dir: &tempfile::TempDir) -> String {
    let file = path(dir, "rest.toml");
    std::fs::write(
        &file,
        "[[material]]\ngamma = 1.4\ndensity = 1\npressure = 1\n",
    )
    .unwrap();
    file
}

#[test]
fn constant_fields_and_single_zones_are_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let (rest, svg, page) = (at_rest(&dir), path(&dir, "a.svg"), path(&dir, "a.html"));
    for mesh in ["1x1", "1", "1x1x1"] {
        for field in ["density", "energy"] {
            let run = [
                "run",
                "--problem",
                &rest,
                "--mesh",
                mesh,
                "--refine",
                "0",
                "--t-final",
                "0.05",
                "--log-color",
                "--field",
                field,
                "--png",
                &svg,
                "--html",
                &page,
            ];
            hydro(&run).assert().success();
            let text = read(&svg);
            assert!(text.contains(" at t = 0.05"), "{mesh} {field}");
            // One value in the title instead of the same number at every tick.
            assert_eq!(text.contains("everywhere"), mesh != "1", "{mesh} {field}");
        }
    }
}

/// The first sentences of a page: how the run ended, what it is compared with, what to do next.
#[test]
fn pages_begin_with_their_answer() {
    let dir = tempfile::tempdir().unwrap();
    let (page, saved) = (path(&dir, "a.html"), path(&dir, "a.ckpt"));
    let sod = ["run", "--problem", "sod", "--t-final", "0.05"];
    let finer = "Another run with <code class=\"s\">--refine ";
    for (args, words) in [
        (
            &[
                &sod[..],
                &["--refine", "1", "--steps", "1", "--checkpoint", &saved],
            ]
            .concat()[..],
            [
                "Stopped at t = ",
                " of 0.05 in 1 step.",
                "More <code class=\"s\">--steps</code>, or none, to reach t = 0.05.",
            ],
        ),
        (
            &["restart", &saved],
            ["Reached t = 0.05 in ", finer, "whether the error falls."],
        ),
        (
            &[&sod[..], &["--refine", "1"]].concat(),
            [
                "Mean error of the density against the exact solution: ",
                finer,
                "whether the error falls.",
            ],
        ),
        (
            &[&sod[..], &["--mesh", "4x1", "--refine", "0"]].concat(),
            [
                "Fields along a line, with the exact solution.",
                finer,
                "come closer to the exact solution along the line.",
            ],
        ),
        (
            &[
                "run",
                "--problem",
                "taylor-green",
                "--mesh",
                "2x2",
                "--refine",
                "0",
                "--t-final",
                "0.01",
            ],
            ["Fields along a line.", finer, "the fields still change."],
        ),
    ] {
        hydro(&[args, &["--html", &page]].concat())
            .assert()
            .success();
        let html = read(&page);
        for words in words {
            assert!(html.contains(words), "{args:?}: {words}");
        }
        let answer = html.split("class=\"answer").skip(1);
        let answer: Vec<&str> = answer.filter_map(|p| p.split("</").next()).collect();
        let answer = answer.join("\n");
        for bad in ["1 steps", "0.0e0", "0.0000", "drifted by -", "e-"] {
            assert!(!answer.contains(bad), "{args:?}: {bad}");
        }
    }
}

#[test]
#[ignore = "needs chromium"]
fn pages_are_quiet_offline_and_fit_their_window() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let mut pages = Vec::new();
    let mut draw = |name: &str, args: &[&str], flag: &str| {
        let file = at(name);
        hydro(&[args, &[flag, file.to_str().unwrap()]].concat())
            .assert()
            .success();
        pages.push(file);
    };
    let recorded = recorded();
    draw("study.html", &["report", recorded.to_str().unwrap()], "-o");
    draw(
        "sod.html",
        &["run", "--problem", "sod", "--refine", "3"],
        "--html",
    );
    let rest = at_rest(&dir);
    draw(
        "rest.html",
        &[
            "run",
            "--problem",
            &rest,
            "--refine",
            "0",
            "--t-final",
            "0.01",
        ],
        "--html",
    );
    let two = ["run", "--refine", "1", "--t-final", "0.2"];
    draw(
        "sedov.html",
        &[&two[..], &["--log-color"]].concat(),
        "--html",
    );
    let three = [
        "run",
        "--mesh",
        "2x2x2",
        "--refine",
        "0",
        "--t-final",
        "0.1",
    ];
    draw("space.html", &three, "--html");
    let mut browser = Browser::start();
    for page in &pages {
        assert!(
            page.metadata().unwrap().len() < 1_500_000,
            "{}",
            page.display()
        );
        for dark in [false, true] {
            let found = browser.examine(page, &WIDTHS, dark);
            assert!(
                found.is_empty(),
                "{}, dark {dark}:\n{found}",
                page.display()
            );
        }
    }
}
