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
    // Both runs of a pair, one after the other: the host may be slower at one time than at another.
    let mut pairs: Vec<(f64, f64)> = (0..5)
        .map(|_| {
            let alone = seconds(cores);
            let _busy = Busy::new(cores);
            (alone, seconds(cores))
        })
        .collect();
    pairs.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (alone, beside) = pairs[pairs.len() / 2];
    let times = beside / alone;
    eprint_line(&format!(
        "{cores} threads: {alone:.3} s alone, {beside:.3} s beside {cores} busy loops, {times:.2} times",
    ));
    // Half of each core is left. Threads that only spin took more than twenty times as long.
    assert!(times < 10.0, "{pairs:?}");
}

/// A figure for who reads the test's output.
fn eprint_line(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}
