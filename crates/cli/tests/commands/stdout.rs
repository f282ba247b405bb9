//! Standard output is never lost in silence; only a reader that left is no error.

use crate::common::{file, repository};
use greenup_testing::text;
use std::fs::OpenOptions;
use std::process::{Command, Stdio};

#[test]
fn a_full_device_behind_standard_output_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let space = file(dir.path(), "s.toml", "[parameters]\na = '1 : 9'\n");
    let records = repository("docs/results/data/host/records.csv");
    let sweep = repository("sweeps/one_board_h200/form_factor_list_h200");
    let recorded = repository("sweeps/form_factor_list_h200");
    let wisdom = file(dir.path(), "w.toml", "format = \"greenup-wisdom/1\"\n");
    let fit = ["fit", &records, "--resamples", "20"];
    let cases: Vec<Vec<&str>> = vec![
        vec!["--help"],
        vec!["--version"],
        vec!["study", "--help"],
        vec!["machines"],
        vec!["machines", "--json"],
        vec!["machines", "h200"],
        vec!["machines", "--map"],
        vec!["predict", "--machine", "h200", "--op", "f64=1e12"],
        vec!["predict", "--machine", "h200", "--from-counters", &sweep],
        vec!["whatif", "streaming"],
        vec!["whatif", "throttle", "--machine", "gtx-titan"],
        vec!["roofline", "--machine", "h200", "-o", "-"],
        fit.to_vec(),
        [&fit[..], &["--json"]].concat(),
        vec!["space", &space],
        vec!["space", &space, "--json"],
        vec!["space", &space, "--points", "-"],
        vec!["explain", &sweep],
        vec!["explain", &sweep, "--json"],
        vec!["analyze", &recorded],
        vec!["replay", &recorded],
        vec!["doctor", "--seconds", "0.05"],
        vec!["run", "--runs", "1", "--sensor", "none", "--", "true"],
        vec!["gemm", "--list", "--json", "--wisdom", &wisdom],
    ];
    for args in cases {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let run = Command::new(assert_cmd::cargo::cargo_bin!("greenup"))
            .args(&args)
            .current_dir(dir.path())
            .stdout(Stdio::from(full))
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let e = text(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{args:?}: {e}");
        assert!(
            e.contains("standard output cannot be written") && e.contains("hint:"),
            "{args:?}: {e}"
        );
    }
}

#[test]
fn a_reader_that_left_is_no_error() {
    let greenup = assert_cmd::cargo::cargo_bin!("greenup");
    for args in ["machines", "--help", "machines --json", "whatif streaming"] {
        let piped = format!(
            "'{}' {args} | true; exit ${{PIPESTATUS[0]}}",
            greenup.display()
        );
        // Bash itself complains of a locale that the host lacks.
        let run = Command::new("bash")
            .args(["-c", &piped])
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        assert!(run.status.success(), "{args}: {}", text(&run.stderr));
        assert_eq!(text(&run.stderr), "", "{args}");
    }
}
