//! The injected library in programs without a GPU, with a stand-in for NVIDIA's libcupti.

use greenup_profile::activity::{Activity, Injection};
use greenup_profile::groups::{Key, devices};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles a stand-in.
fn compiled(dir: &Path, source: &str, out: &str, flags: &[&str]) -> PathBuf {
    let file = dir.join(out);
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fake")
        .join(source);
    let done = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-Wall", "-Werror"])
        .args(flags)
        .arg(&source)
        .arg("-o")
        .arg(&file)
        .args(["-ldl", "-lpthread"])
        .status();
    assert!(done.unwrap().success(), "{}", source.display());
    file
}

/// What a program's processes recorded.
fn recorded(arguments: &[&str], environment: &[(&str, &str)]) -> Vec<Activity> {
    let dir = tempfile::tempdir().unwrap();
    let cupti = compiled(
        dir.path(),
        "cupti.c",
        "libcupti.so.13",
        &["-shared", "-fPIC"],
    );
    recorded_with(&cupti, dir.path(), arguments, environment)
}

fn recorded_with(
    cupti: &Path,
    dir: &Path,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Vec<Activity> {
    let program = compiled(dir, "cuda.c", "program", &[]);
    let folder = dir.join("activity");
    std::fs::create_dir(&folder).unwrap();
    let injection = Injection::prepare(cupti, dir, &folder).unwrap();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(injection.environment)
        .envs(environment.iter().copied());
    let out = command.output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&out.stdout).trim(),
        "done",
        "{out:?}"
    );
    Activity::read_all(&folder).unwrap()
}

fn launches(a: &Activity) -> u64 {
    let kernels = |k: &Key| matches!(k, Key::Kernel { .. });
    let all = devices(std::slice::from_ref(a));
    (all.iter().flat_map(|d| &d.groups))
        .filter(|g| kernels(&g.key))
        .map(|g| g.launches)
        .sum()
}

#[test]
fn kernels_and_copies_are_recorded_on_the_monotonic_clock() {
    let all = recorded(&["0.6"], &[]);
    let a = &all[0];
    assert!(
        all.len() == 1 && a.complete && a.messages.is_empty(),
        "{:?}",
        a.messages
    );
    assert_eq!((a.version, a.names.len()), (130_500, 2));
    // Two kernels each 10 ms.
    let n = launches(a);
    assert!((100..=140).contains(&n), "{n}");
    let d = devices(&all).remove(0);
    assert_eq!(d.groups.len(), 3);
    assert!((d.groups[0].median_s - 6e-3).abs() < 1e-9);
    let now = {
        let t = std::fs::read_to_string("/proc/uptime").unwrap();
        t.split_whitespace().next().unwrap().parse::<f64>().unwrap()
    };
    assert!(
        (d.last_ns as f64 * 1e-9 - now).abs() < 60.0,
        "{} {now}",
        d.last_ns
    );
}

#[test]
fn a_process_that_ends_without_a_flush_loses_little() {
    for end in ["_exit", "kill"] {
        let a = recorded(&["1.1", end], &[]).remove(0);
        // Flushed five times a second; 220 launches in all.
        assert!(
            !a.complete && launches(&a) >= 160,
            "{end}: {}",
            launches(&a)
        );
    }
}

#[test]
fn a_forked_process_leaves_its_parents_file_alone() {
    let all = recorded(&["0.4", "fork"], &[]);
    assert_eq!(all.len(), 1);
    assert!(all[0].complete);
    let n = launches(&all[0]);
    assert!((140..=180).contains(&n), "{n}");
}

#[test]
fn descriptors_that_the_program_closed_are_left_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("user.bin");
    let all = recorded(&["0.7", "closing"], &[("FILE", file.to_str().unwrap())]);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "BEGINEND");
    assert!(
        all[0].complete && launches(&all[0]) >= 100,
        "{}",
        launches(&all[0])
    );
}

#[test]
fn a_program_whose_main_thread_leaves_ends() {
    let all = recorded(&["0.3", "pthread_exit"], &[]);
    assert!(all[0].complete);
}

#[test]
fn another_subscriber_and_a_missing_library_are_messages_not_failures() {
    let all = recorded(&["0.1"], &[("FAKE_CUPTI", "busy")]);
    assert!(
        all[0].messages[0].contains("another profiler uses CUPTI"),
        "{all:?}"
    );
    let dir = tempfile::tempdir().unwrap();
    let all = recorded_with(Path::new("/no/libcupti.so.13"), dir.path(), &["0.1"], &[]);
    assert!(
        all[0].messages[0].contains("libcupti cannot be loaded"),
        "{all:?}"
    );
    // A library that is something else.
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().join("other.c");
    std::fs::write(&other, "int nothing;").unwrap();
    let library = dir.path().join("libother.so");
    let done = Command::new("cc")
        .args(["-shared", "-fPIC"])
        .arg(&other)
        .arg("-o")
        .arg(&library)
        .status();
    assert!(done.unwrap().success());
    let all = recorded_with(&library, dir.path(), &["0.1"], &[]);
    assert!(all[0].messages[0].contains("too old"), "{all:?}");
}

#[test]
#[ignore = "needs NVIDIA's headers: set GREENUP_CUPTI_INCLUDE to the folders of cupti.h and cuda.h, separated by colons"]
fn the_records_are_laid_out_as_in_the_headers() {
    let folders = std::env::var("GREENUP_CUPTI_INCLUDE").unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake/layout.c");
    let cupti = (folders
        .split(':')
        .map(|d| Path::new(d).join("cupti_activity.h")))
    .find(|f| f.is_file())
    .expect("one of the folders holds CUPTI's headers");
    let text = std::fs::read_to_string(cupti).unwrap();
    // The newest layouts of this version.
    let newest = |stem: &str| -> String {
        let ends = format!("}} CUpti_Activity{stem}");
        let numbers = text.split(&ends).skip(1);
        let n = numbers
            .filter_map(|t| t.split(';').next()?.parse::<u32>().ok())
            .max()
            .unwrap();
        format!("CUpti_Activity{stem}{n}")
    };
    let done = Command::new("cc")
        .args(["-std=gnu11", "-fsyntax-only"])
        .args(folders.split(':').map(|d| format!("-I{d}")))
        .args([
            format!("-DKERNEL={}", newest("Kernel")),
            format!("-DCOPY={}", newest("Memcpy")),
            format!("-DSET={}", newest("Memset")),
        ])
        .arg(source)
        .status();
    assert!(done.unwrap().success());
}
