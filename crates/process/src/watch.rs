//! What a process used, where the system's own account is wrong: a program inherits the peak memory of the process that starts
//! it through `exec`, and the time that threads wait for a core is forgotten with each of them.

use crate::family::descendants;
use std::collections::HashMap;
use std::fs::{File, read_dir};
use std::io::Read as _;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Shortest and longest time between two looks at memory.
const EVERY: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(25));
/// The same between two looks at threads, which grow with the time that has passed.
const THREADS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(5));
/// Differences of two accounts of memory by the kernel's batches of pages, bytes.
const SLACK: u64 = 256 << 10;

/// Looks at a process while it runs: at its memory until that exceeds the memory of this process, as the system's account is right
/// then; seldom at its threads and those of the processes below it.
#[derive(Debug)]
pub struct Watch {
    start: Instant,
    own_peak: Option<u64>,
    seen: Option<u64>,
    threads_due: Duration,
    /// Processes below it, as last seen.
    below: Vec<i32>,
    /// Time in the run queue of each thread as last seen, ns.
    queued_ns: HashMap<i32, u64>,
    /// When its end was noticed, and whether the account of its first thread was there then.
    end: Option<(Instant, bool)>,
}

/// What a process used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// Largest resident memory, bytes; `None` where it ended before it could be seen, and is below that of this process.
    pub peak_bytes: Option<u64>,
    /// Time that threads were ready to run and had no core, s: of its first thread, and of its other threads and the processes below
    /// it as far as they were seen. Several that wait together count each.
    pub waited_s: Option<f64>,
    /// Switches to another thread, of all its threads and children.
    pub switches: u64,
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

impl Watch {
    /// To be made just before the process is started.
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
            own_peak: own_peak(),
            seen: None,
            threads_due: THREADS.0,
            below: Vec::new(),
            queued_ns: HashMap::new(),
            end: None,
        }
    }

    /// Whether the system's account of memory will not be right.
    fn needs_memory(&self) -> bool {
        self.own_peak
            .is_some_and(|own| self.seen.is_none_or(|s| s <= own + SLACK))
    }

    /// When to look again; `None` where the system gives no account.
    pub fn pause(&self) -> Option<Duration> {
        self.own_peak?;
        let passed = self.start.elapsed();
        let threads = self.threads_due.saturating_sub(passed);
        Some(if self.needs_memory() {
            (passed / 10).clamp(EVERY.0, EVERY.1).min(threads)
        } else {
            threads
        })
    }

    /// Looks at a process.
    pub fn look(&mut self, pid: i32) {
        let passed = self.start.elapsed();
        if passed >= self.threads_due {
            self.below = self.look_at_threads(pid);
            self.threads_due = passed + (passed / 4).clamp(THREADS.0, THREADS.1);
        }
        if self.needs_memory() {
            let all = std::iter::once(&pid).chain(&self.below);
            let seen = all.filter_map(|p| peak(&p.to_string())).max();
            self.seen = self.seen.max(seen);
        }
    }

    /// Looks at all threads of a process and of those below it, which are returned.
    fn look_at_threads(&mut self, pid: i32) -> Vec<i32> {
        let mut all = vec![pid];
        let mut at = 0;
        while let Some(&p) = all.get(at) {
            at += 1;
            for entry in read_dir(format!("/proc/{p}/task"))
                .into_iter()
                .flatten()
                .flatten()
            {
                let Some(thread) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else {
                    continue;
                };
                let file = format!("/proc/{p}/task/{thread}");
                if let Some(ns) = queued_ns(&file) {
                    self.queued_ns.insert(thread, ns);
                }
                match text(&format!("{file}/children")) {
                    Some(children) => {
                        all.extend(
                            children
                                .split_whitespace()
                                .filter_map(|c| c.parse::<i32>().ok()),
                        );
                    }
                    // A system without these lists.
                    None if at == 1 && thread == pid => all.extend(descendants(pid)),
                    None => {}
                }
            }
        }
        all.split_off(1)
    }

    /// The last look, at a process that has ended but is not reaped.
    pub fn ended(&mut self, pid: i32) {
        let now = Instant::now();
        let last = queued_ns(&format!("/proc/{pid}"));
        self.queued_ns.extend(last.map(|ns| (pid, ns)));
        self.end = Some((now, last.is_some()));
    }

    /// Time since its end was noticed.
    pub fn since_end(&self) -> Duration {
        self.end.map_or(Duration::ZERO, |(at, _)| at.elapsed())
    }

    /// With the system's account of it.
    pub fn used(&self, usage: &libc::rusage) -> Used {
        let counted = counted(usage);
        let is_own = match self.own_peak {
            Some(own) => counted > own + SLACK,
            None => true,
        };
        let number = |n: libc::c_long| u64::try_from(n).unwrap_or(0);
        let queued_ns: u64 = self.queued_ns.values().sum();
        Used {
            peak_bytes: if is_own { Some(counted) } else { self.seen },
            waited_s: matches!(self.end, Some((_, true))).then_some(queued_ns as f64 * 1e-9),
            switches: number(usage.ru_nvcsw) + number(usage.ru_nivcsw),
        }
    }
}

/// A short file of the system in one read.
fn text(file: &str) -> Option<String> {
    let mut bytes = [0; 4096];
    let n = File::open(file).ok()?.read(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes[..n]).into_owned())
}

/// Time that a thread waited in a run queue so far.
fn queued_ns(folder: &str) -> Option<u64> {
    let text = text(&format!("{folder}/schedstat"))?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Peak of this process's resident memory, bytes. The system's quick account is right unless it was inherited itself.
fn own_peak() -> Option<u64> {
    static INHERITED: OnceLock<bool> = OnceLock::new();
    // SAFETY: rusage is plain data for which all zeros is valid, and the pointer is valid for writes.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let counted = counted(&usage);
    let exact = || peak("self");
    if *INHERITED.get_or_init(|| exact().is_none_or(|own| counted > own + SLACK)) {
        exact()
    } else {
        Some(counted)
    }
}

/// The system's account of the largest resident memory, bytes.
fn counted(usage: &libc::rusage) -> u64 {
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit
}

/// Peak of a process's resident memory, bytes.
fn peak(process: &str) -> Option<u64> {
    let status = text(&format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::group::{Group, OnInterrupt, Waited};
    use std::process::Command;

    fn used(script: &str) -> (Used, u64) {
        let mut watch = Watch::new();
        let own = watch.own_peak.unwrap();
        let mut command = Command::new("sh");
        let mut group = Group::spawn(command.args(["-c", script]), OnInterrupt::Kill).unwrap();
        assert_eq!(group.wait_watching(&mut watch).unwrap(), Waited::Exited);
        let (_, usage) = group.reap_with_usage().unwrap();
        (watch.used(&usage), own)
    }

    #[test]
    fn a_small_program_has_its_own_memory_and_a_large_one_too() {
        // This process is made larger than a shell.
        let mut mine = vec![1u8; 64 << 20];
        mine.iter_mut().step_by(4096).for_each(|b| *b += 1);
        let (small, own) = used("sleep 0.3; sleep 0.01");
        let peak = small.peak_bytes.unwrap();
        assert!(
            own > 64 << 20 && (100 << 10..20 << 20).contains(&peak),
            "{peak} {own}"
        );
        assert!(small.switches > 0, "{small:?}");
        let (large, own) =
            used("head -c 200000000 /dev/zero | tail -c 190000000 | wc -c >/dev/null");
        assert!(large.peak_bytes.unwrap() > own, "{large:?} {own}");
        drop(mine);
    }

    /// Cores of this thread, after they are set.
    fn affinity(set: Option<&libc::cpu_set_t>) -> libc::cpu_set_t {
        // SAFETY: sets of this size, of the calling thread.
        unsafe {
            if let Some(set) = set {
                libc::sched_setaffinity(0, size_of_val(set), set);
            }
            let mut now: libc::cpu_set_t = std::mem::zeroed();
            libc::sched_getaffinity(0, size_of_val(&now), &raw mut now);
            now
        }
    }

    #[test]
    fn time_in_the_run_queue_is_that_of_children_and_threads_too() {
        let mut watch = Watch::new();
        let mut command = Command::new("sh");
        // Two loops in children on one core: each waits for the other.
        let script =
            "(while :; do :; done) & a=$!; (while :; do :; done) & b=$!; sleep 0.6; kill $a $b";
        command.args(["-c", script]);
        let cores = affinity(None);
        let first = (0..libc::CPU_SETSIZE as usize).find(|&c| {
            // SAFETY: the number is within the set.
            unsafe { libc::CPU_ISSET(c, &cores) }
        });
        // SAFETY: an empty set is all zeros, and the number is within the set.
        let one = unsafe {
            let mut one: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(first.unwrap(), &mut one);
            one
        };
        affinity(Some(&one));
        let mut group = Group::spawn(&mut command, OnInterrupt::Kill).unwrap();
        affinity(Some(&cores));
        assert_eq!(group.wait_watching(&mut watch).unwrap(), Waited::Exited);
        let (_, usage) = group.reap_with_usage().unwrap();
        let used = watch.used(&usage);
        assert!(used.waited_s.unwrap() > 0.1, "{used:?}");
        assert!(watch.queued_ns.len() >= 3, "{watch:?}");
    }
}
