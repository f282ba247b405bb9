//! Commands over problem size.

use crate::commands::{all, said};
use serde_json::Value as J;
use std::fs;
use std::process::Output;

const PROBLEM: &str = r#"
name = "sized"
[constants]
n = 10
other = 1
[parameters]
tile = [1, 2]
[run]
command = "sh app.sh {n} {tile}"
time = { regex = 't: (\S+)' }
[run.expect]
file = "right-{n}.txt"
lines = "sum"
[baseline]
command = "echo t: {n}"
[measure]
seconds = 0.001
"#;

fn scale(dir: &std::path::Path, over: &str) -> Output {
    let mut c = crate::common::command(&["scale", "p.toml", "--sweep", "s", "--sensor", "none"]);
    c.args(["--over", over]).current_dir(dir).output().unwrap()
}

#[test]
fn a_command_is_measured_over_a_constant_that_it_takes() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.toml"), PROBLEM).unwrap();
    fs::write(
        dir.path().join("app.sh"),
        "echo t: $(($1 * $2)); echo sum $1",
    )
    .unwrap();
    for n in [10, 20] {
        fs::write(
            dir.path().join(format!("right-{n}.txt")),
            format!("sum {n}\n"),
        )
        .unwrap();
    }
    let o = all(dir.path(), &[]);
    assert!(o.status.success(), "{}", said(&o));
    let o = scale(dir.path(), "n=10,20");
    assert!(o.status.success(), "{}", said(&o));
    let text = fs::read_to_string(dir.path().join("s/scaling.json")).unwrap();
    let sizes: J = serde_json::from_str(&text).unwrap();
    for (i, n) in [(0, 10.0), (1, 20.0)] {
        let trial = &sizes["sizes"][i]["trials"][0];
        assert_eq!(trial["measured"]["time_s"], n, "{sizes}");
        assert_eq!(trial["metrics"]["baseline_s"], n, "{sizes}");
    }
    fs::write(dir.path().join("right-20.txt"), "sum 21").unwrap();
    let o = scale(dir.path(), "n=10,20");
    let why = "no config works at n = 20: wrong: line 1: 20 is not 21";
    assert!(said(&o).contains(why), "{}", said(&o));
    for (over, why) in [
        ("other=1,2", "the commands are the same at other = 1 and 2"),
        ("n=10,30", "there is no file right-30.txt"),
    ] {
        let o = scale(dir.path(), over);
        assert!(!o.status.success());
        assert!(said(&o).contains(why), "{}", said(&o));
    }
}
