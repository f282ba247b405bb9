//! Clocks and power limit as parameters, against a stand-in for the driver's library: what is set is
//! given back, also after Ctrl-C and after a kill; without permission nothing is set.
#![cfg(target_os = "linux")]

use greenup_testing::{at_a_terminal, signal};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROBLEM: &str = r#"
name = "clocks"
[parameters]
clock_sm = [900, 1500, 2100]
power_limit = [300, 500]
[build]
sources = ["kernel.c"]
entry = "kernel"
[[arguments]]
name = "x"
type = "f64"
size = "1000"
role = "inout"
[measure]
seconds = 0.05
"#;

struct Rig {
    dir: tempfile::TempDir,
    log: PathBuf,
}

impl Rig {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-w", "-o"])
            .arg(dir.path().join("libnvidia-ml.so.1"))
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/data/fake/nvml.c"
            ))
            .status()
            .unwrap();
        assert!(built.success());
        std::fs::write(dir.path().join("problem.toml"), PROBLEM).unwrap();
        std::fs::write(
            dir.path().join("kernel.c"),
            "void kernel(double *x) { for (int i = 0; i < 1000; i++) x[i] = 0.5 * x[i] + 1; }\n",
        )
        .unwrap();
        let log = dir.path().join("set.log");
        Self { dir, log }
    }

    fn tune(&self, out: &str) -> Command {
        let mut c = Command::new(assert_cmd::cargo::cargo_bin("greenup"));
        c.arg("tune")
            .arg(self.dir.path().join("problem.toml"))
            .arg("--out")
            .arg(self.dir.path().join(out))
            .args([
                "--sensor",
                "none",
                "--strategy",
                "exhaustive",
                "--finalists",
                "2",
            ])
            .env("LD_LIBRARY_PATH", self.dir.path())
            .env("FAKE_NVML_LOG", &self.log)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        c
    }

    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until something has been set for a trial.
    fn started(&self, child: &mut Child) {
        let start = Instant::now();
        while !self.lines().iter().any(|l| l.starts_with("power")) {
            assert!(start.elapsed() < Duration::from_secs(30));
            assert!(child.try_wait().unwrap().is_none(), "it ended too early");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for what was found at the start to be back.
    fn restored(&self) {
        let start = Instant::now();
        loop {
            let lines = self.lines();
            let last = |what: &str| {
                let mut of = lines.iter().rev();
                of.find(|l| l.starts_with(what))
                    .cloned()
                    .unwrap_or_default()
            };
            if last("sm") == "sm 0" && last("power") == "power 700" {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "{lines:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn every_setting_is_made_and_given_back() {
    let rig = Rig::new();
    let out = rig
        .tune("whole")
        .args(["--budget", "6", "--json"])
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    // 2100 MHz is more than this GPU takes: failed trials, with the reason.
    assert_eq!(answer["failures"]["launch"], 2, "{answer}");
    let lines = rig.lines();
    for wanted in ["sm 900", "sm 1500", "power 300", "power 500"] {
        assert!(lines.iter().any(|l| l == wanted), "{wanted} in {lines:?}");
    }
    rig.restored();
    let trials = std::fs::read_to_string(rig.dir.path().join("whole/trials.jsonl")).unwrap();
    assert!(trials.contains("clock_sm = 2100 MHz"), "{trials}");
    // The baseline runs at the config's clock: its time must not be taken for the machine's drift.
    assert!(!trials.contains("\"drift\":"), "{trials}");
}

#[test]
fn ctrl_c_and_kill_give_back_too() {
    for name in ["INT", "KILL"] {
        let rig = Rig::new();
        let mut tune = rig.tune("cut");
        tune.args(["--budget", "60s", "--measure", "2"]);
        let mut child = at_a_terminal(&tune).spawn().unwrap();
        rig.started(&mut child);
        signal(&child, name);
        let _ = child.wait();
        rig.restored();
    }
}

#[test]
fn without_permission_nothing_is_set() {
    let rig = Rig::new();
    let out = rig
        .tune("denied")
        .env("FAKE_NVML_DENY", "1")
        .args(["--budget", "6"])
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(1));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("refuses") && said.contains("root"), "{said}");
    assert!(rig.lines().is_empty());
    assert!(!Path::new(&rig.dir.path().join("denied/sweep.json")).exists());
}
