//! What commands read: never an output, of any name, not endless.

use crate::common::{SPACE, command, fails, file, greenup, repository};
use greenup_testing::text;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

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
        let mut c = command(args);
        let run = c.arg(flag).arg(name(ending)).current_dir(&odd).output();
        let run = run.unwrap();
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
        let run = command(args).current_dir(&odd).output().unwrap();
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
