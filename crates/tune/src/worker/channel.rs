//! The worker's end of the protocol. Kernels share its memory, so it is kept out of their reach: high
//! descriptors in place of 0 and 1, and a nonce in every answer, in memory that is inaccessible while they run.

use crate::worker::protocol::{Job, Message};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, RawFd};

/// Length of a job's nonce, as text.
pub(crate) const NONCE: usize = 32;

/// A new random nonce.
pub(crate) fn nonce() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    // Their keys come from the system's source of random numbers.
    let one = || RandomState::new().hash_one("job");
    format!("{:016x}{:016x}", one(), one())
}

/// The nonce of the current job, in a page of its own that is readable only while it is needed.
pub(crate) struct Secret {
    page: *mut u8,
    bytes: usize,
}

// SAFETY: the page is never unmapped; it is written between jobs only.
unsafe impl Sync for Secret {}
// SAFETY: as above; nothing in it belongs to a thread.
unsafe impl Send for Secret {}

impl Secret {
    /// Maps the page, for the rest of the process.
    fn new() -> io::Result<&'static Self> {
        // SAFETY: sysconf only reads a setting; a new mapping touches nothing that exists.
        let (page, bytes) = unsafe {
            let bytes = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0);
            (page, bytes)
        };
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Box::leak(Box::new(Self {
            page: page.cast(),
            bytes,
        })))
    }

    fn open(&self, how: i32) {
        // SAFETY: the page is this one's own.
        unsafe { libc::mprotect(self.page.cast(), self.bytes, how) };
    }

    fn set(&self, nonce: &[u8]) {
        self.open(libc::PROT_READ | libc::PROT_WRITE);
        let n = nonce.len().min(NONCE);
        // SAFETY: the page is open for writes and larger than the number.
        unsafe { std::ptr::copy_nonoverlapping(nonce.as_ptr(), self.page, n) };
        self.open(libc::PROT_NONE);
    }

    /// Gives the nonce to `f`. Async-signal-safe.
    pub(crate) fn with(&self, f: &mut dyn FnMut(&[u8])) {
        self.open(libc::PROT_READ);
        // SAFETY: the page is open for reads and larger than the number.
        f(unsafe { std::slice::from_raw_parts(self.page, NONCE) });
        self.open(libc::PROT_NONE);
    }
}

/// Jobs come from here, answers go here.
pub struct Channel {
    jobs: File,
    answers: File,
    pub(crate) secret: &'static Secret,
    /// Bytes of the next line that were read with the last one.
    left: Vec<u8>,
}

impl Channel {
    /// Takes over standard input and output, and replaces them with /dev/null.
    ///
    /// # Errors
    /// No descriptor can be duplicated.
    pub fn take_over() -> io::Result<Self> {
        let null = File::options().read(true).write(true).open("/dev/null")?;
        let move_away = |descriptor: RawFd| -> io::Result<File> {
            let own = high(descriptor)?;
            // SAFETY: both descriptors are open.
            if unsafe { libc::dup2(null.as_raw_fd(), descriptor) } < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(own)
        };
        let before = allow_high_descriptors();
        let (jobs, answers) = (move_away(0)?, move_away(1)?);
        if let Some(before) = before {
            // SAFETY: the pointer is valid; only a limit of this process changes, back to what it was.
            unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const before) };
        }
        Ok(Self {
            jobs,
            answers,
            secret: Secret::new()?,
            left: Vec::new(),
        })
    }

    /// Waits for the next job; `None` at the end of the input.
    ///
    /// # Errors
    /// The line is not a valid job.
    pub fn next_job(&mut self) -> io::Result<Option<Job>> {
        let mut line = std::mem::take(&mut self.left);
        let mut searched = 0;
        let end = loop {
            if let Some(end) = line[searched..].iter().position(|&b| b == b'\n') {
                break searched + end;
            }
            searched = line.len();
            let mut chunk = [0; 16384];
            let n = self.jobs.read(&mut chunk)?;
            if n == 0 {
                return Ok(None);
            }
            line.extend(&chunk[..n]);
            wipe(&mut chunk);
        };
        self.left = line.split_off(end + 1);
        let text = line.get(NONCE + 1..end).unwrap_or_default();
        let job = serde_json::from_slice(text).map_err(io::Error::other);
        if job.is_ok() {
            self.secret.set(&line[..NONCE]);
        }
        wipe(&mut line);
        job.map(Some)
    }

    /// Sends an answer to the current job.
    pub fn answer(&mut self, message: &Message) {
        // The first line's end cuts off what a kernel may have written there.
        let mut line = vec![b'\n'];
        self.secret.with(&mut |nonce| line.extend(nonce));
        line.push(b' ');
        line.extend(serde_json::to_vec(message).unwrap_or_default());
        line.push(b'\n');
        // A parent that is gone needs no answer.
        let _ = self
            .answers
            .write_all(&line)
            .and_then(|()| self.answers.flush());
        wipe(&mut line);
    }

    /// Descriptor for the answers.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.answers.as_raw_fd()
    }
}

/// Overwrites memory; the compiler cannot remove it as a dead store.
fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    std::hint::black_box(bytes);
}

/// Highest descriptor to request; the kernel's descriptor table grows with it.
const HIGHEST: i32 = 1 << 15;

/// Raises the limit of open descriptors; returns the old one.
fn allow_high_descriptors() -> Option<libc::rlimit> {
    // SAFETY: the pointers are valid; only a limit of this process changes.
    unsafe {
        let mut limit = std::mem::zeroed::<libc::rlimit>();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            return None;
        }
        let before = limit;
        limit.rlim_cur = limit
            .rlim_cur
            .max(limit.rlim_max.min(HIGHEST as libc::rlim_t));
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        Some(before)
    }
}

/// A duplicate at a random high number, closed on exec.
fn high(descriptor: RawFd) -> io::Result<File> {
    let mut rng = fastrand::Rng::new();
    let mut from = HIGHEST / 2;
    loop {
        let least = if from > 8 { from + rng.i32(..from) } else { 3 };
        // SAFETY: asks for a new descriptor; the one given is open.
        let own = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, least) };
        if own >= 0 {
            // SAFETY: the new descriptor is owned by the returned file alone.
            return Ok(unsafe { File::from_raw_fd(own) });
        }
        if least == 3 {
            return Err(io::Error::last_os_error());
        }
        from /= 2;
    }
}
