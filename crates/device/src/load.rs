//! What else the host's cores do: the time that other programs and a hypervisor take.

use std::path::Path;
use std::time::Instant;

/// Ticks a second of `/proc/stat` on every Linux that people use.
const TICKS: f64 = 100.0;

/// CPU times so far.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    at: Instant,
    /// All programs on the given cores, s.
    busy_s: f64,
    /// Taken by the hypervisor for other virtual machines, s.
    stolen_s: f64,
    /// This process, s.
    own_s: f64,
    cores: usize,
}

/// Shares of the cores' time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Used by other programs.
    pub others: f64,
    /// Taken by the hypervisor.
    pub stolen: f64,
}

impl Load {
    /// The times of these CPUs and of this process; `None` where the system does not tell.
    pub fn now(cpus: &[usize]) -> Option<Self> {
        let text = std::fs::read_to_string(Path::new("/proc/stat")).ok()?;
        let (busy_s, stolen_s) = times(&text, cpus)?;
        Some(Self {
            at: Instant::now(),
            busy_s,
            stolen_s,
            own_s: own_s()?,
            cores: cpus.len().max(1),
        })
    }

    /// What others took since `before`; `None` after less than half a second, which ticks do not resolve.
    pub fn since(&self, before: &Self) -> Option<Shares> {
        let wall = self.at.duration_since(before.at).as_secs_f64();
        let all = wall * self.cores as f64;
        let share = |s: f64| (s / all).clamp(0.0, 1.0);
        (wall > 0.5).then(|| Shares {
            others: share(self.busy_s - before.busy_s - (self.own_s - before.own_s)),
            stolen: share(self.stolen_s - before.stolen_s),
        })
    }
}

/// Busy and stolen time of these CPUs in the text of `/proc/stat`, s; of all without a list.
fn times(text: &str, cpus: &[usize]) -> Option<(f64, f64)> {
    let (mut busy, mut stolen, mut found) = (0.0, 0.0, false);
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let cpu: Option<usize> = (words.next()).and_then(|w| w.strip_prefix("cpu")?.parse().ok());
        if !cpu.is_some_and(|c| cpus.is_empty() || cpus.contains(&c)) {
            continue;
        }
        // user nice system idle iowait irq softirq steal; time of guests is part of user's.
        let t: Vec<f64> = words.filter_map(|w| w.parse().ok()).collect();
        busy += [0, 1, 2, 5, 6]
            .iter()
            .filter_map(|&i| t.get(i))
            .sum::<f64>();
        stolen += t.get(7).copied().unwrap_or(0.0);
        found = true;
    }
    found.then_some((busy / TICKS, stolen / TICKS))
}

/// CPU time of all threads of this process, s.
fn own_s() -> Option<f64> {
    #[cfg(unix)]
    {
        let mut t = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `t` is valid for writes.
        let known = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut t) } == 0;
        known.then_some(t.tv_sec as f64 + 1e-9 * t.tv_nsec as f64)
    }
    #[cfg(not(unix))]
    None
}

/// Time that the threads of this process have waited for a core, s; `None` where the system does not tell.
pub fn waited_s() -> Option<f64> {
    let mut sum_ns = None;
    for task in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        // A thread that ends meanwhile waits no more.
        let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        if let Some(ns) = (text.split_ascii_whitespace().nth(1)).and_then(|w| w.parse::<u64>().ok())
        {
            *sum_ns.get_or_insert(0) += ns;
        }
    }
    sum_ns.map(|ns| 1e-9 * ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_times_of_the_given_cpus_are_read() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 10 50 900 7 1 2 30 0 0\ncpu1 200 0 0 0 0 0 0 0 0 0\nintr 5\n";
        assert_eq!(times(text, &[0]), Some((1.63, 0.3)));
        assert_eq!(times(text, &[0, 1]), Some((3.63, 0.3)));
        assert_eq!(times(text, &[]), Some((3.63, 0.3)));
        assert_eq!(times(text, &[7]), None);
        assert_eq!(times("", &[0]), None);
    }

    #[test]
    fn others_are_all_but_this_process() {
        let at = Instant::now();
        let of = |s: u64, busy_s: f64, own_s: f64| Load {
            at: at + Duration::from_secs(s),
            busy_s,
            stolen_s: 0.5 * s as f64,
            own_s,
            cores: 2,
        };
        let (before, after) = (of(0, 100.0, 3.0), of(10, 118.0, 11.0));
        let want = Shares {
            others: 0.5,
            stolen: 0.25,
        };
        assert_eq!(after.since(&before), Some(want));
        // Ticks that were counted late are no negative time.
        assert_eq!(of(10, 100.0, 5.0).since(&before).unwrap().others, 0.0);
        assert_eq!(before.since(&before), None);
    }
}
