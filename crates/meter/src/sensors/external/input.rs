//! Bytes of files, pipes and devices, without waiting for ever.

use greenup_process::descriptor::Descriptor;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

/// Longest line, bytes.
const MOST_LINE: usize = 1 << 16;
/// Bytes that are read before their lines are looked at.
const MOST_BATCH: usize = 4 << 20;
/// Largest recorded trace, bytes.
const LARGEST: u64 = 1 << 30;
/// Between two looks at a file that grows, and whether the sensor is still wanted.
const PAUSE: Duration = Duration::from_millis(2);
const LOOK_MS: i32 = 50;

/// The bytes of a plain file; a device, a pipe or a folder is refused, as it may have no end.
pub fn plain_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let meta = file.metadata()?;
    let refused = |why: &str| Err(io::Error::other(why));
    if meta.is_dir() {
        return refused("it is a folder");
    }
    if !meta.is_file() {
        return refused("not a plain file");
    }
    if meta.len() > LARGEST {
        return refused("it is larger than 1 GiB");
    }
    let mut bytes = Vec::new();
    file.by_ref().take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file without waiting for the other end of a pipe.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
    options.open(path)
}

/// Where lines come from.
pub struct Input {
    /// In a foreign program, which may close it.
    from: Descriptor,
    grows: bool,
    read: u64,
    bytes: Vec<u8>,
    /// Whether the last batch ended with a carriage return.
    after_return: bool,
    /// Whole lines of the last batch.
    pub lines: Vec<u8>,
}

impl Input {
    /// Takes a descriptor over.
    pub fn of(fd: i32, grows: bool) -> io::Result<Self> {
        let from = Descriptor::raised(fd)?;
        // SAFETY: changes a flag of a descriptor that is this process's own.
        unsafe {
            let flags = libc::fcntl(from.number(), libc::F_GETFL);
            libc::fcntl(from.number(), libc::F_SETFL, flags | libc::O_NONBLOCK);
        }
        Ok(Self {
            from,
            grows,
            read: 0,
            bytes: Vec::new(),
            after_return: false,
            lines: Vec::new(),
        })
    }

    /// Waits a little for lines and takes those that are there, together; whether there are no more to come.
    pub fn batch(&mut self) -> io::Result<bool> {
        self.lines.clear();
        if !self.grows {
            let mut at = libc::pollfd {
                fd: self.from.number(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: the one descriptor is valid.
            unsafe { libc::poll(&raw mut at, 1, LOOK_MS) };
        }
        let mut chunk = [0; 1 << 14];
        let mut over = false;
        let mut new = 0;
        while new < MOST_BATCH {
            match self.from.read(&mut chunk) {
                Ok(0) => {
                    // Nobody has opened the other end of a pipe yet.
                    over = !self.grows && self.read > 0;
                    break;
                }
                Ok(n) => {
                    self.bytes.extend_from_slice(&chunk[..n]);
                    self.read += n as u64;
                    new += n;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            }
        }
        // The second half of a line's end.
        if self.after_return && self.bytes.first() == Some(&b'\n') {
            self.bytes.remove(0);
        }
        self.after_return &= self.bytes.is_empty() && new == 0;
        // A meter may end its lines with a carriage return alone: no line feed need follow.
        let whole = (self.bytes.iter()).rposition(|&b| matches!(b, b'\n' | b'\r'));
        if let Some(end) = whole {
            self.after_return = self.bytes[end] == b'\r' && end + 1 == self.bytes.len();
            self.lines.extend(self.bytes.drain(..=end));
        }
        if self.bytes.len() > MOST_LINE {
            return Err(io::Error::other(
                "a line of more than 65536 bytes: no meter writes such",
            ));
        }
        if new == 0 && !over {
            if self.grows && self.from.length().is_some_and(|n| n < self.read) {
                // Written anew from its start.
                self.from.rewind()?;
                self.read = 0;
                self.bytes.clear();
            }
            std::thread::sleep(PAUSE);
        }
        Ok(over)
    }
}
