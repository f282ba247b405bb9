//! `greenup regions`.

use crate::common::{command, fails, file, json, ok};
use greenup_testing::{succeeds, text};
use serde_json::json as value;

fn summary(host: &str, rank: u32, seconds: f64, joules: Option<f64>) -> String {
    let map = |x: f64| joules.map(|_| value!({"nvml:0:energy": x}));
    let region = |path: &[&str], calls: u64, s: f64| {
        value!({
            "path": path, "calls": calls, "threads": 1, "inclusive_s": s, "exclusive_s": 0.5 * s,
            "min_s": 0.1, "max_s": 0.2, "joules": map(joules.unwrap_or(0.0) * s),
            "exclusive_joules": map(1.0), "watts": map(joules.unwrap_or(0.0))
        })
    };
    let sensors = match joules {
        Some(j) => {
            value!([{"id": "nvml:0:energy", "scope": "GPU", "tick_s": 0.1, "ticks": 50, "joules": 10.0 * j, "cause": null}])
        }
        None => value!([]),
    };
    value!({
        "type": "summary", "greenup_regions": 1, "program": "app", "host": host, "pid": 100 + rank, "rank": rank,
        "start_unix_ns": 1_000_000_000u64 * u64::from(rank + 1), "final": true, "wall_s": 10.0,
        "sensors": sensors, "problems": [], "notes": [],
        "regions": [region(&["solve"], 1, seconds), region(&["solve", "step"], 10, 0.5 * seconds)]
    })
    .to_string()
}

#[test]
fn one_process_is_shown_as_it_printed_itself() {
    let dir = tempfile::tempdir().unwrap();
    let f = file(dir.path(), "a.jsonl", &summary("x", 0, 4.0, Some(300.0)));
    let out = ok(&["regions", &f]);
    assert!(
        out.contains("greenup regions of app (process 100 on x, rank 0)"),
        "{out}"
    );
    let row = out.lines().find(|l| l.starts_with("   step ")).unwrap();
    assert!(
        row.contains("2.000 s") && row.contains("600.0") && row.contains("300.0"),
        "{row}"
    );
}

#[test]
fn ranks_are_put_together() {
    let dir = tempfile::tempdir().unwrap();
    let lines = [
        summary("x", 0, 4.0, Some(300.0)),
        summary("x", 1, 8.0, Some(300.0)),
    ];
    let a = file(dir.path(), "a.jsonl", &lines.join("\n"));
    let b = file(dir.path(), "b.jsonl", &summary("y", 2, 4.0, Some(100.0)));
    let m = json(&["regions", &a, &b, "--json"]);
    assert_eq!(m["processes"].as_array().unwrap().len(), 3);
    let solve = &m["regions"][0];
    assert_eq!(
        (solve["inclusive_s"].as_f64(), solve["processes"].as_u64()),
        (Some(16.0), Some(3))
    );
    // Two ranks of one host see one device.
    assert_eq!(
        solve["joules"]["nvml:0:energy"].as_f64(),
        Some(2400.0 + 400.0)
    );
    let out = succeeds(&mut command(&["regions", &a, &b]));
    assert!(text(&out.stdout).contains("regions of 3 processes on 2 hosts"));
    assert!(text(&out.stderr).contains("solve: from 4.00 s to 8.00 s in 3 processes"));
    let each = ok(&["regions", &a, &b, "--each"]);
    assert_eq!(each.matches("greenup regions of app").count(), 3);
}

#[test]
fn broken_lines_are_said_and_other_files_refused() {
    let dir = tempfile::tempdir().unwrap();
    let content = format!("{}\n{{\"type\":\"reg", summary("x", 0, 4.0, None));
    let f = file(dir.path(), "a.jsonl", &content);
    let out = succeeds(&mut command(&["regions", &f]));
    assert!(
        text(&out.stderr).contains("a line was skipped"),
        "{}",
        text(&out.stderr)
    );
    assert!(text(&out.stdout).contains("seconds only"));
    let other = file(dir.path(), "b.txt", "hello\n");
    assert!(fails(&["regions", &other]).contains("b.txt, line 1"));
    let empty = file(dir.path(), "c.txt", "");
    assert!(fails(&["regions", &empty]).contains("no regions"));
    assert!(fails(&["regions", "/no/such"]).contains("/no/such"));
}

#[test]
fn the_header_is_installed_and_other_files_stay() {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("to");
    let run = || {
        command(&["regions", "--install", to.to_str().unwrap()])
            .output()
            .unwrap()
    };
    let first = run();
    let header = to.join("include/greenup.h");
    assert!(
        std::fs::read_to_string(&header)
            .unwrap()
            .contains("greenup_region_begin")
    );
    assert!(to.join("include/greenup.f90").exists());
    // The library is there where it was built next to the command.
    let built = to.join("lib/libgreenup_regions.so").exists();
    assert_eq!(first.status.success(), built);
    assert_eq!(to.join("lib/pkgconfig/greenup-regions.pc").exists(), built);
    let said = format!("{}{}", text(&first.stdout), text(&first.stderr));
    assert!(
        said.contains(if built {
            "-lgreenup_regions"
        } else {
            "cargo build --release"
        }),
        "{said}"
    );
    std::fs::write(&header, "mine").unwrap();
    let again = run();
    assert!(
        text(&again.stderr).contains("exists and differs"),
        "{}",
        text(&again.stderr)
    );
    assert_eq!(std::fs::read(&header).unwrap(), b"mine");
}

#[cfg(target_os = "linux")]
#[test]
fn devices_and_pipes_are_no_files_of_regions() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    for path in ["/dev/zero", fifo.to_str().unwrap()] {
        assert!(
            fails(&["regions", path]).contains("not a plain file"),
            "{path}"
        );
    }
}
