//! The sensors of a GPU among several, against a stand-in for the driver's library.
#![cfg(target_os = "linux")]

use greenup_meter::choose::{Target, sensors};
use std::process::Command;

fn main_sensor(bus_id: &str) -> Result<Option<String>, String> {
    let target = Target::Gpu(bus_id.parse().map_err(|p| format!("{p:?}"))?);
    sensors(None, target, 0.1, &mut |s| {
        std::thread::sleep(std::time::Duration::from_secs_f64(s));
    })
    .map(|c| c.main())
    .map_err(|p| p.cause)
}

/// Set in the process that finds the stand-in.
const STAND_IN: &str = "GREENUP_TEST_STAND_IN";

#[test]
fn energy_is_read_from_the_gpu_that_works() {
    if std::env::var_os(STAND_IN).is_some() {
        // CUDA's first GPU is NVML's second.
        assert_eq!(
            main_sensor("0000:01:00.0"),
            Ok(Some("nvml:1:energy".into()))
        );
        assert_eq!(
            main_sensor("0000:02:00.0"),
            Ok(Some("nvml:0:energy".into()))
        );
        let unknown = main_sensor("0000:65:00.0").unwrap_err();
        assert!(unknown.contains("00000000:65:00.0"), "{unknown}");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-DGPUS=2", "-o"])
        .arg(dir.path().join("libnvidia-ml.so.1"))
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../cli/tests/data/fake/nvml.c"
        ))
        .status()
        .unwrap();
    assert!(built.success());
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "energy_is_read_from_the_gpu_that_works"])
        .env(STAND_IN, "1")
        .env("LD_LIBRARY_PATH", dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && text.contains("1 passed"), "{text}");
}
