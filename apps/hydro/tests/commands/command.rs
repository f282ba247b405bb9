//! The command as a user runs it.

use assert_cmd::Command;
use greenup_testing::text;
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
    assert!(text(&words.get_output().stdout).contains("16 zones"));
}

#[test]
fn what_is_wrong_is_said() {
    for (args, word) in [
        (&["--problem", "9"][..], "known: 0 taylor-green, 1 sedov"),
        (&["--mesh", "sphere"], "square01_quad"),
        (&["--order", "0"], "1 to 8"),
        (&["--order", "20"], "1 to 8"),
        (&["--order", "1", "--energy-order", "3"], "at most 2"),
        (&["--t-final", "-1"], "above 0"),
        (&["--cfl", "nan"], "above 0"),
        (&["--t-final", "nan"], "above 0"),
        (&["--e0", "inf"], "above 0"),
        (&["--cg-tol", "0"], "above 0"),
        (&["--cg-tol", "10"], "below 1"),
        (&["--cg-max", "0"], "at least 1"),
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
        let said = text(&run.get_output().stderr);
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
    let rest = numbers(&["restart", &file, "--history", &csv, "--json"]);
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
        assert!(text(&said.get_output().stderr).contains(word));
    }
}

/// Mesh, final time and orders follow the problem; the flags and `hydro list` say the same.
#[test]
fn problems_have_their_own_defaults() {
    let run = hydro(&["list", "--json"]).success();
    let all: Vec<J> = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert_eq!(all.len(), greenup_hydro::problem::Standard::ALL.len());
    for j in &all {
        let problem = j["problem"]
            .as_str()
            .map_or_else(|| j["problem"].to_string(), str::to_owned);
        let numbers = |more: &[&str]| -> J {
            let args = [
                &["run", "--problem", &problem, "--steps", "2", "--json"][..],
                more,
            ]
            .concat();
            let run = hydro(&args).success();
            serde_json::from_slice(&run.get_output().stdout).unwrap()
        };
        let (order, t) = (j["order"].to_string(), j["t_final"].to_string());
        let alone = numbers(&[]);
        let given = numbers(&[
            "--mesh",
            j["mesh"].as_str().unwrap(),
            "--t-final",
            &t,
            "--order",
            &order,
        ]);
        for key in ["zones", "unknowns", "t", "e_norm"] {
            assert_eq!(alone[key], given[key], "{problem}: {key}");
        }
    }
    let of = |n: usize, key: &str| all[n][key].clone();
    assert_eq!(
        (of(3, "mesh"), of(3, "t_final")),
        ("rectangle01_quad".into(), 3.0.into())
    );
    assert_eq!(
        (of(1, "mesh"), of(1, "t_final")),
        ("square01_quad".into(), 0.6.into())
    );
    assert_eq!((of(7, "mesh"), of(4, "order")), ("rt2D".into(), 3.into()));
    let table = hydro(&["list"]).success();
    let table = text(&table.get_output().stdout);
    assert!(table.contains("triple-point  rectangle01_quad"), "{table}");
}

/// Found before the run, which would take hours.
#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("file"), "").unwrap();
    let page = at("p.toml");
    std::fs::write(
        &page,
        "[[material]]\ngamma = 1.4\ndensity = 1\npressure = 1\n",
    )
    .unwrap();
    for (args, word) in [
        (&["--png", &at("a.jpg")][..], "known: .png"),
        (&["--png", &at("a")], "known: .png"),
        (&["--radial", &at("a.png")], "known: .csv"),
        (&["--history", &at("a.png")], "known: .csv"),
        (&["--png", &at("file/a.png")], "cannot be written"),
        (&["--vtu", &at("file")], "not a folder"),
        (
            &["--checkpoint", dir.path().to_str().unwrap()],
            "is a folder",
        ),
        (
            &["--history", &at("a.csv"), "--radial", &at("a.csv")],
            "same name",
        ),
        (
            &["--problem", &page, "--checkpoint", &page],
            "also an input",
        ),
        (
            &["--snapshots", "1000000000000", "--vtu", &at("v")],
            "at most 100000",
        ),
        (&["--mesh", "4096x4096x4096"], "32-bit"),
        (
            &["--mesh", "340x340x340", "--refine", "0"],
            "GiB of memory, but",
        ),
        (&["--mesh", "cube01_hex", "--refine", "12"], "32-bit"),
    ] {
        let all = [&["run", "--t-final", "1e6"][..], args].concat();
        let run = Command::new(env!("CARGO_BIN_EXE_hydro"))
            .args(&all)
            .timeout(std::time::Duration::from_secs(60))
            .assert()
            .failure();
        assert_eq!(run.get_output().status.code(), Some(1), "{args:?}");
        let said = text(&run.get_output().stderr);
        assert!(said.contains(word), "{args:?}: {said}");
    }
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    for (args, word) in [
        (&["--machine", "h2000"][..], "there is no machine `h2000`"),
        (&["--out", &at("a.png")], "known: .json"),
        (&["--orders", "0"], "--orders 0: use 1 to 8"),
        (&["--window", "nan"], "give a time"),
        (&["--dim", "7"], "1, 2 or 3"),
    ] {
        let run = hydro(&[&["study", "--sensor", "none"][..], args].concat()).failure();
        let said = text(&run.get_output().stderr);
        assert!(said.contains(word), "{args:?}: {said}");
    }
}

#[test]
fn machines_of_a_study_have_names() {
    let run = hydro(&[
        "study",
        "--intervals",
        "4",
        "--dim",
        "2",
        "--orders",
        "2",
        "--window",
        "0.01",
        "--sensor",
        "none",
        "--machine",
        "h200",
    ])
    .success();
    let table = text(&run.get_output().stdout);
    assert!(table.contains("predicted"), "{table}");
}

/// Names that are not UTF-8 are written, or refused with a message.
#[test]
#[cfg(target_os = "linux")]
fn names_that_are_not_utf8() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &[u8]| dir.path().join(OsString::from_vec(name.to_vec()));
    let (kept, folder, csv) = (at(b"k\xff.ckpt"), at(b"v\xff"), at(b"h\xff.csv"));
    let command = || Command::new(env!("CARGO_BIN_EXE_hydro"));
    let outputs = |c: &mut Command| {
        c.arg("--vtu")
            .arg(&folder)
            .arg("--history")
            .arg(&csv)
            .arg("--png")
            .arg(at(b"\xff.png"));
    };
    let mut run = command();
    run.args([
        "run",
        "--refine",
        "0",
        "--t-final",
        "0.1",
        "--steps",
        "2",
        "--checkpoint",
    ])
    .arg(&kept);
    outputs(&mut run);
    run.assert().success();
    let mut rest = command();
    rest.arg("restart").arg(&kept);
    outputs(&mut rest);
    rest.assert().success();
    assert!(folder.join("run.pvd").exists() && csv.exists());
    for flag in ["--mesh", "--problem"] {
        let run = command()
            .arg("run")
            .arg(flag)
            .arg(at(b"\xff.mesh"))
            .assert()
            .failure();
        assert_eq!(run.get_output().status.code(), Some(2));
    }
}

#[test]
fn absurd_numbers_of_threads_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("p.toml");
    let stderr = |run: assert_cmd::assert::Assert| text(&run.get_output().stderr);
    for n in ["0", "1000000"] {
        let flag = stderr(hydro(&["run", "--threads", n]).code(2));
        assert!(flag.contains("between 1 and"), "{flag}");
        let text =
            format!("[run]\nthreads = {n}\n[[material]]\ngamma = 1.4\ndensity = 1\npressure = 1\n");
        std::fs::write(&file, text).unwrap();
        let key = stderr(hydro(&["run", "--problem", file.to_str().unwrap()]).code(1));
        assert!(key.contains("between 1 and"), "{key}");
    }
}

#[test]
fn versions_completions_and_manual_pages() {
    let out = |args: &[&str]| {
        let done = assert_cmd::Command::cargo_bin("hydro")
            .unwrap()
            .args(args)
            .output()
            .unwrap();
        assert!(done.status.success(), "{args:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(out(&["--version"]).contains("\ncommit: "));
    assert!(out(&["completions", "bash"]).contains("_hydro()"));
    assert!(out(&["man"]).contains(".TH hydro 1"));
}

#[test]
fn every_command_of_the_papers_parses() {
    let all = greenup_testing::commands_of_papers("hydro");
    assert!(!all.is_empty());
    for args in all {
        let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
        args.push("--help");
        hydro(&args).success();
    }
}
