//! Pages and figures of recorded sweeps: what is on them, how heavy they are, and where they come from.

use assert_cmd::Command;
use greenup_testing::browser::{Browser, WIDTHS};
use serde_json::Value as J;
use std::fs;
use std::path::{Path, PathBuf};

/// What a page may weigh, bytes.
const HEAVIEST: usize = 1_500_000;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn greenup(words: &[&str]) -> Command {
    let mut command = Command::cargo_bin("greenup").unwrap();
    command.args(words);
    command
}

#[test]
fn the_analysis_shows_the_search_and_the_parameters_and_where_they_come_from() {
    let dir = tempfile::tempdir().unwrap();
    // 1,429 configs of 22 parameters.
    greenup(&["analyze", "--seed", "7", "--heat", "blk_m,blk_n", "--out"])
        .arg(dir.path())
        .arg(repository("sweeps/dgemm_h200"))
        .assert()
        .success();
    let page = fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(page.len() <= HEAVIEST, "{} bytes", page.len());
    for text in [
        "×1.057 the speed of the baseline [×1.048 … ×1.061], 4.3 % less energy [",
        "No config is known to take over 1 % less energy than the fastest.",
        "<pre>greenup best ",
        "blk_m = 128",
        "<summary><h2>Correlations",
        "importance of parameters",
        "best so far",
        "parameters of the configs of least time",
        "parameters of the configs of least energy",
        "performance by value of each parameter",
        "efficiency by value of each parameter",
        "1277 configs are drawn",
        "<dt>seed</dt><dd>7</dd>",
        "<dt>compiler</dt><dd>rustc",
        "<dt>durations</dt><dd>analysis ",
    ] {
        assert!(page.contains(text), "{text}");
    }
    for name in ["plane", "search", "parallel", "boxes", "heat-blk_m-blk_n"] {
        let svg = fs::read_to_string(dir.path().join(format!("{name}.svg"))).unwrap();
        assert!(svg.contains("<metadata>date: 20") && svg.contains("\ncommand: greenup analyze"));
        assert!(!svg.contains("NaN"), "{name}");
        let png = fs::read(dir.path().join(format!("{name}.png"))).unwrap();
        assert!(png.windows(12).any(|w| w == b"iTXtcommand\0"), "{name}");
    }
    let json: J =
        serde_json::from_slice(&fs::read(dir.path().join("analysis.json")).unwrap()).unwrap();
    assert_eq!(json["provenance"]["seed"], 7);
    assert_eq!(json["trials"], 1429);
    assert!(
        json["provenance"]["durations_s"]["analysis"]
            .as_f64()
            .unwrap()
            > 0.0
    );
}

#[test]
fn a_heat_map_over_one_value_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let run = greenup(&["analyze", "--heat", "blk_m,split_k", "--out"])
        .arg(dir.path())
        .arg(repository("sweeps/dgemm_h200"))
        .assert()
        .failure();
    let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(text.contains("`split_k` has one value"), "{text}");
}

#[test]
#[ignore = "needs chromium"]
fn pages_of_sweeps_fit_their_window() {
    let dir = tempfile::tempdir().unwrap();
    let mut pages = Vec::new();
    // What is answered depends on what was recorded: all of them.
    for entry in std::fs::read_dir(repository("sweeps")).unwrap() {
        let sweep = entry.unwrap().path();
        if sweep.join("sweep.json").is_file() {
            let out = dir.path().join(sweep.file_name().unwrap());
            greenup(&["analyze", "--out"])
                .args([&out, &sweep])
                .assert()
                .success();
            pages.push(out.join("report.html"));
        }
    }
    assert!(pages.len() > 10, "{}", pages.len());
    let replay = dir.path().join("replay.html");
    greenup(&["replay", "--strategy", "random,genetic,local"])
        .args(["--seeds", "6", "--budget", "30", "-o"])
        .args([&replay, &repository("sweeps/form_factor_h200")])
        .assert()
        .success();
    pages.push(replay);
    let mut browser = Browser::start();
    for page in &pages {
        for dark in [false, true] {
            let found = browser.examine(page, &WIDTHS, dark);
            assert!(found.is_empty(), "{} dark {dark}:\n{found}", page.display());
        }
    }
}

#[test]
fn a_sweep_without_energy_has_no_energy_figures() {
    let dir = tempfile::tempdir().unwrap();
    greenup(&["analyze", "--out"])
        .arg(dir.path())
        .arg(repository("sweeps/zen5_dgemm_2048"))
        .assert()
        .success();
    let page = fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(page.contains("performance by value of each parameter"));
    assert!(!page.contains("efficiency by value") && !page.contains("configs of least energy"));
}

#[test]
fn strategies_are_drawn_beside_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let replay = |out: &str| {
        greenup(&[
            "replay",
            "--strategy",
            "random,genetic",
            "--strategy",
            "local",
        ])
        .args(["--seeds", "6", "--budget", "30", "-o"])
        .arg(dir.path().join(out))
        .args(if out.ends_with("html") {
            &[][..]
        } else {
            &["--width", "500"]
        })
        .arg(repository("sweeps/form_factor_h200"))
        .assert()
        .success()
    };
    let text = String::from_utf8_lossy(&replay("r.html").get_output().stdout).into_owned();
    assert_eq!(
        text.matches("6 seeds of 30 evaluations").count(),
        3,
        "{text}"
    );
    let page = fs::read_to_string(dir.path().join("r.html")).unwrap();
    assert!(page.len() <= HEAVIEST);
    for text in [
        "random",
        "genetic",
        "local",
        "optimum of the recording",
        "<dt>command</dt>",
    ] {
        assert!(page.contains(text), "{text}");
    }
    replay("r.svg");
    let svg = fs::read_to_string(dir.path().join("r.svg")).unwrap();
    assert!(
        svg.contains("width=\"500\"") && svg.contains(">genetic<") && svg.contains("<metadata>")
    );
    replay("r.pdf");
    assert!(
        fs::read(dir.path().join("r.pdf"))
            .unwrap()
            .starts_with(b"%PDF")
    );
}

#[test]
fn one_strategy_keeps_its_keys_and_several_are_a_list() {
    let json = |strategies: &str| -> J {
        let run = greenup(&[
            "replay",
            "--json",
            "--seeds",
            "3",
            "--budget",
            "10",
            "--strategy",
        ])
        .arg(strategies)
        .arg(repository("sweeps/fmm_ulist_h200"))
        .assert()
        .success();
        serde_json::from_slice(&run.get_output().stdout).unwrap()
    };
    let one = json("random");
    assert_eq!(
        (&one["strategy"], &one["seeds"]),
        (&J::from("random"), &J::from(3))
    );
    let several = json("random,local");
    let list = several["strategies"].as_array().unwrap();
    assert_eq!(list.len(), 2);
    assert_eq!(list[0], one, "a strategy alone and beside others");
}

#[test]
fn several_recordings_and_budgets_are_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.csv");
    let table = |more: &[&str]| {
        let mut c = greenup(&["replay", "rim:1", "--strategy", "random,portfolio"]);
        c.args(["--seeds", "3", "--budget", "2%,4%"])
            .arg(repository("sweeps/fmm_ulist_h200"))
            .args(more);
        c
    };
    table(&["-o", out.to_str().unwrap()]).assert().success();
    let text = fs::read_to_string(&out).unwrap();
    // Two sweeps, two budgets, two strategies.
    assert_eq!(text.lines().count(), 1 + 8, "{text}");
    let run = table(&["--json"]).assert().success();
    let j: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    let rows = j["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    assert!(
        rows.iter()
            .all(|r| r["fractions"].as_array().unwrap().len() == 3)
    );
    for (more, says) in [
        (["--budget", "10"], "shares"),
        (["--strategy", "steered"], "--machine"),
        (["--strategy", "luck"], "luck"),
    ] {
        let failed = table(&more).assert().failure();
        let text = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn the_model_steers_a_replay_of_a_problem_with_work() {
    let problem = repository("apps/hydro/src/kernels/tune/problem.toml");
    let run = greenup(&["replay", "--strategy", "steered", "--seeds", "2", "--json"])
        .args(["--machine", "h200", "--problem"])
        .arg(&problem)
        .arg(repository("sweeps/hydro_corner_h200"))
        .assert()
        .success();
    let j: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert!(j["mean_fraction"].as_f64().unwrap() > 0.3);
    let other = greenup(&[
        "replay",
        "--strategy",
        "steered",
        "--machine",
        "h200",
        "--problem",
    ])
    .arg(&problem)
    .arg(repository("sweeps/fmm_ulist_h200"))
    .assert()
    .failure();
    let text = String::from_utf8_lossy(&other.get_output().stderr).into_owned();
    assert!(text.contains("the sweep's parameters are"), "{text}");
}

#[test]
fn times_of_all_configs_are_predicted() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = repository("sweeps/form_factor_h200");
    for name in ["p.csv", "p.svg"] {
        greenup(&["analyze", "--predict"])
            .args([&dir.path().join(name), &sweep])
            .assert()
            .success();
    }
    let text = fs::read_to_string(dir.path().join("p.csv")).unwrap();
    // The measured configs, and the head.
    assert_eq!(text.lines().count(), 1 + 292, "{text}");
    assert_eq!(text.matches(",true").count(), 29);
    let svg = fs::read_to_string(dir.path().join("p.svg")).unwrap();
    assert!(svg.contains("predicted time") && !svg.contains("NaN"));
    greenup(&["analyze", "--predict"])
        .args([&dir.path().join("q.csv"), &repository("sweeps/spmv_h200")])
        .assert()
        .failure();
}

#[test]
fn a_replay_never_replaces_its_recording() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("sweep.html");
    fs::copy(repository("sweeps/kt_vector_add_time_energy.json"), &copy).unwrap();
    let before = fs::read(&copy).unwrap();
    greenup(&["replay", "--seeds", "2", "-o"])
        .args([&copy, &copy])
        .assert()
        .failure();
    assert_eq!(fs::read(&copy).unwrap(), before);
    for (flag, value) in [
        ("--seeds", "0"),
        ("-o", "x.csv"),
        ("--strategy", "random,luck"),
    ] {
        greenup(&["replay", flag, value])
            .arg(repository("sweeps/fmm_ulist_h200"))
            .current_dir(dir.path())
            .assert()
            .failure();
    }
}
