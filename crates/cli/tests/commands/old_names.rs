//! Flags and keys of version 0.1 still work, with a note on standard error.

use crate::common::{self, problem};
use greenup_testing::text;
use serde_json::Value;
use std::path::Path;

fn greenup(args: &[&str]) -> (Option<i32>, String, String) {
    let out = common::greenup(args);
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

#[test]
fn the_old_flag_of_a_gpu_is_known_to_every_command_that_had_it() {
    for command in ["calibrate", "space", "tune", "gemm", "scale", "profile"] {
        let (_, _, err) = greenup(&[command, "--gpu", "0", "--no-such-flag"]);
        assert!(
            err.contains("`--gpu` is now `--device`") && err.contains("--no-such-flag"),
            "{command}: {err}"
        );
    }
}

#[test]
fn the_old_flag_of_race_to_halt_gives_the_same_fit() {
    let csv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../calibrate/tests/data/dvfs/k40c.csv");
    let args = |flag: &'static str| {
        ["fit", csv.to_str().unwrap(), "--dvfs", flag, "--json"].map(str::to_owned)
    };
    let run = |flag| {
        let args = args(flag);
        greenup(&args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (code, new, err) = run("--race-to-halt");
    assert_eq!(code, Some(0), "{err}");
    let (code, old, err) = run("--races");
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("`--races` is now `--race-to-halt`"), "{err}");
    let parse = |t: &str| -> Value { serde_json::from_str(t).unwrap() };
    assert_eq!(parse(&new), parse(&old));
}

#[test]
fn the_old_flag_of_threads_per_block_is_known() {
    let (code, _, err) = greenup(&["compile", "absent.cu", "--arch", "sm_90", "--threads", "96"]);
    assert_ne!(code, Some(0), "{err}");
    assert!(
        err.contains("`--threads` is now `--block-threads`"),
        "{err}"
    );
    assert!(!err.contains("unexpected argument"), "{err}");
}

#[test]
fn a_problem_with_the_old_table_of_its_baseline_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let file = problem(dir.path());
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str("[rival]\nsources = [\"reference.c\"]\nentry = \"twice\"\n");
    std::fs::write(&file, text).unwrap();
    let (code, _, err) = greenup(&[
        "tune",
        file.to_str().unwrap(),
        "--budget",
        "1",
        "--finalists",
        "1",
        "--sensor",
        "none",
        "--out",
        dir.path().join("sweep").to_str().unwrap(),
    ]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("key `rival` is now `baseline`"), "{err}");
}
