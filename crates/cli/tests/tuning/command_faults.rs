//! Commands that behave badly.
#![cfg(target_os = "linux")]

use crate::commands::{all, said, trials};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A problem with one parameter and a script.
fn problem(run: &str, script: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let text = format!(
        "name = 'bad'\n[parameters]\na = [1, 2]\n{run}\n[measure]\nseconds = 0.001\ntimeout = 2\n"
    );
    fs::write(dir.path().join("p.toml"), text).unwrap();
    fs::write(dir.path().join("app.sh"), script).unwrap();
    dir
}

/// The message of the config 1, which fails.
fn message(dir: &Path) -> String {
    let all = trials(&dir.join("s"));
    let first = all.iter().find(|t| t["config"][0] == 1).unwrap();
    first["failed"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_wrong_with_a_runs_numbers_is_told() {
    let run = "[run]\ncommand = 'sh app.sh {a}'\ntime = { json = 'times.solve' }";
    for (text, why) in [
        (
            "{\"times\": {\"all\": 1}}",
            "time: no `times.solve` (there are all) in its output",
        ),
        ("{\"times\": {\"solve\": -1}}", "time: -1 s is not positive"),
        (
            "{\"times\": {\"solve\": \"nan\"}}",
            "time: NaN in its output is no number to use",
        ),
        (
            "{\"times\": {\"solve\": 1e999}}",
            "time: `times.solve` is missing: it is null, NaN or infinite",
        ),
        ("", "time: no JSON"),
    ] {
        let script =
            format!("test $1 = 2 && echo '{{\"times\": {{\"solve\": 1}}}}' || echo '{text}'");
        let dir = problem(run, &script);
        let o = all(dir.path(), &[]);
        assert!(o.status.success(), "{}", said(&o));
        let found = message(dir.path());
        assert!(found.contains(why), "{text}: {found}");
    }
}

#[test]
fn processes_that_leave_the_group_end_with_the_run() {
    let script = "setsid sh -c 'echo $$ >>pids; exec sleep 1000' & \n\
        while ! test -s pids; do :; done; cp pids last; : >pids; cat last >>all; wc -l <all >n";
    let dir = problem(
        "[run]\ncommand = 'sh app.sh {a}'\ncheck = 'sh check.sh'",
        script,
    );
    // The one of the run before is gone.
    let check = "for pid in $(cat all); do test -d /proc/$pid && exit 1; done; exit 0";
    fs::write(dir.path().join("check.sh"), check).unwrap();
    let start = Instant::now();
    let o = all(dir.path(), &[]);
    assert!(o.status.success(), "{}", said(&o));
    assert!(
        trials(&dir.path().join("s"))
            .iter()
            .all(|t| t.get("measured").is_some())
    );
    // Their pipes were not waited for.
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_build_that_writes_elsewhere_fails_with_the_fix() {
    let text = "[build]\ncommand = \"sh -c 'test $1 = 1 || cp app.sh $0' {build} {a}\"\n\
        [run]\ncommand = 'sh {build}/app.sh {a}'";
    let dir = problem(text, "exit 0");
    let o = all(dir.path(), &[]);
    assert!(o.status.success(), "{}", said(&o));
    let found = message(dir.path());
    assert!(found.contains("wrote nothing into {build}"), "{found}");
}

#[test]
fn a_full_disk_ends_the_search_and_not_a_config() {
    let script = "test -e full || exit 0; echo 'app: out.bin: No space left on device' >&2; exit 1";
    let dir = problem("[run]\ncommand = 'sh app.sh {a}'", script);
    fs::write(dir.path().join("full"), "").unwrap();
    let o = all(dir.path(), &[]);
    assert!(!o.status.success());
    let e = said(&o);
    assert!(
        e.contains("out.bin: No space left") && e.contains("--resume"),
        "{e}"
    );
    assert!(trials(&dir.path().join("s")).is_empty());
    fs::remove_file(dir.path().join("full")).unwrap();
    let o = all(dir.path(), &["--resume"]);
    assert!(o.status.success(), "{}", said(&o));
}

#[test]
fn an_output_too_long_to_be_compared_is_told() {
    let run = "[run]\ncommand = 'sh app.sh {a}'\n[run.expect]\ncommand = 'echo right'";
    let script = "test $1 = 2 || yes line | head -c 70000000; echo right";
    let dir = problem(run, script);
    let o = all(dir.path(), &[]);
    assert!(o.status.success(), "{}", said(&o));
    let found = message(dir.path());
    assert!(found.contains("too long to be compared"), "{found}");
}

#[test]
fn values_with_spaces_and_quotes_reach_the_program_and_are_shown_for_a_shell() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
name = "words"
[constants]
title = '''"a b's  ü"'''
[parameters]
flag = ["x  'y' $HOME"]
[run]
command = "sh app.sh {title} --flag={flag}"
environment = { EMPTY = "", TITLE = "{title}" }
input = "{title}.txt"
[measure]
seconds = 0.001
"#;
    fs::write(dir.path().join("p.toml"), text).unwrap();
    fs::write(dir.path().join("a b's  ü.txt"), "input").unwrap();
    let script = r#"test "$1" = "a b's  ü" && test "$2" = "--flag=x  'y' \$HOME" && test "$TITLE" = "$1" && test "${EMPTY-x}" = "" && test "$(cat)" = input"#;
    fs::write(dir.path().join("app.sh"), script).unwrap();
    let o = all(dir.path(), &[]);
    assert!(o.status.success(), "{}", said(&o));
    let best = crate::common::command(&["best", "s"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let line = greenup_testing::text(&best.stdout);
    // A shell reads the line as the tuner did.
    let again = std::process::Command::new("sh")
        .args([
            "-c",
            &format!(
                "EMPTY= TITLE=\"a b's  ü\" {} <\"a b's  ü.txt\"",
                line.trim()
            ),
        ])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(again.status.success(), "{line}");
}
