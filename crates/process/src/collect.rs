//! Waits for a process and reads what it prints in the same loop: without threads, which a short process would wait for.

use crate::group::Group;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// Bytes that are read at once.
const CHUNK: usize = 16 << 10;
/// Bytes that a pipe holds at most, without privileges.
const FULL_PIPE: usize = 1 << 20;

/// The last bytes of a pipe.
struct Reader<R> {
    from: Option<R>,
    bytes: Vec<u8>,
    keep: usize,
}

impl<R: Read + AsRawFd> Reader<R> {
    fn new(from: Option<R>, keep: usize) -> Self {
        if let Some(pipe) = &from {
            let fd = pipe.as_raw_fd();
            // SAFETY: only changes flags of a descriptor that is this process's own.
            unsafe {
                let flags = libc::fcntl(fd, libc::F_GETFL);
                libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
            }
        }
        Self {
            from,
            bytes: Vec::new(),
            keep,
        }
    }

    /// Negative once it has ended, which `poll` passes over.
    fn descriptor(&self) -> RawFd {
        self.from.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Reads what is there, and no more than a full pipe: who writes without end must not keep the reader.
    fn drain(&mut self) {
        let mut chunk = [0; CHUNK];
        for _ in 0..FULL_PIPE.div_ceil(CHUNK) {
            let Some(pipe) = &mut self.from else {
                return;
            };
            match pipe.read(&mut chunk) {
                Ok(0) => self.from = None,
                Ok(n) => {
                    self.bytes.extend_from_slice(&chunk[..n]);
                    // Now and then, as it moves all.
                    if self.bytes.len() > 2 * self.keep {
                        self.bytes.drain(..self.bytes.len() - self.keep);
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.from = None,
            }
        }
    }

    fn last(mut self) -> Vec<u8> {
        let over = self.bytes.len().saturating_sub(self.keep);
        self.bytes.drain(..over);
        self.bytes
    }
}

/// How a wait ended, and what was printed until then.
pub struct Collected {
    /// Whether the process ended by itself.
    pub ended: bool,
    /// When that was seen.
    pub at: Instant,
    /// The last bytes of its standard output.
    pub stdout: Vec<u8>,
    /// The last bytes of its standard error.
    pub stderr: Vec<u8>,
}

impl Group {
    /// Waits for the leader's end, at most until `until`, while its output is read; `stop` is asked every 50 ms. Of each stream
    /// the last `keep` bytes stay. What others that hold the pipes write later is not waited for.
    pub fn collect(
        &mut self,
        until: Instant,
        stop: &dyn Fn() -> bool,
        keep: (usize, usize),
    ) -> Collected {
        let mut out = Reader::new(self.take_stdout(), keep.0);
        let mut errors = Reader::new(self.take_stderr(), keep.1);
        let end = self.end();
        let ended = loop {
            let left = until.saturating_duration_since(Instant::now());
            let wait = match end {
                Some(_) => left.min(Duration::from_millis(50)),
                // Without a descriptor for its end it is looked at now and then.
                None => left.min(Duration::from_millis(1)),
            };
            let fd = |fd: RawFd| libc::pollfd {
                fd,
                events: libc::POLLIN,
                revents: 0,
            };
            let mut all = [
                fd(end.as_ref().map_or(-1, AsRawFd::as_raw_fd)),
                fd(out.descriptor()),
                fd(errors.descriptor()),
            ];
            let ms = i32::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(50);
            // SAFETY: the array is valid for its length; descriptors are open or negative.
            unsafe { libc::poll(all.as_mut_ptr(), all.len() as libc::nfds_t, ms) };
            if all[0].revents != 0 || end.is_none() && self.exited() {
                break true;
            }
            if all[1].revents != 0 {
                out.drain();
            }
            if all[2].revents != 0 {
                errors.drain();
            }
            if left.is_zero() || stop() {
                break false;
            }
        };
        let at = Instant::now();
        out.drain();
        errors.drain();
        Collected {
            ended,
            at,
            stdout: out.last(),
            stderr: errors.last(),
        }
    }

    /// A descriptor that is readable once the leader has ended; `None` where the system has none.
    pub(crate) fn end(&self) -> Option<OwnedFd> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::FromRawFd as _;
            // SAFETY: only makes a descriptor for a child that is not yet reaped; it is owned by what is returned.
            unsafe {
                let fd = libc::syscall(libc::SYS_pidfd_open, self.id(), 0) as RawFd;
                (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
            }
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::OnInterrupt;
    use std::process::{Command, Stdio};

    fn collected(script: &str, seconds: f64) -> Collected {
        let mut group = Group::spawn(
            Command::new("sh")
                .args(["-c", script])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped()),
            OnInterrupt::Kill,
        )
        .unwrap();
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        let c = group.collect(until, &|| false, (1000, 10));
        group.kill();
        c
    }

    #[test]
    fn both_streams_are_read_to_the_last_bytes() {
        let c = collected(
            "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo 0123456789ab >&2",
            60.0,
        );
        assert!(c.ended);
        assert_eq!(c.stdout.len(), 1000);
        assert!(c.stdout.ends_with(b"line 2999\n"));
        assert_eq!(c.stderr, b"3456789ab\n");
    }

    #[test]
    fn a_process_that_hangs_or_leaves_its_pipe_to_others_is_not_waited_for() {
        let start = Instant::now();
        let c = collected("echo up; sleep 1000", 1.0);
        assert!(!c.ended);
        assert_eq!(c.stdout, b"up\n");
        let c = collected("yes", 1.0);
        assert!(!c.ended && c.stdout.len() == 1000);
        let c = collected("yes & sleep 0.1", 20.0);
        assert!(c.ended, "what writes on is another process");
        let c = collected("sleep 30 & echo out", 20.0);
        assert!(c.ended && c.stdout == b"out\n");
        assert!(start.elapsed() < Duration::from_secs(15));
    }
}
