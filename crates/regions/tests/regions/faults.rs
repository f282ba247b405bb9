//! Wrong calls, strange names, full disks: reported, never fatal.

use crate::common::{Case, region};
use greenup_testing::{on_a_full_disk, text, wrapped};

#[test]
fn ends_that_do_not_match_are_reported() {
    let mut case = Case::new(&["mismatched"]);
    let said = case.ok();
    let s = case.summary();
    for part in [
        "end of `never` without a begin",
        "end of `b` without a begin",
        "`c` was still open when a region around it ended",
        "`open` was still open when its thread ended",
    ] {
        assert!(
            s.notes.iter().any(|n| n.contains(part)),
            "{part}: {:?}",
            s.notes
        );
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(region(&s, &["a", "b", "c"]).calls, 1);
    assert_eq!(region(&s, &["open"]).calls, 1);
}

#[test]
fn any_name_will_do() {
    let mut case = Case::new(&["names"]);
    case.ok();
    let s = case.summary();
    let names: Vec<&str> = s.regions.iter().map(|r| r.path[0].as_str()).collect();
    assert_eq!(
        names[..5],
        [
            "with \"quotes\" and \\",
            "größe λ 漢字 🚀",
            "",
            "\u{1b}[31mred\n",
            "\u{fffd}\u{fffd}"
        ]
    );
    assert_eq!(names[5].len(), 256);
    assert_eq!(names[6], "(no name)");
    assert!(
        s.notes.iter().any(|n| n.contains("null pointer")),
        "{:?}",
        s.notes
    );
    assert!(
        s.notes.iter().any(|n| n.contains("longer than 256")),
        "{:?}",
        s.notes
    );
    // In the table no terminal obeys them.
    let said = Case::new(&["names"]).env("GREENUP_REGIONS", "table").ok();
    assert!(
        said.contains("\\u{1b}[31mred\\n") && !said.contains('\u{1b}'),
        "{said}"
    );
}

#[test]
fn thousands_of_regions_and_too_many() {
    let mut case = Case::new(&["thousands", "5000"]);
    case.ok();
    assert_eq!(case.summary().regions.len(), 5000);
    let mut case = Case::new(&["thousands", "70000"]);
    let said = case.ok();
    let s = case.summary();
    let calls: u64 = s.regions.iter().map(|r| r.calls).sum();
    assert_eq!((s.regions.len(), calls), (65_535, 70_000));
    assert_eq!(region(&s, &["(other names)"]).calls, 70_000 - 65_534);
    assert!(said.contains("take numbers out of names"), "{said}");
}

#[test]
fn deep_recursion_is_cut() {
    let mut case = Case::new(&["deep", "1000"]);
    case.ok();
    let s = case.summary();
    assert_eq!(s.regions.len(), 256);
    assert!(s.regions.iter().all(|r| r.calls == 1));
    assert!(
        s.notes[0].contains("nested deeper than 256"),
        "{:?}",
        s.notes
    );
}

#[test]
fn a_hundred_million_pairs_need_no_memory() {
    let mut case = Case::new(&["pairs", "100000000"]);
    let out = case.run();
    assert!(out.status.success());
    let kib: u64 = text(&out.stdout).trim().parse().unwrap();
    assert!(kib < 16_000, "{kib} KiB");
    assert_eq!(region(&case.summary(), &["pair"]).calls, 100_000_000);
}

#[test]
fn lines_faster_than_the_disk_hold_the_program_back() {
    let mut case = Case::new(&["pairs", "400000"]).env("GREENUP_REGIONS", "lines");
    let out = case.run();
    let kib: u64 = text(&out.stdout).trim().parse().unwrap();
    assert!(kib < 64_000, "{kib} KiB");
    assert_eq!(case.lines().len(), 400_000);
}

#[test]
fn a_signal_handler_may_begin_and_end() {
    let mut case = Case::new(&["signals"]);
    let said = case.ok();
    let s = case.summary();
    assert_eq!(region(&s, &["loop"]).calls, 3_000_000);
    // Those within another call are counted as ignored, the others are in the loop or outside.
    assert!(said.contains("signals "), "{said}");
    assert!(
        s.regions
            .iter()
            .any(|r| r.path.last().is_some_and(|n| n == "handler"))
    );
}

#[test]
fn a_full_disk_is_reported_and_the_program_goes_on() {
    let mut case = Case::new(&["nested"]);
    case.command.env("GREENUP_REGIONS_FILE", "/dev/full");
    let said = case.ok();
    assert!(said.contains("/dev/full: No space left"), "{said}");
    // A limit of the file's size, whose signal would end the program.
    let case = Case::new(&["regions", "300"]).env("GREENUP_REGIONS", "lines");
    let out = Case {
        command: wrapped(
            "env",
            &["--ignore-signal=XFSZ"],
            &on_a_full_disk(&case.command, 8),
        ),
        folder: case.folder,
    };
    let mut out = out;
    let ran = out.run();
    assert!(ran.status.success(), "{ran:?}");
    assert!(
        text(&ran.stderr).contains("lines are lost"),
        "{}",
        text(&ran.stderr)
    );
    let mut case = Case::new(&["nested"]);
    case.command
        .env("GREENUP_REGIONS_FILE", "/no/such/folder/x");
    let said = case.ok();
    assert!(said.contains("/no/such/folder/x: No such file"), "{said}");
    assert!(said.contains("\"type\":\"summary\""), "{said}");
}

/// What a program that closes descriptors from a number on finds in its own file.
fn closing(first: &str, lines: &str) -> (Case, String, String) {
    let mut case = Case::new(&["closing", first]).env("GREENUP_REGIONS", lines);
    let folder = case.folder.path().to_owned();
    case.command.current_dir(&folder);
    let said = case.ok();
    let user = std::fs::read_to_string(folder.join("user.bin")).unwrap();
    (case, user, said)
}

#[test]
fn descriptors_that_the_program_closed_are_left_to_it() {
    let (case, user, _) = closing("3", "lines,summary");
    assert_eq!(user, "BEGIN\nEND\n");
    // One of the flush, one of the end.
    let all = case.summaries();
    assert_eq!(all.len(), 2);
    assert_eq!(region(&all[1], &["after"]).calls, 5);
    assert_eq!(case.lines().len(), 6);
    // Standard error too, whose number then is the program's file.
    for first in ["2", "0"] {
        let (_, user, said) = closing(first, "table");
        assert_eq!((user.as_str(), said.as_str()), ("BEGIN\nEND\n", ""));
    }
    let (_, user, said) = closing("3", "table");
    assert!(user == "BEGIN\nEND\n" && said.contains("after"), "{said}");
}

#[test]
fn a_pipe_as_the_file_is_refused_without_waiting() {
    let mut case = Case::new(&["nested"]);
    let fifo = case.folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    case.command.env("GREENUP_REGIONS_FILE", &fifo);
    let said = case.ok();
    assert!(said.contains("fifo: not a plain file"), "{said}");
    case.command
        .env("GREENUP_REGIONS_FILE", case.folder.path().join("out.jsonl"))
        .env(
            "GREENUP_REGIONS_SENSOR",
            format!("external:{}", fifo.display()),
        );
    case.ok();
    case.command
        .env("GREENUP_REGIONS_SENSOR", "recorded:/dev/zero");
    let said = case.ok();
    assert!(said.contains("not a plain file"), "{said}");
}

#[test]
fn a_program_whose_main_thread_leaves_ends() {
    let mut case = Case::new(&["main-leaves"]);
    case.ok();
    let s = case.summary();
    assert_eq!(region(&s, &["late"]).calls, 1);
    assert!(s.is_final);
}

#[test]
fn a_thread_with_the_smallest_stack_may_begin_the_first_region() {
    for output in ["summary", "lines,summary"] {
        let mut case = Case::new(&["small-stack"]).env("GREENUP_REGIONS", output);
        case.ok();
        assert_eq!(region(&case.summary(), &["small"]).calls, 40_000);
    }
}

#[test]
fn a_cancelled_thread_ends_outside_of_the_library() {
    let mut case = Case::new(&["cancel"]);
    case.ok();
    // Each flush writes one too.
    let all = case.summaries();
    assert!(region(all.last().unwrap(), &["cancelled"]).calls >= 1);
}
