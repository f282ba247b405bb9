//! `greenup sweeps show` of recorded sweeps.

use crate::common::{command, fails, json, ok, repository};
use serde_json::Value as J;

#[test]
fn a_recorded_sweep_is_shown_as_it_is_listed() {
    let root = repository("");
    let run = |args: &[&str]| {
        let out = greenup_testing::succeeds(command(args).current_dir(&root));
        serde_json::from_slice::<J>(&out.stdout).unwrap()
    };
    for listed in run(&["sweeps", "list", "--json"]).as_array().unwrap() {
        let name = listed["path"]
            .as_str()
            .unwrap()
            .strip_prefix("sweeps/")
            .unwrap();
        // By its name in the folder sweeps.
        let shown = run(&["sweeps", "show", name, "--json", "--best", "3"]);
        for (key, value) in listed.as_object().unwrap() {
            assert_eq!(&shown[key], value, "{name} {key}");
        }
        let by_kind = shown["failures"].as_object().unwrap().values();
        let failed: u64 = by_kind.map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(J::from(failed), listed["failed"], "{name}");
        let best = shown["best"].as_array().unwrap();
        assert_eq!(best.len(), 3, "{name}");
        for b in best {
            let (time, around) = (b["time_s"].as_f64().unwrap(), &b["time_interval_s"]);
            if let Some(lo) = around[0].as_f64() {
                assert!(
                    lo <= time && time <= around[1].as_f64().unwrap(),
                    "{name}: {b}"
                );
            }
        }
    }
}

#[test]
fn what_is_shown_says_how_it_was_measured() {
    let sweep = repository("sweeps/dgemm_h200");
    let shown = json(&["sweeps", "show", &sweep, "--json"]);
    assert_eq!(shown["best"][0]["measured_again"], true);
    assert!(shown["best"][0]["energy_interval_j"][0].as_f64().unwrap() > 0.0);
    assert!(
        shown["facts"]["command"]
            .as_str()
            .unwrap()
            .starts_with("tune ")
    );
    let text = ok(&["sweeps", "show", &sweep]);
    for part in [
        "NVIDIA H200",
        "measured again, interleaved",
        "energy",
        "command     tune ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let e = fails(&["sweeps", "show", "no-such-sweep"]);
    assert!(
        e.contains("no sweep no-such-sweep") && e.contains("sweeps list"),
        "{e}"
    );
    let e = fails(&["sweeps", "show", &repository("docs")]);
    assert!(e.contains("holds no sweep"), "{e}");
}
