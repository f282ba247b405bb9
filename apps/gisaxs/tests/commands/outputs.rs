//! Outputs are whole or not there, also on a full disk, after a kill and after an interrupt.

use super::bench::{Bench, error};
use greenup_testing::{
    at_a_terminal, fails, is_ended_by, on_a_full_disk, started, succeeds, unfinished,
    wait_until_handled,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Every command that writes, without its output, and the endings it knows.
const WRITERS: [(&str, &[&str]); 4] = [
    (
        "simulate small.toml",
        &["csv", "npy", "npz", "tif", "svg", "png", "pdf", "html"],
    ),
    (
        "form-factor shape.toml --grid 0 -2:2:160 0:2:160",
        &["csv", "npy"],
    ),
    (
        "reflectivity film.toml --angles angles.csv",
        &["csv", "svg", "png", "pdf"],
    ),
    ("fit fit.toml", &["svg", "png", "pdf", "html"]),
];

fn writers() -> impl Iterator<Item = (String, String)> {
    WRITERS.into_iter().flat_map(|(args, endings)| {
        endings.iter().map(move |e| {
            let out = format!("out.{e}");
            (format!("{args} -o {out}"), out)
        })
    })
}

#[test]
fn a_full_disk_leaves_the_older_file() {
    let bench = Bench::new();
    for (args, out) in writers() {
        for blocks in [0, 2] {
            bench.put(&out, "old");
            let limited = || on_a_full_disk(&bench.command(&args), blocks);
            let said = fails(&mut limited());
            assert!(
                said.contains("cannot be written") && said.contains("hint:"),
                "{said}"
            );
            assert_eq!(fs::read(bench.at(&out)).unwrap(), b"old", "{args}");
            fs::remove_file(bench.at(&out)).unwrap();
            fails(&mut limited());
            assert!(!bench.at(&out).exists(), "{args}");
            assert_eq!(unfinished(bench.dir.path()), [] as [PathBuf; 0], "{args}");
        }
    }
}

/// Whether a file is written.
fn under_way(bench: &Bench, out: &Path, old: u64) -> bool {
    let changed = fs::metadata(out).map_or(true, |m| m.len() != old);
    changed
        || unfinished(bench.dir.path())
            .iter()
            .any(|p| fs::metadata(p).is_ok_and(|m| m.len() > 0))
}

/// Whether a file that names date and duration, and so differs from run to run, has its end.
fn is_whole(name: &str, bytes: &[u8]) -> bool {
    let end: &[u8] = match name.rsplit('.').next() {
        Some("html") => b"</html>",
        Some("svg") => b"</svg>",
        Some("png") => b"IEND\xae\x42\x60\x82",
        Some("pdf") => b"%%EOF",
        // The length of the data is in front, the directory at the end.
        Some("tif") => return bytes.len() > 4 * 40 * 40 + 100,
        _ => return false,
    };
    bytes.trim_ascii_end().ends_with(end)
}

#[test]
fn a_kill_while_writing_leaves_a_whole_file() {
    let bench = Bench::new();
    for (args, out) in writers() {
        let path = bench.at(&out);
        succeeds(&mut bench.command(&args));
        let new = fs::read(&path).unwrap();
        for n in 0..5 {
            fs::write(&path, "old").unwrap();
            for rest in unfinished(bench.dir.path()) {
                fs::remove_file(rest).unwrap();
            }
            let mut child = started(&mut bench.command(&args));
            while child.try_wait().unwrap().is_none() && !under_way(&bench, &path, 3) {}
            std::thread::sleep(Duration::from_micros(200 * n));
            child.kill().unwrap();
            child.wait().unwrap();
            let left = fs::read(&path).unwrap();
            let whole = left == new || is_whole(&out, &left);
            assert!(left == b"old" || whole, "{args}: {} bytes", left.len());
        }
    }
}

#[test]
fn an_interrupt_ends_every_command_within_two_seconds() {
    let bench = Bench::new();
    let made = Command::new("mkfifo").arg(bench.at("pipe.csv")).status();
    assert!(made.unwrap().success());
    for args in [
        "simulate large.toml -o x.npy",
        "form-factor shape.toml --grid 0 -2:2:3000 0:2:3000 --method exact -o x.npy",
        "fit long.toml -o x.svg",
        "study --cases all --sensor none -o x.json",
        "reflectivity film.toml --angles pipe.csv -o x.csv",
    ] {
        for name in ["INT", "TERM"] {
            let mut child = started(&mut at_a_terminal(&bench.command(args)));
            wait_until_handled(&mut child, name);
            std::thread::sleep(Duration::from_millis(300));
            is_ended_by(&mut child, name);
            for ending in ["npy", "svg", "csv"] {
                assert!(!bench.at(&format!("x.{ending}")).exists(), "{args}");
            }
            assert_eq!(unfinished(bench.dir.path()), [] as [PathBuf; 0], "{args}");
        }
    }
}

#[test]
fn lost_standard_output_is_an_error() {
    let bench = Bench::new();
    for args in [
        "simulate small.toml -o x.csv",
        "simulate small.toml -o x.csv --json",
        "form-factor shape.toml --q q.csv -o f.csv",
        "reflectivity film.toml --angles angles.csv -o r.csv --json",
        "fit fit.toml --json",
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let run = bench
            .command(args)
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{args}");
        assert!(
            error(&run).contains("standard output"),
            "{args}: {}",
            error(&run)
        );
    }
}
