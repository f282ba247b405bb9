//! Processes that descend from a command with a mark in its environment, which they all inherit.

use std::time::{Duration, Instant};

/// Name of the variable.
pub const MARK: &str = "GREENUP_TEST_MARK";

/// All processes with this mark.
pub fn marked(mark: &str) -> Vec<i32> {
    with(mark, |_| true)
}

/// Those that are workers.
pub fn workers(mark: &str) -> Vec<i32> {
    with(mark, |words| words.contains(&"trial-worker".as_bytes()))
}

/// Those whose words fit.
fn with(mark: &str, fits: impl Fn(&[&[u8]]) -> bool) -> Vec<i32> {
    let wanted = format!("{MARK}={mark}");
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|e| {
            let pid: i32 = e.file_name().to_str()?.parse().ok()?;
            let read = |file: &str| std::fs::read(e.path().join(file)).ok();
            let environment = read("environ")?;
            let words = read("cmdline")?;
            let words: Vec<&[u8]> = words.split(|b| *b == 0).collect();
            let mut all = environment.split(|b| *b == 0);
            (all.any(|v| v == wanted.as_bytes()) && fits(&words)).then_some(pid)
        })
        .collect()
}

/// Children of a process.
pub fn children(of: u32) -> Vec<i32> {
    let mut all: Vec<i32> = Vec::new();
    // Children belong to the threads that started them.
    for task in std::fs::read_dir(format!("/proc/{of}/task"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        all.extend(
            list.split_whitespace()
                .filter_map(|n| n.parse::<i32>().ok()),
        );
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Waits until no process with this mark is left.
pub fn all_end(mark: &str, within: Duration) {
    let start = Instant::now();
    while !marked(mark).is_empty() {
        assert!(start.elapsed() < within, "left: {:?}", marked(mark));
        std::thread::sleep(Duration::from_millis(10));
    }
}
