//! INT, TERM and HUP end every long command (two seconds promised, five allowed here on a busy host), with code 130 and without unfinished files.

mod common;

use common::{command, file, repository};
use greenup_testing::{
    at_a_terminal, ended, handles, is_ended_by, signal, started, unfinished, wait_until, wrapped,
};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A meter for the doctor to watch, as a command that prints lines for ever.
const METER: &str = "external:cmd:sh -c 'while :; do echo $(date +%s.%N),25; sleep 0.05; done'";

/// A packed file of the repository, as it was.
fn unpacked(dir: &Path, packed: &str) -> String {
    let mut text = String::new();
    let bytes = fs::File::open(repository(packed)).unwrap();
    flate2::read::GzDecoder::new(bytes)
        .read_to_string(&mut text)
        .unwrap();
    file(dir, "unpacked.csv", &text)
}

/// Long commands; each runs in a folder of its own.
fn commands(dir: &Path) -> Vec<Vec<String>> {
    // Nobody ever writes to it.
    let fifo = dir.join("fifo.toml").display().to_string();
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let huge = file(
        dir,
        "huge.toml",
        "[parameters]\na = '1 : 9000'\nb = '1 : 9000'\nc = '1 : 9000'\nd = '1 : 9000'\n[hard]\n\
         t = '(a * a * b + b * c * c * d + d * d * a * c) % 1009 == 3'\n",
    );
    let wide = file(
        dir,
        "wide.toml",
        "[parameters]\na = '1 : 9000'\nb = '1 : 9000'\nc = '1 : 9000'\n",
    );
    let words = |args: &[&str]| args.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>();
    vec![
        words(&["space", &huge]),
        words(&["space", &huge, "--json"]),
        words(&["space", &wide, "--points", "points.csv"]),
        words(&["analyze", &fifo]),
        words(&["roofline", "--machine", "h200", "--sweep", &fifo]),
        words(&["explain", "--machine", &fifo]),
        words(&["predict", "--machine", &fifo, "--op", "f64=1"]),
        words(&["run", "--sensor", "none", "--", "sleep", "100"]),
        words(&[
            "doctor",
            "--seconds",
            "60",
            "--load",
            "sleep 100",
            "--sensor",
            METER,
        ]),
        words(&[
            "fit",
            &repository("docs/results/data/host/records.csv"),
            "--resamples",
            "1000000",
        ]),
        words(&[
            "fit",
            "--dvfs",
            &unpacked(dir, "crates/calibrate/tests/data/dvfs/titanx.csv.gz"),
        ]),
        words(&["calibrate", "--sensor", "none"]),
        words(&["study", "--device", "cpu", "--sensor", "none"]),
    ]
}

fn start(args: &[String], folder: &Path) -> Child {
    fs::create_dir(folder).unwrap();
    let home = folder.join("home");
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut c = command(&words);
    c.current_dir(folder)
        .env("HOME", &home)
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CACHE_HOME");
    at_a_terminal(&c)
        .stdout(Stdio::null())
        .stderr(fs::File::create(folder.join("stderr")).unwrap())
        .spawn()
        .unwrap()
}

/// Waits until a child handles a signal, or has ended.
fn is_up(child: &mut Child, name: &str) {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() && !handles(child.id(), name) {
        assert!(start.elapsed() < Duration::from_secs(120), "it hangs");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn ends(name: &str) {
    let dir = tempfile::tempdir().unwrap();
    let mut all: Vec<(Vec<String>, Child)> = commands(dir.path())
        .into_iter()
        .enumerate()
        .map(|(i, args)| {
            let child = start(&args, &dir.path().join(format!("run{i}")));
            (args, child)
        })
        .collect();
    for (_, child) in &mut all {
        is_up(child, name);
    }
    // So that they are in the midst of their work.
    std::thread::sleep(Duration::from_millis(1500));
    let mut wrong = Vec::new();
    for (i, (args, mut child)) in all.into_iter().enumerate() {
        let folder = dir.path().join(format!("run{i}"));
        if let Some(status) = child.try_wait().unwrap() {
            let stderr = fs::read_to_string(folder.join("stderr")).unwrap();
            wrong.push(format!(
                "{args:?} ended before the signal: {status}\n{stderr}"
            ));
            continue;
        }
        signal(&child, name);
        let status = ended(&mut child);
        if status.and_then(|s| s.code()) != Some(130) {
            wrong.push(format!("{args:?}: {status:?}"));
        }
        let left = unfinished(&folder);
        if !left.is_empty() {
            wrong.push(format!("{args:?} left {left:?}"));
        }
        // A space that was not written to its end is not there.
        if folder.join("points.csv").exists() {
            wrong.push(format!("{args:?} left half of its points"));
        }
    }
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
}

#[test]
fn int_ends_every_long_command() {
    ends("INT");
}

#[test]
fn term_ends_every_long_command() {
    ends("TERM");
}

#[test]
fn hup_ends_every_long_command() {
    ends("HUP");
}

#[test]
fn a_signal_that_is_switched_off_stays_so() {
    let dir = tempfile::tempdir().unwrap();
    let switches = ["--ignore-signal=HUP", "--default-signal=TERM"];
    let script = "echo > begun; sleep 100";
    let mut c = command(&["run", "--sensor", "none", "--", "sh", "-c", script]);
    let mut child = started(&mut wrapped("env", &switches, c.current_dir(dir.path())));
    // By then the signals are as they stay.
    wait_until(&mut child, || dir.path().join("begun").exists());
    signal(&child, "HUP");
    // Longer than the two seconds in which it would end.
    std::thread::sleep(Duration::from_secs(5));
    assert!(child.try_wait().unwrap().is_none(), "nohup is obeyed");
    is_ended_by(&mut child, "TERM");
}

#[test]
fn a_command_that_knows_its_parent_ends_with_it() {
    for named in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let parent = if named { "GREENUP_PARENT=$$" } else { "" };
        let script = format!("{parent} \"$0\" \"$@\" & echo $! > pid; while :; do sleep 1; done");
        let waits = "echo > begun; sleep 100";
        let mut c = command(&["run", "--sensor", "none", "--", "sh", "-c", waits]);
        let mut shell = started(&mut wrapped(
            "sh",
            &["-c", &script],
            c.current_dir(dir.path()),
        ));
        let pid = || fs::read_to_string(dir.path().join("pid")).unwrap_or_default();
        wait_until(&mut shell, || {
            dir.path().join("begun").exists() && pid().ends_with('\n')
        });
        let pid = pid();
        // One that has ended may wait for a parent that asks for its status.
        let running = || {
            fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
                .is_ok_and(|state| !state.contains(") Z"))
        };
        shell.kill().unwrap();
        shell.wait().unwrap();
        let start = Instant::now();
        while running() && start.elapsed() < Duration::from_secs(if named { 20 } else { 3 }) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_ne!(running(), named);
        let _ = Command::new("kill").arg(pid.trim()).status();
    }
}

#[test]
fn a_command_whose_parent_is_gone_at_its_start_ends() {
    let mut parent = Command::new("true").spawn().unwrap();
    let waits = parent.id().to_string();
    std::thread::sleep(Duration::from_millis(200));
    let mut other = Command::new("true").spawn().unwrap();
    let gone = other.id().to_string();
    other.wait().unwrap();
    // One that has ended and waits for who asks for its status, and one that is gone.
    for number in [&waits, &gone] {
        let dir = tempfile::tempdir().unwrap();
        let mut c = command(&["run", "--sensor", "none", "--", "sleep", "100"]);
        let start = Instant::now();
        let mut child = started(c.current_dir(dir.path()).env("GREENUP_PARENT", number));
        assert!(!child.wait().unwrap().success());
        assert!(start.elapsed() < Duration::from_secs(50), "it ends at once");
    }
    parent.wait().unwrap();
    // In another namespace the number says nothing.
    let mut c = command(&["run", "--sensor", "none", "--", "true"]);
    let done = c.env("GREENUP_PARENT", format!("{waits} pid:[1]")).output();
    assert!(done.unwrap().status.success());
}
