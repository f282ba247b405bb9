//! Where lines of JSON go: a file that is appended to, or standard error. The program may close both, and give their numbers
//! to files of its own.

use greenup_process::descriptor::{Descriptor, Identity, write_to};
use std::io;
use std::path::PathBuf;

/// An output of whole lines.
pub struct Sink {
    to: Option<(PathBuf, Descriptor)>,
    errors: StandardError,
    /// A line was cut by a full disk; the next one begins anew.
    cut: bool,
    /// Lines that were not written, and why the first was not.
    pub lost: u64,
    pub cause: Option<String>,
}

impl Sink {
    /// Appends to `file`, or writes to standard error.
    pub fn new(file: Option<PathBuf>) -> (Self, Option<String>) {
        let mut wrong = None;
        let to = file.and_then(|path| {
            // The program may go to another folder before the file is opened again.
            let path = std::path::absolute(&path).unwrap_or(path);
            match Descriptor::append(&path) {
                Ok(file) => Some((path, file)),
                Err(e) => {
                    wrong = Some(format!(
                        "{}: {e}; regions are written to standard error",
                        path.display()
                    ));
                    None
                }
            }
        });
        let sink = Self {
            to,
            errors: StandardError::now(),
            cut: false,
            lost: 0,
            cause: None,
        };
        (sink, wrong)
    }

    /// Whether it is a file.
    pub fn is_file(&self) -> bool {
        self.to.is_some()
    }

    /// A message on standard error; lost if that is closed.
    pub fn message(&self, text: &str) {
        let text = format!("{text}\n");
        let _ = write_all(&|b| self.errors.write(b), text.as_bytes(), &mut 0);
    }

    /// Writes lines, each with its end. An error is kept, and the program goes on.
    pub fn write(&mut self, lines: &str) {
        if lines.is_empty() {
            return;
        }
        let text = if self.cut {
            format!("\n{lines}")
        } else {
            lines.to_owned()
        };
        let mut written = 0;
        let result = match &mut self.to {
            Some((path, file)) => {
                if !file.is_own()
                    && let Ok(again) = Descriptor::append(path)
                {
                    *file = again;
                }
                write_all(&|b| file.write(b), text.as_bytes(), &mut written)
            }
            None => write_all(&|b| self.errors.write(b), text.as_bytes(), &mut written),
        };
        let Err(e) = result else {
            self.cut = false;
            return;
        };
        // What a full disk took of the text.
        let whole = text.as_bytes()[..written]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        let all = text.bytes().filter(|&b| b == b'\n').count();
        self.cut = written > 0 && text.as_bytes()[written - 1] != b'\n' || self.cut && written == 0;
        self.lost += (all - whole) as u64;
        let name = self.to.as_ref().map_or_else(
            || "standard error".to_owned(),
            |(path, _)| path.display().to_string(),
        );
        self.cause.get_or_insert_with(|| format!("{name}: {e}"));
    }
}

fn write_all(
    to: &dyn Fn(&[u8]) -> io::Result<usize>,
    mut bytes: &[u8],
    written: &mut usize,
) -> io::Result<()> {
    while !bytes.is_empty() {
        match to(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => {
                *written += n;
                bytes = &bytes[n..];
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Standard error as it was when the recording began. Not through Rust's library: another thread may hold its lock at a fork,
/// and the child would wait for it for ever.
struct StandardError {
    copy: Option<Descriptor>,
    identity: Option<Identity>,
}

impl StandardError {
    fn now() -> Self {
        Self {
            copy: Descriptor::duplicate(libc::STDERR_FILENO).ok(),
            identity: Identity::of(libc::STDERR_FILENO),
        }
    }

    /// The copy; where the program closed that too, number 2, if it is still the same file.
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match &self.copy {
            Some(copy) if copy.is_own() => copy.write(bytes),
            _ if self.identity.is_some() && Identity::of(libc::STDERR_FILENO) == self.identity => {
                write_to(libc::STDERR_FILENO, bytes)
            }
            _ => Err(io::Error::other("the program closed standard error")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_appended_and_a_full_disk_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        std::fs::write(&path, "1\n").unwrap();
        let (mut sink, wrong) = Sink::new(Some(path.clone()));
        assert!(wrong.is_none() && sink.is_file());
        sink.write("2\n3\n");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n3\n");
        let (mut full, _) = Sink::new(Some("/dev/full".into()));
        full.write("1\n2\n");
        full.write("3\n");
        assert_eq!(full.lost, 3);
        assert!(full.cause.unwrap().contains("/dev/full"));
        let (sink, wrong) = Sink::new(Some(dir.path().join("no/such/folder")));
        assert!(!sink.is_file() && wrong.unwrap().contains("no/such"));
    }
}
