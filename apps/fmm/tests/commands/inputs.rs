//! What a hostile or clumsy user gives: nothing is overwritten, nothing hangs, nothing panics.
#![cfg(unix)]

use super::fmm;
use assert_cmd::cargo::cargo_bin;
use greenup_files::FolderLock;
use greenup_report::npy::npy;
use greenup_testing::{is_refused, names, text};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn an_input_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let text = "0,0,0,1\n1,0,0,2\n";
    std::fs::write(at("p.csv"), text).unwrap();
    std::os::unix::fs::symlink(at("p.csv"), at("link.csv")).unwrap();
    for out in ["p.csv", "link.csv"] {
        for input in ["--points", "--targets"] {
            let said = is_refused(fmm("run -n 10 -o").arg(at(out)).arg(input).arg(at("p.csv")));
            // Points come from a file, or -n says how many.
            assert!(
                said.contains("also an input") || said.contains("cannot be used with"),
                "{said}"
            );
            let said = is_refused(fmm("run -o").arg(at(out)).arg(input).arg(at("p.csv")));
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
            "known: .csv, .html, .svg, .png, .pdf",
        ),
    ] {
        let begun = Instant::now();
        let said = is_refused(&mut fmm(&words));
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
        "run -n 100000000000 --precision f32 --device cuda",
        "nbody -n 100000000000",
        "direct -n 100000000000",
        "tune -n 100000000000",
    ] {
        let said = is_refused(&mut fmm(words));
        assert_eq!(said.matches(" GiB").count(), 2, "{words}: {said}");
    }
    // Within a limit of memory: the boxes, not the points. The set-up multiplies matrices by blocks of twice the size of
    // the last cache, so the limit grows with it; the boxes need 25 GiB.
    let limit = 2_500_000 + 3 * last_cache_kib();
    let mut c = Command::new("sh");
    c.args(["-c", &format!("ulimit -v {limit}; exec \"$0\" \"$@\"")])
        .arg(cargo_bin("fmm"))
        .args("run -n 150000 --ncrit 2 --order 10 --threads 1".split_whitespace());
    let said = is_refused(&mut c);
    assert!(
        said.contains("boxes") && said.matches("iB").count() == 2,
        "{said}"
    );
}

/// Size of the last cache of the first core, KiB; 0 if the host does not tell.
fn last_cache_kib() -> u64 {
    let size = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size");
    size.map_or(0, |s| s.trim().trim_end_matches('K').parse().unwrap_or(0))
}

#[test]
fn absurd_numbers_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (words, want) in [
        ("run -n 10 --threads 1000000", "between 1 and"),
        ("run -n 10 --threads 0", "between 1 and"),
        ("run -n 10 --kernels unroll=1000000000", "unroll 1 to 256"),
        ("run -n 10 -a nan", "between 0 and 1"),
        ("run -n 10 --kernel yukawa --kappa inf", "finite"),
        (
            "run -n 10 --device cuda:99999999999999999999",
            "use cpu, cuda or cuda:N",
        ),
        ("nbody -n 10 --dt inf", "time step"),
        ("study --device cpu --scale 1e300", "GiB"),
    ] {
        let mut c = fmm(words);
        c.current_dir(dir.path());
        if words.contains("kernels") {
            c.args(["--device", "cuda"]);
        }
        let said = is_refused(&mut c);
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
        let said = is_refused(fmm("run --points").arg(at(name)));
        assert!(said.starts_with("error: "), "{name}: {said}");
    }
    for name in ["zero.csv", "zero.npy"] {
        std::os::unix::fs::symlink("/dev/zero", at(name)).unwrap();
        let begun = Instant::now();
        is_refused(fmm("run --points").arg(at(name)));
        // An endless file, which is not read to the end of memory.
        assert!(begun.elapsed() < Duration::from_secs(60), "{name}");
    }
    // Large but finite, all in one place, and a kernel that vanishes between boxes.
    std::fs::write(
        at("large.csv"),
        "1e308,0,0,1\n-1e308,1e308,0,1\n0,0,1e308,-1\n",
    )
    .unwrap();
    std::fs::write(at("same.csv"), "1,1,1,1\n".repeat(300)).unwrap();
    for words in [
        format!("run --ncrit 1 --points {}", at("large.csv").display()),
        format!("run --ncrit 1 --points {}", at("same.csv").display()),
        "run -n 1000 --ncrit 10 -a 1e-3 --kernel yukawa --kappa 1e5 --check 100".into(),
        "run -n 1000 --ncrit 10 -a 1e-3 --kernel yukawa --kappa 300 --precision f32 --check 100"
            .into(),
        "run -n 1000 --ncrit 10 -a 1e-3 --kernel yukawa --kappa 1e300 --m2l compressed".into(),
    ] {
        let out = fmm(&words).output().unwrap();
        assert!(out.status.success(), "{words}: {}", text(&out.stderr));
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
    assert!(out.status.success(), "{}", text(&out.stderr));
    let lock = FolderLock::acquire(&strange).unwrap();
    let out = study(strange.as_os_str());
    assert_eq!(out.status.code(), Some(1));
    let words = format!("in use by process {}", std::process::id());
    assert!(text(&out.stderr).contains(&words), "{}", text(&out.stderr));
    drop(lock);
    assert!(study(strange.as_os_str()).status.success());
}
