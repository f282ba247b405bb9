//! An interrupt kills the groups whose work is lost, at once; the others live until they are dropped. A process of its
//! own, as an interrupt concerns all groups.

use greenup_process::group::{Group, OnInterrupt, interrupted, kill_all};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::time::Duration;

#[test]
fn groups_are_killed_as_they_asked() {
    let sleep = |on| Group::spawn(Command::new("sleep").arg("1000"), on).unwrap();
    let mut kept = sleep(OnInterrupt::Keep);
    let mut ended = sleep(OnInterrupt::Kill);
    interrupted();
    assert!(ended.exits_within(Duration::from_secs(20)));
    assert!(!kept.exited());
    assert_eq!(ended.kill().unwrap().signal(), Some(libc::SIGKILL));
    kill_all();
    assert!(kept.exits_within(Duration::from_secs(20)));
    assert!(kept.kill().is_some());
}
