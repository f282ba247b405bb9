//! The command as a user runs it: output, exit codes, errors with file, line and cure.

use assert_cmd::Command;
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

fn greenup(args: &[&str]) -> Output {
    Command::cargo_bin("greenup")
        .expect("built")
        .args(args)
        .output()
        .expect("runs")
}

fn ok(args: &[&str]) -> String {
    let out = greenup(args);
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout)
}

/// Standard error of a command that must fail with code 1.
fn fails(args: &[&str]) -> String {
    let out = greenup(args);
    assert_eq!(
        out.status.code(),
        Some(1),
        "{args:?}: {}",
        text(&out.stdout)
    );
    let e = text(&out.stderr);
    assert!(e.contains("error:") && !e.contains("panicked"), "{e}");
    e
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(args: &[&str]) -> serde_json::Value {
    let out = ok(args);
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e}\n{out}"))
}

fn file(dir: &Path, name: &str, content: &str) -> String {
    let path = dir.join(name);
    fs::write(&path, content).expect("writable");
    path.display().to_string()
}

#[test]
fn predict_keeps_its_contract() {
    let p = json(&[
        "predict",
        "--machine",
        "gtx-titan",
        "--op",
        "f32=1e12",
        "--op",
        "dram=1e11",
        "--json",
    ]);
    let n = |key: &str| p[key].as_f64().unwrap();
    assert!((n("energy_j") - n("power_w") * n("time_s")).abs() < 1e-9 * n("energy_j"));
    assert_eq!(p["bound"], "dram");
    // 4 nodes: a quarter of the time, the same energy; a cap never speeds up.
    let four = json(&[
        "predict",
        "--machine",
        "gtx-titan",
        "--op",
        "f32=1e12",
        "--op",
        "dram=1e11",
        "--nodes",
        "4",
        "--json",
    ]);
    assert!((four["time_s"].as_f64().unwrap() * 4.0 / n("time_s") - 1.0).abs() < 1e-9);
    let capped = json(&[
        "predict",
        "--machine",
        "gtx-titan",
        "--op",
        "f32=1e12",
        "--op",
        "dram=1e11",
        "--cap",
        "150",
        "--json",
    ]);
    assert_eq!(capped["bound"], "cap");
    assert!((capped["power_w"].as_f64().unwrap() - 150.0).abs() < 1e-6);
    assert!(text(&greenup(&["predict", "--help"]).stdout).contains("tensor_bf16"));
}

#[test]
fn predict_refuses_what_cannot_be() {
    assert!(
        fails(&["predict", "--machine", "gtx-tita", "--op", "f32=1"])
            .contains("did you mean gtx-titan")
    );
    assert!(
        fails(&["predict", "--machine", "gtx-titan", "--op", "f64=1"])
            .contains("no cost for `f64`")
    );
    assert!(fails(&["predict", "--machine", "gtx-titan", "--op", "f32=0"]).contains("empty"));
    assert!(
        fails(&[
            "predict",
            "--machine",
            "gtx-titan",
            "--op",
            "f32=1",
            "--cap",
            "100"
        ])
        .contains("constant power")
    );
    for bad in ["f32=nan", "f32=-1", "f99=1", "f32"] {
        assert_eq!(
            greenup(&["predict", "--machine", "gtx-titan", "--op", bad])
                .status
                .code(),
            Some(2)
        );
    }
}

#[test]
fn broken_machine_files_are_named_with_line_and_column() {
    let dir = tempfile::tempdir().unwrap();
    let good = "name='m'\ntitle='M'\n[cost.f32]\ntime_s={value=1e-12}\n[cost.dram]\ntime_s={value=1e-11}\n";
    let path = file(dir.path(), "m.toml", good);
    assert!(ok(&["predict", "--machine", &path, "--op", "f32=1"]).contains("energy  unknown"));
    for (from, to, want) in [
        ("value=1e-12", "value=nan", "cost.f32.time_s"),
        ("value=1e-12", "value=-1.0", "cost.f32.time_s"),
        ("title='M'", "title=", "line 2"),
        ("[cost.f32]", "[cost.f33]", "f33"),
    ] {
        let path = file(dir.path(), "bad.toml", &good.replace(from, to));
        let e = fails(&["predict", "--machine", &path, "--op", "f32=1"]);
        assert!(e.contains("bad.toml") && e.contains(want), "{e}");
    }
    assert!(fails(&["predict", "--machine", "/none.toml", "--op", "f32=1"]).contains("/none.toml"));
}

#[test]
fn machines_and_the_map() {
    let all = json(&["machines", "--json"]);
    assert!(all.as_array().unwrap().len() >= 16);
    assert!(ok(&["machines"]).contains("gtx-580"));
    assert!(ok(&["machines", "gtx-580"]).contains("table 5"));
    let dir = tempfile::tempdir().unwrap();
    let svg = dir.path().join("map.svg");
    let map = json(&[
        "machines",
        "gtx-titan",
        "--map",
        "-o",
        svg.to_str().unwrap(),
        "--json",
    ]);
    assert_eq!(map[0]["name"], "gtx-titan");
    assert_eq!(map[0]["distance"], 0.0);
    assert!(fs::read_to_string(svg).unwrap().contains("arndale-gpu"));
}

#[test]
fn whatif_reproduces_the_published_answers() {
    let c = json(&[
        "whatif",
        "cluster",
        "--machine",
        "gtx-titan",
        "--of",
        "arndale-gpu",
        "--json",
    ]);
    assert!((c["iso_power_nodes"].as_f64().unwrap() - 45.9).abs() < 0.1);
    let r = json(&[
        "whatif",
        "refined",
        "--instr",
        "fma=3:2:32",
        "--instr",
        "add=4:1:32",
        "--instr",
        "rsqrt=1:1:4:16",
        "--cores",
        "16",
        "--clock",
        "1.54e9",
        "--json",
    ]);
    assert!((r["flops_per_second"].as_f64().unwrap() / 788.48e9 - 1.0).abs() < 1e-9);
    let t = json(&[
        "whatif",
        "tradeoff",
        "--machine",
        "fermi-2010",
        "--intensity",
        "1",
        "-f",
        "1.5",
        "-m",
        "2",
        "--json",
    ]);
    assert_eq!(t["case"], "both memory bound");
    assert!(ok(&["whatif", "throttle", "--machine", "gtx-titan"]).contains("Δπ/8"));
    assert!(
        ok(&[
            "whatif",
            "bound",
            "--machine",
            "gtx-titan",
            "--watts",
            "140",
            "--against",
            "arndale-gpu"
        ])
        .contains("22 × arndale-gpu")
    );
    assert!(ok(&["whatif", "streaming"]).contains("xeon-phi"));
    assert!(
        fails(&["whatif", "bound", "--machine", "gtx-titan", "--watts", "50"])
            .contains("constant power")
    );
    assert!(
        fails(&["whatif", "throttle", "--machine", "gtx-titan", "--k", "0.5"])
            .contains("at least 1")
    );
}

#[test]
fn fit_reads_measurements_and_names_broken_cells() {
    let dir = tempfile::tempdir().unwrap();
    let mut csv = String::from("benchmark,setting,time_s,energy_j,f32,dram\n");
    for (k, i) in [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
        .into_iter()
        .enumerate()
    {
        let (w, q) = (i * 1e12, 1e12);
        let t: f64 = f64::max(w * 1e-12, q * 8e-12) * (1.0 + 0.01 * (k % 3) as f64);
        let e = w * 30e-12 + q * 200e-12 + 50.0 * t;
        csv.push_str(&format!("b{k},s{},{t},{e},{w},{q}\n", k % 3));
    }
    let path = file(dir.path(), "m.csv", &csv);
    let out = dir.path().join("m.toml").display().to_string();
    for method in ["linear", "nnls", "capped"] {
        let fit = json(&["fit", &path, "--method", method, "--json", "-o", &out]);
        let pi0 = fit["constant_power_w"]["value"].as_f64().unwrap();
        assert!((pi0 / 50.0 - 1.0).abs() < 0.05, "{method}: {pi0}");
        assert!(fit["constant_power_w"]["lo"].as_f64().unwrap() <= pi0);
        assert!(
            fit["validation"]["by_setting"]["mean_abs"]
                .as_f64()
                .unwrap()
                < 0.05
        );
    }
    assert!(ok(&["predict", "--machine", &out, "--op", "f32=1e12"]).contains("measured"));
    let svg = dir.path().join("r.png").display().to_string();
    ok(&["roofline", "--machine", &out, "--sweep", &path, "-o", &svg]);
    assert!(fs::read(&svg).unwrap().starts_with(b"\x89PNG"));

    let bad = file(dir.path(), "bad.csv", &csv.replacen("b1,s1,", "b1,s1,x", 1));
    let e = fails(&["fit", &bad]);
    assert!(e.contains("bad.csv, line 3, column 3 (time_s)"), "{e}");
    let few = file(dir.path(), "few.csv", "time_s,f32,dram\n1,2,3\n");
    assert!(fails(&["fit", &few]).contains("1 records"));
}

#[test]
fn dvfs_data_is_fitted() {
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../calibrate/tests/data/dvfs/gtx980.csv"
    );
    let fit = json(&["fit", "--dvfs", data, "--json"]);
    assert_eq!(fit["samples"], 765);
    let dir = tempfile::tempdir().unwrap();
    let bad = file(
        dir.path(),
        "p.csv",
        "2\n975,3505\n1,1\nA,B\n10,975,3505,0.5,zz\n",
    );
    assert!(fails(&["fit", "--dvfs", &bad]).contains("line 5, column 5"));
}

#[test]
fn run_measures_compares_and_exports() {
    let r = json(&[
        "run",
        "--runs",
        "5",
        "--compare",
        "sleep 0.04",
        "--sensor",
        "none",
        "--json",
        "--",
        "sleep",
        "0.08",
    ]);
    let s = &r["comparisons"][0]["speedup"];
    assert!((s["median"].as_f64().unwrap() - 2.0).abs() < 0.4, "{s}");
    assert_eq!(r["results"][0]["time_s"]["n"], 5);
    let dir = tempfile::tempdir().unwrap();
    let csv = dir.path().join("r.csv").display().to_string();
    let out = ok(&[
        "run",
        "--runs",
        "3",
        "--sensor",
        "none",
        "--export",
        &format!("csv:{csv}"),
        "--export",
        "md",
        "--",
        "true",
    ]);
    assert!(out.starts_with("| command |"));
    assert!(fs::read_to_string(&csv).unwrap().contains("true,3,"));
    let shown = ok(&[
        "run", "--runs", "3", "--warmup", "1", "--sensor", "none", "--", "true",
    ]);
    assert!(shown.contains("time") && shown.contains("3 runs"));
}

#[test]
fn run_reports_failing_and_killed_commands() {
    let e = fails(&["run", "--sensor", "none", "--", "sh", "-c", "exit 7"]);
    assert!(
        e.contains("exited with code 7") && e.contains("--ignore-failure"),
        "{e}"
    );
    assert!(
        fails(&["run", "--sensor", "none", "--", "sh", "-c", "kill -9 $$"]).contains("signal 9")
    );
    assert!(
        fails(&["run", "--sensor", "none", "--", "/no/such/program"]).contains("cannot be started")
    );
    assert!(fails(&["run", "--runs", "0", "--", "true"]).contains("at least 1"));
    assert!(fails(&["run", "--export", "xml", "--", "true"]).contains("xml"));
    assert!(fails(&["run", "--sensor", "nvml:7:energy", "--", "true"]).contains("no sensor"));
    let r = json(&[
        "run", "--runs", "2", "--sensor", "none", "-i", "--json", "--", "false",
    ]);
    assert_eq!(r["results"][0]["failures"], 2);
}

/// An external meter of 25.5 W on average, as a command that prints lines for ever.
const METER: &str = "external:cmd:sh -c 'while :; do echo $(date +%s.%N),25; sleep 0.004; \
                     echo $(date +%s.%N),26; sleep 0.004; done'";

#[cfg(target_os = "linux")]
#[test]
fn an_external_meter_gives_energy() {
    let r = json(&[
        "run", "--runs", "4", "--sensor", METER, "--json", "--", "sleep", "0.2",
    ]);
    let p = r["results"][0]["power_w"]["median"].as_f64().unwrap();
    let e = r["results"][0]["energy_j"]["median"].as_f64().unwrap();
    assert!((p / 25.5 - 1.0).abs() < 0.03, "{p}");
    assert!((e / (25.5 * 0.2) - 1.0).abs() < 0.2, "{e}");
    let d = json(&["doctor", "--seconds", "0.3", "--sensor", METER, "--json"]);
    assert_eq!(d["sensors"][0]["usable"], true, "{}", d["sensors"][0]);
}

#[test]
fn doctor_speaks_of_every_sensor() {
    let d = json(&["doctor", "--seconds", "0.1", "--json"]);
    let sensors = d["sensors"].as_array().unwrap();
    assert!(!sensors.is_empty());
    for s in sensors {
        assert!(
            s["usable"] == true || (s["cause"].is_string() && s["cure"].is_string()),
            "{s}"
        );
    }
    let told = ok(&["doctor", "--seconds", "0.1"]);
    assert!(told.contains("usable"));
    assert!(fails(&["doctor", "--seconds", "0", "--json"]).contains("--seconds"));
    if d["usable"] == 0 {
        assert!(
            fails(&["doctor", "--seconds", "0.1", "--square-wave"]).contains("no usable sensor")
        );
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_refused_before_measuring() {
    // A file where the folder should be: refused for root as well.
    let dir = tempfile::tempdir().unwrap();
    let blocked = file(dir.path(), "blocked", "");
    let start = std::time::Instant::now();
    let e = fails(&["study", "--out", &format!("{blocked}/study")]);
    assert!(
        e.contains("cannot be written") && e.contains("--out"),
        "{e}"
    );
    assert!(start.elapsed().as_secs() < 20);
    let e = fails(&[
        "roofline",
        "--machine",
        "gtx-580",
        "-o",
        &format!("{blocked}/x.svg"),
    ]);
    assert!(e.contains("blocked"), "{e}");
    assert!(
        fails(&["roofline", "--machine", "gtx-580", "--intensity", "8", "1"]).contains("range")
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_measured() {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("greenup"))
        .args([
            "run", "--runs", "1000", "--sensor", "none", "--json", "--", "sleep", "0.05",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(900));
    let pid = child.id().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let code = child.wait().unwrap().code();
    let mut out = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut out).unwrap();
    assert_eq!(code, Some(130));
    let r: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(r["interrupted"], true);
    assert!(r["results"][0]["time_s"]["n"].as_u64().unwrap() >= 3);
}
