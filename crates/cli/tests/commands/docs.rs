//! The guide's links lead somewhere, and what it tells to type is understood.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn markdown(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            markdown(&path, found);
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
}

/// The headings of a page as links name them.
fn headings(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let slug = |title: &str| {
        (title.trim().to_lowercase().chars())
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    let titles = text.lines().filter(|l| l.starts_with('#'));
    titles.map(|l| slug(l.trim_start_matches('#'))).collect()
}

#[test]
fn every_link_of_the_guide_exists() {
    let mut pages = vec![root().join("README.md")];
    markdown(&root().join("docs"), &mut pages);
    assert!(pages.len() > 10);
    let mut broken = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let leads =
                to.exists() && (anchor.is_empty() || headings(&to).iter().any(|h| h == anchor));
            if !leads {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn cargo_run_at_the_root_runs_greenup() {
    let out = std::process::Command::new(env!("CARGO"))
        .current_dir(root())
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .output()
        .unwrap();
    let j: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let default = j["workspace_default_members"].as_array().unwrap();
    let packages = j["packages"].as_array().unwrap().iter();
    let binaries: Vec<&str> = packages
        .filter(|p| default.contains(&p["id"]))
        .flat_map(|p| p["targets"].as_array().unwrap())
        .filter(|t| t["kind"][0] == "bin")
        .map(|t| t["name"].as_str().unwrap())
        .collect();
    assert_eq!(binaries, ["greenup"]);
}

/// Every `greenup …` line of README and guide parses: no subcommand or flag is misspelt.
#[test]
fn every_command_of_the_guide_parses() {
    let mut pages = vec![root().join("README.md")];
    markdown(&root().join("docs"), &mut pages);
    let mut checked = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap().replace("\\\n", " ");
        for line in text.lines().filter(|l| l.starts_with("greenup ")) {
            let command = line.split(" #").next().unwrap();
            // What `run` runs begins behind `--`, or with the first quote.
            let quoted = command.starts_with("greenup run ") && !command.contains(" -- ");
            let end = if quoted { " '" } else { " -- " };
            let command = command.split(end).next().unwrap();
            // Quoted words may hold anything; the parser need not look into them.
            let unquoted: String = command.split('\'').step_by(2).collect::<Vec<_>>().join("x");
            let mut args: Vec<&str> = unquoted.split_whitespace().skip(1).collect();
            // `--help` at the end makes the parser accept any complete line, and refuse unknown
            // subcommands and flags before it.
            args.push("--help");
            let out = assert_cmd::Command::cargo_bin("greenup")
                .unwrap()
                .args(&args)
                .output()
                .unwrap();
            assert!(out.status.success(), "{}: {line}", page.display());
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}

/// Flags whose value is written.
const WRITES: [&str; 9] = [
    "-o",
    "--out",
    "--records",
    "--figure",
    "--points",
    "--export",
    "export",
    "--csv",
    "--name",
];

/// Every file that a command of README and guide reads is shipped, or written by a command above it; what needs
/// `greenup study` says so.
#[test]
fn every_file_of_the_guide_is_there() {
    let mut pages = vec![root().join("README.md")];
    markdown(&root().join("docs"), &mut pages);
    let mut checked = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap().replace("\\\n", " ");
        let mut written: Vec<String> = Vec::new();
        let mut template = String::new();
        for line in text.lines() {
            let command = line.split_once(" #").map_or(line, |(c, _)| c);
            let ours = line.starts_with("greenup ");
            let other = ["gisaxs ", "hydro ", "fmm "]
                .iter()
                .any(|b| line.starts_with(b));
            if !ours && !other {
                continue;
            }
            // What a command is measured with is the user's own.
            // What `run` runs begins behind `--`, or with the first quote.
            let quoted = command.starts_with("greenup run ") && !command.contains(" -- ");
            let end = if quoted { " '" } else { " -- " };
            let command = command.split(end).next().unwrap();
            let unquoted: String = command.split('\'').step_by(2).collect();
            let words: Vec<&str> = unquoted.split_whitespace().collect();
            for (before, word) in words.iter().zip(&words[1..]) {
                let path = word.split_once(':').map_or(*word, |(_, file)| file);
                let like_a_file = path.contains('/')
                    || [".toml", ".csv", ".cu", ".json", ".npy", ".ckpt", ".h5"]
                        .iter()
                        .any(|e| path.ends_with(e));
                if WRITES.contains(before) {
                    written.push(path.to_owned());
                } else if ours && like_a_file && !path.starts_with('-') {
                    let there = root().join(path).exists()
                        || written
                            .iter()
                            .any(|w| path == w || path.starts_with(&format!("{w}/")))
                        || path.starts_with("study/") && line.contains("after greenup study");
                    assert!(there, "{}: `{path}` in: {line}", page.display());
                    checked += 1;
                }
            }
            // A project that is tuned in its folder, or from outside.
            if ours && words[1] == "init" {
                template = format!("crates/cli/templates/{}/problem.toml", words[2]);
                written.extend([words[3], "problem.toml"].map(str::to_owned));
            }
            // A sweep lies in `sweeps/NAME`.
            if ours && words[1] == "tune" {
                let file = if root().join(words[2]).exists() {
                    words[2]
                } else {
                    &template
                };
                let problem = fs::read_to_string(root().join(file)).unwrap();
                let name = problem.parse::<toml::Table>().unwrap()["name"].clone();
                written.push(format!("sweeps/{}", name.as_str().unwrap()));
            }
        }
    }
    assert!(checked > 25, "{checked}");
}
