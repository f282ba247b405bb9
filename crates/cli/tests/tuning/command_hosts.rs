//! Commands on other hosts, by a stand-in for `ssh`.
#![cfg(target_os = "linux")]

use crate::ssh::Hosts;
use std::fs;
use std::path::PathBuf;

const PROBLEM: &str = r#"
name = "there"
[constants]
n = 40
[parameters]
a = [1, 2, 3]
mode = ["x y", "it's", "no"]
[build]
command = "sh make.sh {mode} {build}"
sources = ["make.sh"]
[run]
command = "sh run.sh {build} {a}"
time = { file = "{build}/time.txt", unit = "ms" }
environment = { MODE = "{mode}  '{a}'" }
[run.expect]
command = "echo right"
[baseline]
command = "sh other.sh {n}"
[measure]
seconds = 0.001
timeout = 2
"#;

const MAKE: &str = r#"
echo "$2" >>builds.log
test "$1" = no && { echo "error: no such mode" >&2; exit 1; }
echo "$1" >"$2/mode"
"#;

const RUN: &str = r#"
test "$MODE" = "$(cat "$1/mode")  '$2'" || exit 9
test $2 = 3 && kill -9 $$
echo $((10 + $2)) >"$1/time.txt"
echo right
setsid sleep 1000 &
"#;

/// A problem of a command on a host.
fn host(name: &str) -> (Hosts, PathBuf) {
    let h = Hosts::new(name);
    let dir = h.at("commands");
    fs::create_dir(&dir).unwrap();
    for (file, text) in [
        ("p.toml", PROBLEM),
        ("make.sh", MAKE),
        ("run.sh", RUN),
        ("other.sh", "sleep 0.0$1"),
    ] {
        fs::write(dir.join(file), text).unwrap();
    }
    // Its time is that of the clock: the file of a config is none of its own.
    let text = PROBLEM.replace(
        "time = { file = \"{build}/time.txt\", unit = \"ms\" }\n",
        "",
    );
    fs::write(dir.join("clock.toml"), text).unwrap();
    (h, dir)
}

#[test]
fn a_command_is_built_and_run_on_the_launched_host() {
    let (h, dir) = host("command-host");
    let text = PROBLEM.replace("[baseline]\ncommand = \"sh other.sh {n}\"\n", "");
    fs::write(dir.join("p.toml"), text).unwrap();
    let how = ["--budget", "100%", "--finalists", "1", "--rounds", "2"];
    for (problem, workers) in [("p.toml", 2), ("clock.toml", 1)] {
        let run = greenup_testing::succeeds(&mut h.tune(&dir.join(problem), workers, &how));
        let all = h.trials();
        let count = |what: &str| all.iter().filter(|t| t.contains(what)).count();
        // The third value of each parameter fails.
        assert_eq!(count("times_s"), 4, "{all:?}");
        assert_eq!(count("no such mode"), 3, "{all:?}");
        assert_eq!(count("\"crash\""), 2, "{all:?}");
        assert_eq!(count("\"host\""), 9, "{all:?}");
        let builds = fs::read_to_string(dir.join("builds.log")).unwrap();
        let there = h.at("there").display().to_string();
        assert!(builds.lines().all(|l| l.starts_with(&there)), "{builds}");
        let shown = greenup_testing::text(&run.stdout);
        let compared = problem == "clock.toml";
        assert_eq!(shown.contains("speedup of the best"), compared, "{shown}");
        fs::remove_dir_all(h.at("out dir")).unwrap();
        h.nothing_left();
    }
}

#[test]
fn files_that_hosts_would_write_alike_are_refused() {
    let (h, dir) = host("command-shared");
    let text = PROBLEM.replace("{build}/time.txt", "time-{a}.txt");
    fs::write(dir.join("p.toml"), text).unwrap();
    let e = greenup_testing::fails(&mut h.tune(&dir.join("p.toml"), 2, &[]));
    assert!(e.contains("[run] time: the file time-{a}.txt"), "{e}");
    assert!(e.contains("name it below {build}"), "{e}");
}

#[test]
fn a_host_without_the_problem_or_with_another_is_named() {
    let (h, dir) = host("command-other");
    // What the tuner sends changes on its way: as if the host had another folder, or another file.
    let folder = format!("s#{}#/no/such/folder#g", dir.display());
    let file = r#"s/"contents":"[0-9a-f]*"/"contents":"00"/g"#;
    for (change, why) in [
        (folder.as_str(), "has no such folder"),
        (file, "is not the file of the tuning host"),
    ] {
        let launcher = format!("sh -c 'sed -u '\\''{change}'\\'' | \"$@\"' --");
        let mut c = crate::common::command(&["tune", "--sensor", "none"]);
        c.arg(dir.join("clock.toml")).arg("--out").arg(h.at("out"));
        c.args(["--remote-program", env!("CARGO_BIN_EXE_greenup")]);
        c.args(["--launcher", &launcher]);
        let e = greenup_testing::fails(&mut c);
        assert!(e.contains(why), "{e}");
    }
}

#[test]
fn a_check_of_a_kernel_runs_on_the_launched_host() {
    let h = Hosts::new("check-host");
    let dir = h.at("my problem");
    let text = fs::read_to_string(dir.join("problem.toml")).unwrap();
    let check = "[check]\ncommand = \"sh check.sh {outputs}\"\n";
    fs::write(dir.join("problem.toml"), format!("{text}\n{check}")).unwrap();
    let script = "echo \"$1\" >>checked; test -s \"$1/out.bin\"";
    fs::write(dir.join("check.sh"), script).unwrap();
    let how = ["--budget", "4", "--finalists", "1"];
    greenup_testing::succeeds(&mut h.tune(&dir.join("problem.toml"), 2, &how));
    let measured = h.trials().iter().filter(|t| t.contains("times_s")).count();
    assert_eq!(measured, 4);
    let checked = fs::read_to_string(dir.join("checked")).unwrap();
    let there = h.at("there").display().to_string();
    assert!(checked.lines().count() >= 4, "{checked}");
    assert!(checked.lines().all(|l| l.starts_with(&there)), "{checked}");
    h.nothing_left();
}
