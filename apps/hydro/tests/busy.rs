//! Threads that wait for each other on a host whose cores do something else too.

use greenup_testing::Busy;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Seconds of a run on so many threads.
fn seconds(threads: usize) -> f64 {
    let begin = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_hydro"))
        .args(["run", "--mesh", "24x24", "--refine", "0", "--order", "2"])
        .args(["--t-final", "1", "--steps", "200", "--json"])
        .args(["--threads", &threads.to_string()])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    begin.elapsed().as_secs_f64()
}

#[test]
#[ignore = "takes all cores, and its times mean something on a quiet host alone"]
fn busy_cores_do_not_stop_threads_that_wait_for_each_other() {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let median = |n: usize| {
        let mut all: Vec<f64> = (0..n).map(|_| seconds(cores)).collect();
        all.sort_by(f64::total_cmp);
        all[n / 2]
    };
    let alone = median(5);
    let busy = Busy::new(cores);
    let beside = median(5);
    drop(busy);
    eprint_line(&format!(
        "{cores} threads: {alone:.3} s alone, {beside:.3} s beside {cores} busy loops, {:.2} times",
        beside / alone
    ));
    // Half of each core is left. Threads that only spin took more than twenty times as long.
    assert!(beside < 5.0 * alone, "{beside} s and {alone} s");
}

/// A figure for who reads the test's output.
fn eprint_line(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}
