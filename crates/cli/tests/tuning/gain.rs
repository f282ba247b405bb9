//! What tuning gained over the config before it, and sweeps that are replaced.

use serde_json::{Value as J, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Loops that take longer the larger `slow` is, by more than what others on the host do.
const PROBLEM: &str = r#"
name = "slow"
[constants]
n = 4000
[parameters]
slow = [4, 2, 1]
[build]
sources = ["k.c"]
entry = "f"
flags = ["-O1"]
[[arguments]]
name = "y"
type = "f64"
size = "n"
role = "out"
[work]
f64 = "n"
[measure]
seconds = 0.05
timeout = 10
"#;
const KERNEL: &str = "void f(double *y) {
#ifdef BROKEN
    if (slow == BROKEN) *(volatile int *)0 = 1;
#endif
    for (int r = 0; r < 4 * slow * slow * slow * slow; r++)
        for (int i = 0; i < n; i++) ((volatile double *)y)[i] = r + i;
}
";

fn tune(dir: &Path, problem: &str, more: &[&str]) -> Output {
    fs::write(dir.join("k.c"), KERNEL).unwrap();
    fs::write(dir.join("problem.toml"), problem).unwrap();
    Command::new(assert_cmd::cargo::cargo_bin("greenup"))
        .current_dir(dir)
        .args(["tune", "problem.toml", "--sensor", "none", "--out", "s"])
        .args([
            "--strategy",
            "exhaustive",
            "--budget",
            "100%",
            "--rounds",
            "5",
        ])
        .args(more)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn gain(out: &Output) -> J {
    assert!(out.status.success(), "{}", text(&out.stderr));
    serde_json::from_slice::<J>(&out.stdout).unwrap()["gain"].clone()
}

#[test]
fn the_gain_is_told_over_the_config_before_tuning() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    // The problem names none: the first of the space takes longest.
    let first = gain(&tune(dir, PROBLEM, &["--json"]));
    assert_eq!(
        (&first["origin"], &first["config"]),
        (&json!("first"), &json!([4]))
    );
    assert!(
        first["speedup"]["median"].as_f64().unwrap() > 1.5,
        "{first}"
    );
    assert_eq!(
        (&first["greenup"], &first["is_best"]),
        (&J::Null, &json!(false))
    );
    // `[default]` names one; also where few finalists would leave it out.
    let named = format!("{PROBLEM}[default]\nslow = 2\n");
    let out = tune(
        dir,
        &named,
        &[
            "--json",
            "--overwrite",
            "--finalists",
            "1",
            "--near-ties",
            "0",
        ],
    );
    let found = gain(&out);
    assert_eq!(
        (&found["origin"], &found["config"]),
        (&json!("problem"), &json!([2]))
    );
    // Every reader of the sweep tells the same.
    let analyze = Command::new(assert_cmd::cargo::cargo_bin("greenup"))
        .current_dir(dir)
        .args(["analyze", "s", "--json"])
        .output()
        .unwrap();
    assert_eq!(gain(&analyze), found);
    let out = tune(dir, &named, &["--overwrite"]);
    let shown = text(&out.stdout);
    assert!(
        shown.contains("gain over the default config (slow=2)"),
        "{shown}"
    );
    assert!(
        shown.contains("rates of the best: ") && shown.contains("flop/s f64"),
        "{shown}"
    );
    // The first does not work: the next that does stands for it.
    let broken = PROBLEM.replace("\"-O1\"", "\"-O1\", \"-DBROKEN=4\"");
    let found = gain(&tune(dir, &broken, &["--json", "--overwrite"]));
    assert_eq!(
        (&found["origin"], &found["config"]),
        (&json!("first_working"), &json!([2]))
    );
    // A named one that does not work has no gain.
    let out = tune(
        dir,
        &format!("{broken}[default]\nslow = 4\n"),
        &["--overwrite"],
    );
    assert!(
        text(&out.stderr).contains("the default config failed"),
        "{}",
        text(&out.stderr)
    );
    let out = tune(
        dir,
        &format!("{PROBLEM}[default]\nslow = 3\n"),
        &["--overwrite"],
    );
    assert!(
        text(&out.stderr).contains("slow = 3 is no value"),
        "{}",
        text(&out.stderr)
    );
}

#[test]
fn a_sweep_is_replaced_once_the_new_one_has_a_trial() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    assert!(tune(dir, PROBLEM, &[]).status.success());
    let file = dir.join("s/trials.jsonl");
    let before = fs::read(&file).unwrap();
    let refused = tune(dir, PROBLEM, &[]);
    assert!(
        text(&refused.stderr).contains("--overwrite"),
        "{}",
        text(&refused.stderr)
    );
    // No trial of the new one succeeds.
    let broken = PROBLEM.replace("\"-O1\"", "\"-O1\", \"-DBROKEN=slow\"");
    let out = tune(dir, &broken, &["--overwrite"]);
    assert!(!out.status.success());
    assert!(
        text(&out.stderr).contains("the earlier sweep in s is kept"),
        "{}",
        text(&out.stderr)
    );
    assert_eq!(fs::read(&file).unwrap(), before);
    // It does not even begin.
    let out = tune(
        dir,
        &PROBLEM
            .replace("\"f\"", "\"g\"")
            .replace("k.c", "k.c\", \"no.c"),
        &["--overwrite"],
    );
    assert!(!out.status.success());
    assert_eq!(fs::read(&file).unwrap(), before);
    // A process was killed before its new sweep had a trial.
    let aside = dir.join("s/.greenup-replaced");
    fs::create_dir(&aside).unwrap();
    for name in ["sweep.json", "trials.jsonl"] {
        fs::rename(dir.join("s").join(name), aside.join(name)).unwrap();
    }
    let refused = tune(dir, PROBLEM, &[]);
    assert!(
        text(&refused.stderr).contains("holds a sweep already"),
        "{}",
        text(&refused.stderr)
    );
    assert_eq!(fs::read(&file).unwrap(), before);
    let out = tune(dir, PROBLEM, &["--overwrite"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert_eq!(text(&fs::read(&file).unwrap()).lines().count(), 3);
    assert!(!aside.exists());
    // What is no sweep of ours stays.
    fs::write(dir.join("s/sweep.json"), "{}").unwrap();
    let out = tune(dir, PROBLEM, &["--overwrite"]);
    assert!(!out.status.success());
    assert_eq!(fs::read_to_string(dir.join("s/sweep.json")).unwrap(), "{}");
}

#[test]
fn a_macro_that_is_a_parameter_of_the_function_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let problem = PROBLEM.replace("k.c", "other.c");
    fs::write(
        dir.join("other.c"),
        "/* rows n, */\nvoid f(double *y, int n) { y[0] = n; }\n",
    )
    .unwrap();
    let out = tune(dir, &problem, &[]);
    let said = text(&out.stderr);
    assert!(!out.status.success());
    assert!(
        said.contains("`n` is a constant") && said.contains("other.c declares it in line 2"),
        "{said}"
    );
}
