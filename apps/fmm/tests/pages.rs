//! Pages and figures, and where results come from.
#![cfg(unix)]

use greenup_testing::browser::{Browser, WIDTHS};
use greenup_testing::{is_refused, succeeds};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

fn fmm(words: &str) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_fmm"));
    c.args(words.split_whitespace());
    c
}

fn json(words: &str) -> Value {
    serde_json::from_slice(&succeeds(&mut fmm(words)).stdout).unwrap()
}

#[test]
fn every_json_says_where_it_comes_from() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = dir.path().join("sweep").display().to_string();
    for (words, key, seed) in [
        ("run -n 500 -a 1e-3 --seed 7 --json".to_owned(), "phases", 7),
        (
            "tune -n 500 -a 1e-3 --ncrit 50 --json".to_owned(),
            "rows",
            1,
        ),
        ("direct -n 300 --json".to_owned(), "pairs_per_s", 1),
        (
            "nbody -n 50 --steps 2 --seed 3 --json".to_owned(),
            "energies",
            3,
        ),
        (
            format!("study --device cpu --scale 0.001 --repeat 1 --first 2 -o {sweep} --json"),
            "cases",
            1,
        ),
    ] {
        let v = json(&words);
        let p = &v["provenance"];
        assert!(!v[key].is_null(), "{words}");
        assert_eq!(p["seed"], seed, "{words}");
        assert_eq!(p["command"], format!("fmm {words}"));
        for name in ["date", "host", "kernel", "version", "commit", "compiler"] {
            assert!(
                p[name].as_str().is_some_and(|v| !v.is_empty()),
                "{words}: {name}"
            );
        }
        assert!(!p["durations_s"].as_object().unwrap().is_empty(), "{words}");
    }
    let head = std::fs::read_to_string(format!("{sweep}/sweep.json")).unwrap();
    assert!(
        head.contains("\"compiler\"") && head.contains("\"seed\""),
        "{head}"
    );
}

/// Commands that draw, with the text of their figures.
fn drawing(dir: &tempfile::TempDir) -> [(String, &'static str); 4] {
    let sweep = dir.path().join("sweep").display().to_string();
    [
        (
            "run -n 800 -a 1e-3 --machine h200 --figure".into(),
            "times of the phases",
        ),
        (
            "tune -n 500 -a 1e-3 --ncrit 32,100 --figure".into(),
            "by ncrit and M2L method",
        ),
        (
            "nbody -n 60 --steps 5 -o".into(),
            "energy of the bodies over time",
        ),
        (
            format!("study --device cpu --scale 0.001 --repeat 1 --first 9 -o {sweep} --figure"),
            "evaluations, by input and setting",
        ),
    ]
}

#[test]
fn figures_have_every_format_and_their_look() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    for (words, title) in drawing(&dir) {
        let svg = at("a.svg");
        succeeds(&mut fmm(&format!("{words} {svg} --style dark --width 500")));
        let text = std::fs::read_to_string(&svg).unwrap();
        assert!(
            text.contains(title) && text.contains("width=\"500\""),
            "{words}"
        );
        assert!(
            text.contains("#161d24") && text.contains("command: fmm"),
            "{words}"
        );
        let html = at("a.html");
        succeeds(&mut fmm(&format!("{words} {html}")));
        let text = std::fs::read_to_string(&html).unwrap();
        assert!(text.contains(title) && text.contains("rustc"), "{words}");
    }
    let run = "nbody -n 60 --steps 1 --width 300 --dpi 48 -o";
    succeeds(&mut fmm(&format!("{run} {}", at("a.png"))));
    let bytes = std::fs::read(at("a.png")).unwrap();
    assert_eq!(bytes[16..20], 150_u32.to_be_bytes());
    let run = run.replace(" --dpi 48", "");
    succeeds(&mut fmm(&format!("{run} {}", at("a.pdf"))));
    assert!(std::fs::read(at("a.pdf")).unwrap().starts_with(b"%PDF"));
    // Names are checked before any work.
    for words in [
        "run -n 10000000 --figure a.bmp",
        "tune -n 10000000 --figure a.csv",
    ] {
        let why = is_refused(&mut fmm(words));
        assert!(why.contains("known: .html, .svg, .png, .pdf"), "{why}");
    }
    let page = at("one.html");
    succeeds(&mut fmm(&format!("run -n 1 --figure {page}")));
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("The potential of 1 point takes"), "{text}");
    // A single body has energy zero, and no step one point.
    for words in [
        "nbody -n 1 --steps 2 -o",
        "nbody -n 10 --steps 0 -o",
        "run -n 1 --figure",
    ] {
        succeeds(&mut fmm(&format!("{words} {}", at("b.svg"))));
    }
}

#[test]
#[ignore = "needs chromium"]
fn pages_are_quiet_offline_and_fit_their_window() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = Browser::start();
    for (k, (words, _)) in drawing(&dir).into_iter().enumerate() {
        let page: PathBuf = dir.path().join(format!("{k}.html"));
        succeeds(&mut fmm(&format!("{words} {}", page.display())));
        for dark in [false, true] {
            let found = browser.examine(&page, &WIDTHS, dark);
            assert!(found.is_empty(), "{words}, dark {dark}:\n{found}");
        }
    }
}
