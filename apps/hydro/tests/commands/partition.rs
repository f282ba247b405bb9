//! `--partition`: METIS, where it is built in.

use super::common::BIN;
use greenup_testing::fails;
use std::process::Command;

fn hydro(words: &str) -> Command {
    let mut command = Command::new(BIN);
    command.args(words.split_whitespace());
    command
}

const TRIANGLES: &str = "run --problem 1 --mesh square01_tri --refine 3 --steps 3";

#[cfg(not(feature = "metis"))]
#[test]
fn a_build_without_metis_says_so() {
    let e = fails(&mut hydro(&format!(
        "{TRIANGLES} --ranks 3 --partition metis"
    )));
    assert!(
        e.contains("--features metis") && e.contains("--partition bisection"),
        "{e}"
    );
}

#[cfg(feature = "metis")]
#[test]
fn parts_by_metis_have_the_digits_of_one_rank() {
    use greenup_testing::mpi::{launchers, with_ranks};
    use greenup_testing::{succeeds, text};
    use serde_json::Value;
    let json = |mut command: Command| -> Value {
        let out = text(&succeeds(&mut command).stdout);
        serde_json::from_str(out.trim()).unwrap()
    };
    let one = json(hydro(&format!("{TRIANGLES} --json")));
    let agrees = |some: &Value| {
        for key in ["steps", "rejected", "zones", "unknowns"] {
            assert_eq!(one[key], some[key], "{key}");
        }
        for key in ["t", "dt", "internal", "kinetic", "e_norm"] {
            let [x, y] = [&one, some].map(|v| v[key].as_f64().unwrap());
            assert!((x - y).abs() <= 1e-12 * x.abs().max(1.0), "{key} {x} {y}");
        }
    };
    let by_metis = format!("{TRIANGLES} --partition metis");
    for ranks in [2, 3, 5] {
        agrees(&json(hydro(&format!("{by_metis} --json --ranks {ranks}"))));
    }
    // The first process decides for all.
    for launcher in launchers() {
        agrees(&json(with_ranks(
            launcher,
            3,
            &hydro(&format!("{by_metis} --json")),
        )));
    }
    let mut absent = hydro(&format!("{by_metis} --ranks 2"));
    let e = fails(absent.env("GREENUP_METIS", "/nowhere/libmetis.so"));
    assert!(
        e.contains("libmetis5") && e.contains("GREENUP_METIS"),
        "{e}"
    );
    let e = fails(&mut hydro(
        "run --mesh 8x8 --steps 1 --ranks 2 --partition metis",
    ));
    assert!(e.contains("is a box"), "{e}");
}
