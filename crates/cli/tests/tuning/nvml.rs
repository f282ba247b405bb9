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

    let is_near = |v: &Value, want: f64, share: f64| {
        v.as_f64().is_some_and(|x| (x / want - 1.0).abs() < share)
    };
    // A host that stops the reader for some ticks makes the period look longer: try again.
    let mut seen = Vec::new();
    let in_time = (0..10).any(|_| {
        let d = greenup(dir.path(), &["doctor", "--seconds", "0.5", "--json"]);
        let sensor = |id: &str| {
            let all = d["sensors"].as_array().unwrap();
            let found = all.iter().find(|s| s["id"] == id);
            let found = found.unwrap_or_else(|| panic!("no {id} in {all:?}"));
            assert_eq!(found["usable"], true, "{found}");
            found.clone()
        };
        let energy = sensor("nvml:0:energy");
        sensor("nvml:0:instant");
        sensor("nvml:0:average");
        let memory = sensor("nvml:0:memory");
        assert!(is_near(&memory["load_w"], 15.0, 0.27), "{memory}");
        let in_time =
            is_near(&energy["load_w"], 100.0, 0.1) && is_near(&energy["period_s"], 0.02, 0.3);
        seen.push(energy);
        in_time
    });
    assert!(in_time, "never 100 W and 20 ms: {seen:?}");

    let mut seen = Vec::new();
    let in_time = (0..10).any(|_| {
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
        assert_eq!(r["sensor"], "nvml:0:energy");
        let power = r["results"][0]["power_w"]["median"].clone();
        let in_time = is_near(&power, 100.0, 0.1);
        seen.push(power);
        in_time
    });
    assert!(in_time, "never 100 W: {seen:?}");
}
