//! What the guide tells to type is understood.

use assert_cmd::Command;
use std::path::Path;

/// Every `gisaxs …` line of README, guide and help parses: no subcommand or flag is misspelt.
#[test]
fn every_command_of_the_guide_parses() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let help = Command::new(env!("CARGO_BIN_EXE_gisaxs"))
        .arg("--help")
        .output()
        .unwrap();
    let mut texts = vec![String::from_utf8(help.stdout).unwrap()];
    let pages = std::fs::read_dir(root.join("docs/gisaxs")).unwrap();
    let pages = pages.map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|e| e == "md"));
    let named = ["README.md", "docs/commands.md", "docs/gisaxs.md"].map(|page| root.join(page));
    for page in named.into_iter().chain(pages) {
        texts.push(std::fs::read_to_string(page).unwrap());
    }
    let mut checked = 0;
    for line in texts.iter().flat_map(|t| t.lines()).map(str::trim) {
        let Some(rest) = line.strip_prefix("gisaxs ") else {
            continue;
        };
        let command = rest.split(" #").next().unwrap();
        let out = Command::new(env!("CARGO_BIN_EXE_gisaxs"))
            .args(command.split_whitespace())
            .arg("--help")
            .output()
            .unwrap();
        assert!(out.status.success(), "{line}");
        checked += 1;
    }
    assert!(checked > 15, "{checked}");
}
