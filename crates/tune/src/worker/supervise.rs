//! A worker and its watcher. The watcher takes in all processes that a kernel leaves behind, whatever group or session
//! they moved to, and kills them when the worker ends, when the tuner asks, and when the tuner is gone.

use greenup_files::Scratch;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// Time that a worker has to end by itself after the tuner closed its input.
const GRACE: Duration = Duration::from_millis(200);

/// Time in which processes that a run left behind are killed.
const CLEANING: Duration = Duration::from_secs(1);

/// The watcher of this process; 0 without one.
static WATCHER: AtomicI32 = AtomicI32::new(0);

/// Kills what runs before left behind, whatever session it moved to: its parents ended, so it is the watcher's. Nothing of this
/// process's own is.
pub(crate) fn kill_left_behind() {
    let watcher = WATCHER.load(Ordering::Relaxed);
    if watcher == 0 {
        return;
    }
    let own = std::process::id().cast_signed();
    let list = format!("/proc/{watcher}/task/{watcher}/children");
    let start = Instant::now();
    // Those below a process that is killed are the watcher's next.
    while start.elapsed() < CLEANING {
        let all = std::fs::read_to_string(&list).unwrap_or_default();
        let left: Vec<i32> = (all.split_whitespace())
            .filter_map(|pid| pid.parse().ok())
            .filter(|pid| *pid != own)
            .collect();
        if left.is_empty() {
            return;
        }
        for pid in left {
            // SAFETY: only sends a signal to a child of the watcher, which reaps it, at worst, just now.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Splits this process in two: the worker, which returns from here, and its watcher, which ends as the worker ends.
/// Call it while the process has one thread. The watcher removes the scratch folder at the end.
///
/// # Errors
/// No process can be made.
#[cfg(target_os = "linux")]
pub fn supervised(scratch: Option<&Scratch>) -> io::Result<()> {
    // SAFETY: the process has one thread, so the child may do whatever it could; the other calls only set who is told of
    // whose end.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        let watcher = libc::getpid();
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::getppid() != watcher {
                    libc::_exit(1);
                }
                WATCHER.store(watcher, Ordering::Relaxed);
                Ok(())
            }
            worker => watch::worker(worker, scratch),
        }
    }
}

/// There is no watcher here: the group of the worker is killed, and no more.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn supervised(_: Option<&Scratch>) -> io::Result<()> {
    let _ = GRACE;
    Ok(())
}

#[cfg(target_os = "linux")]
mod watch {
    use super::GRACE;
    use crate::worker::launcher::SIGNALLED;
    use greenup_files::Scratch;
    use greenup_process::family::descendants;
    use std::os::fd::RawFd;
    use std::time::{Duration, Instant};

    /// Time in which everything below must be dead.
    const KILLING: Duration = Duration::from_secs(2);

    /// Waits for the worker's end or the tuner's wish, kills what is left, and ends as the worker ended.
    pub(crate) fn worker(pid: i32, scratch: Option<&Scratch>) -> ! {
        let asked = signals();
        let ended = end_of(pid);
        // The pipes are the worker's: their end must be seen when it ends.
        to_null(1);
        to_null(2);
        let mut left = None;
        loop {
            let mut all = [
                poll(ended, libc::POLLIN),
                poll(asked, libc::POLLIN),
                // No wish to read: only that nobody can write any more.
                poll(if left.is_none() { 0 } else { -1 }, 0),
            ];
            let wait = match left {
                // Without a descriptor for its end it is looked at now and then.
                None if ended < 0 => 10,
                None => -1,
                Some(_) => 10,
            };
            // SAFETY: the array is valid for its length.
            unsafe { libc::poll(all.as_mut_ptr(), all.len() as libc::nfds_t, wait) };
            if over(pid) || asked_to_end(asked, pid) {
                break;
            }
            if all[2].revents != 0 {
                left = Some(Instant::now());
            }
            if left.is_some_and(|since| since.elapsed() > GRACE) {
                break;
            }
        }
        let status = kill_below(pid);
        if let Some(scratch) = scratch {
            scratch.remove();
        }
        end_as(status, scratch.is_some())
    }

    fn poll(fd: RawFd, events: i16) -> libc::pollfd {
        libc::pollfd {
            fd,
            events,
            revents: 0,
        }
    }

    /// Signals by which the tuner asks, as a descriptor.
    fn signals() -> RawFd {
        // SAFETY: the set is initialised before it is used; only this process's signals are concerned.
        unsafe {
            let mut set = std::mem::zeroed::<libc::sigset_t>();
            libc::sigemptyset(&raw mut set);
            for s in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGCHLD] {
                libc::sigaddset(&raw mut set, s);
            }
            libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        }
    }

    /// Whether the tuner asked for the end. Processes that ended meanwhile are reaped, but for the worker.
    fn asked_to_end(asked: RawFd, worker: i32) -> bool {
        // SAFETY: the structure is plain data and the length is its own; only children of this process are reaped.
        unsafe {
            let mut one = std::mem::zeroed::<libc::signalfd_siginfo>();
            let size = size_of::<libc::signalfd_siginfo>();
            while libc::read(asked, (&raw mut one).cast(), size) == size.cast_signed() {
                if one.ssi_signo != libc::SIGCHLD.cast_unsigned() {
                    return true;
                }
                for pid in descendants(libc::getpid()) {
                    if pid != worker {
                        // Fails for those that have another parent or live.
                        libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG);
                    }
                }
            }
        }
        false
    }

    /// A descriptor that is readable when the process has ended; negative where the system has none.
    fn end_of(pid: i32) -> RawFd {
        // SAFETY: only makes a descriptor for a child that is not yet reaped.
        unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) as RawFd }
    }

    fn to_null(descriptor: RawFd) {
        // SAFETY: the string ends with a zero; both descriptors are this process's own.
        unsafe {
            let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
            if null >= 0 {
                libc::dup2(null, descriptor);
                libc::close(null);
            }
        }
    }

    /// Whether the process has ended; it stays to be reaped.
    fn over(pid: i32) -> bool {
        // SAFETY: siginfo is plain data for which all zeros is valid; the pointer is valid for writes.
        unsafe {
            let mut info = std::mem::zeroed::<libc::siginfo_t>();
            let what = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
            let rc = libc::waitid(libc::P_PID, pid.cast_unsigned(), &raw mut info, what);
            rc != 0 || info.si_pid() != 0
        }
    }

    /// Kills and reaps everything below this process; returns how the worker ended.
    fn kill_below(worker: i32) -> i32 {
        let start = Instant::now();
        let mut status = 0;
        // SAFETY: only sends signals to, and reaps, processes below this one.
        unsafe {
            if !over(worker) {
                libc::kill(worker, libc::SIGKILL);
            }
            while start.elapsed() < KILLING {
                // Those whose parents died are now this process's children.
                for pid in descendants(libc::getpid()) {
                    libc::kill(pid, libc::SIGKILL);
                }
                loop {
                    let mut s = 0;
                    match libc::waitpid(-1, &raw mut s, libc::WNOHANG) {
                        0 => break,
                        -1 => return status,
                        pid if pid == worker => status = s,
                        _ => {}
                    }
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        status
    }

    /// Ends as another process did; behind a launcher, which passes no signals on, by a code that says so.
    fn end_as(status: i32, launched: bool) -> ! {
        // SAFETY: only concerns this process, which ends here.
        unsafe {
            if libc::WIFSIGNALED(status) && launched {
                libc::_exit(SIGNALLED + libc::WTERMSIG(status));
            }
            if libc::WIFSIGNALED(status) {
                let none = std::mem::zeroed::<libc::rlimit>();
                libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
                let signal = libc::WTERMSIG(status);
                libc::signal(signal, libc::SIG_DFL);
                let mut set = std::mem::zeroed::<libc::sigset_t>();
                libc::sigemptyset(&raw mut set);
                libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
                libc::kill(libc::getpid(), signal);
            }
            libc::_exit(libc::WEXITSTATUS(status));
        }
    }
}
