//! `greenup profile` of programs: without a GPU for real, and with stand-ins for CUPTI, the CUDA driver and `ncu`.

use crate::common::{command, fails, json, ok};
use greenup_testing::{at_a_terminal, is_ended_by};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A meter of 400 W on average; one that never changes would be refused.
const METER: &str = "external:cmd:sh -c 'while :; do echo $(date +%s.%N),396; sleep 0.01; echo $(date +%s.%N),404; sleep 0.01; done'";

/// The stand-ins, compiled into a folder: libcupti, and a program that uses it.
struct Fake {
    dir: tempfile::TempDir,
}

impl Fake {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../profile/tests/fake");
        for (source, out, flags) in [
            ("cupti.c", "libcupti.so.13", &["-shared", "-fPIC"][..]),
            ("cuda.c", "app", &[]),
        ] {
            let done = Command::new("cc")
                .args(["-std=gnu11", "-O1"])
                .args(flags)
                .arg(sources.join(source))
                .arg("-o")
                .arg(dir.path().join(out))
                .args(["-ldl", "-lpthread"])
                .status();
            assert!(done.unwrap().success(), "{source}");
        }
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `greenup profile` with the stand-ins.
    fn command(&self, options: &[&str], program: &[&str]) -> Command {
        let mut c = command(&["profile", "--machine", "h100"]);
        if !options.contains(&"--method") {
            c.args(["--method", "time"]);
        }
        let fakes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fake");
        let path = std::env::var("PATH").unwrap_or_default();
        c.env("PATH", format!("{}:{path}", fakes.display()));
        c.env("GREENUP_CUPTI", self.path("libcupti.so.13"));
        c.args(options)
            .arg("--")
            .arg(self.path("app"))
            .args(program);
        c
    }

    /// A run that ends well. A host without time for the meter pauses it, which the run reports: then it runs again.
    fn done(&self, options: &[&str], program: &[&str]) -> Output {
        for _ in 0..5 {
            let out = self.command(options, program).output().unwrap();
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(out.status.success(), "{said}");
            let shown = String::from_utf8_lossy(&out.stdout);
            if !said.contains(" paused, or did not change")
                && !shown.contains(" paused, or did not change")
            {
                return out;
            }
            if let Some(at) = options.iter().position(|o| *o == "--out") {
                let _ = fs::remove_dir_all(options[at + 1]);
            }
        }
        panic!("the meter paused in each of five runs");
    }
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v} is no number"))
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The energies of all rows of a GPU.
fn joules(gpu: &Value) -> f64 {
    let rows = ["kernels", "others"].map(|k| gpu[k].as_array().unwrap());
    rows.into_iter()
        .flatten()
        .filter_map(|r| r["joules"].as_f64())
        .sum()
}

#[test]
fn a_program_of_the_cpu_is_profiled() {
    let profile = || {
        json(&[
            "profile",
            "--method",
            "cpu",
            "--sensor",
            METER,
            "--json",
            "--",
            "sh",
            "-c",
            "echo shown; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done",
        ])
    };
    // On a busy host the meter's lines come late, and the joules are not known: one attempt must be in time.
    let r = (0..10)
        .map(|_| profile())
        .find(|r| r["cpu"]["joules"].is_number())
        .expect("no joules in ten attempts");
    let cpu = &r["cpu"];
    assert!(r["gpus"].as_array().unwrap().is_empty());
    let (wall, user) = (number(&cpu["wall_s"]), number(&cpu["user_s"]));
    assert!(user > 0.0 && user < 2.0 * wall, "{cpu}");
    assert!(
        (number(&cpu["joules"]) / (400.0 * wall) - 1.0).abs() < 0.1,
        "{cpu}"
    );
    // GNU time counts the same.
    assert!(number(&cpu["counts"]["context_switches"]) > 0.0, "{cpu}");
    assert!(number(&cpu["memory_bytes"]) < 8e6, "{cpu}");
    let shown = ok(&[
        "profile", "--sensor", "none", "--method", "cpu", "--", "echo", "hello",
    ]);
    assert!(shown.contains("hello") && shown.contains("CPU:"), "{shown}");
    // The same in quotes; words for a shell get a note.
    let out = command(&[
        "profile",
        "--sensor",
        "none",
        "--method",
        "cpu",
        "echo 'hello world' | x",
    ])
    .output()
    .unwrap();
    let [shown, noted] = [out.stdout, out.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    assert!(shown.contains("hello world | x"), "{shown}");
    assert!(noted.contains("without a shell"), "{noted}");
}

#[test]
fn joules_are_attributed_to_kernels_and_add_up_to_the_meter() {
    let fake = Fake::new();
    let dir = fake.path("out");
    let dir = dir.to_str().unwrap();
    let out = fake.done(&["--sensor", METER, "--out", dir], &["2.5"]);
    let shown = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(
        shown.contains("nvjet_tst") && shown.contains("power class"),
        "{shown}"
    );
    let p = read(&fake.path("out/profile.json"));
    let gpu = &p["gpus"][0];
    let measured = number(&gpu["measured_j"]);
    assert!(
        (measured / (400.0 * number(&p["wall_s"])) - 1.0).abs() < 0.05,
        "{measured}"
    );
    assert!((joules(gpu) / measured - 1.0).abs() < 0.01);
    assert!((number(&gpu["attributed_j"]) / measured - 1.0).abs() < 1e-6);
    assert!(number(&gpu["scale"]) > 0.3 && gpu["machine"] == "h100");
    let page = fs::read_to_string(fake.path("out/report.html")).unwrap();
    assert!(page.contains("vectorized_elementwise_kernel"));
    assert!(!page.contains(">NaN") && !page.contains("NaN%"));
    let csv = fs::read_to_string(fake.path("out/kernels.csv")).unwrap();
    assert!(
        csv.lines().count() == 6 && csv.contains("at::native::"),
        "{csv}"
    );

    // A second run does not mix with it; the page is drawn again from the records, with another machine.
    let again = fake
        .command(&["--sensor", "none", "--out", dir], &["0.1"])
        .output()
        .unwrap();
    let e = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(
        !again.status.success() && e.contains("holds an earlier profile") && e.contains("--from"),
        "{e}"
    );
    ok(&["profile", "--from", dir, "--machine", "h200"]);
    let q = read(&fake.path("out/profile.json"));
    assert_eq!(q["gpus"][0]["machine"], "h200");
    assert_eq!(q["gpus"][0]["measured_j"], gpu["measured_j"]);
    assert_eq!(q["gpus"][0]["kernels"].as_array().unwrap().len(), 2);

    // A link is not followed.
    let precious = fake.path("precious");
    fs::write(&precious, "mine").unwrap();
    fs::remove_file(fake.path("out/kernels.csv")).unwrap();
    std::os::unix::fs::symlink(&precious, fake.path("out/kernels.csv")).unwrap();
    let e = fails(&["profile", "--from", dir]);
    assert!(
        e.contains("kernels.csv was not made by this program"),
        "{e}"
    );
    assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
    fs::remove_file(fake.path("out/kernels.csv")).unwrap();

    // A file of a process that cannot be read is a note; the others are kept.
    fs::write(fake.path("out/activity/9-0.activity"), "").unwrap();
    ok(&["profile", "--from", dir, "--machine", "h100"]);
    let q = read(&fake.path("out/profile.json"));
    assert_eq!(q["gpus"][0]["kernels"].as_array().unwrap().len(), 2);
    let notes = q["notes"].to_string();
    assert!(
        notes.contains("process 9") && notes.contains("9-0.activity"),
        "{notes}"
    );

    // Without the records of its GPU the page stays as it is.
    fs::remove_dir_all(fake.path("out/activity")).unwrap();
    let e = fails(&["profile", "--from", dir]);
    assert!(
        e.contains("activity") && e.contains("belongs to run.json"),
        "{e}"
    );
    assert_eq!(read(&fake.path("out/profile.json")), q);
}

#[test]
fn counters_put_kernels_on_the_roofline() {
    let fake = Fake::new();
    let dir = fake.path("out");
    fake.done(
        &[
            "--method",
            "counters",
            "--sensor",
            METER,
            "--out",
            dir.to_str().unwrap(),
        ],
        &["2"],
    );
    let p = read(&dir.join("profile.json"));
    let gpu = &p["gpus"][0];
    assert!((joules(gpu) / number(&gpu["measured_j"]) - 1.0).abs() < 0.01);
    let kernels = gpu["kernels"].as_array().unwrap();
    assert!(
        kernels
            .iter()
            .all(|k| k["basis"] == "counters" && k["counted"] == 2),
        "{kernels:?}"
    );
    let product = kernels
        .iter()
        .find(|k| k["name"].as_str().unwrap().starts_with("nvjet"))
        .unwrap();
    assert_eq!(number(&product["work"]["tensor_bf16"]), 4e12);
    assert!((number(&product["profiler_s"]) / 6.06e-3 - 1.0).abs() < 1e-9);
    let sum = kernels.iter().find(|k| k["bound"] == "dram").unwrap();
    assert!(
        number(&sum["of_roof"]) > 0.5 && !sum["advice"].as_str().unwrap().is_empty(),
        "{sum}"
    );
    let page = fs::read_to_string(dir.join("report.html")).unwrap();
    assert!(page.contains("Arch line") && page.contains("Counted work of one launch"));

    // Refused counters leave the profile by time, and say so.
    let out = (fake.command(
        &["--method", "counters", "--sensor", "none", "--json"],
        &["0.3"],
    ))
    .env("FAKE_NCU", "refused")
    .output()
    .unwrap();
    let e = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(
        out.status.success() && e.contains("ERR_NVGPUCTRPERM") && e.contains("run as root"),
        "{e}"
    );
    let p: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(p["gpus"][0]["kernels"][0]["basis"], "power_class");
}

#[test]
fn what_is_missing_is_reported_before_the_program_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("ran");
    let touch = mark.to_str().unwrap();
    let e = fails(&[
        "profile",
        "--method",
        "time",
        "--cupti",
        "/no/libcupti.so.13",
        "--",
        "touch",
        touch,
    ]);
    assert!(
        e.contains("/no/libcupti.so.13") && e.contains("hint"),
        "{e}"
    );
    let out = command(&[
        "profile", "--method", "counters", "--cupti", "/bin/sh", "--", "/bin/sh", "-c", "exit 0",
    ])
    .env("PATH", dir.path())
    .output()
    .unwrap();
    let e = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(e.contains("ncu") || out.status.success(), "{e}");
    assert!(fails(&["profile", "--", "/no/such/app"]).contains("/no/such/app"));
    assert!(fails(&["profile"]).contains("after `--`"));
    assert!(fails(&["profile", "--from", touch]).contains("--from"));
    let usage = command(&["profile", "problem.toml"]).output().unwrap();
    assert!(String::from_utf8_lossy(&usage.stderr).contains("--sweep"));
    assert!(!mark.exists());
}

#[test]
fn failures_of_the_program_are_reported_after_its_profile() {
    let fake = Fake::new();
    let out = fake
        .command(&["--sensor", "none"], &["0.5", "kill"])
        .output()
        .unwrap();
    let (text, e) = (
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr),
    );
    assert!(
        text.contains("nvjet") && e.contains("killed by signal 9") && e.contains("without a flush"),
        "{text}{e}"
    );
    let out = (fake
        .command(&["--sensor", "none"], &["0.2"])
        .env("FAKE_CUPTI", "busy"))
    .output()
    .unwrap();
    let e = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(
        out.status.success() && e.contains("another profiler uses CUPTI"),
        "{e}"
    );
}

#[test]
fn an_interrupt_keeps_what_was_recorded() {
    let fake = Fake::new();
    let dir = fake.path("out");
    let mut c = at_a_terminal(&fake.command(
        &["--sensor", "none", "--out", dir.to_str().unwrap()],
        &["100"],
    ));
    let mut child = greenup_testing::started(&mut c);
    let file = || {
        fs::read_dir(dir.join("activity"))
            .into_iter()
            .flatten()
            .flatten()
            .next()
    };
    greenup_testing::wait_until(&mut child, || {
        file().is_some_and(|f| f.metadata().is_ok_and(|m| m.len() > 20_000))
    });
    is_ended_by(&mut child, "INT");
    let p = read(&dir.join("profile.json"));
    assert_eq!(p["interrupted"], true);
    assert!(number(&p["gpus"][0]["kernels"][0]["launches"]) > 50.0);
    assert!(dir.join("report.html").exists());
}

#[test]
#[ignore = "needs Chromium"]
fn the_page_can_be_read_at_any_width() {
    use greenup_testing::browser::{Browser, WIDTHS};
    let fake = Fake::new();
    let dir = fake.path("out");
    let options = ["--method", "counters", "--sensor", METER, "--out"];
    fake.done(&[&options[..], &[dir.to_str().unwrap()]].concat(), &["2"]);
    let mut browser = Browser::start();
    for dark in [false, true] {
        let found = browser.examine(&dir.join("report.html"), &WIDTHS, dark);
        assert!(found.is_empty(), "{found}");
    }
}
