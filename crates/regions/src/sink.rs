//! Where lines of JSON go: a file that is appended to, or standard error.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// An output of whole lines.
pub struct Sink {
    to: Option<(PathBuf, File)>,
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
        let to =
            file.and_then(
                |path| match OpenOptions::new().append(true).create(true).open(&path) {
                    Ok(file) => Some((path, file)),
                    Err(e) => {
                        wrong = Some(format!(
                            "{}: {e}; regions are written to standard error",
                            path.display()
                        ));
                        None
                    }
                },
            );
        let sink = Self {
            to,
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
            Some((_, file)) => write_all(file, text.as_bytes(), &mut written),
            None => write_all(&mut io::stderr(), text.as_bytes(), &mut written),
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

fn write_all(to: &mut impl io::Write, mut bytes: &[u8], written: &mut usize) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
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

/// A message on standard error; lost if that is closed.
pub fn message(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
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
