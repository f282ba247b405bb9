//! Spaces, recorded sweeps and their analysis from the command line.

use assert_cmd::Command;
use greenup_tune::STRATEGIES;
use serde_json::Value as J;
use std::path::{Path, PathBuf};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn json(arguments: &[&str], file: &Path) -> J {
    let run = Command::cargo_bin("greenup")
        .unwrap()
        .args(arguments)
        .arg(file)
        .assert()
        .success();
    serde_json::from_slice(&run.get_output().stdout).unwrap()
}

#[test]
fn a_space_is_counted_filter_by_filter_and_drawn() {
    let file = repository("spaces/beast_dgemm_k20x.toml");
    let s = json(&["space", "--json"], &file);
    assert_eq!(s["valid"], 1446);
    let filters = s["filters"].as_array().unwrap();
    assert_eq!(filters.len(), 14);
    assert_eq!(filters[0]["before"], s["cartesian"]);
    assert_eq!(filters[13]["after"], 1446);
    for pair in filters.windows(2) {
        assert_eq!(pair[0]["after"], pair[1]["before"]);
    }
    assert!(s["seconds"].as_f64().unwrap() > 0.0 && s["peak_bytes"].as_u64().unwrap() > 0);

    let dir = tempfile::tempdir().unwrap();
    let (figure, points) = (dir.path().join("p.png"), dir.path().join("p.csv"));
    Command::cargo_bin("greenup")
        .unwrap()
        .arg("space")
        .arg(&file)
        .args(["--sample", "5", "--out"])
        .arg(&figure)
        .arg("--points")
        .arg(&points)
        .assert()
        .success();
    assert!(std::fs::read(&figure).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(
        csv::Reader::from_path(&points).unwrap().records().count(),
        1446
    );
}

#[test]
fn an_empty_space_names_the_filter_that_empties_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.toml");
    std::fs::write(
        &file,
        "[parameters]\na = '1 : 9'\n[hard]\nlow = 'a < 5'\nhigh = 'a > 5'\n",
    )
    .unwrap();
    let run = Command::cargo_bin("greenup")
        .unwrap()
        .arg("space")
        .arg(&file)
        .assert()
        .failure();
    let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(
        text.contains("no point") && text.contains("`high`"),
        "{text}"
    );
}

/// Facts of the recording that its authors give.
#[test]
fn the_winners_of_a_recorded_sweep() {
    let a = json(
        &["analyze", "--json"],
        &repository("sweeps/rtx4000ada_wmma_cgemm_clocks.json.gz"),
    );
    assert_eq!(
        (&a["trials"], &a["failed"]),
        (&J::from(5120), &J::from(430))
    );
    let row = |i: &J| a["rows"][i.as_u64().unwrap() as usize].clone();
    let (fast, green) = (row(&a["fastest"]), row(&a["lowest_energy"]));
    let near = |v: &J, expected: f64| (v.as_f64().unwrap() / expected - 1.0).abs() < 1e-3;
    assert!(near(&fast["time_s"], 6.835e-3) && near(&fast["energy_j"], 0.665));
    assert!(near(&green["time_s"], 8.702e-3) && near(&green["energy_j"], 0.590));
    assert_eq!(a["front"]["points"].as_array().unwrap().len(), 13);
}

#[test]
fn counters_of_a_sample_and_flops_of_trials_are_used() {
    let file = repository("sweeps/dgemm_h200");
    let a = json(&["analyze", "--json"], &file);
    let named = |name: &str| -> &J {
        let all = a["correlations"].as_array().unwrap();
        all.iter().find(|c| c["name"] == name).unwrap()
    };
    assert_eq!(named("registers")["known"], 1277);
    assert_eq!(named("shared_conflicts")["known"], 151);
    assert!(named("cycles")["performance"].as_f64().unwrap() < -0.8);
    // 2 n³ flops in 2.389 ms.
    let fastest = &a["rows"][a["fastest"].as_u64().unwrap() as usize];
    let rate = fastest["performance"].as_f64().unwrap();
    assert!((rate / 57.54e12 - 1.0).abs() < 1e-3, "{rate}");
}

#[test]
fn a_report_is_one_file_without_links() {
    let dir = tempfile::tempdir().unwrap();
    Command::cargo_bin("greenup")
        .unwrap()
        .arg("analyze")
        .arg(repository("sweeps/kt_vector_add_time_energy.json"))
        .arg("--out")
        .arg(dir.path())
        .assert()
        .success();
    let page = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(page.contains("Pareto front") && !page.contains("src=\"http"));
    assert!(dir.path().join("plane.png").exists() && dir.path().join("trials.csv").exists());
}

#[test]
fn every_strategy_replays_and_the_default_beats_chance() {
    let file = repository("sweeps/a100_convolution_T4.json.gz");
    let mean = |strategy: &str, seeds: &str| {
        json(
            &[
                "replay",
                "--json",
                "--budget",
                "5%",
                "--strategy",
                strategy,
                "--seeds",
                seeds,
            ],
            &file,
        )["mean_fraction"]
            .as_f64()
            .unwrap()
    };
    for s in STRATEGIES {
        // These are compared below, and `steered` needs a machine.
        if ["portfolio", "forest", "gp", "random", "steered"].contains(&s.name) {
            continue;
        }
        let s = s.name;
        let m = mean(s, "2");
        assert!((0.3..=1.0).contains(&m), "{s}: {m}");
    }
    assert!(mean("forest", "4") > mean("random", "4"));
    assert!(mean("portfolio", "4") > mean("random", "4"));
    let once = json(
        &[
            "replay",
            "--json",
            "--budget",
            "100",
            "--strategy",
            "random",
        ],
        &file,
    );
    assert_eq!(once["evaluations"], 100);
    let trace = once["trace"].as_array().unwrap();
    assert!(
        trace
            .windows(2)
            .all(|w| w[1]["value"].as_f64() < w[0]["value"].as_f64())
    );
    assert!(once["clock_s"].as_f64().unwrap() > 0.0);
}

#[test]
fn what_is_no_sweep_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.json");
    for text in [
        "{}",
        "[1, 2",
        "{\"results\": []}",
        "{\"cache\": {}, \"tune_params_keys\": []}",
    ] {
        std::fs::write(&file, text).unwrap();
        let run = Command::cargo_bin("greenup")
            .unwrap()
            .arg("replay")
            .arg(&file)
            .assert()
            .failure();
        let message = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(
            message.contains("error:") && !message.contains("panicked"),
            "{text}: {message}"
        );
    }
}
