//! Launched workers on hosts with GPUs, played by a program that answers as such a worker does.
#![cfg(target_os = "linux")]

use crate::common::{command, ok};
use serde_json::Value as J;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A problem in CUDA, for hosts with two GPUs each.
struct Host {
    dir: tempfile::TempDir,
}

impl Host {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let problem = dir.path().join("problem");
        ok(&["init", "cuda", problem.to_str().unwrap()]);
        Self { dir }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn launcher(host: &str, changes: &str) -> String {
        let worker = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fake/gpu_worker.py");
        let version = env!("CARGO_PKG_VERSION");
        format!(
            "env HOST={host} VERSION={version} {changes} python3 '{}'",
            worker.display()
        )
    }

    fn tune(&self, out: &str, launchers: &[String], more: &[&str]) -> Command {
        let mut c = command(&["tune", "--strategy", "random"]);
        if !more.contains(&"--sensor") {
            c.args(["--sensor", "none"]);
        }
        c.args(["--budget", "8", "--finalists", "1"]);
        c.arg(self.at("problem/problem.toml"));
        c.arg("--out").arg(self.at(out)).stdin(Stdio::null());
        c.env("XDG_CACHE_HOME", self.dir.path());
        for l in launchers {
            c.args(["--launcher", l]);
        }
        c.args(more);
        c
    }
}

#[test]
fn gpus_that_do_not_fit_are_refused() {
    let h = Host::new();
    let one = Host::launcher("node1", "");
    let refused = |launchers: &[String], more: &[&str], parts: &[&str]| {
        let e = greenup_testing::fails(&mut h.tune("out", launchers, more));
        assert!(parts.iter().all(|part| e.contains(part)), "{e}");
    };
    refused(
        &[one.clone(), one.clone()],
        &[],
        &[
            "both give a worker GPU-node1-0 of node1",
            "CUDA_VISIBLE_DEVICES",
        ],
    );
    refused(
        &[one.clone(), Host::launcher("node2", "MODEL=H100")],
        &["--device", "cuda:all"],
        &["node2 has a H100, node1 a H200"],
    );
    refused(
        std::slice::from_ref(&one),
        &["--device", "cuda:all", "--sensor", "nvml"],
        &["--sensor nvml names one sensor, and each of 2 GPUs of node1"],
    );
    // The number is that of the host's GPU.
    refused(&[one], &["--device", "cuda:7"], &["node1", "no GPU 7"]);
    // A real worker, on a host without a GPU.
    if !Path::new("/proc/driver/nvidia/version").exists() {
        let program = [
            "--device",
            "cuda:all",
            "--remote-program",
            env!("CARGO_BIN_EXE_greenup"),
        ];
        let parts = [
            "--launcher 'env A=1'",
            "did not introduce itself",
            "libcuda",
        ];
        refused(&["env A=1".to_owned()], &program, &parts);
    }
    assert!(!h.at("out/trials.jsonl").exists());
}

#[test]
#[ignore = "needs NVRTC"]
fn each_gpu_of_each_host_has_a_worker() {
    let h = Host::new();
    let hosts = ["node1", "node2"].map(|host| Host::launcher(host, ""));
    let run =
        greenup_testing::succeeds(&mut h.tune("out", &hosts, &["--device", "cuda:all", "--json"]));
    let found: J = serde_json::from_slice(&run.stdout).unwrap();
    let names: Vec<&str> = (found["workers"].as_array().unwrap().iter())
        .map(|w| w["name"].as_str().unwrap())
        .collect();
    let expected = [
        "node1 cuda:0 (0)",
        "node1 cuda:1 (1)",
        "node2 cuda:0 (2)",
        "node2 cuda:1 (3)",
    ];
    assert_eq!(names, expected);
    let text = std::fs::read_to_string(h.at("out/trials.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 8);
    // What the worker was given as its GPU is the temperature that it reports.
    for line in text.lines() {
        let t: J = serde_json::from_str(line).unwrap();
        let (host, gpu) = (&t["device"]["host"], &t["device"]["gpu"]);
        assert_eq!(
            t["metrics"]["temperature"],
            J::from(gpu.as_f64().unwrap()),
            "{t}"
        );
        let uuid = format!("GPU-{}-{gpu}", host.as_str().unwrap());
        assert_eq!(t["device"]["uuid"], uuid, "{t}");
    }
    // A named GPU of each.
    greenup_testing::succeeds(&mut h.tune("second", &hosts, &["--device", "cuda:1"]));
    let text = std::fs::read_to_string(h.at("second/trials.jsonl")).unwrap();
    assert!(text.lines().all(|l| l.contains("\"gpu\":1,")), "{text}");
}
