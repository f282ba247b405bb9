//! The NVML sensors against a stand-in for the driver's library, compiled here.
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn greenup(library: &Path, args: &[&str]) -> Value {
    let out = assert_cmd::Command::cargo_bin("greenup")
        .unwrap()
        .env("LD_LIBRARY_PATH", library)
        .args(args)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_gpu_is_found_probed_and_measured() {
    let dir = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fake/nvml.c");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(dir.path().join("libnvidia-ml.so.1"))
        .arg(source)
        .status()
        .unwrap();
    assert!(built.success());

    let d = greenup(dir.path(), &["doctor", "--seconds", "0.5", "--json"]);
    let sensor = |id: &str| {
        let all = d["sensors"].as_array().unwrap();
        let found = all.iter().find(|s| s["id"] == id);
        found
            .unwrap_or_else(|| panic!("no {id} in {all:?}"))
            .clone()
    };
    let energy = sensor("nvml:0:energy");
    assert_eq!(energy["usable"], true, "{energy}");
    assert!(
        (energy["load_w"].as_f64().unwrap() / 100.0 - 1.0).abs() < 0.1,
        "{energy}"
    );
    assert!(
        (energy["period_s"].as_f64().unwrap() / 0.02 - 1.0).abs() < 0.3,
        "{energy}"
    );
    for id in ["nvml:0:instant", "nvml:0:average", "nvml:0:memory"] {
        assert_eq!(sensor(id)["usable"], true, "{}", sensor(id));
    }
    assert!((sensor("nvml:0:memory")["load_w"].as_f64().unwrap() - 15.0).abs() < 4.0);

    let r = greenup(
        dir.path(),
        &[
            "run",
            "--runs",
            "4",
            "--sensor",
            "nvml:0:energy",
            "--json",
            "--",
            "sleep",
            "0.3",
        ],
    );
    let power = r["results"][0]["power_w"]["median"].as_f64().unwrap();
    assert!((power / 100.0 - 1.0).abs() < 0.1, "{power}");
    assert_eq!(r["sensor"], "nvml:0:energy");
}
