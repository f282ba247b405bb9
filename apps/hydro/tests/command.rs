//! The command as a user runs it.

use assert_cmd::Command;
use serde_json::Value as J;

fn hydro(args: &[&str]) -> assert_cmd::assert::Assert {
    Command::new(env!("CARGO_BIN_EXE_hydro"))
        .args(args)
        .assert()
}

#[test]
fn a_run_prints_its_numbers() {
    let args = [
        "run",
        "--problem",
        "1",
        "--mesh",
        "square01_quad",
        "--refine",
        "1",
        "--t-final",
        "0.1",
        "--json",
    ];
    let run = hydro(&args).success();
    let j: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    for key in [
        "steps",
        "dt",
        "e_norm",
        "energy_drift",
        "wall_s",
        "mdof_steps_per_s",
    ] {
        assert!(j[key].is_number(), "{key}: {j}");
    }
    // Sedov: all the energy of the quadrant.
    let total = j["internal"].as_f64().unwrap() + j["kinetic"].as_f64().unwrap();
    assert!((total - 0.25).abs() < 1e-3, "{total}");
    let words = hydro(&args[..9]).success();
    assert!(String::from_utf8_lossy(&words.get_output().stdout).contains("16 zones"));
}

#[test]
fn what_is_wrong_is_said() {
    for (args, word) in [
        (&["--problem", "9"][..], "0 to 7"),
        (&["--mesh", "sphere"], "square01_quad"),
        (&["--order", "0"], "1 to 8"),
        (&["--order", "20"], "1 to 8"),
        (&["--order", "1", "--energy-order", "3"], "at most 2"),
        (&["--t-final", "-1"], "above 0"),
        (&["--cfl", "nan"], "above 0"),
        (&["--refine", "40"], "at most 12"),
        (
            &[
                "--problem",
                "3",
                "--mesh",
                "rectangle01_quad",
                "--refine",
                "0",
            ],
            "the density jumps within zone",
        ),
        (&["--problem", "7", "--mesh", "segment01"], "two dimensions"),
    ] {
        let all: Vec<&str> = std::iter::once("run").chain(args.iter().copied()).collect();
        let run = hydro(&all).failure();
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(said.contains(word), "{args:?}: {said}");
    }
}

#[test]
fn a_restarted_run_has_the_same_digits() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let base = [
        "run",
        "--problem",
        "3",
        "--mesh",
        "rectangle01_quad",
        "--refine",
        "1",
        "--json",
    ];
    let numbers = |args: &[&str]| -> J {
        let run = hydro(args).success();
        serde_json::from_slice(&run.get_output().stdout).unwrap()
    };
    let (file, csv) = (at("a.ckpt"), at("h.csv"));
    let whole = numbers(&[&base[..], &["--t-final", "0.3"]].concat());
    let kept = [
        "--t-final",
        "0.3",
        "--steps",
        "7",
        "--checkpoint",
        &file,
        "--history",
        &csv,
    ];
    let half = numbers(&[&base[..], &kept].concat());
    assert_eq!(half["steps"], 7);
    let rest = numbers(&["restart", &file, "--json"]);
    for key in [
        "steps",
        "rejected",
        "dt",
        "e_norm",
        "internal",
        "kinetic",
        "energy_drift",
    ] {
        assert_eq!(whole[key], rest[key], "{key}");
    }
    // One line a step, of both runs.
    let lines = std::fs::read_to_string(&csv).unwrap().lines().count();
    assert_eq!(lines as u64, 1 + whole["steps"].as_u64().unwrap());
    // Half a file is none, and a missing folder loses nothing.
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 9]).unwrap();
    for (args, word) in [
        (&["restart", &file][..], "cut off"),
        (&["restart", &at("none")], "cannot be read"),
    ] {
        let said = hydro(args).failure();
        assert!(String::from_utf8_lossy(&said.get_output().stderr).contains(word));
    }
}

#[test]
fn commands_of_the_guide_parse() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut checked = 0;
    for page in ["README.md", "docs/hydro.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        for line in text.lines().filter(|l| l.starts_with("hydro ")) {
            let words = line.split(" #").next().unwrap().split_whitespace().skip(1);
            hydro(&words.chain(["--help"]).collect::<Vec<_>>()).success();
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
}
