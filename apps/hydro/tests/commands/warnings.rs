//! What a run says of wrong or endless results, and numbers that show their digits.

use super::common::{error, hydro, numbers, path};
use greenup_testing::text;

/// A problem file of one gas, with these keys.
fn problem(dir: &tempfile::TempDir, material: &str) -> String {
    let file = path(dir, "p.toml");
    std::fs::write(&file, format!("[[material]]\ngamma = 1.4\n{material}\n")).unwrap();
    file
}

#[test]
fn unstable_steps_are_refused_or_end_the_run() {
    let run = ["run", "--refine", "0", "--t-final", "0.6"];
    for cfl in ["1e300", "11", "inf", "nan", "0", "-1"] {
        let e = error(&[&run[..], &[&format!("--cfl={cfl}")]].concat());
        assert!(e.contains("--cfl") || e.contains("cfl"), "{cfl}: {e}");
    }
    // Solves that do not converge.
    let said = hydro(&["run", "--refine", "1", "--steps", "3", "--cg-max", "1"])
        .assert()
        .success();
    assert!(text(&said.get_output().stderr).contains("--cg-max 1"));
}

#[test]
fn small_and_large_numbers_show_their_digits() {
    let dir = tempfile::tempdir().unwrap();
    let file = problem(
        &dir,
        "density = 1e-9\npressure = \"1e-12 if x < 0.5 else 1e-13\"",
    );
    let run = hydro(&[
        "run",
        "--problem",
        &file,
        "--refine",
        "1",
        "--t-final",
        "1e-6",
    ])
    .assert()
    .success();
    let out = text(&run.get_output().stdout);
    assert!(!out.contains(" 0.000000") && out.contains("e-"), "{out}");
}

#[test]
fn initial_fields_without_a_value_or_below_zero_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (material, word) in [
        ("density = 1\npressure = -1", "is -"),
        (
            "density = 1\nenergy = \"-0.1 if x > 0.9 else 1\"",
            "is -0.1",
        ),
        ("density = 1\nenergy = \"sqrt(x-0.5)\"", "no value"),
        (
            "density = 1\npressure = \"1/(x-x)\"",
            "the pressure of material 1",
        ),
        ("density = \"sqrt(x-0.5)\"\npressure = 1", "no value"),
        ("density = -1\npressure = 1", "not above 0"),
        (
            "density = 1\npressure = 1\nvelocity = [\"sqrt(x-0.5)\"]",
            "velocity at",
        ),
        (
            "density = 1\npressure = 1\nwhere = \"x < 0.5\"",
            "no material fits",
        ),
        (
            "density = 1\npressure = 1\nwhere = \"sqrt(x-0.5) > 0\"",
            "no material fits",
        ),
        (
            "density = 1\npressure = 1\nattribute = 7",
            "no material fits",
        ),
    ] {
        let file = problem(&dir, material);
        let e = error(&[
            "run",
            "--problem",
            &file,
            "--refine",
            "1",
            "--t-final",
            "0.01",
        ]);
        assert!(e.contains(word), "{material}: {e}");
    }
}

#[test]
fn a_collapsed_time_step_is_said_with_its_zone() {
    let dir = tempfile::tempdir().unwrap();
    let file = problem(&dir, "density = 1\nenergy = \"1e30 if x < 0.25 else 1\"");
    let run = [
        "run",
        "--problem",
        &file,
        "--refine",
        "2",
        "--t-final",
        "1",
        "--steps",
        "60",
        "--ode",
        "euler",
    ];
    let out = hydro(&run).assert();
    let said = text(&out.get_output().stderr);
    assert!(
        said.contains("the time step is") && said.contains("zone "),
        "{said}"
    );
    assert!(
        numbers(&["run", "--problem", "3", "--refine", "1", "--t-final", "0.1"])["messages"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

/// Runs that save nothing tell too, once, how deep a field is below 0 at the end; small undershoots of the polynomials at a shock, as
/// in Sedov's problem, are no reason for doubt.
#[test]
fn negative_energies_are_told_with_their_depth_and_doubted_where_it_is_large() {
    let noh = |end: &'static str| {
        let run = ["run", "--problem", "noh", "--mesh", "40", "--refine", "0"];
        [&run[..], &["--t-final", end]].concat()
    };
    let sedov = vec!["run", "--problem", "sedov", "--t-final", "0.2"];
    for (run, doubtful) in [(noh("0.3"), true), (sedov, false)] {
        for ranks in ["1", "2"] {
            let j = numbers(&[&run[..], &["--ranks", ranks]].concat());
            let messages = j["messages"].as_array().unwrap();
            assert_eq!(messages.len(), 1, "{messages:?}");
            let said = messages[0].as_str().unwrap();
            for word in [
                "internal energy ",
                " below 0 in ",
                "% of its largest value) in zone ",
                " near [",
            ] {
                assert!(said.contains(word), "{said}");
            }
            let steps = format!("at the end (step {})", j["steps"]);
            assert!(said.contains(&steps), "{said}");
            assert!(said.contains("seen since step 1, deepest seen -"), "{said}");
            assert_eq!(said.contains("unphysical. Fix: "), doubtful, "{said}");
            assert_eq!(
                said.contains("undershoot of the polynomials"),
                !doubtful,
                "{said}"
            );
        }
    }
}

/// The work of a wall that moves is not known, so the energy has no drift.
#[test]
fn a_run_with_a_piston_has_no_drift() {
    let dir = tempfile::tempdir().unwrap();
    let (csv, file) = (path(&dir, "h.csv"), path(&dir, "piston.toml"));
    let wall =
        "[[material]]\ngamma = 1.4\ndensity = 1\npressure = 1\n[walls]\n1 = { velocity = [2.0] }\n";
    std::fs::write(&file, wall).unwrap();
    for (problem, mesh) in [("saltzman", "saltzman01_quad"), (&file, "4x2")] {
        for ranks in ["1", "2"] {
            let run = [
                "run",
                "--problem",
                problem,
                "--mesh",
                mesh,
                "--refine",
                "0",
                "--steps",
                "3",
                "--ranks",
                ranks,
            ];
            let j = numbers(&[&run[..], &["--history", &csv]].concat());
            assert!(j.as_object().unwrap().contains_key("energy_drift"));
            assert!(j["energy_drift"].is_null(), "{j}");
            let history = std::fs::read_to_string(&csv).unwrap();
            for line in history.lines().skip(1) {
                let words: Vec<&str> = line.split(',').collect();
                assert_eq!((words.len(), words[5]), (7, ""), "{line}");
            }
            let out = hydro(&run).assert().success();
            let shown = text(&out.get_output().stdout);
            assert!(shown.contains("drift not known (a wall moves)"), "{shown}");
        }
    }
    // Walls at rest do no work.
    std::fs::write(&file, wall.replace("2.0", "0.0")).unwrap();
    let still = ["run", "--problem", &file, "--mesh", "4x2", "--steps", "1"];
    assert!(numbers(&[&still[..], &["--refine", "0"]].concat())["energy_drift"].is_number());
}
