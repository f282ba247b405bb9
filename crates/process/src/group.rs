//! Processes that the program starts. Each leads a process group, which is killed whole: when it is dropped, when the
//! user interrupts, and when the program is ended. Signals of the terminal do not reach these groups.

use crate::family::{descendants, lives_in};
use crate::watch::Watch;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What an interrupt does to a group. Every group is killed when the program is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnInterrupt {
    /// It is killed at once: its work would not be used.
    Kill,
    /// It lives on until its owner drops it.
    Keep,
    /// Likewise, and its leader ends all below it when it is asked by SIGTERM or its input ends.
    Watched,
}

/// Gives the signals that tell of children and of time their usual meaning, whatever the parent of this process set: where SIGCHLD is
/// ignored, the system drops how children ended. Call it first in `main`.
pub fn usual_signals() {
    // SAFETY: sets dispositions and the mask of a thread that is alone; no handler of ours exists yet.
    unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut all);
        for signal in [libc::SIGCHLD, libc::SIGALRM] {
            libc::signal(signal, libc::SIG_DFL);
            libc::sigaddset(&raw mut all, signal);
        }
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const all, std::ptr::null_mut());
    }
}

/// Groups that live. A leader is reaped only after it was taken out, so that no number here is of another process.
static LIVE: Mutex<Vec<(i32, OnInterrupt)>> = Mutex::new(Vec::new());

/// Kills the groups that an interrupt ends.
pub fn interrupted() {
    kill_live(|on| on == OnInterrupt::Kill);
}

/// Kills all groups: the program ends now.
pub fn kill_all() {
    kill_live(|_| true);
}

fn kill_live(which: impl Fn(OnInterrupt) -> bool) {
    let live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    for (pid, on) in live.iter().filter(|(_, on)| which(*on)) {
        if *on == OnInterrupt::Watched {
            // SAFETY: only sends a signal; the leader is a child that is not yet reaped.
            unsafe { libc::kill(*pid, libc::SIGTERM) };
        } else {
            signal_group(*pid, libc::SIGKILL);
        }
    }
}

/// Signals a group, and its leader in case that it left the group.
fn signal_group(pid: i32, signal: i32) {
    // SAFETY: only sends signals; the leader is a child that is not yet reaped, so both numbers are its own.
    unsafe {
        libc::kill(-pid, signal);
        libc::kill(pid, signal);
    }
}

/// Why a wait for a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// It ended; its status waits to be read.
    Exited,
    /// It was stopped, as it wants the terminal, which is not its own.
    WantsTerminal,
}

/// A process and all that it starts.
#[derive(Debug)]
pub struct Group {
    child: Child,
    /// Taken out of the table and reaped.
    done: bool,
}

impl Group {
    /// Starts a command as the leader of a new group.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn spawn(command: &mut Command, on: OnInterrupt) -> io::Result<Self> {
        // Held while starting: a group is in the table before anybody can be asked to kill all.
        let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.process_group(0).spawn()?;
        let pid = child.id().cast_signed();
        live.push((pid, on));
        if on == OnInterrupt::Kill && crate::request::requested() {
            signal_group(pid, libc::SIGKILL);
        }
        Ok(Self { child, done: false })
    }

    /// Number of the leader, and of the group.
    pub fn id(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Its standard input, where it is a pipe; once.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Its standard output, where it is a pipe; once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Its standard error, where it is a pipe; once.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Sends a signal to all of the group.
    pub fn signal(&self, signal: i32) {
        if !self.done {
            signal_group(self.id(), signal);
        }
    }

    /// Sends a signal to the leader alone.
    pub fn signal_leader(&self, signal: i32) {
        if !self.done {
            // SAFETY: only sends a signal; the leader is a child that is not yet reaped.
            unsafe { libc::kill(self.id(), signal) };
        }
    }

    /// Whether the leader has ended; its status stays to be read.
    pub fn exited(&self) -> bool {
        self.done
            || matches!(
                wait_id(self.id(), libc::WEXITED | libc::WNOWAIT | libc::WNOHANG),
                Ok(Some(_)) | Err(_)
            )
    }

    /// Waits at most so long for the leader's end; says whether it ended.
    pub fn exits_within(&self, limit: Duration) -> bool {
        let start = Instant::now();
        if let Some(ended) = self.readable_within(limit) {
            return ended;
        }
        let mut pause = Duration::from_micros(200);
        loop {
            if self.exited() {
                return true;
            }
            if start.elapsed() >= limit {
                return false;
            }
            std::thread::sleep(pause.min(limit.saturating_sub(start.elapsed())));
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }

    /// Waits until no process of the group lives; the leader stays to be reaped. Where the system lists no processes it does not wait.
    pub fn empties_within(&self, limit: Duration) -> bool {
        let start = Instant::now();
        while !self.done && lives_in(self.id()) {
            if start.elapsed() >= limit {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }

    /// The same by a descriptor, without polling; `None` where the system has none.
    fn readable_within(&self, limit: Duration) -> Option<bool> {
        if self.done {
            return Some(true);
        }
        let start = Instant::now();
        let end = self.end()?;
        let mut at = libc::pollfd {
            fd: end.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let ended = loop {
            let left = limit.saturating_sub(start.elapsed());
            let ms = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
            // SAFETY: the one descriptor is valid.
            let rc = unsafe { libc::poll(&raw mut at, 1, ms) };
            if rc > 0 || left.is_zero() {
                break self.exited();
            }
        };
        Some(ended)
    }

    /// Waits for the leader's end without a limit and without polling.
    ///
    /// # Errors
    /// The system's own.
    pub fn wait(&self) -> io::Result<Waited> {
        loop {
            let what = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT;
            let Some((code, status)) = wait_id(self.id(), what)? else {
                continue;
            };
            if code != libc::CLD_STOPPED {
                return Ok(Waited::Exited);
            }
            if matches!(status, libc::SIGTTIN | libc::SIGTTOU) {
                return Ok(Waited::WantsTerminal);
            }
            // Another stop is somebody's wish. It is taken note of, and the wait goes on.
            wait_id(self.id(), libc::WSTOPPED | libc::WNOHANG)?;
        }
    }

    /// As [`Group::wait`], while what it uses is looked at now and then.
    ///
    /// # Errors
    /// The system's own.
    pub fn wait_watching(&self, watch: &mut Watch) -> io::Result<Waited> {
        while let Some(pause) = watch.pause() {
            match self.readable_within(pause) {
                // Without a descriptor there is no account of memory to look at either.
                None | Some(true) => break,
                Some(false) => watch.look(self.id()),
            }
            // One that ends meanwhile is none that could be stopped.
            let what = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | libc::WNOHANG;
            if wait_id(self.id(), what)?.is_some() {
                break;
            }
        }
        let out = self.wait();
        watch.ended(self.id());
        out
    }

    /// Kills the whole group and returns the leader's status.
    pub fn kill(&mut self) -> Option<ExitStatus> {
        if self.done {
            return None;
        }
        // Those of a process that ended have other parents already.
        let below = if self.exited() {
            Vec::new()
        } else {
            descendants(self.id())
        };
        self.signal(libc::SIGKILL);
        for pid in below {
            // SAFETY: only sends a signal. A descendant that has just ended could have given its number away only
            // after all others had been used.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        self.reap()
    }

    /// The status of a leader that ended, with the resources it used; what it left running lives on.
    ///
    /// # Errors
    /// The system's own.
    pub fn reap_with_usage(&mut self) -> io::Result<(ExitStatus, libc::rusage)> {
        self.forget();
        let mut status = 0;
        // SAFETY: rusage is plain data for which all zeros is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: both pointers are valid for writes; the leader is not yet reaped.
            let rc = unsafe { libc::wait4(self.id(), &raw mut status, 0, &raw mut usage) };
            if rc >= 0 {
                return Ok((ExitStatus::from_raw(status), usage));
            }
            let e = io::Error::last_os_error();
            if e.kind() != io::ErrorKind::Interrupted {
                return Err(e);
            }
        }
    }

    fn reap(&mut self) -> Option<ExitStatus> {
        self.forget();
        self.child.wait().ok()
    }

    /// Out of the table: from here on its number may become another's.
    fn forget(&mut self) {
        let id = self.id();
        let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
        live.retain(|(pid, _)| *pid != id);
        self.done = true;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How a child changed: the code and the status, or none with `WNOHANG`.
fn wait_id(pid: i32, what: i32) -> io::Result<Option<(i32, i32)>> {
    loop {
        // SAFETY: siginfo is plain data for which all zeros is valid.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is valid for writes.
        let rc = unsafe { libc::waitid(libc::P_PID, pid.cast_unsigned(), &raw mut info, what) };
        if rc == 0 {
            // SAFETY: waitid fills in these fields; they are zero where no child has changed.
            let (who, status) = unsafe { (info.si_pid(), info.si_status()) };
            return Ok((who != 0).then_some((info.si_code, status)));
        }
        let e = io::Error::last_os_error();
        if e.kind() != io::ErrorKind::Interrupted {
            return Err(e);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::process::Stdio;

    fn shell(script: &str, on: OnInterrupt) -> Group {
        let mut c = Command::new("sh");
        c.args(["-c", script]).stdout(Stdio::piped());
        Group::spawn(&mut c, on).unwrap()
    }

    /// Closes the pipe, so that its other end sees the end of file.
    fn ends(out: &mut ChildStdout) -> String {
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_group_is_killed_whole() {
        // The grandchild leaves the group; it is found by its parent.
        let mut g = shell(
            "setsid sleep 1000 & sleep 1000 & echo up; wait",
            OnInterrupt::Keep,
        );
        let mut out = g.take_stdout().unwrap();
        let mut byte = [0; 3];
        out.read_exact(&mut byte).unwrap();
        assert!(!g.exited() && !g.exits_within(Duration::from_millis(20)));
        assert!(!g.empties_within(Duration::from_millis(20)));
        std::thread::sleep(Duration::from_millis(100));
        let start = Instant::now();
        assert_eq!(g.kill().unwrap().signal(), Some(libc::SIGKILL));
        assert_eq!(ends(&mut out), "");
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_group_lives_longer_than_its_leader() {
        let g = shell("sleep 1000 & exit", OnInterrupt::Keep);
        assert!(g.exits_within(Duration::from_secs(20)));
        assert!(!g.empties_within(Duration::from_millis(50)));
        g.signal(libc::SIGKILL);
        assert!(g.empties_within(Duration::from_secs(20)));
    }

    #[test]
    fn what_a_measured_command_starts_lives_on() {
        let mut g = shell("sleep 1000 & echo $!; exit 3", OnInterrupt::Kill);
        assert_eq!(g.wait().unwrap(), Waited::Exited);
        let (status, _) = g.reap_with_usage().unwrap();
        assert_eq!(status.code(), Some(3));
        let mut text = [0; 16];
        let n = g.take_stdout().unwrap().read(&mut text).unwrap();
        let pid: i32 = std::str::from_utf8(&text[..n])
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        drop(g);
        // SAFETY: the process is the one started here, which nobody has reaped or killed.
        assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
    }
}
