//! Kernels with their data, right results and times from outside: answers in files, a check command, a returned time.

use super::commands::{said, tune};
use std::fs;
use std::path::Path;

const PROBLEM: &str = r#"
name = "scale"
[parameters]
tile = [1, 2, 3, 4, 5, 6]
[build]
sources = ["k.c"]
entry = "scale"
flags = ["-O1"]
returns = "ms"
[[arguments]]
name = "y"
type = "u16"
size = 4
fill = "file:y.bin"
role = "inout"
answer = { file = "right.bin", atol = 1 }
[[arguments]]
name = "x"
type = "u16"
size = 4
fill = "file:x.bin"
role = "scratch"
[[arguments]]
name = "n"
type = "u8"
value = 4
[check]
command = "sh check.sh {outputs} {tile}"
[measure]
seconds = 0.001
timeout = 5.0
drift = false
"#;

/// Adds to what is there, changes its scratch array, and returns a made-up time.
const KERNEL: &str = r"
#include <stdint.h>
float scale(uint16_t *y, uint16_t *x, uint8_t n) {
    for (int i = 0; i < n; i++) y[i] += 2 * x[i];
    if (tile == 2) y[3] += 1;
    if (tile == 3) y[3] += 2;
    static int runs; runs++;
    if (tile == 5 && runs > 1) y[0] = 0;
    return tile == 6 ? 0.0f : tile;
}
";

fn bytes(of: [u16; 4]) -> Vec<u8> {
    of.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

fn write(dir: &Path, problem: &str) {
    fs::write(dir.join("p.toml"), problem).unwrap();
    fs::write(dir.join("k.c"), KERNEL).unwrap();
    fs::write(dir.join("y.bin"), bytes([1, 1, 1, 1])).unwrap();
    fs::write(dir.join("x.bin"), bytes([1, 2, 3, 4])).unwrap();
    fs::write(dir.join("right.bin"), bytes([3, 5, 7, 9])).unwrap();
    let check = "cmp -n 6 \"$1/y.bin\" right.bin || exit 1; [ ! -e \"$1/x.bin\" ] || exit 2; [ $2 != 4 ] || { echo not four >&2; exit 3; }";
    fs::write(dir.join("check.sh"), check).unwrap();
}

#[test]
fn answers_checks_and_returned_times() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), PROBLEM);
    let short = ["--budget", "100%", "--strategy", "exhaustive", "--out", "s"];
    let out = tune(dir.path(), &[&short[..], &["--finalists", "0"]].concat());
    assert!(out.status.success(), "{}", said(&out));
    let trials = fs::read_to_string(dir.path().join("s/trials.jsonl")).unwrap();
    let of = |tile: i64| {
        let all = trials
            .lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
        all.into_iter().find(|t| t["config"][0] == tile).unwrap()
    };
    // Its own time counts, whatever the clock says; an element may be wrong by one.
    for tile in [1, 2] {
        let time = of(tile)["measured"]["time_s"].as_f64().unwrap();
        assert!((time / (1e-3 * tile as f64) - 1.0).abs() < 1e-6, "{time}");
    }
    let failed = |tile: i64| {
        let t = of(tile);
        let text = |key: &str| t["failed"][key].as_str().unwrap_or_default().to_owned();
        (text("failure"), text("message"))
    };
    let (kind, message) = failed(3);
    assert_eq!(kind, "wrong");
    assert!(
        message.contains("`y`[3] is 11, the answer has 9"),
        "{message}"
    );
    let (kind, message) = failed(4);
    assert_eq!(kind, "wrong");
    assert!(
        message.contains("the check ended with code 3: not four"),
        "{message}"
    );
    let (kind, message) = failed(5);
    assert_eq!(kind, "wrong");
    assert!(message.contains("again after the measurement"), "{message}");
    let (kind, message) = failed(6);
    assert_eq!(kind, "runtime");
    assert!(message.contains("must be positive"), "{message}");
}

#[test]
fn what_cannot_be_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (from, to, expected) in [
        (
            "atol = 1 }",
            "atol = -1 }",
            "atol and rtol are finite numbers",
        ),
        (
            "role = \"inout\"",
            "role = \"scratch\"",
            "role of the array must be out or inout",
        ),
        ("value = 4", "value = 4\nsymbol = \"n\"", "are for arrays"),
        (
            "role = \"scratch\"",
            "role = \"scratch\"\nsymbol = \"w\"",
            "has a `symbol`, but the language is not cuda",
        ),
        (
            "{outputs} {tile}",
            "{outputs} {tlie}",
            "{tlie} is no constant",
        ),
        ("returns = \"ms\"", "returns = \"hours\"", "hours"),
        ("type = \"u16\"", "type = \"uint8\"", "did you mean u8"),
        ("fill = \"file:x.bin\"", "", "random(LO, HI)"),
    ] {
        write(dir.path(), &PROBLEM.replace(from, to));
        let out = tune(dir.path(), &["--budget", "1", "--out", "none"]);
        assert!(!out.status.success());
        assert!(said(&out).contains(expected), "{to}: {}", said(&out));
    }
    // A file of another size is no kernel's fault: nothing is recorded.
    write(dir.path(), PROBLEM);
    fs::write(dir.path().join("right.bin"), [0; 3]).unwrap();
    let out = tune(dir.path(), &["--budget", "1", "--out", "none"]);
    assert!(!out.status.success());
    assert!(
        said(&out).contains("right.bin has 3 bytes, `y` needs 8"),
        "{}",
        said(&out)
    );
}
