//! Flags and keys of version 0.1 still work, with a note on standard error.

use super::common::hydro;
use greenup_testing::text;

#[test]
fn old_flags_and_keys_are_accepted_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let fields = dir.path().join("fields");
    let run = hydro(&[
        "run",
        "--vtu",
        fields.to_str().unwrap(),
        "--mesh",
        "4x4",
        "--refine",
        "0",
        "--steps",
        "2",
        "--operator",
        "matrix-free",
        "--frames",
        "3",
        "--json",
    ])
    .assert()
    .success();
    let (out, notes) = (
        text(&run.get_output().stdout),
        text(&run.get_output().stderr),
    );
    assert!(
        notes.contains("`--operator` is now `--assembly`"),
        "{notes}"
    );
    assert!(
        notes.contains("`matrix-free` of `--assembly` is now `partial`"),
        "{notes}"
    );
    assert!(notes.contains("`--frames` is now `--snapshots`"), "{notes}");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["steps"], 2);
    assert!(json["messages"].is_array() && json["timings"].is_object());
    let file = dir.path().join("p.toml");
    std::fs::write(
        &file,
        "[run]\nmesh = '4x4'\noperator = 'full'\nframes = 2\nsteps = 1\n[[material]]\ngamma = 1.4\nstiffness = 0\ndensity = 1\npressure = 1\n",
    )
    .unwrap();
    let run = hydro(&["run", "--problem", file.to_str().unwrap()])
        .assert()
        .success();
    let notes = text(&run.get_output().stderr);
    assert!(
        notes.contains("key `run.operator` is now `run.assembly`"),
        "{notes}"
    );
    assert!(
        notes.contains("key `run.frames` is now `run.snapshots`"),
        "{notes}"
    );
    assert!(
        notes.contains("key `material.*.stiffness` is now `material.*.p_inf`"),
        "{notes}"
    );
    let run = hydro(&["study", "--nodes", "4", "--window", "0"])
        .assert()
        .failure();
    let notes = text(&run.get_output().stderr);
    assert!(notes.contains("`--nodes` is now `--intervals`"), "{notes}");
}
