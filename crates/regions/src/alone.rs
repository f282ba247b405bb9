//! Whether the program has ended but for this library: its main thread left by `pthread_exit`, and no other thread of it
//! lives. Then nobody else ends the process.

use std::fs;
use std::time::{Duration, Instant};

/// Between two looks.
const EVERY: Duration = Duration::from_millis(250);
/// How names of the library's threads begin.
const OWN: &str = "greenup-";

/// Looks now and then.
#[derive(Default)]
pub struct Alone(Option<Instant>);

impl Alone {
    /// Whether the threads of this library alone are left, and this is the first of them.
    pub fn is_so(&mut self) -> bool {
        if self.0.is_some_and(|last| last.elapsed() < EVERY) {
            return false;
        }
        self.0 = Some(Instant::now());
        cfg!(target_os = "linux") && is_gone(std::process::id()) && is_first()
    }
}

/// Whether a thread has ended. Its name in parentheses may hold anything.
fn is_gone(thread: u32) -> bool {
    let stat = fs::read(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    let end = stat.iter().rposition(|&b| b == b')');
    let state = end.and_then(|i| stat.get(i + 2));
    matches!(state, Some(b'Z' | b'X'))
}

fn is_first() -> bool {
    let tasks = fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    let ids = tasks.filter_map(|t| t.file_name().to_str()?.parse::<u32>().ok());
    let living: Vec<u32> = ids.filter(|&t| !is_gone(t)).collect();
    let is_own = |t: &u32| {
        fs::read(format!("/proc/self/task/{t}/comm")).is_ok_and(|n| n.starts_with(OWN.as_bytes()))
    };
    // SAFETY: asks for the number of this thread.
    #[cfg(target_os = "linux")]
    let this = unsafe { libc::gettid() };
    #[cfg(not(target_os = "linux"))]
    let this = -1;
    living.iter().all(is_own) && living.iter().min().copied() == u32::try_from(this).ok()
}
