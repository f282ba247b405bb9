//! What was silent: expectations without a match, failures of some trials, folders of others, words for a shell.

use super::commands::{all, said, tune};
use serde_json::Value as J;
use std::fs;
use std::path::Path;
use std::process::Command;

const ECHO: &str = r#"
name = "q"
[parameters]
a = [1, 2]
[run]
command = "echo sum 3"
repeats = 1
[run.expect]
command = "echo sum 3"
[measure]
seconds = 0.001
timeout = 5
"#;

fn write(dir: &Path, problem: &str) {
    fs::write(dir.join("p.toml"), problem).unwrap();
}

#[test]
fn a_parameter_without_a_use_and_a_time_without_its_unit_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let of = |problem: String| {
        write(dir.path(), &problem);
        let out = all(dir.path(), &["--overwrite"]);
        assert!(out.status.success(), "{out:?}");
        said(&out)
    };
    // It says 3, and runs for milliseconds.
    let timed = ECHO.replace("repeats", "time = { regex = 'sum (.*)' }\nrepeats");
    let e = of(timed.clone());
    assert!(e.contains("`a` occurs in no command"), "{e}");
    assert!(
        e.contains("the reported time, 3.00 s, is longer than its whole run"),
        "{e}"
    );
    let right = timed.replace("(.*)' }", "(.*)', unit = 'us' }");
    let e = of(right.replace("\"echo sum 3\"\nt", "\"sh -c 'echo sum 3' {a}\"\nt"));
    assert!(
        !e.contains("occurs in no") && !e.contains("longer than"),
        "{e}"
    );
}

#[test]
fn expectations_that_compare_nothing_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("empty.txt"), "").unwrap();
    let of = |problem: String| {
        write(dir.path(), &problem);
        let out = all(dir.path(), &[]);
        assert!(!out.status.success(), "{problem}");
        said(&out)
    };
    let filtered = ECHO.replace("[measure]", "lines = \"norm\"\n[measure]");
    let e = of(filtered.clone());
    assert!(e.contains("no line of it matches `norm`"), "{e}");
    let empty = ECHO.replace(
        "command = \"echo sum 3\"\n[measure]",
        "file = \"empty.txt\"\n[measure]",
    );
    let e = of(empty);
    assert!(e.contains("it is empty: nothing would be compared"), "{e}");
    let nan = ECHO.replace(
        "command = \"echo sum 3\"\n[measure]",
        "command = \"echo sum nan\"\n[measure]",
    );
    let e = of(nan);
    assert!(e.contains("all its numbers are NaN"), "{e}");
    let other = filtered.replace("lines = \"norm\"", "lines = \"sum\"");
    let e = of(other.replace("\"echo sum 3\"\nrepeats", "\"echo total 3\"\nrepeats"));
    assert!(e.contains("no line of its output matches `sum`"), "{e}");
    // Results in a pipe are not waited for.
    let pipe = Command::new("mkfifo").arg(dir.path().join("pipe")).status();
    assert!(pipe.unwrap().success());
    let waiting = ECHO.replace("repeats", "time = { file = \"pipe\" }\nrepeats");
    let e = of(waiting);
    assert!(e.contains("pipe"), "{e}");
}

#[test]
fn failures_of_some_trials_have_an_example_and_words_for_a_shell_a_note() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("app.sh"),
        "[ $1 = 1 ] || { echo bad tile $1 >&2; exit 3; }; echo sum 3",
    )
    .unwrap();
    write(
        dir.path(),
        &ECHO.replace(
            "\"echo sum 3\"\nrepeats",
            "\"sh app.sh {a} | tail -1\"\nrepeats",
        ),
    );
    let out = all(dir.path(), &["--json"]);
    assert!(out.status.success(), "{}", said(&out));
    assert!(
        said(&out).contains("`|` goes to the program as it is"),
        "{}",
        said(&out)
    );
    let answer: J = serde_json::from_slice(&out.stdout).unwrap();
    let example = &answer["failure_examples"][0];
    assert_eq!(example["failure"], "runtime");
    assert_eq!(example["config"], serde_json::json!([2]));
    assert!(example["message"].as_str().unwrap().contains("bad tile 2"));
    fs::remove_dir_all(dir.path().join("s")).unwrap();
    let out = all(dir.path(), &[]);
    let e = said(&out);
    assert!(
        e.contains("1 of the trials failed (runtime)") && e.contains("a=2"),
        "{e}"
    );
}

#[test]
fn a_value_that_is_empty_is_no_argument_and_errors_of_linkers_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    let problem = r#"
name = "q"
[parameters]
flag = ["", "-DOTHER", "-DBROKEN"]
[build]
command = "cc {flag} app.c -o {build}/app"
[run]
command = "{build}/app"
repeats = 1
[measure]
seconds = 0.001
timeout = 5
"#;
    fs::write(
        dir.path().join("app.c"),
        "int nowhere(void);\nint main(void) {\n#ifdef BROKEN\nreturn nowhere();\n#endif\nreturn 0; }\n",
    )
    .unwrap();
    write(dir.path(), problem);
    let out = all(dir.path(), &["--json"]);
    assert!(out.status.success(), "{}", said(&out));
    let answer: J = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(answer["failures"], serde_json::json!({"compile": 1}));
    let message = answer["failure_examples"][0]["message"].as_str().unwrap();
    assert!(
        message.contains("nowhere") && !message.contains("ld returned"),
        "{message}"
    );
}

#[test]
fn folders_are_used_when_they_hold_nothing_of_others() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), ECHO);
    for name in ["trials.csv", "results-t4.json", "finals.json"] {
        let file = dir.path().join(name);
        fs::write(&file, "precious").unwrap();
        let out = tune(dir.path(), &["--budget", "1", "--out", "."]);
        assert!(!out.status.success(), "{name}");
        assert!(said(&out).contains("is not of a sweep"), "{}", said(&out));
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
        fs::remove_file(&file).unwrap();
    }
    // All trials fail, the problem is corrected, and the next search begins.
    for resume in [&[][..], &["--resume"]] {
        write(
            dir.path(),
            &ECHO.replace("\"echo sum 3\"\nrepeats", "\"echo sum 4\"\nrepeats"),
        );
        let out = all(dir.path(), &[]);
        assert!(said(&out).contains("no trial succeeded"), "{}", said(&out));
        write(dir.path(), ECHO);
        let out = all(dir.path(), resume);
        assert!(out.status.success(), "{}", said(&out));
        assert!(said(&out).contains("it is replaced"), "{}", said(&out));
        let out = all(dir.path(), &[]);
        assert!(
            said(&out).contains("holds a sweep already"),
            "{}",
            said(&out)
        );
        fs::remove_dir_all(dir.path().join("s")).unwrap();
    }
}

#[test]
fn a_folder_whose_name_is_no_text_is_refused_early() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), ECHO);
    let name = std::ffi::OsStr::from_bytes(b"s\xff");
    let strange = dir.path().join(name);
    let run = |c: &mut Command| {
        let out = c
            .args(["--sensor", "none", "--budget", "1"])
            .output()
            .unwrap();
        assert!(!out.status.success());
        assert!(said(&out).contains("is not UTF-8"), "{}", said(&out));
    };
    let greenup = || {
        let mut c = Command::new(assert_cmd::cargo::cargo_bin("greenup"));
        c.arg("tune");
        c
    };
    run(greenup()
        .arg(dir.path().join("p.toml"))
        .arg("--out")
        .arg(&strange));
    assert!(!strange.exists());
    fs::create_dir(&strange).unwrap();
    write(&strange, ECHO);
    run(greenup()
        .arg(strange.join("p.toml"))
        .arg("--out")
        .arg(dir.path().join("s")));
    run(greenup().arg("p.toml").current_dir(&strange));
}

#[test]
fn what_the_parent_ignores_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), ECHO);
    let greenup = assert_cmd::cargo::cargo_bin("greenup");
    let script =
        "trap '' CHLD ALRM; exec \"$0\" tune p.toml --sensor none --budget 2 --rounds 2 --out s";
    let out = Command::new("bash")
        .args(["-c", script])
        .arg(greenup)
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", said(&out));
    assert!(!said(&out).contains("failed"), "{}", said(&out));
}
