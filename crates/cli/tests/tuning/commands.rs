//! Commands as problems: `[run] command`.

use assert_cmd::Command;
use serde_json::Value as J;
use std::path::Path;
use std::process::Output;

pub(crate) fn tune(dir: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("greenup")
        .unwrap()
        .args(["tune", "p.toml", "--sensor", "none"])
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap()
}

/// All configs of the file, with a short end; returns what the command printed.
pub(crate) fn all(dir: &Path, more: &[&str]) -> Output {
    let short = ["--budget", "100%", "--strategy", "exhaustive", "--out", "s"];
    let end = ["--finalists", "1", "--rounds", "3", "--near-ties", "0"];
    tune(dir, &[&short, &end[..], more].concat())
}

pub(crate) fn said(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

/// A program in shell whose time, results and failures follow from its parameter.
const PROGRAM: &str = r#"
case $1 in
    3) echo "bad tile" >&2; exit 7 ;;
    4) kill -9 $$ ;;
    5) sleep 1000 ;;
    6) echo "norm: 99"; echo "t: 1 ms, rate 1"; exit 0 ;;
    7) echo "norm: 42"; exit 0 ;;
esac
echo "norm: 42.0000001"
echo "t: $((10 + $1)) ms, rate $((100 - $1))"
"#;

pub(crate) const PROBLEM: &str = r#"
name = "shell"
[parameters]
tile = [1, 2, 3, 4, 5, 6, 7, 8]
[run]
command = "sh app.sh {tile}"
time = { regex = 't: (\d+) ms', unit = "ms" }
[run.metrics.rate]
regex = 'rate (\d+)'
goal = "maximize"
[run.expect]
command = "echo 'norm: 42'"
lines = "norm"
tolerance = 1e-6
[measure]
seconds = 0.01
timeout = 1
"#;

pub(crate) fn shell() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("app.sh"), PROGRAM).unwrap();
    std::fs::write(dir.path().join("p.toml"), PROBLEM).unwrap();
    dir
}

pub(crate) fn trials(dir: &Path) -> Vec<J> {
    let text = std::fs::read_to_string(dir.join("trials.jsonl")).unwrap();
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

#[test]
fn a_command_is_timed_checked_and_its_failures_are_told_apart() {
    let dir = shell();
    let run = all(dir.path(), &["--json"]);
    assert!(run.status.success(), "{}", said(&run));
    let answer: J = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(answer["verified"], true);
    assert_eq!(answer["finalists"][0]["config"][0], 1);
    assert!((answer["finalists"][0]["time_s"]["median"].as_f64().unwrap() - 0.011).abs() < 1e-12);
    let found: Vec<(i64, String, String)> = trials(&dir.path().join("s"))
        .iter()
        .filter_map(|t| {
            let f = t.get("failed")?;
            let text = |k: &str| f[k].as_str().unwrap().to_owned();
            Some((
                t["config"][0].as_i64().unwrap(),
                text("failure"),
                text("message"),
            ))
        })
        .collect();
    let of = |tile: i64| found.iter().find(|f| f.0 == tile).unwrap();
    assert_eq!(found.len(), 5, "{found:?}");
    assert_eq!(
        (of(3).1.as_str(), of(3).2.as_str()),
        ("runtime", "ended with code 7: bad tile")
    );
    assert_eq!(of(4).1, "crash");
    assert_eq!(of(5).1, "timeout");
    assert_eq!(of(6).1, "wrong");
    assert!(of(6).2.contains("99 is not 42"), "{}", of(6).2);
    assert_eq!(of(7).1, "runtime");
    assert!(of(7).2.contains("time: no match"), "{}", of(7).2);
    // What the sweep records is read by the other commands.
    let other = |args: &[&str]| {
        let o = Command::cargo_bin("greenup")
            .unwrap()
            .args(args)
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(o.status.success(), "{args:?}: {}", said(&o));
        String::from_utf8(o.stdout).unwrap()
    };
    assert_eq!(other(&["best", "s"]), "sh app.sh 1\n");
    assert!(other(&["analyze", "s", "--out", "a"]).contains("tile=1"));
    other(&[
        "replay",
        "s",
        "--strategy",
        "random",
        "--budget",
        "3",
        "--seeds",
        "2",
    ]);
}

#[test]
fn a_metric_can_be_the_objective() {
    let dir = shell();
    let run = all(dir.path(), &["--json", "--objective", "metric:rate"]);
    assert!(run.status.success(), "{}", said(&run));
    let answer: J = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(answer["finalists"][0]["config"][0], 1);
    assert_eq!(answer["finalists"][0]["value"], 1.0 / 99.0);
    let run = tune(dir.path(), &["--objective", "metric:speed", "--out", "t"]);
    assert!(!run.status.success());
    assert!(
        said(&run).contains("the metrics are rate"),
        "{}",
        said(&run)
    );
    assert!(!dir.path().join("t").exists());
}

#[test]
fn what_is_wrong_with_a_command_is_said_before_any_run() {
    for (from, to, what) in [
        (
            "sh app.sh {tile}",
            "sh app.sh {tiles}",
            "`{tiles}` is no constant",
        ),
        (
            "sh app.sh {tile}",
            "no-such-program {tile}",
            "there is no program `no-such-program`",
        ),
        (
            "sh app.sh {tile}",
            "{build}/app",
            "there is no [build] command",
        ),
        (
            "sh app.sh {tile}",
            "sh 'app {tile}",
            "missing closing quote",
        ),
        (r"t: (\d+) ms", "t: (", "regex parse error"),
        ("unit = \"ms\"", "unit = \"hours\"", "is not one of s, ms"),
        (
            "goal = \"maximize\"",
            "goal = \"big\"",
            "unknown variant `big`",
        ),
        ("tolerance = 1e-6", "tolerance = -1", "invalid tolerance"),
        (
            "command = \"echo 'norm: 42'\"",
            "file = \"none.txt\"",
            "there is no file none.txt",
        ),
        (
            "[run]\n",
            "[build]\ncommand = \"true\"\n[run]\n",
            "must write into {build}",
        ),
        (
            "[run]\n",
            "[build]\ncommand = \"cp app.sh {build}\"\n[run]\n",
            "it does not use {build}",
        ),
        (
            "command = \"echo 'norm: 42'\"",
            "file = \"right-{tile}.txt\"",
            "`{tile}` is no constant",
        ),
        (
            "[run]\n",
            "[build]\nsources = [\"app.sh\"]\nentry = \"f\"\n[run]\n",
            "belongs to a kernel",
        ),
        (
            "unit = \"ms\"",
            "file = \"{none}.txt\"",
            "`{none}` is no constant",
        ),
        (
            "[run.expect]",
            "[run.expect]\nof = \"out-{none}\"",
            "`{none}` is no constant",
        ),
        (
            "command = \"sh app.sh {tile}\"",
            "command = \"sh app.sh {tile}\"\ncheck = \"./check.sh\"",
            "there is no program `./check.sh`",
        ),
        (
            "[run]\n",
            "[build]\ncommand = \"cc x.c -o {build}/x\"\nflags = [\"-O3\"]\n[run]\n",
            "belongs to a kernel",
        ),
        (
            "[measure]",
            "[reference]\nsources = [\"app.sh\"]\nentry = \"f\"\n[measure]",
            "belongs to a kernel",
        ),
    ] {
        let dir = shell();
        let text = PROBLEM.replace(from, to);
        assert_ne!(text, PROBLEM, "{from}");
        std::fs::write(dir.path().join("p.toml"), text).unwrap();
        let run = tune(dir.path(), &["--out", "s"]);
        assert_eq!(run.status.code(), Some(1), "{to}");
        assert!(said(&run).contains(what), "{to}: {}", said(&run));
        assert!(!dir.path().join("s").exists(), "{to}");
    }
}

#[test]
fn a_build_is_made_once_for_the_values_it_takes_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
name = "built"
[parameters]
flag = ["a b", "c"]
n = [1, 2, 3]
[build]
command = "sh -c 'echo built >> log; echo \"$1\" > $2/out' x {flag} {build}"
[run]
command = "cat {build}/out"
check = "grep -q -e 'a b' -e c {build}/out"
[measure]
seconds = 0.001
"#;
    std::fs::write(dir.path().join("p.toml"), text).unwrap();
    let run = all(dir.path(), &[]);
    assert!(run.status.success(), "{}", said(&run));
    let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    let left: Vec<_> = std::fs::read_dir(dir.path().join("s"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.contains("scratch"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What an earlier run left must not pass for the result of one that wrote nothing.
#[test]
fn files_of_earlier_runs_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
name = "files"
[parameters]
writes = [1, 0]
[run]
command = "sh -c 'test $1 = 0 || { echo 0.5 > time.txt; echo 42 > out.txt; }' x {writes}"
time = { file = "time.txt" }
[run.expect]
command = "echo 42"
of = "out.txt"
[measure]
seconds = 0.001
"#
    .replace("{ echo", "{{ echo")
    .replace("; }'", "; }}'");
    std::fs::write(dir.path().join("p.toml"), text).unwrap();
    // As if a run had been there before.
    std::fs::write(dir.path().join("time.txt"), "0.1").unwrap();
    std::fs::write(dir.path().join("out.txt"), "42").unwrap();
    let run = all(dir.path(), &["--json"]);
    assert!(run.status.success(), "{}", said(&run));
    let found = trials(&dir.path().join("s"));
    let of = |writes: i64| found.iter().find(|t| t["config"][0] == writes).unwrap();
    assert_eq!(of(1)["measured"]["time_s"], 0.5);
    let message = of(0)["failed"]["message"].as_str().unwrap();
    assert!(message.contains("did not write"), "{message}");
}

#[test]
fn a_changed_script_is_another_experiment() {
    let dir = shell();
    assert!(all(dir.path(), &[]).status.success());
    assert!(all(dir.path(), &["--resume"]).status.success());
    std::fs::write(dir.path().join("app.sh"), format!("{PROGRAM}# new\n")).unwrap();
    let run = all(dir.path(), &["--resume"]);
    assert!(!run.status.success());
    assert!(said(&run).contains("file app.sh"), "{}", said(&run));
    let accepted = ["--resume", "--accept", "file app.sh"];
    assert!(all(dir.path(), &accepted).status.success());
}

#[test]
fn a_killed_search_of_a_command_loses_nothing_and_leaves_no_process() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
name = "slow"
[parameters]
a = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
[run]
command = "sh -c 'echo $$ >> pids; sleep 0.1' x {a}"
[measure]
seconds = 0.001
"#;
    std::fs::write(dir.path().join("p.toml"), text).unwrap();
    let flags = [
        "tune",
        "p.toml",
        "--sensor",
        "none",
        "--budget",
        "100%",
        "--strategy",
        "exhaustive",
        "--finalists",
        "1",
        "--rounds",
        "1",
        "--near-ties",
        "0",
        "--out",
        "s",
    ];
    let mut first = std::process::Command::new(assert_cmd::cargo::cargo_bin("greenup"))
        .args(flags)
        .current_dir(dir.path())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let log = dir.path().join("s/trials.jsonl");
    let lines = || {
        std::fs::read_to_string(&log)
            .unwrap_or_default()
            .lines()
            .count()
    };
    let start = std::time::Instant::now();
    while lines() < 2 {
        assert!(start.elapsed().as_secs() < 60, "no trials");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let kept = trials(&dir.path().join("s")).len();
    assert!((2..10).contains(&kept), "{kept}");
    // What it had started ends with it.
    let pids = std::fs::read_to_string(dir.path().join("pids")).unwrap();
    let last = pids.lines().last().unwrap().to_owned();
    let gone = || !Path::new("/proc").join(&last).exists();
    let start = std::time::Instant::now();
    while !gone() {
        assert!(start.elapsed().as_secs() < 10, "{last} is still there");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let rest = tune(dir.path(), &[&flags[4..], &["--resume"]].concat());
    assert!(rest.status.success(), "{}", said(&rest));
    let all = trials(&dir.path().join("s"));
    let mut configs: Vec<i64> = all
        .iter()
        .map(|t| t["config"][0].as_i64().unwrap())
        .collect();
    configs.sort_unstable();
    assert_eq!(configs, (1..=10).collect::<Vec<_>>());
}
