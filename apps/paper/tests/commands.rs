//! The command: its list, its files.

use greenup_testing::examples::Plan;
use greenup_testing::skipped;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// The command with its arguments.
fn command(args: &[&str]) -> Command {
    let mut c = Command::new(assert_cmd::cargo::cargo_bin!("greenup-paper"));
    c.args(args);
    c
}

/// Standard output of a command that must succeed.
fn ok(args: &[&str]) -> String {
    greenup_testing::text(&greenup_testing::succeeds(&mut command(args)).stdout)
}

/// Standard error of a command that must fail.
fn fails(args: &[&str]) -> String {
    greenup_testing::fails(&mut command(args))
}

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&ok(args)).expect("JSON")
}

const EXAMPLES: Plan = Plan {
    elsewhere: &[("--measure", "minutes of measurements")],
    slow: &["beast --out"],
    instead: &[],
    pages: &["docs/commands.md", "docs/papers.md"],
};

greenup_testing::tests_of_examples!("greenup-paper", "greenup paper", EXAMPLES);

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn every_row_has_a_state_a_reason_and_a_command() {
    let rows = json(&["--list", "--json"]);
    let rows = rows.as_array().unwrap();
    assert!(rows.len() > 100, "{}", rows.len());
    let states = ["reproduced", "other hardware", "part", "not possible"];
    let mut papers = BTreeSet::new();
    for row in rows {
        let text = |key: &str| row[key].as_str().filter(|t| !t.is_empty()).unwrap();
        papers.insert(text("paper"));
        assert!(states.contains(&text("state")), "{row}");
        for key in ["item", "why", "command"] {
            text(key);
        }
    }
    assert_eq!(papers.len(), 5);
    let shown = ok(&["--list"]);
    assert!(shown.contains("beast") && shown.contains("not possible"));
    let one = json(&["slides", "--list", "--json"]);
    assert!(one.as_array().unwrap().len() < rows.len());
}

#[test]
fn one_figure_is_written_whole_and_nothing_of_the_user_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let root = ROOT;
    let draw = |figure: &str| {
        let to = out.to_str().unwrap();
        command(&["slides", "--figure", figure, "--out", to, "--records", root])
            .output()
            .unwrap()
    };
    assert!(draw("36").status.success());
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("Slide 36") && !page.contains("Slide 54"));
    let numbers: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("numbers.json")).unwrap()).unwrap();
    assert_eq!(numbers["items"][0]["state"], "reproduced");
    let png = fs::read(out.join("figures/slide-36.png")).unwrap();
    assert_eq!(&png[1..4], b"PNG");
    // A later run replaces what this one made, and only that.
    fs::write(out.join("figures/mine.png"), "mine").unwrap();
    assert!(draw("54").status.success());
    let figures = |name: &str| out.join("figures").join(name).exists();
    assert!(figures("slide-54.png") && figures("mine.png") && !figures("slide-36.png"));
    // A folder of the user.
    fs::write(out.join("notes.txt"), "mine").unwrap();
    let e = String::from_utf8(draw("36").stderr).unwrap();
    assert!(e.contains("notes.txt") && e.contains("new folder"), "{e}");
    assert!(figures("slide-54.png"));
    let foreign = dir.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("index.html"), "mine").unwrap();
    let to = foreign.to_str().unwrap();
    let e = fails(&["slides", "--out", to, "--records", root]);
    assert!(e.contains("index.html"), "{e}");
    assert_eq!(
        fs::read_to_string(foreign.join("index.html")).unwrap(),
        "mine"
    );
}

#[test]
fn unknown_figures_and_missing_records_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("out");
    let to = to.to_str().unwrap();
    let e = fails(&["beast", "--figure", "77", "--out", to]);
    assert!(e.contains("no figure `77`") && e.contains("fig-5"), "{e}");
    assert!(!dir.path().join("out").exists());
    let none = dir.path().to_str().unwrap();
    let e = fails(&["beast", "--figure", "5", "--out", to, "--records", none]);
    assert!(
        e.contains("dgemm_h200 is missing") && e.contains("--records"),
        "{e}"
    );
    let refused = |args: &[&str]| greenup_testing::is_refused(&mut command(args));
    assert!(refused(&["beast"]).contains("--out"));
    assert!(refused(&["--out", to]).contains("PAPER"));
    assert!(refused(&["beats", "--out", to]).contains("beast"));
}

#[test]
fn what_no_command_measures_is_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("out");
    let (to, root) = (to.to_str().unwrap(), ROOT);
    let measure = |figure: &str| {
        let all = ["slides", "--figure", figure, "--measure", "--out", to];
        fails(&[&all[..], &["--records", root]].concat())
    };
    let e = measure("36");
    assert!(
        e.contains("measured by a command") && e.contains("--measure"),
        "{e}"
    );
    assert!(!dir.path().join("out/index.html").exists());
}

/// An item whose record another program makes in a moment, into a folder of its own; a second run measures nothing again.
#[test]
fn an_item_is_measured_once_and_drawn_from_its_new_record() {
    let beside = assert_cmd::cargo::cargo_bin!("greenup-paper");
    if ["fmm", "hydro"]
        .iter()
        .any(|p| !beside.with_file_name(p).exists())
    {
        skipped("the applications are not built beside it; --workspace builds them");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (paper, figure, record) in [
        ("thesis", "18", "docs/results/data/fmm/lists.json"),
        ("blast", "8", "docs/results/data/hydro/blast/parts.json"),
    ] {
        let out = dir.path().join(paper);
        let run = || {
            let mut c = command(&[paper, "--figure", figure, "--measure", "--out"]);
            let done = c.arg(&out).current_dir(ROOT).output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(done.status.success(), "{said}");
            said
        };
        let ended = || fs::read_to_string(out.join("measured/measured.jsonl")).unwrap();
        assert!(run().contains(record));
        assert!(out.join("measured").join(record).is_file());
        let first = ended();
        assert_eq!(first.lines().count(), 1, "{first}");
        run();
        assert_eq!(ended(), first);
    }
}
