//! A file of entries, which several processes may change.

use crate::entry::Entry;
use greenup_files::FileError;
use greenup_setting::{Style, setting, style};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toml::Spanned;

/// Format that this version writes.
const FORMAT: &str = "greenup-wisdom/";
/// Number of that format.
const VERSION: u32 = 1;
/// Comment of a new file.
const HEAD: &str = "# Best known configs of kernels by problem and device; `greenup wisdom --help`. Programs rewrite this file; of comments\n# only these first lines stay.\n";
/// Most entries of a file.
const MOST: usize = 10_000;
/// Largest file, bytes.
const LARGEST: u64 = 64 << 20;
/// Longest wait for another process that changes the file.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file of wisdom that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Its contents are invalid.
    #[error("{}: invalid wisdom: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        message: String,
    },
    /// A newer version wrote it.
    #[error(
        "{}: wisdom of format {found}, and this version of greenup reads {FORMAT}{VERSION}",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: String,
    },
    /// Another process changes it and does not end.
    #[error("{}: another process has been changing it for {} s", path.display(), PATIENCE.as_secs())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

impl StoreError {
    /// The suggestion.
    pub fn hint(&self) -> Option<String> {
        // Functions of other languages have no setting for it.
        let (file, none) = match style() {
            Style::Flags => (
                setting("wisdom").to("FILE"),
                format!("{} (GREENUP_WISDOM=none)", setting("no_wisdom")),
            ),
            Style::Keywords => ("GREENUP_WISDOM=FILE".into(), "GREENUP_WISDOM=none".into()),
        };
        let or_none = || format!("with {file}, or go on with {none}");
        match self {
            Self::File(FileError::Write { cause, .. })
                if cause.kind() != ErrorKind::StorageFull =>
            {
                Some(format!("name a file that you may write with {file}"))
            }
            Self::File(e) => e.hint().map(str::to_owned),
            Self::Invalid { .. } => {
                Some(format!("fix or move the file, name another {}", or_none()))
            }
            Self::Newer { .. } => Some(format!("update greenup, name another file {}", or_none())),
            Self::Busy { .. } => Some("try again when that process has ended".to_owned()),
        }
    }
}

/// Entries of a file, one for each key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Store {
    /// Comment lines at the top of the file, which stay when it is written again; empty for those of a new file.
    pub head: String,
    /// The entries, in the order of the file.
    pub entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    #[serde(rename = "format")]
    _format: String,
    #[serde(default, rename = "entry")]
    entries: Vec<Spanned<Entry>>,
}

#[derive(Serialize)]
struct Written<'a> {
    format: String,
    #[serde(rename = "entry")]
    entries: &'a [Entry],
}

impl Store {
    /// Reads the text of a file called `path`.
    ///
    /// # Errors
    /// It is not wisdom of a format that this version knows.
    pub fn parse(text: &str, path: &Path) -> Result<Self, StoreError> {
        let invalid = |message: String| StoreError::Invalid {
            path: path.to_owned(),
            message,
        };
        let table: toml::Table = (text.parse()).map_err(|e: toml::de::Error| invalid(brief(&e)))?;
        let format = table.get("format").and_then(toml::Value::as_str);
        let format = format
            .ok_or_else(|| invalid(format!("line 1: it has no format = \"{FORMAT}{VERSION}\"")))?;
        match format.strip_prefix(FORMAT).map(str::parse::<u32>) {
            Some(Ok(VERSION)) => {}
            Some(Ok(n)) if n > VERSION => {
                return Err(StoreError::Newer {
                    path: path.to_owned(),
                    found: format.to_owned(),
                });
            }
            _ => return Err(invalid(format!("unknown format `{format}`"))),
        }
        let read: Read = toml::from_str(text).map_err(|e| invalid(brief(&e)))?;
        if read.entries.len() > MOST {
            return Err(invalid(format!("more than {MOST} entries")));
        }
        let comments = text
            .split_inclusive('\n')
            .take_while(|l| l.starts_with('#'));
        let mut out = Self {
            head: comments.collect(),
            entries: Vec::new(),
        };
        let mut known = HashSet::with_capacity(read.entries.len());
        // Entries are in the order of the text, so that its lines are counted once.
        let (mut counted, mut line) = (0, 1);
        for spanned in read.entries {
            let start = spanned.span().start.clamp(counted, text.len().max(counted));
            let between = &text.as_bytes()[counted..start];
            line += between.iter().filter(|b| **b == b'\n').count();
            counted = start;
            let entry = spanned.into_inner();
            entry
                .check()
                .map_err(|m| invalid(format!("line {line}: {m}")))?;
            if !known.insert(entry.key()) {
                return Err(invalid(format!(
                    "line {line}: a second entry {} of `{}`",
                    entry.id(),
                    entry.problem
                )));
            }
            out.entries.push(entry);
        }
        Ok(out)
    }

    /// Reads a file; empty where there is none.
    ///
    /// # Errors
    /// It cannot be read, or is not wisdom.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        if std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > LARGEST) {
            return Err(StoreError::Invalid {
                path: path.to_owned(),
                message: format!("larger than {} MiB", LARGEST >> 20),
            });
        }
        match greenup_files::read_text(path) {
            Ok(text) => Self::parse(&text, path),
            Err(FileError::Read { cause, .. }) if cause.kind() == ErrorKind::NotFound => {
                Ok(Self::default())
            }
            Err(e) => Err(e.into()),
        }
    }

    /// The text of a file.
    ///
    /// # Errors
    /// A value cannot be written, as a message.
    pub fn text(&self) -> Result<String, String> {
        let written = Written {
            format: format!("{FORMAT}{VERSION}"),
            entries: &self.entries,
        };
        let body = toml::to_string(&written).map_err(|e| e.to_string())?;
        let head = match self.head.as_str() {
            "" => HEAD,
            own => own,
        };
        Ok(format!("{head}{body}"))
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), StoreError> {
        let text = self.text().map_err(|message| StoreError::Invalid {
            path: path.to_owned(),
            message,
        })?;
        Ok(greenup_files::write(path, text)?)
    }

    /// Changes a file: it is read, changed and written while no other process does the same. Returns what `change` does;
    /// the file is written only if the entries changed.
    ///
    /// # Errors
    /// The file cannot be read or written, or another process does not let go of it.
    pub fn update<T>(path: &Path, change: impl FnOnce(&mut Self) -> T) -> Result<T, StoreError> {
        let _lock = Lock::acquire(path)?;
        let old = Self::read(path)?;
        let mut new = old.clone();
        let out = change(&mut new);
        if new != old {
            new.write(path)?;
        }
        Ok(out)
    }

    /// Stores an entry in place of an older one with the same key.
    pub fn keep(&mut self, new: Entry) {
        match self.entries.iter_mut().find(|e| e.same_key(&new)) {
            Some(old) => *old = new,
            None => self.entries.push(new),
        }
    }
}

/// An error of the notation, without the rest of long lines.
pub(crate) fn brief(e: &toml::de::Error) -> String {
    const LONG: usize = 160;
    let text = e.to_string();
    let lines: Vec<String> = (text.trim_end().lines())
        .map(|l| l.chars().take(LONG).collect())
        .collect();
    lines.join("\n")
}

/// One process at a time changes a file. The kernel drops the lock when the process ends, however it ends.
struct Lock {
    _file: File,
}

impl Lock {
    fn acquire(path: &Path) -> Result<Self, StoreError> {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".lock");
        let lock = path.with_file_name(name);
        if let Some(folder) = lock.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(FileError::write(folder))?;
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&lock)
            .map_err(FileError::write(&lock))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Busy {
                        path: path.to_owned(),
                    });
                }
                Err(TryLockError::Error(e)) => return Err(FileError::write(&lock)(e).into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::entry;

    #[test]
    fn what_is_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/w.toml");
        assert_eq!(Store::read(&path).unwrap(), Store::default());
        Store::update(&path, |s| {
            s.keep(entry("p", "d", 2, 100, 2.0));
            s.keep(entry("p", "d", 2, 200, 3.0));
            s.keep(entry("p", "d", 2, 100, 1.0));
        })
        .unwrap();
        let read = Store::read(&path).unwrap();
        assert_eq!(read.entries.len(), 2);
        assert_eq!(read.entries[0], entry("p", "d", 2, 100, 1.0));

        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("# mine\n{text}")).unwrap();
        Store::update(&path, |s| s.entries.truncate(1)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# mine\n# Best known"), "{text}");
    }

    #[test]
    fn invalid_files_are_named_with_the_line() {
        let path = Path::new("w.toml");
        let good = Store {
            head: "# x\n".into(),
            entries: vec![entry("p", "d", 2, 100, 1.0), entry("q", "d", 2, 100, 1.0)],
        };
        let text = good.text().unwrap();
        assert_eq!(Store::parse(&text, path).unwrap(), good);
        let fails = |text: &str| Store::parse(text, path).unwrap_err().to_string();
        assert!(fails("").contains("w.toml: invalid wisdom: line 1"));
        assert!(fails("known = 3").contains("no format"));
        assert!(fails("format = 'other'").contains("unknown format"));
        let e = fails(&text.replace("greenup-wisdom/1", "greenup-wisdom/2"));
        assert!(
            e.contains("greenup-wisdom/2") && e.contains("reads greenup-wisdom/1"),
            "{e}"
        );
        // The second entry is at fault.
        let at = text.rfind("time_s = 1.0").unwrap();
        let bad = format!("{}time_s = -1.0{}", &text[..at], &text[at + 12..]);
        let e = fails(&bad);
        let line = 1 + text[..text.rfind("[[entry]]").unwrap()]
            .matches('\n')
            .count();
        assert!(e.contains(&format!("line {line}: time_s = -1")), "{e}");
        let bad = format!("{}time_s = 'x'{}", &text[..at], &text[at + 12..]);
        assert!(fails(&bad).contains("line "), "{}", fails(&bad));
        assert!(fails(&text.replace("problem = \"q\"", "problem = \"p\"")).contains("second"));
        assert!(fails(&text.replace("tile", "[[[")).contains("line"));
        assert!(fails(&"x".repeat(1 << 20)).len() < 2000);
    }

    #[test]
    fn changes_of_several_threads_are_all_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w.toml");
        std::thread::scope(|s| {
            for t in 0..4 {
                let path = &path;
                s.spawn(move || {
                    for n in 0..3 {
                        let e = entry("p", "d", 2, 100 * t + n, 1.0);
                        Store::update(path, |s| s.keep(e)).unwrap();
                    }
                });
            }
        });
        assert_eq!(Store::read(&path).unwrap().entries.len(), 12);
    }
}
