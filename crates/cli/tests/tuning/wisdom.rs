//! `greenup wisdom` end to end: a winner is kept, exported, imported on another device, used there, forgotten.

use assert_cmd::Command;
use serde_json::Value as J;
use std::path::Path;

fn greenup(home: &Path) -> Command {
    let mut c = Command::cargo_bin("greenup").unwrap();
    c.env_remove("GREENUP_WISDOM")
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CACHE_HOME", home.join("cache"));
    c
}

fn json(c: &mut Command) -> J {
    let run = c.arg("--json").assert().success();
    serde_json::from_slice(&run.get_output().stdout).unwrap()
}

fn stderr(c: &mut Command) -> (bool, String) {
    let run = c.output().unwrap();
    (
        run.status.success(),
        String::from_utf8_lossy(&run.stderr).into_owned(),
    )
}

fn repository(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

const SIZE: [&str; 4] = ["--n", "64", "--rounds", "1"];

#[test]
fn a_winner_travels_to_another_device() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tune = [
        "gemm",
        "--tune",
        "--budget",
        "6",
        "--finalists",
        "1",
        "--sensor",
        "none",
    ];
    let tuned = json(greenup(here.path()).args(tune).args(SIZE));
    let file = here.path().join("mine.toml");
    greenup(here.path())
        .args(["wisdom", "export", file.to_str().unwrap()])
        .assert()
        .success();
    let own = json(greenup(here.path()).args(["wisdom", "list", "--own"]));
    let name = own["entries"][0]["device"]["name"].as_str().unwrap();

    // Made by another processor of another architecture, with the same caches and cores.
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace(name, "Another CPU");
    let architecture = own["entries"][0]["device"]["architecture"]
        .as_str()
        .unwrap();
    std::fs::write(&file, text.replace(architecture, "riscv64-v")).unwrap();
    let import = ["wisdom", "import", file.to_str().unwrap()];
    let dry = json(greenup(there.path()).args(import).arg("--dry-run"));
    assert_eq!(dry["entries"][0]["verdict"], "new");
    assert!(!there.path().join("data/greenup/wisdom.toml").exists());
    greenup(there.path()).args(import).assert().success();
    let again = json(greenup(there.path()).args(import));
    assert_eq!(
        (
            &again["entries"][0]["verdict"],
            &again["entries"][0]["taken"]
        ),
        (&J::from("same"), &J::from(false))
    );

    // The shipped wisdom may know this host: only then an entry is of the device itself.
    let found = json(greenup(there.path()).args(["wisdom", "find", "dgemm", "--on", "cpu"]));
    let is_shipped = found["choice"]["nearness"] == "device";
    let of = found["choice"]["device"].as_str().unwrap();
    assert!(!is_shipped || of.starts_with(name), "{found}");
    let used = json(greenup(there.path()).arg("gemm").args(SIZE));
    assert_eq!(used["wisdom"]["nearness"], found["choice"]["nearness"]);
    assert_eq!(used["wisdom"]["device"], found["choice"]["device"]);
    if of.starts_with("Another CPU") {
        assert_eq!(used["config"], tuned["config"]);
        let source = used["source"].as_str().unwrap();
        assert!(
            source.contains("config of Another CPU") && source.contains("nearest of"),
            "{source}"
        );
    }
    // Of that CPU and the shipped ones the nearest is used: with the same caches and cores that CPU, unless this one
    // is shipped with any number of cores.
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("riscv64-v", architecture)).unwrap();
    greenup(there.path())
        .args(import)
        .args(["--prefer", "imported"])
        .assert()
        .success();
    let used = json(greenup(there.path()).arg("gemm").args(SIZE));
    let device = used["wisdom"]["device"].as_str().unwrap();
    let is_own = of.starts_with(name) && device.starts_with(name);
    assert!(is_own || device.starts_with("Another CPU"), "{used}");

    let id = again["entries"][0]["id"].as_str().unwrap();
    greenup(there.path())
        .args(["wisdom", "forget", id])
        .assert()
        .success();
    let left = json(greenup(there.path()).args(["wisdom", "list", "--own"]));
    assert_eq!(left["entries"], J::Array(Vec::new()));
    let (ok, said) = stderr(greenup(there.path()).args(["wisdom", "forget", id]));
    assert!(!ok && said.contains("has no entry"), "{said}");
}

#[test]
fn winners_of_recorded_sweeps_are_imported_and_shipped() {
    let home = tempfile::tempdir().unwrap();
    let sweep = repository("sweeps/fmm_ulist_f64_h200");
    let got = json(greenup(home.path()).args(["wisdom", "import", &sweep]));
    assert_eq!(got["entries"].as_array().unwrap().len(), 2, "{got}");
    assert_eq!(got["entries"][0]["entry"]["config"]["THREADS"], 32);

    // The shipped file is what the sweeps say, made by the command in its head.
    let shipped = std::fs::read_to_string(repository("crates/wisdom/shipped.toml")).unwrap();
    let head: String = shipped
        .split_inclusive('\n')
        .take_while(|l| l.starts_with('#'))
        .collect();
    assert!(head.contains("greenup wisdom import sweeps --wisdom crates/wisdom/shipped.toml"));
    let file = home.path().join("shipped.toml");
    std::fs::write(&file, format!("{head}format = \"greenup-wisdom/1\"\n")).unwrap();
    let problems = [
        "dgemm",
        "dgemm_gpu",
        "form_factor_cpu",
        "form_factor_gpu",
        "form_factor_list",
        "fmm_ulist",
        "hydro_corner",
    ];
    let mut c = greenup(home.path());
    c.current_dir(repository(""))
        .args(["wisdom", "import", "sweeps", "--wisdom"])
        .arg(&file);
    for p in problems {
        assert!(head.contains(&format!("--problem {p}")), "{p}");
        c.args(["--problem", p]);
    }
    c.assert().success();
    let made = std::fs::read_to_string(&file).unwrap();
    assert!(
        made == shipped,
        "run the command in the head of shipped.toml again"
    );
}

#[test]
fn the_nearest_gpu_that_can_run_it_is_found() {
    let home = tempfile::tempdir().unwrap();
    let find = |args: &[&str]| {
        let mut c = greenup(home.path());
        json(c.args(["wisdom", "find"]).args(args))
    };
    let own = find(&["form_factor_gpu", "--on", "H100"]);
    assert_eq!(own["choice"]["nearness"], "device");
    let other = find(&["form_factor_gpu", "--on", "H100", "--others"]);
    assert_eq!(other["choice"]["device"], "NVIDIA H200");
    assert_eq!(other["choice"]["basis"], "map of machines");
    // An H100 has no entry for P2P.
    let p2p = find(&["fmm_ulist", "--on", "H100", "--precision", "f64"]);
    let text = p2p["choice"]["text"].as_str().unwrap();
    assert!(
        text.contains("config of NVIDIA H200") && text.contains("map of machines"),
        "{text}"
    );
    let (ok, said) = stderr(greenup(home.path()).args(["wisdom", "find", "nothing"]));
    assert!(!ok && said.contains("no entry for `nothing`"), "{said}");
}

#[test]
fn files_that_are_not_wisdom_are_refused_with_file_and_line() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("w.toml");
    let cases = [
        ("format = 'greenup-wisdom/7'\n", "greenup-wisdom/7"),
        (
            "format = 'greenup-wisdom/1'\n[[entry]]\nproblem = 3\n",
            "line 3",
        ),
        ("format = 'greenup-wisdom/1'\n[[entry]", "line 2"),
        ("", "line 1"),
    ];
    for (text, word) in cases {
        std::fs::write(&file, text).unwrap();
        for args in [vec!["wisdom", "list"], vec!["gemm", "--n", "8"]] {
            let mut c = greenup(home.path());
            let (ok, said) = stderr(c.args(args).arg("--wisdom").arg(&file));
            assert!(
                !ok && said.contains("w.toml") && said.contains(word),
                "{said}"
            );
            assert!(said.contains("hint:"), "{said}");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    let (ok, said) = stderr(greenup(home.path()).args(["wisdom", "import", "/none.toml"]));
    assert!(!ok && said.contains("/none.toml"), "{said}");
    let (ok, said) = stderr(greenup(home.path()).args(["wisdom", "list", "--wisdom", "/dev/zero"]));
    assert!(!ok && said.contains("too large"), "{said}");
    let (ok, _) = stderr(greenup(home.path()).args(["wisdom", "list", "--no-wisdom"]));
    assert!(ok);
}

#[test]
fn a_tuned_kernel_is_kept_and_two_processes_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let problem = repository("examples/stencil/problem.toml");
    let tune = |out: &str, n: &str| {
        let mut c = std::process::Command::new(env!("CARGO_BIN_EXE_greenup"));
        c.args([
            "tune",
            &problem,
            "--budget",
            "6",
            "--finalists",
            "1",
            "--measure",
            "0.01",
            "--sensor",
            "none",
            "--set",
            n,
            "--out",
        ])
        .arg(home.path().join(out))
        .env_remove("GREENUP_WISDOM")
        .env("XDG_DATA_HOME", home.path().join("data"))
        .env("XDG_CACHE_HOME", home.path().join("cache"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
        c.spawn().unwrap()
    };
    let mut all = [tune("a", "n=66"), tune("b", "n=130")];
    for c in &mut all {
        assert!(c.wait().unwrap().success());
    }
    let own = json(greenup(home.path()).args(["wisdom", "list", "--own", "--problem", "stencil"]));
    assert_eq!(own["entries"].as_array().unwrap().len(), 2, "{own}");
    let id = own["entries"][0]["id"].as_str().unwrap();
    let shown = greenup(home.path())
        .args(["wisdom", "show", id])
        .assert()
        .success();
    let text = String::from_utf8_lossy(&shown.get_output().stdout).into_owned();
    for word in ["stencil", "time", "verified", "command", "tune ", "cores"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}
