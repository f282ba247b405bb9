//! What a process used, where the system's own account is wrong: a program inherits the peak memory of the process that starts
//! it through `exec`, and nobody counts how long it waited for a core.

use crate::family::descendants;
use std::fs;
use std::time::{Duration, Instant};

/// Shortest and longest time between two looks.
const EVERY: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(25));
/// Differences of two accounts of memory by the kernel's batches of pages, bytes.
const SLACK: u64 = 256 << 10;

/// Looks at a process while it runs, until its memory exceeds that of this process: then the system's account is right.
#[derive(Debug)]
pub struct Watch {
    start: Instant,
    own_peak: Option<u64>,
    seen: Option<u64>,
    /// When processes below it are looked for, which reads all of `/proc`.
    all_due: Duration,
    waited_s: Option<f64>,
}

/// What a process used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// Largest resident memory, bytes; `None` where it ended before it could be seen, and is below that of this process.
    pub peak_bytes: Option<u64>,
    /// Time that its first thread was ready to run and had no core, s.
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
            own_peak: peak(std::process::id()),
            seen: None,
            all_due: Duration::from_millis(200),
            waited_s: None,
        }
    }

    /// When to look again; `None` once the system's account will be right.
    pub fn pause(&self) -> Option<Duration> {
        let own = self.own_peak?;
        let known = self.seen.is_some_and(|s| s > own + SLACK);
        (!known).then(|| (self.start.elapsed() / 10).clamp(EVERY.0, EVERY.1))
    }

    /// Looks at a process.
    pub fn look(&mut self, pid: i32) {
        let mut all = vec![pid];
        if self.start.elapsed() > self.all_due {
            all.extend(descendants(pid));
            self.all_due = self.start.elapsed() * 4;
        }
        let seen = all.iter().filter_map(|p| peak(p.cast_unsigned())).max();
        self.seen = self.seen.max(seen);
    }

    /// The last look, at a process that has ended but is not reaped.
    pub fn ended(&mut self, pid: i32) {
        let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok();
        let ns = text.and_then(|t| t.split_whitespace().nth(1)?.parse::<f64>().ok());
        self.waited_s = ns.map(|n| n * 1e-9);
    }

    /// With the system's account of it.
    pub fn used(&self, usage: &libc::rusage) -> Used {
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        let counted = u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit;
        let is_own = match self.own_peak {
            Some(own) => counted > own + SLACK,
            None => true,
        };
        let number = |n: libc::c_long| u64::try_from(n).unwrap_or(0);
        Used {
            peak_bytes: if is_own { Some(counted) } else { self.seen },
            waited_s: self.waited_s,
            switches: number(usage.ru_nvcsw) + number(usage.ru_nivcsw),
        }
    }
}

/// Peak of a process's resident memory, bytes.
fn peak(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
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
}
