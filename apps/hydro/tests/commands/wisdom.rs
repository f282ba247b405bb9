//! `hydro run --tune` keeps its winner, and later runs begin with it.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn run(store: &Path, args: &str) -> Value {
    let all = "run --problem 1 --mesh square01_quad --refine 1 --json";
    let run = Command::new(env!("CARGO_BIN_EXE_hydro"))
        .args(all.split(' ').chain(args.split(' ')))
        .env("GREENUP_WISDOM", store)
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    serde_json::from_slice(&run.stdout).unwrap()
}

#[test]
fn tuned_kernels_are_kept_and_used() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store.toml");
    let messages = |v: &Value| v["messages"].to_string();
    let plain = run(&store, "--steps 3");
    assert!(!messages(&plain).contains("wisdom"), "{plain}");
    // Enough steps for all instruction sets.
    run(&store, "--steps 40 --tune --period 1");
    let text = std::fs::read_to_string(&store).unwrap();
    assert!(
        text.contains("hydro_step") && text.contains("kernels for"),
        "{text}"
    );
    let tuned = run(&store, "--steps 3");
    assert!(
        messages(&tuned).contains("wisdom of this device"),
        "{tuned}"
    );
    let near = |name: &str| {
        let of = |v: &Value| v[name].as_f64().unwrap();
        (of(&plain) - of(&tuned)).abs() <= 1e-9 * of(&plain).abs()
    };
    assert!(near("internal") && near("kinetic"), "{tuned}");
    for other in [
        "--steps 3 --no-wisdom",
        "--steps 3 --reproducible",
        "--steps 3 --assembly full",
    ] {
        assert!(!messages(&run(&store, other)).contains("wisdom"), "{other}");
    }
}
