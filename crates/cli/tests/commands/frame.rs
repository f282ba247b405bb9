//! What every program has: version, completions, manual pages, `-q` and `-v`, colours.

use crate::common::{command, fails, greenup, ok};
use greenup_testing::text;
use std::fs;
use std::path::Path;

#[test]
fn the_version_names_commit_target_and_features() {
    let long = ok(&["--version"]);
    assert!(
        long.starts_with(&format!("greenup {}\n", env!("CARGO_PKG_VERSION"))),
        "{long}"
    );
    assert!(
        long.contains("\ntarget: ") && long.contains("\nfeatures: none"),
        "{long}"
    );
    let commit = long
        .lines()
        .find_map(|l| l.strip_prefix("commit: "))
        .unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if root.join(".git").exists() {
        assert_eq!(commit.len(), 40, "{commit}");
        assert_eq!(
            ok(&["-V"]),
            format!(
                "greenup {} ({})\n",
                env!("CARGO_PKG_VERSION"),
                &commit[..12]
            )
        );
    } else {
        assert_eq!(commit, "unknown");
    }
}

#[test]
fn shells_get_completions() {
    for (shell, part) in [
        ("bash", "_greenup()"),
        ("zsh", "#compdef greenup"),
        ("fish", "complete -c greenup"),
    ] {
        let text = ok(&["completions", shell]);
        assert!(
            text.contains(part) && text.contains("parameter-scan"),
            "{shell}"
        );
    }
    assert_eq!(greenup(&["completions", "none"]).status.code(), Some(2));
}

#[test]
fn every_command_has_a_manual_page() {
    let page = ok(&["man"]);
    assert!(ok(&["man", "sweeps", "merge"]).contains("greenup\\-sweeps\\-merge"));
    assert!(fails(&["man", "no-such"]).contains("no command `no-such`"));
    assert!(
        page.contains(".TH greenup 1") && page.contains("greenup\\-tune(1)"),
        "{page}"
    );
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("man1");
    assert_eq!(ok(&["man", "-o", &at.display().to_string()]), "");
    let whatif = fs::read_to_string(at.join("greenup-whatif.1")).unwrap();
    assert!(whatif.contains(".SH NAME"));
    assert!(at.join("greenup-whatif-cluster.1").is_file());
    // Commands that the program starts by itself are nobody's business.
    assert!(!at.join("greenup-trial-worker.1").exists());
    let blocked = at.join("greenup.1").display().to_string();
    assert_eq!(greenup(&["man", "-o", &blocked]).status.code(), Some(1));
}

#[test]
fn quiet_and_verbose_change_only_standard_error() {
    let args = [
        "run", "--runs", "2", "--sensor", "none", "--json", "--", "sleep", "0.01",
    ];
    let said = |more: &[&str]| {
        let mut all = more.to_vec();
        all.extend(args);
        let out = greenup(&all);
        assert!(out.status.success());
        serde_json::from_slice::<serde_json::Value>(&out.stdout).unwrap();
        // Cores that other programs use are warned of.
        let lines = text(&out.stderr);
        let own = lines.lines().filter(|l| !l.contains("ready to run"));
        own.map(|l| format!("{l}\n")).collect::<String>()
    };
    let (quiet, normal, verbose) = (said(&["-q"]), said(&[]), said(&["-v"]));
    assert_eq!(quiet, "");
    assert!(
        normal.contains("time only") && !normal.contains("took"),
        "{normal}"
    );
    assert!(
        verbose.contains("time only") && verbose.contains("command: sleep 0.01"),
        "{verbose}"
    );
    assert!(verbose.contains("measuring: took"), "{verbose}");
    // Warnings and errors stay.
    let out = greenup(&[
        "run", "-q", "--runs", "2", "--sensor", "none", "-i", "--", "false",
    ]);
    let warned = text(&out.stderr);
    assert!(
        warned.starts_with("warning:") && warned.contains("2 of 2 runs failed"),
        "{warned}"
    );
    let out = greenup(&["predict", "-q", "--machine", "none"]);
    assert!(text(&out.stderr).contains("error:"));
    assert_eq!(greenup(&["-q", "-v", "machines"]).status.code(), Some(2));
}

#[test]
fn no_color_is_respected() {
    // As at a terminal with colours.
    let run = |no_color: Option<&str>| {
        let mut c = command(&["run", "--runs", "2", "--sensor", "none", "--", "true"]);
        for name in ["NO_COLOR", "CLICOLOR", "CI"] {
            c.env_remove(name);
        }
        c.env("CLICOLOR_FORCE", "1").env("TERM", "xterm-256color");
        if let Some(value) = no_color {
            c.env("NO_COLOR", value);
        }
        let out = c.output().unwrap();
        assert!(out.status.success());
        text(&out.stdout) + &text(&out.stderr)
    };
    assert!(run(None).contains("\x1b["));
    assert!(!run(Some("1")).contains('\x1b'));
}

#[test]
fn long_work_says_first_how_long_it_takes() {
    let dir = tempfile::tempdir().unwrap();
    let problem = crate::common::problem(dir.path());
    let mut c = command(&[
        "tune",
        "--budget",
        "2",
        "--sensor",
        "none",
        "--finalists",
        "1",
    ]);
    c.arg(&problem).arg("--out").arg(dir.path().join("s"));
    let out = c.output().unwrap();
    let said = text(&out.stderr);
    assert!(
        out.status.success() && said.contains("2 trials measure"),
        "{said}"
    );
    let mut c = command(&[
        "tune",
        "--budget",
        "2",
        "--sensor",
        "none",
        "--finalists",
        "1",
        "-q",
    ]);
    c.arg(&problem).arg("--out").arg(dir.path().join("q"));
    let out = c.output().unwrap();
    assert!(
        out.status.success() && !text(&out.stderr).contains("measure"),
        "{out:?}"
    );
}
