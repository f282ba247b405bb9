//! Kernels on a GPU that go wrong: each is one failed trial with its reason, and the next is not blamed for it.

use serde_json::Value as J;
use std::collections::BTreeMap;
use std::path::Path;

#[test]
#[ignore = "needs a GPU and NVRTC"]
fn faults_on_a_gpu_are_seen() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("sweep");
    assert_cmd::Command::cargo_bin("greenup")
        .unwrap()
        .args([
            "tune",
            "--strategy",
            "exhaustive",
            "--budget",
            "100%",
            "--finalists",
            "1",
        ])
        .arg("--out")
        .arg(&out)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/faults/gpu.toml"))
        .assert()
        .success();
    let trials = std::fs::read_to_string(out.join("trials.jsonl")).unwrap();
    let found: BTreeMap<i64, String> = trials
        .lines()
        .map(|l| serde_json::from_str::<J>(l).unwrap())
        .map(|t| {
            let word = |k: &str| t["failed"][k].as_str().unwrap_or("ok").to_owned();
            let text = format!("{}: {}", word("failure"), word("message"));
            (t["config"][0].as_i64().unwrap(), text)
        })
        .collect();
    for (how, expected) in [
        (0, "ok"),
        (
            1,
            "wrong: it wrote outside of `out`: 4793 bytes behind its end",
        ),
        (
            2,
            "wrong: it wrote outside of `out`: 4793 bytes before its start",
        ),
        (3, "wrong: `out`[3]"),
        (4, "wrong: it changed its input `in`"),
        (
            5,
            "wrong: run again on fresh data after the measurement: `out`[0] is NaN",
        ),
        (6, "ok"),
        (7, "wrong: `out`[1000]"),
        (8, "wrong: it changed its input `in`"),
        (9, "wrong: `out`[1000] is inf"),
    ] {
        assert!(
            found[&how].starts_with(expected),
            "how = {how}: {}",
            found[&how]
        );
    }
}
