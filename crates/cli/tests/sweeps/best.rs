//! `greenup best`: the winner of a sweep in every form, and sweeps without one.

use crate::common::{fails, greenup, json, ok, problem, repository};
use crate::sweep::tune;
use greenup_testing::{succeeds, text};
use std::fs;

/// A sweep folder of these trials.
fn sweep(dir: &std::path::Path, trials: &str) -> String {
    let facts = r#"{"format":"greenup-sweep/1","name":"demo","device":"d","parameters":["tile","simd"],"objective":"time","verified":true}"#;
    fs::create_dir_all(dir).unwrap();
    fs::write(dir.join("sweep.json"), facts).unwrap();
    fs::write(dir.join("trials.jsonl"), trials).unwrap();
    dir.display().to_string()
}

const MEASURED: &str = r#"{"config":[8,true],"measured":{"times_s":[2.0],"time_s":2.0,"energy_j":3.0}}
{"config":[4,false],"measured":{"times_s":[4.0],"time_s":4.0,"energy_j":1.5}}
"#;
const FAILED: &str = r#"{"config":[8,true],"failed":{"failure":"wrong","message":"m"}}
"#;

#[test]
fn a_folder_of_sweeps_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().display().to_string();
    let e = fails(&["best", &folder]);
    assert!(
        e.contains("holds no sweep\n") && e.contains("greenup sweeps list"),
        "{e}"
    );
    for k in 0..7 {
        sweep(&dir.path().join(format!("s{k}")), MEASURED);
    }
    for command in ["analyze", "best", "replay"] {
        let e = fails(&[command, &folder]);
        let named = "holds no sweep; sweeps in it: s0, s1, s2, s3, s4 and 2 more";
        assert!(e.contains(named) && e.contains("name one of them"), "{e}");
    }
}

#[test]
fn the_winner_has_every_form() {
    let dir = tempfile::tempdir().unwrap();
    let s = sweep(&dir.path().join("s"), MEASURED);
    assert_eq!(ok(&["best", &s]), "-Dtile=8 -Dsimd=1\n");
    assert_eq!(
        ok(&["best", &s, "--objective", "energy", "--format", "flags"]),
        "-Dtile=4 -Dsimd=0\n"
    );
    let j = json(&["best", &s, "--format", "json"]);
    let want =
        serde_json::json!({"config": {"tile": 8, "simd": true}, "time_s": 2.0, "energy_j": 3.0});
    assert_eq!(j, want);
    let t: toml::Table = ok(&["best", &s, "--format", "toml"]).parse().unwrap();
    assert_eq!(t["config"]["simd"].as_bool(), Some(true));
    // A compiler reads the header and the flags alike.
    let header = dir.path().join("tuned.h");
    let shown = header.display().to_string();
    assert_eq!(ok(&["best", &s, "--format", "header", "-o", &shown]), "");
    let source = dir.path().join("a.c");
    let text =
        "#include \"tuned.h\"\n#include \"tuned.h\"\n#if tile != 8 || !simd\n#error no\n#endif\n";
    fs::write(&source, text).unwrap();
    let mut cc = std::process::Command::new("cc");
    succeeds(cc.arg("-fsyntax-only").arg(&source));
}

#[test]
fn sweeps_without_a_winner_and_inputs_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let failed = sweep(&dir.path().join("failed"), FAILED);
    let e = fails(&["best", &failed]);
    assert!(
        e.contains("no trial of the sweep succeeded: 1 wrong") && e.contains("trials.jsonl"),
        "{e}"
    );
    let empty = sweep(&dir.path().join("empty"), "");
    assert!(fails(&["best", &empty]).contains("no trials"));
    let no_energy = MEASURED
        .replace(r#","energy_j":3.0"#, "")
        .replace(r#","energy_j":1.5"#, "");
    let s = sweep(&dir.path().join("time"), &no_energy);
    let e = fails(&["best", &s, "--objective", "energy"]);
    assert!(e.contains("has no energies") && e.contains("doctor"), "{e}");
    assert!(json(&["best", &s, "--format", "json"])["energy_j"].is_null());
    let own = format!("{s}/trials.jsonl");
    fails(&["best", &s, "-o", &own]);
    assert_eq!(fs::read_to_string(own).unwrap(), no_energy);
    fails(&["best", &dir.path().join("none").display().to_string()]);
}

#[test]
fn constants_and_flags_stand_in_the_sweep_and_derived_values_in_the_problem() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(dir.path());
    let with_derived = fs::read_to_string(&p).unwrap() + "[derived]\ndouble_size = \"2 * size\"\n";
    fs::write(&p, with_derived).unwrap();
    let out = dir.path().join("sweep");
    let set = ["--budget", "3", "--measure", "0.01", "--set", "size=1000"];
    succeeds(&mut tune(&p, &out, &set));
    let (p, out) = (p.display().to_string(), out.display().to_string());
    let alone = ok(&["best", &out]);
    let all = ok(&["best", &out, "--problem", &p]);
    // The constant that was set by hand holds, and what is derived from it.
    assert!(
        alone.contains("-Dsize=1000") && all.contains("-Ddouble_size=2000"),
        "{all}, {alone}"
    );
    let said = text(&greenup(&["best", &out]).stderr);
    assert!(
        said.contains("`double_size`") && said.contains("--problem"),
        "{said}"
    );
    let words: Vec<&str> = all.split_whitespace().collect();
    assert!(
        alone.split_whitespace().all(|w| words.contains(&w)),
        "{all}, {alone}"
    );
    // The kernel is built by what is printed alone.
    assert!(
        alone.contains("-Dsize=") && alone.starts_with("-O"),
        "{alone}"
    );
    let header = ok(&["best", &out, "--format", "header"]);
    assert!(
        header.contains("#define size ") && header.contains(" * flags: -O"),
        "{header}"
    );
    let other = repository("examples/stencil/problem.toml");
    assert!(fails(&["best", &out, "--problem", &other]).contains("are not those of"));
}
