//! What a hostile or clumsy user, a full disk, a kill and an interrupt do: nothing is lost, nothing hangs, nothing panics.
#![cfg(unix)]

use assert_cmd::cargo::cargo_bin;
use greenup_files::FolderLock;
use greenup_report::npy::npy;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What a command may take to end: the two seconds that are promised, and half a second until a busy host has reaped it.
const LIMIT: Duration = Duration::from_millis(2500);

fn fmm(words: &str) -> Command {
    let mut c = Command::new(cargo_bin("fmm"));
    c.args(words.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    c
}

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// Runs it; asserts that it fails without a panic. Returns what it says.
fn fails(c: &mut Command) -> String {
    let out = c.output().unwrap();
    let said = said(&out);
    assert!(matches!(out.status.code(), Some(1 | 2)), "{c:?}: {said}");
    assert!(!said.contains("panicked"), "{c:?}: {said}");
    said
}

/// Names in a folder.
fn names(dir: &Path) -> Vec<String> {
    let all = std::fs::read_dir(dir).unwrap();
    let mut all: Vec<String> = all
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    all.sort();
    all
}

/// One source, and so many targets that writing their results takes a while.
struct Slow {
    dir: tempfile::TempDir,
}

impl Slow {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("source.csv"), "0,0,0,1\n1,1,1,1\n").unwrap();
        let n = 400_000;
        let numbers = (0..3 * n).map(|i| f64::from(i) * 1e-6);
        let targets = npy("f8", &[n as usize, 3], numbers);
        std::fs::write(dir.path().join("targets.npy"), targets).unwrap();
        Self { dir }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, out: &str) -> Command {
        let mut c = fmm("run -q 1000000 -a 1e-2 --points");
        c.arg(self.at("source.csv"))
            .arg("--targets")
            .arg(self.at("targets.npy"))
            .arg("-o")
            .arg(self.at(out));
        c
    }

    /// Waits until a file is being written.
    fn writing(&self, child: &mut Child) {
        let begun = Instant::now();
        // The check before the work makes one too, and removes it at once.
        let large = |name: &String| {
            name.ends_with(".unfinished")
                && std::fs::metadata(self.at(name)).is_ok_and(|m| m.len() > 100_000)
        };
        while !names(self.dir.path()).iter().any(large) {
            assert!(begun.elapsed() < Duration::from_secs(120));
            assert!(child.try_wait().unwrap().is_none(), "it ended too early");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

#[test]
fn a_killed_run_leaves_the_old_file() {
    let slow = Slow::new();
    let out = slow.at("out.csv");
    std::fs::write(&out, "old").unwrap();
    for _ in 0..5 {
        let mut child = slow.run("out.csv").spawn().unwrap();
        slow.writing(&mut child);
        signal(&child, "-KILL");
        let _ = child.wait();
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "old");
    }
    // An interrupted one leaves nothing else either.
    for name in names(slow.dir.path()) {
        if name.ends_with(".unfinished") {
            std::fs::remove_file(slow.at(&name)).unwrap();
        }
    }
    let mut child = slow.run("out.csv").spawn().unwrap();
    slow.writing(&mut child);
    signal(&child, "-TERM");
    // Asked again, it ends at once.
    std::thread::sleep(Duration::from_millis(30));
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(
        names(slow.dir.path()),
        ["out.csv", "source.csv", "targets.npy"]
    );
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "old");
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let slow = Slow::new();
    for name in ["out.csv", "out.npy", "out.vtu"] {
        std::fs::write(slow.at(name), "old").unwrap();
        // A limit on the size of files stands for a full disk: 64 KiB.
        let mut c = Command::new("sh");
        c.args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\""])
            .arg(cargo_bin("fmm"))
            .args(slow.run(name).get_args());
        let said = fails(&mut c);
        assert!(
            said.contains(name) && said.contains("cannot be written"),
            "{said}"
        );
        assert_eq!(std::fs::read_to_string(slow.at(name)).unwrap(), "old");
    }
    let dir = slow.dir.path().join("bodies");
    let mut c = Command::new("sh");
    c.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(cargo_bin("fmm"))
        .args("nbody -n 300 --steps 1 -o".split_whitespace())
        .arg(dir.join("energy.png"));
    let said = fails(&mut c);
    assert!(said.contains("energy.png"), "{said}");
    assert_eq!(names(&dir), [""; 0]);
    let left = names(slow.dir.path());
    assert!(!left.iter().any(|n| n.ends_with(".unfinished")), "{left:?}");
}

#[test]
fn standard_output_is_not_lost_in_silence() {
    for words in [
        "run -n 100",
        "run -n 100 --json",
        "tune -n 100 --q 50 -a 1e-3 --json",
        "direct -n 100",
        "nbody -n 100 --steps 1",
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let out = fmm(words).stdout(full).output().unwrap();
        assert_eq!(out.status.code(), Some(1), "{words}: {}", said(&out));
        assert!(
            said(&out).contains("standard output"),
            "{words}: {}",
            said(&out)
        );
    }
    // A reader that left is no error.
    let mut child = fmm("run -n 100").spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn interrupts_end_every_command_within_two_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let study = format!("study --device cpu -o {}", dir.path().join("s").display());
    let fifo = dir.path().join("endless.csv");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    for words in [
        "run -n 300000 --repeat 10000",
        "run -n 3000 --check 10 --measure --repeat 100000",
        "tune -n 100000 -a 1e-5",
        "direct -n 500000",
        "nbody -n 5000 --steps 1000000",
        &study,
        &format!("run --points {}", fifo.display()),
    ] {
        for name in ["-INT", "-TERM"] {
            let mut child = fmm(words).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(700));
            assert!(
                child.try_wait().unwrap().is_none(),
                "{words}: ended by itself"
            );
            let asked = Instant::now();
            signal(&child, name);
            let code = child.wait().unwrap().code();
            assert_eq!(code, Some(130), "{words} {name}");
            assert!(asked.elapsed() < LIMIT, "{words} {name}");
        }
    }
}

#[test]
fn what_an_interrupted_run_has_computed_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("energy.csv");
    let mut child = fmm("nbody -n 200 --steps 10000000 -o")
        .arg(&out)
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(3));
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.lines().count() > 2 && text.ends_with('\n'), "{text}");
}

#[test]
fn an_input_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let text = "0,0,0,1\n1,0,0,2\n";
    std::fs::write(at("p.csv"), text).unwrap();
    std::os::unix::fs::symlink(at("p.csv"), at("link.csv")).unwrap();
    for out in ["p.csv", "link.csv"] {
        for input in ["--points", "--targets"] {
            let said = fails(fmm("run -n 10 -o").arg(at(out)).arg(input).arg(at("p.csv")));
            // Points come from a file, or -n says how many.
            assert!(
                said.contains("also an input") || said.contains("cannot be used with"),
                "{said}"
            );
            let said = fails(fmm("run -o").arg(at(out)).arg(input).arg(at("p.csv")));
            assert!(said.contains("is also an input"), "{said}");
        }
    }
    assert_eq!(std::fs::read_to_string(at("p.csv")).unwrap(), text);
}

#[test]
fn outputs_are_checked_before_any_work() {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("file");
    std::fs::write(&inside, "x").unwrap();
    let bad = inside.join("out.csv").display().to_string();
    let folder = dir.path().display().to_string();
    for (words, want) in [
        (format!("run -n 30000000 -o {bad}"), "cannot be written"),
        (
            format!("run -n 30000000 -o {folder}/x.pdf"),
            "known: .csv, .npy, .vtu",
        ),
        ("run -n 30000000 -o -".into(), "standard output"),
        (
            format!("nbody -n 1000000 --bodies {folder}/x.csv -o {folder}/x.csv"),
            "same name",
        ),
        (
            format!("nbody -n 1000000 -o {folder}/x.vtu"),
            "known: .csv, .png",
        ),
    ] {
        let begun = Instant::now();
        let said = fails(&mut fmm(&words));
        assert!(said.contains(want), "{words}: {said}");
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{words}: after work"
        );
    }
    assert_eq!(names(dir.path()), ["file"]);
    // A folder that is missing is made.
    let new = dir.path().join("a/b/out.npy");
    assert!(
        fmm("run -n 10 -o")
            .arg(&new)
            .output()
            .unwrap()
            .status
            .success()
    );
    assert!(new.exists());
}

#[test]
fn what_does_not_fit_is_refused_with_both_numbers() {
    for words in [
        "run -n 100000000000",
        "run -n 18446744073709551615",
        "run -n 100000000000 --real f32 --device cuda",
        "nbody -n 100000000000",
        "direct -n 100000000000",
        "tune -n 100000000000",
    ] {
        let said = fails(&mut fmm(words));
        assert_eq!(said.matches(" GiB").count(), 2, "{words}: {said}");
    }
    // Within a limit of 2 GB: the boxes, not the points.
    let mut c = Command::new("sh");
    c.args(["-c", "ulimit -v 2000000; exec \"$0\" \"$@\""])
        .arg(cargo_bin("fmm"))
        .args("run -n 300000 -q 2 --threads 1".split_whitespace());
    let said = fails(&mut c);
    assert!(
        said.contains("boxes") && said.matches("iB").count() == 2,
        "{said}"
    );
}

#[test]
fn absurd_numbers_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (words, want) in [
        ("run -n 10 --threads 1000000", "take 1 to"),
        ("run -n 10 --threads 0", "take 1 to"),
        ("run -n 10 --kernels unroll=1000000000", "unroll 1 to 256"),
        ("run -n 10 -a nan", "between 0 and 1"),
        ("run -n 10 --kernel yukawa --kappa inf", "finite"),
        ("run -n 10 --device cuda:99999999999999999999", "no device"),
        ("nbody -n 10 --dt inf", "time step"),
        ("study --device cpu --scale 1e300", "GiB"),
    ] {
        let mut c = fmm(words);
        c.current_dir(dir.path());
        if words.contains("kernels") {
            c.args(["--device", "cuda"]);
        }
        let said = fails(&mut c);
        assert!(said.contains(want), "{words}: {said}");
    }
}

#[test]
fn strange_points_neither_panic_nor_hang() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let f64s = |rows: usize, x: f64| npy("f8", &[rows, 4], std::iter::repeat_n(x, 4 * rows));
    let mut huge = npy("f8", &[2, 4], (0..8).map(f64::from));
    let at_shape = huge.windows(6).position(|w| w == b"(2, 4,").unwrap();
    huge.splice(at_shape..at_shape + 6, *b"(9999999999999999999, 4,");
    for (name, bytes) in [
        ("nan.npy", f64s(2, f64::NAN)),
        ("inf.npy", f64s(2, f64::INFINITY)),
        ("counts.npy", huge),
        (
            "header.npy",
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'shape': (1, 4)}".to_vec(),
        ),
        ("nul.csv", vec![0; 4 << 20]),
        ("latin.csv", b"0,0,0,1\n0,0,1,\xe9\n".to_vec()),
        ("huge.csv", b"1e308,0,0,1\n-1e999,0,0,1\n".to_vec()),
        (
            "far.csv",
            b"1.7976931348623157e308,0,0,1\n-1.7976931348623157e308,0,0,1\n".to_vec(),
        ),
    ] {
        std::fs::write(at(name), bytes).unwrap();
        let said = fails(fmm("run --points").arg(at(name)));
        assert!(said.starts_with("error: "), "{name}: {said}");
    }
    for name in ["zero.csv", "zero.npy"] {
        std::os::unix::fs::symlink("/dev/zero", at(name)).unwrap();
        let begun = Instant::now();
        fails(fmm("run --points").arg(at(name)));
        assert!(begun.elapsed() < Duration::from_secs(5), "{name}");
    }
    // Large but finite, all in one place, and a kernel that vanishes between boxes.
    std::fs::write(
        at("large.csv"),
        "1e308,0,0,1\n-1e308,1e308,0,1\n0,0,1e308,-1\n",
    )
    .unwrap();
    std::fs::write(at("same.csv"), "1,1,1,1\n".repeat(300)).unwrap();
    for words in [
        format!("run -q 1 --points {}", at("large.csv").display()),
        format!("run -q 1 --points {}", at("same.csv").display()),
        "run -n 1000 -q 10 -a 1e-3 --kernel yukawa --kappa 1e5 --check 100".into(),
        "run -n 1000 -q 10 -a 1e-3 --kernel yukawa --kappa 300 --real f32 --check 100".into(),
        "run -n 1000 -q 10 -a 1e-3 --kernel yukawa --kappa 1e300 --m2l compressed".into(),
    ] {
        let out = fmm(&words).output().unwrap();
        assert!(out.status.success(), "{words}: {}", said(&out));
        let text = String::from_utf8_lossy(&out.stdout);
        if let Some((_, error)) = text.split_once("potential ") {
            let error: f64 = error.trim().parse().unwrap();
            assert!(error < 1e-2, "{words}: {text}");
        }
    }
}

#[test]
fn folders_may_have_any_name_and_one_study() {
    let dir = tempfile::tempdir().unwrap();
    let strange = dir.path().join(OsString::from_vec(b"st\xffudy".to_vec()));
    let study = |out: &OsStr| {
        let words = "study --device cpu --scale 0.001 --repeat 1 --first 1 -o";
        fmm(words).arg(out).output().unwrap()
    };
    let out = study(strange.as_os_str());
    assert!(out.status.success(), "{}", said(&out));
    let lock = FolderLock::acquire(&strange).unwrap();
    let out = study(strange.as_os_str());
    assert_eq!(out.status.code(), Some(1));
    let words = format!("in use by process {}", std::process::id());
    assert!(said(&out).contains(&words), "{}", said(&out));
    drop(lock);
    assert!(study(strange.as_os_str()).status.success());
}
