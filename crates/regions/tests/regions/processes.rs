//! Threads, forks, exits, several libraries.

use crate::common::{Case, joules, libraries, region};
use greenup_regions::Entry;
use greenup_testing::{signal, wait_until};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

#[test]
fn threads_come_and_go() {
    let mut case = Case::new(&["threads", "1000"]);
    case.ok();
    let s = case.summary();
    let r = region(&s, &["short"]);
    assert_eq!((r.calls, r.threads), (1000, 1000));
    assert!(
        s.notes
            .iter()
            .any(|n| n.contains("`left open` was still open")),
        "{:?}",
        s.notes
    );
    // Many threads at once share one device.
    assert!(joules(r) <= 100.0 * s.wall_s * 1.05 + 1.0);
}

#[test]
fn a_process_may_exit_while_threads_are_in_regions() {
    let mut case = Case::new(&["other-thread-at-exit"]);
    case.ok();
    let s = case.summary();
    assert!(region(&s, &["other thread"]).calls > 10);
    assert_eq!(region(&s, &["main"]).calls, 1);
}

#[test]
fn a_forked_child_has_a_summary_of_its_own() {
    let mut case = Case::new(&["fork"]);
    case.ok();
    let all = case.summaries();
    // One child leaves by _exit.
    assert_eq!(all.len(), 4);
    let (children, parent) = (&all[..3], &all[3]);
    for child in children {
        assert_ne!(child.process.pid, parent.process.pid);
        assert!(child.notes.is_empty(), "{:?}", child.notes);
        assert_eq!(region(child, &["before", "in child"]).calls, 1);
        assert_eq!(region(child, &["before"]).calls, 1);
    }
    assert_eq!(parent.regions.len(), 2);
    assert_eq!(region(parent, &["before", "in parent"]).calls, 1);
}

#[test]
fn forks_while_other_threads_are_in_the_library() {
    let mut case = Case::new(&["fork-storm", "30"]);
    case.ok();
    let all = case.summaries();
    assert_eq!(all.len(), 31);
    assert!(all[..30].iter().all(|s| region(s, &["child"]).calls == 1));
}

#[test]
fn a_fork_while_another_thread_opens_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let file = folder.path().join("child.jsonl");
    let mut case = Case::new(&["fork-at-start", file.to_str().unwrap()])
        .env("GREENUP_REGIONS_FILE", pipe.to_str().unwrap());
    case.ok();
    let text = std::fs::read_to_string(&file).unwrap();
    let Ok(Entry::Summary(child)) = serde_json::from_str(&text) else {
        panic!("{text}");
    };
    assert_eq!(region(&child, &["child"]).calls, 1);
}

#[test]
fn lines_survive_exits_without_a_handler() {
    // 300 regions of 1 ms; the last tick's, of 20 ms, may be lost, and what the host's load adds.
    for (what, code) in [("_exit", Some(3)), ("abort", None)] {
        let mut case = Case::new(&[what]).env("GREENUP_REGIONS", "lines");
        let out = case.run();
        assert_eq!(out.status.code(), code);
        if code.is_none() {
            assert_eq!(out.status.signal(), Some(6));
        }
        let n = case.lines().len();
        assert!((200..=300).contains(&n), "{what}: {n}");
    }
    let mut case = Case::new(&["regions"]).env("GREENUP_REGIONS", "lines");
    let file = case.folder.path().join("out.jsonl");
    let mut child = case.command.stderr(Stdio::null()).spawn().unwrap();
    wait_until(&mut child, || {
        std::fs::metadata(&file).is_ok_and(|m| m.len() > 20_000)
    });
    signal(&child, "KILL");
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    // Each line is whole, but for a last one that the kill cut.
    assert!(case.lines().len() > 50);
}

#[test]
fn a_library_may_be_closed() {
    let library = libraries().join("libgreenup_regions.so");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("libother.so");
    std::fs::copy(&library, &copy).unwrap();
    // Its own thread runs on, and its summary is written at exit.
    let mut case = Case::new(&["dlclose", copy.to_str().unwrap()]);
    case.ok();
    assert_eq!(region(&case.summary(), &["of the second"]).calls, 10);
    // Two in one process do not know of each other.
    let mut case = Case::new(&["second", copy.to_str().unwrap()]);
    case.ok();
    let all = case.summaries();
    assert_eq!(all.len(), 2);
    let names: Vec<_> = all.iter().map(|s| s.regions[0].path[0].clone()).collect();
    assert!(names.contains(&"of the first".into()) && names.contains(&"of the second".into()));
    // The same one by another name is the same.
    let mut case = Case::new(&["second", library.to_str().unwrap()]);
    case.ok();
    assert_eq!(case.summary().regions.len(), 2);
}

#[test]
fn a_signal_handler_may_exit() {
    // Within a begin or end the thread holds its own lock.
    for _ in 0..12 {
        let mut case = Case::new(&["exit-in-handler"]);
        let start = std::time::Instant::now();
        case.ok();
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
        // That of the flush comes first.
        let last = case.summaries().pop().unwrap();
        assert!(last.is_final && region(&last, &["loop"]).calls > 0);
    }
}
