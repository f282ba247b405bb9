//! Each flag of a run changes what it computes or writes, or is refused with the reason.

use super::fmm;
use serde_json::Value as J;
use std::path::Path;

/// What does not depend on the clock.
fn without_times(json: &J) -> J {
    match json {
        J::Object(map) => {
            let timeless =
                |k: &&String| !(k.ends_with("_s") || k.ends_with("times") || *k == "provenance");
            let kept = map.iter().filter(|(k, _)| timeless(k));
            J::Object(kept.map(|(k, v)| (k.clone(), without_times(v))).collect())
        }
        J::Array(list) => list.iter().map(without_times).collect(),
        other => other.clone(),
    }
}

/// What a command prints and writes, without its times; or why it is refused.
fn outcome(words: &str, out: &Path) -> Result<String, String> {
    let run = fmm(words).output().unwrap();
    if !run.status.success() {
        return Err(String::from_utf8(run.stderr).unwrap());
    }
    let json = without_times(&serde_json::from_slice(&run.stdout).unwrap());
    let file = std::fs::read_to_string(out).unwrap_or_default();
    Ok(format!("{json}\n{file}"))
}

#[test]
fn every_flag_of_a_run_has_an_effect_or_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("p.csv");
    // Operators of three digits are made in a moment, those of six of Stokes in seconds.
    let with = |flags: &str| {
        let base = "run -n 900 --seed 1 --no-wisdom --json --check 20 -o";
        let accuracy = if flags.contains("-a ") { "" } else { "-a 1e-3" };
        outcome(
            &format!("{base} {} {accuracy} {flags}", out.display()),
            &out,
        )
    };
    let before = with("--threads 1").unwrap();
    assert_eq!(with("--threads 1").unwrap(), before, "repeatable");
    for flags in [
        "--distribution plummer",
        "--kernel yukawa",
        "--kernel helmholtz",
        "--kernel stokes",
        "-a 1e-5",
        "--gradient",
        "--precision f32",
        "--order 5",
        "--ncrit 30",
        "--m2l compressed",
        "--measure",
        "--machine h200",
        "--ranks 2",
        "--ranks 2 --distributed",
    ] {
        assert_ne!(with(flags).unwrap(), before, "{flags} changes nothing");
    }
    for (flags, than) in [
        ("--kernel yukawa --kappa 2", "--kernel yukawa"),
        ("--kernel helmholtz --k 2", "--kernel helmholtz"),
        ("--kernel stokes --mu 3", "--kernel stokes"),
    ] {
        assert_ne!(with(flags).unwrap(), with(than).unwrap(), "{flags}");
    }
    for (flags, why) in [
        ("--kappa 2", "a parameter of --kernel yukawa"),
        ("--k 2", "a parameter of --kernel helmholtz"),
        ("--mu 2", "a parameter of --kernel stokes"),
        ("--kernels threads=64", "no effect on CPUs"),
        ("--precision f32 -a 1e-9", "f32 reach"),
        ("--width 300", "no figure"),
        ("--dpi 300", "no figure"),
        ("--style dark", "no figure"),
    ] {
        let e = with(flags).unwrap_err();
        assert!(e.contains(why), "{flags}: {e}");
    }
}

#[test]
fn flags_of_other_commands_have_an_effect_or_a_reason() {
    let none = Path::new("/nonexistent");
    for (base, changed) in [
        (
            "nbody -n 60 --json",
            &[
                "--steps 3",
                "--seed 2",
                "--distribution sphere",
                "--dt 0.02",
                "--spin 0.5",
                "--ncrit 10",
            ][..],
        ),
        (
            "lists -n 900 --json",
            &["--distribution plummer", "--ncrit 30"],
        ),
        (
            "direct -n 500 --json",
            &["--gradient", "--precision f32", "--kernel stokes"],
        ),
    ] {
        let before = outcome(base, none).unwrap();
        for flags in changed {
            let after = outcome(&format!("{base} {flags}"), none).unwrap();
            assert_ne!(after, before, "{base} {flags}");
        }
    }
    for flags in ["-a 1e-3", "--order 5", "--ncrit 30", "--kernels threads=64"] {
        let e = outcome(&format!("direct -n 500 --json {flags}"), none).unwrap_err();
        assert!(e.contains("no effect on direct sums on CPUs"), "{e}");
    }
}
