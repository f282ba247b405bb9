//! Commands next to a baseline.

use crate::commands::{PROBLEM, all, said, shell};
use assert_cmd::Command;
use serde_json::Value as J;

#[test]
fn the_best_config_is_compared_with_a_baseline() {
    let dir = shell();
    let text =
        format!("{PROBLEM}\n[baseline]\ncommand = 'sh other.sh {{n}}'\n[constants]\nn = 44\n");
    let text = text.replace(
        "[run.metrics.rate]",
        "environment = { TILE = '{tile}', N = '{n}' }\n[run.metrics.rate]",
    );
    std::fs::write(dir.path().join("p.toml"), &text).unwrap();
    // It prints no rate and other results, which are its own.
    let other = "echo \"t: $1 ms, $N$TILE\"; echo x >>runs";
    std::fs::write(dir.path().join("other.sh"), other).unwrap();
    let run = all(dir.path(), &["--json"]);
    assert!(run.status.success(), "{}", said(&run));
    let answer: J = serde_json::from_slice(&run.stdout).unwrap();
    let baseline = &answer["baseline"];
    // Means of as many runs as fit into a window: the last digit depends on how many those are.
    let is = |of: &J, value: f64| (of.as_f64().unwrap() - value).abs() < 1e-12;
    assert!(is(&baseline["time_s"]["median"], 0.044), "{answer}");
    // The best takes 11 ms.
    assert!(is(&baseline["time_ratio"]["median"], 0.25), "{answer}");
    assert!(is(&baseline["speedup"]["median"], 4.0), "{answer}");
    let facts = std::fs::read_to_string(dir.path().join("s/sweep.json")).unwrap();
    let facts: J = serde_json::from_str(&facts).unwrap();
    assert!(is(&facts["baseline"]["speedup"], 4.0), "{facts}");
    // Before the search as in a round, once before the rounds, and in each round; in no trial.
    let runs = std::fs::read_to_string(dir.path().join("runs")).unwrap();
    assert!((5..=40).contains(&runs.lines().count()), "{runs}");
    let table = all(dir.path(), &["--resume"]);
    let shown = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(shown.contains("baseline, in the same rounds"), "{shown}");
    let speedup = "speedup of the best config ×4";
    assert!(shown.contains(speedup), "{shown}");
    // The other commands show it too.
    let other = |args: &[&str]| {
        let mut c = Command::cargo_bin("greenup").unwrap();
        c.args(args).current_dir(dir.path()).output().unwrap()
    };
    let best = other(&["best", "s"]);
    assert_eq!(best.stdout, b"sh app.sh 1\n");
    assert!(said(&best).contains(speedup), "{}", said(&best));
    let best: J =
        serde_json::from_slice(&other(&["best", "s", "--format", "json"]).stdout).unwrap();
    assert!(is(&best["baseline"]["speedup"]["median"], 4.0), "{best}");
    let analysis = other(&["analyze", "s", "--out", "a"]);
    assert!(String::from_utf8_lossy(&analysis.stdout).contains(speedup));
    let page = std::fs::read_to_string(dir.path().join("a/report.html")).unwrap();
    assert!(page.contains("×4.000 the speed of the baseline"));
    let json: J = serde_json::from_slice(&other(&["analyze", "s", "--json"]).stdout).unwrap();
    assert!(is(&json["baseline"]["speedup"]["median"], 4.0), "{json}");
    // Another baseline is another experiment.
    std::fs::write(dir.path().join("p.toml"), text.replace("n = 44", "n = 45")).unwrap();
    assert!(!all(dir.path(), &["--resume"]).status.success());
}

#[test]
fn a_metric_is_compared_with_the_baselines_where_it_has_one() {
    let dir = shell();
    for (command, ratio) in [
        ("echo t: 44 ms, rate 33", Some(3.0)),
        ("echo t: 44 ms", None),
    ] {
        let text = format!("{PROBLEM}\n[baseline]\ncommand = '{command}'\n");
        std::fs::write(dir.path().join("p.toml"), text).unwrap();
        let run = all(dir.path(), &["--json", "--objective", "metric:rate"]);
        assert!(run.status.success(), "{}", said(&run));
        let answer: J = serde_json::from_slice(&run.stdout).unwrap();
        let found = answer["baseline"]["metric_ratio"]["median"].as_f64();
        assert_eq!(found.map(f64::round), ratio, "{answer}");
        let noted = said(&run).contains("the output of the baseline has no `rate`");
        assert_eq!(noted, ratio.is_none(), "{}", said(&run));
        let best = Command::cargo_bin("greenup").unwrap();
        let best = { best }
            .args(["best", "s"])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let shown = said(&best).contains("rate of the best config over the baseline's ×3");
        assert_eq!(shown, ratio.is_some(), "{}", said(&best));
        std::fs::remove_dir_all(dir.path().join("s")).unwrap();
    }
}

#[test]
fn wrong_baselines_are_refused_before_the_search() {
    let dir = shell();
    for (table, part) in [
        (
            "command = 'sh app.sh {tile}'",
            "names `tile`, which is no constant",
        ),
        ("command = 'sh app.sh 3'", "bad tile"),
        ("command = 'sh app.sh 7'", "time"),
        ("command = '{build}/x'", "the baseline has none"),
        ("command = 'no-such-program'", "no-such-program"),
        ("sources = ['a.c']", "belong to a kernel"),
        ("", "give its `command`"),
    ] {
        let text = format!("{PROBLEM}\n[baseline]\n{table}\n");
        std::fs::write(dir.path().join("p.toml"), text).unwrap();
        let run = all(dir.path(), &[]);
        assert!(!run.status.success(), "{table}");
        assert!(said(&run).contains(part), "{table}: {}", said(&run));
        // Nothing stays in the way of the next search.
        assert!(!dir.path().join("s/sweep.json").exists(), "{table}");
    }
    let text = format!("{PROBLEM}\n[baseline]\ncommand = 'sh app.sh 2'\n");
    std::fs::write(dir.path().join("p.toml"), text).unwrap();
    let run = all(dir.path(), &[]);
    assert!(run.status.success(), "{}", said(&run));
}
