//! Output of child processes, read without waiting forever: a process may end and leave its pipe open in others.

use crate::group::{Group, OnInterrupt};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Time in which a pipe is read to its end after the process that wrote to it ended.
const DRAIN: Duration = Duration::from_millis(200);

/// The last bytes that come out of a pipe, read by a thread of its own.
pub struct Capture {
    last: Arc<Mutex<VecDeque<u8>>>,
    ended: mpsc::Receiver<()>,
}

impl Capture {
    /// Reads to the end and keeps the last `keep` bytes.
    pub fn of(mut from: impl Read + Send + 'static, keep: usize) -> Self {
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let (tell, ended) = mpsc::channel();
        let into = Arc::clone(&last);
        std::thread::spawn(move || {
            let mut chunk = [0; 8192];
            loop {
                let n = match from.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(n) => n,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => break,
                };
                let mut last = into.lock().unwrap_or_else(PoisonError::into_inner);
                last.extend(&chunk[..n]);
                let over = last.len().saturating_sub(keep);
                last.drain(..over);
            }
            // Nobody may be waiting any more.
            let _ = tell.send(());
        });
        Self { last, ended }
    }

    /// The bytes read until the pipe closed, or until other processes had a short time to close it.
    fn bytes(&self) -> Vec<u8> {
        let _ = self.ended.recv_timeout(DRAIN);
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (a, b) = last.as_slices();
        [a, b].concat()
    }

    /// The same as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

/// How a command ended, and the last megabyte of its output.
pub struct Output {
    /// `None`: it was killed, at its time limit or because the user asked to stop.
    pub status: Option<ExitStatus>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Output {
    /// Whether it ended by itself with exit code 0.
    pub fn success(&self) -> bool {
        self.status.is_some_and(|s| s.success())
    }
}

/// Why there is no status of a process that ended.
pub const LOST: &str = "the system dropped how it ended, as this process ignores SIGCHLD";

/// Runs a command for at most `limit`, then kills its process group; `stop` is polled every 50 ms.
///
/// # Errors
/// It cannot be started, or the system drops how it ended.
pub fn output(
    command: &mut Command,
    limit: Duration,
    stop: &dyn Fn() -> bool,
) -> io::Result<Output> {
    const KEEP: usize = 1 << 20;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut group = Group::spawn(command, OnInterrupt::Kill)?;
    let out = group.take_stdout().map(|p| Capture::of(p, KEEP));
    let errors = group.take_stderr().map(|p| Capture::of(p, KEEP));
    let start = Instant::now();
    let mut ended = false;
    while !ended && start.elapsed() < limit && !stop() {
        let left = limit.saturating_sub(start.elapsed());
        ended = group.exits_within(left.min(Duration::from_millis(50)));
    }
    let status = group.kill();
    if ended && status.is_none() {
        return Err(io::Error::other(LOST));
    }
    Ok(Output {
        status: status.filter(|_| ended),
        stdout: out.map_or_else(String::new, |c| c.text()),
        stderr: errors.map_or_else(String::new, |c| c.text()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Output {
        output(Command::new("sh").args(["-c", script]), limit, &|| false).unwrap()
    }

    #[test]
    fn a_pipe_left_to_others_is_not_waited_for() {
        let start = Instant::now();
        let o = shell(
            "setsid sleep 1000 & echo out; echo err >&2; exit 4",
            Duration::from_secs(60),
        );
        assert_eq!(o.status.unwrap().code(), Some(4));
        assert_eq!((o.stdout.as_str(), o.stderr.as_str()), ("out\n", "err\n"));
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_command_that_hangs_is_killed() {
        let o = shell("echo up; sleep 1000", Duration::from_secs(1));
        assert!(o.status.is_none() && !o.success());
        assert_eq!(o.stdout, "up\n");
    }

    #[test]
    fn the_last_bytes_are_kept() {
        let c = Capture::of(io::Cursor::new(b"0123456789".to_vec()), 4);
        assert_eq!(c.text(), "6789");
    }
}
