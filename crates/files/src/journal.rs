//! What a long run measures, line by line on the disk until its results are written: it outlives a kill.

use crate::error::{FileError, Result};
use crate::log::Log;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A log under a name of its own. It is removed once its lines stand elsewhere, or when it has none.
pub struct Journal {
    log: Log,
    path: PathBuf,
    lines: usize,
}

impl Journal {
    /// Starts `STEM.ENDING`, or `STEM-2.ENDING`, … where there is one already: nothing measured is ever replaced.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(folder: &Path, stem: &str, ending: &str) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(FileError::write(folder))?;
        let mut name = format!("{stem}.{ending}");
        let mut n = 1;
        loop {
            let path = folder.join(&name);
            match Log::create(&path) {
                Err(FileError::Write { cause, .. }) if cause.kind() == ErrorKind::AlreadyExists => {
                    n += 1;
                    name = format!("{stem}-{n}.{ending}");
                }
                log => {
                    return Ok(Self {
                        log: log?,
                        path,
                        lines: 0,
                    });
                }
            }
        }
    }

    /// Adds a line (without its end); it is on the disk when this returns.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn line(&mut self, text: impl AsRef<[u8]>) -> Result<()> {
        self.log.line(text)?;
        self.lines += 1;
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lines so far.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Removes it: what it holds stands elsewhere.
    pub fn done(mut self) {
        self.lines = 0;
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.lines == 0 {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_one_stays_and_an_empty_one_goes() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("new");
        let start = || Journal::create(&folder, "a", "csv").unwrap();
        let mut first = start();
        first.line("1").unwrap();
        assert_eq!(first.path(), folder.join("a.csv"));
        drop(first);
        let second = start();
        assert_eq!(second.path(), folder.join("a-2.csv"));
        drop(second);
        let mut second = start();
        second.line("2").unwrap();
        second.done();
        assert_eq!(
            std::fs::read_to_string(folder.join("a.csv")).unwrap(),
            "1\n"
        );
        assert!(!folder.join("a-2.csv").exists());
    }
}
