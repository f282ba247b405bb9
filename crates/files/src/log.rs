//! Files that grow line by line: each line is one write at the end, and a line cut short by a crash is dropped at the
//! next start.

use crate::error::{FileError, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An open log.
pub struct Log {
    file: File,
    path: PathBuf,
    /// Length of what is complete.
    end: u64,
    /// When the disk had all lines for the last time.
    synced: Option<Instant>,
    /// Whether lines came since.
    behind: bool,
}

/// Least time between two waits for the disk by [`Log::line_soon`].
const PACE: Duration = Duration::from_millis(200);

impl Log {
    /// Starts a new log.
    ///
    /// # Errors
    /// There is such a file already, or it cannot be written.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(FileError::write(path))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            end: 0,
            synced: None,
            behind: false,
        })
    }

    /// Opens a log to add to it, created if missing; a last line without its end is cut off.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path.as_ref(), 0)
    }

    /// As [`Log::open`], but a link is not followed: for names that the tool chooses.
    ///
    /// # Errors
    /// As [`Log::open`]; it is a link.
    pub fn open_here(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path.as_ref(), libc::O_NOFOLLOW)
    }

    fn open_with(path: &Path, flags: i32) -> Result<Self> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .custom_flags(flags)
            .open(path)
            .map_err(FileError::write(path))?;
        let end = complete(&mut file).map_err(FileError::read(path))?;
        if file.metadata().is_ok_and(|m| m.is_file() && m.len() > end) {
            file.set_len(end).map_err(FileError::write(path))?;
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            end,
            synced: None,
            behind: false,
        })
    }

    /// Adds a line (without its end); it is on the disk when this returns. After an error the file ends where it ended
    /// before.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn line(&mut self, text: impl AsRef<[u8]>) -> Result<()> {
        self.append(text.as_ref(), true)
    }

    /// As [`Log::line`], without waiting for the disk.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn quick_line(&mut self, text: impl AsRef<[u8]>) -> Result<()> {
        self.append(text.as_ref(), false)
    }

    /// As [`Log::line`], but it waits for the disk only if the last wait was a fifth of a second ago: lines that come faster
    /// are on the disk with the next one, or when the log is closed. A killed process loses none of them.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn line_soon(&mut self, text: impl AsRef<[u8]>) -> Result<()> {
        let due = self.synced.is_none_or(|at| at.elapsed() >= PACE);
        self.append(text.as_ref(), due)
    }

    fn append(&mut self, text: &[u8], sync: bool) -> Result<()> {
        let mut line = Vec::with_capacity(text.len() + 1);
        line.extend_from_slice(text);
        line.push(b'\n');
        let written = self
            .file
            .write_all(&line)
            .and_then(|()| if sync { self.file.sync_data() } else { Ok(()) });
        if let Err(e) = written {
            // Half a line would be cut off at the next start anyway.
            let _ = self.file.set_len(self.end);
            return Err(FileError::write(&self.path)(e));
        }
        self.end += line.len() as u64;
        self.behind = !sync;
        if sync {
            self.synced = Some(Instant::now());
        }
        Ok(())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.behind {
            // The lines are written; what the disk does not take now it reports to nobody any more.
            let _ = self.file.sync_data();
        }
    }
}

/// Bytes up to the last line's end.
fn complete(file: &mut File) -> io::Result<u64> {
    let mut at = file.metadata()?.len();
    let mut block = vec![0; 1 << 16];
    while at > 0 {
        let n = at.min(block.len() as u64);
        file.seek(SeekFrom::Start(at - n))?;
        let part = &mut block[..n as usize];
        file.read_exact(part)?;
        if let Some(i) = part.iter().rposition(|b| *b == b'\n') {
            return Ok(at - n + i as u64 + 1);
        }
        at -= n;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_is_cut_off_and_lines_are_added() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        std::fs::write(&path, "one\ntwo\nthr").unwrap();
        Log::open(&path).unwrap().line("three").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n");
        assert!(Log::create(&path).is_err());
        let long = "x".repeat(200_000);
        std::fs::write(&path, format!("one\n{long}")).unwrap();
        Log::open(&path).unwrap().line("two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn fast_lines_are_all_written_at_once_and_wait_for_the_disk_now_and_then() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        let mut log = Log::create(&path).unwrap();
        log.line_soon("one").unwrap();
        assert!(!log.behind);
        log.line_soon("two").unwrap();
        assert!(log.behind);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        std::thread::sleep(PACE);
        log.line_soon("three").unwrap();
        assert!(!log.behind);
    }
}
