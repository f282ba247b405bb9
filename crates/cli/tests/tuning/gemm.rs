//! `greenup gemm` end to end: without wisdom, tuned, with wisdom, and with bad input.

use assert_cmd::Command;
use serde_json::Value as J;
use std::path::Path;

fn greenup(home: &Path) -> Command {
    let mut c = Command::cargo_bin("greenup").unwrap();
    c.arg("gemm")
        .env_remove("GREENUP_WISDOM")
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CACHE_HOME", home.join("cache"));
    c
}

fn json(c: &mut Command) -> J {
    let run = c.arg("--json").assert().success();
    serde_json::from_slice(&run.get_output().stdout).unwrap()
}

#[test]
fn wisdom_is_found_kept_and_used() {
    let home = tempfile::tempdir().unwrap();
    let size = ["--n", "96", "--m", "65", "--k", "70", "--rounds", "2"];
    let first = json(greenup(home.path()).args(size).arg("--no-wisdom"));
    assert!(first["source"].as_str().unwrap().starts_with("no wisdom"));
    assert_eq!(first["flops"], 2.0 * 65.0 * 96.0 * 70.0);
    let names: Vec<&str> = first["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["greenup", "faer"]);

    let tune = [
        "--tune",
        "--budget",
        "4",
        "--finalists",
        "2",
        "--sensor",
        "none",
    ];
    let tuned = json(greenup(home.path()).args(size).args(tune));
    assert_eq!(tuned["source"], "wisdom of this device");
    let other = json(greenup(home.path()).args(["--n", "50", "--rounds", "1"]));
    assert_eq!(
        other["source"],
        "wisdom of this device, tuned for 65 × 96 × 70"
    );
    assert_eq!(other["config"], tuned["config"]);
    let list = json(greenup(home.path()).arg("--list"));
    let own = |l: &J| {
        let all = l["entries"].as_array().unwrap().iter();
        all.filter(|e| e["place"] == "own")
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(own(&list).len(), 1);
    assert_eq!(own(&list)[0]["constants"]["size_m"], 65);
    let shown = greenup(home.path()).arg("--list").assert().success();
    assert!(String::from_utf8_lossy(&shown.get_output().stdout).contains("size_m=65"));

    // Wisdom of kernels that no longer are is said to be so, and not used.
    let file = home.path().join("data/greenup/wisdom.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("a_inner", "renamed")).unwrap();
    let stale = greenup(home.path()).args(size).assert().success();
    let said = String::from_utf8_lossy(&stale.get_output().stderr).into_owned();
    assert!(said.contains("another version"), "{said}");
}

#[test]
fn bad_input_is_named() {
    let home = tempfile::tempdir().unwrap();
    let fails = |args: &[&str], words: &[&str]| {
        let run = greenup(home.path()).args(args).assert().failure();
        let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        for w in words {
            assert!(text.contains(w), "{args:?}: {text}");
        }
        assert!(text.contains("hint:"), "{args:?}: {text}");
    };
    fails(&["--n", "0"], &["no rows"]);
    fails(&["--n", "9000000"], &["the matrices take"]);
    fails(&["--n", "8", "--against", "nowhere.so"], &["nowhere.so"]);
    let broken = home.path().join("broken.toml");
    std::fs::write(&broken, "known = 3").unwrap();
    fails(
        &["--n", "8", "--wisdom", broken.to_str().unwrap()],
        &["broken.toml", "invalid wisdom"],
    );
}
