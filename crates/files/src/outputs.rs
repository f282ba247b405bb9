//! Output names checked before any work: whether they can be written, say a known format, and spare every input.

use crate::atomic::{AtomicFile, folder_of};
use crate::error::{FileError, Result};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The inputs and outputs of a command. Name all inputs first, then each output; the first error ends the command
/// before its work.
#[derive(Debug, Default)]
pub struct Outputs {
    inputs: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
}

impl Outputs {
    /// No inputs or outputs yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A file that is read: no output may be the same.
    pub fn input(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.inputs.push(path.as_ref().to_owned());
        self
    }

    /// A file that will be written, in one of the formats that `endings` name (without dots, lower case); none for any
    /// name. Creates its folder if missing.
    ///
    /// # Errors
    /// It cannot be written, has no known ending, is an input or another output, or is `-`.
    pub fn file(&mut self, path: impl AsRef<Path>, endings: &[&str]) -> Result<&mut Self> {
        let path = path.as_ref();
        if path.as_os_str() == "-" {
            return Err(FileError::NotStdout);
        }
        if !endings.is_empty() {
            ending(path, endings)?;
        }
        if self.inputs.iter().any(|i| same_file(i, path)) {
            return Err(FileError::IsInput {
                path: path.to_owned(),
            });
        }
        if self.outputs.iter().any(|o| same_file(o, path)) {
            return Err(FileError::Twice {
                path: path.to_owned(),
            });
        }
        // Dropped at once: leaves no trace.
        AtomicFile::create(path)?;
        self.outputs.push(path.to_owned());
        Ok(self)
    }

    /// Standard output, by the name `-`; for one output only.
    ///
    /// # Errors
    /// Another output goes there.
    pub fn stdout(&mut self) -> Result<&mut Self> {
        let path = PathBuf::from("-");
        if self.outputs.contains(&path) {
            return Err(FileError::Twice { path });
        }
        self.outputs.push(path);
        Ok(self)
    }

    /// A folder that will be written to; it is created if missing.
    ///
    /// # Errors
    /// It cannot be made or written to.
    pub fn folder(&mut self, path: impl AsRef<Path>) -> Result<&mut Self> {
        let path = path.as_ref();
        if std::fs::metadata(path).is_ok_and(|m| !m.is_dir()) {
            return Err(FileError::NotFolder {
                path: path.to_owned(),
            });
        }
        std::fs::create_dir_all(path).map_err(FileError::write(path))?;
        tempfile::tempfile_in(path).map_err(FileError::write(path))?;
        Ok(self)
    }
}

/// The ending of a name, which must be one of these; compared in lower case. Devices and pipes take the first.
///
/// # Errors
/// Another ending, or none.
pub fn ending(path: &Path, known: &[&str]) -> Result<String> {
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return Ok(known.first().copied().unwrap_or_default().to_owned());
    }
    let found = path
        .extension()
        .map(|e| e.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    if known.contains(&found.as_str()) {
        return Ok(found);
    }
    Err(FileError::Ending {
        path: path.to_owned(),
        found,
        known: known
            .iter()
            .map(|k| format!(".{k}"))
            .collect::<Vec<_>>()
            .join(", "),
    })
}

/// `STEM.ENDING`, or `STEM-2.ENDING`, …: the first name that no file has.
pub fn unused(stem: impl AsRef<std::ffi::OsStr>, ending: &str) -> PathBuf {
    let name = |n: u32| {
        let mut name = stem.as_ref().to_owned();
        if n > 1 {
            name.push(format!("-{n}"));
        }
        name.push(format!(".{ending}"));
        PathBuf::from(name)
    };
    (1..u32::MAX)
        .map(name)
        .find(|p| !p.exists())
        .unwrap_or_else(|| name(u32::MAX))
}

/// Whether two names are of one file, also by links; for files that do not exist yet, by folder and name.
pub fn same_file(a: &Path, b: &Path) -> bool {
    let id = |m: &Metadata| (m.dev(), m.ino());
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(x), Ok(y)) => x.is_file() && id(&x) == id(&y),
        (Err(_), Err(_)) => {
            a.file_name() == b.file_name()
                && match (
                    std::fs::canonicalize(folder_of(a)),
                    std::fs::canonicalize(folder_of(b)),
                ) {
                    (Ok(x), Ok(y)) => x == y,
                    _ => a == b,
                }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_spared_and_names_checked() {
        let dir = tempfile::tempdir().unwrap();
        let input = dir.path().join("p.csv");
        std::fs::write(&input, "1").unwrap();
        let link = dir.path().join("l.csv");
        std::os::unix::fs::symlink(&input, &link).unwrap();
        let mut o = Outputs::new();
        o.input(&input);
        let e = o.file(&link, &["csv"]).unwrap_err();
        assert!(matches!(e, FileError::IsInput { .. }), "{e}");
        let e = o
            .file(dir.path().join("a.jpg"), &["png", "svg"])
            .unwrap_err();
        assert!(e.to_string().contains("known: .png, .svg"), "{e}");
        assert_eq!(ending(Path::new("/dev/null"), &["svg"]).unwrap(), "svg");
        o.file(dir.path().join("new/a.PNG"), &["png"]).unwrap();
        let e = o
            .file(dir.path().join("new/../new/a.PNG"), &[])
            .unwrap_err();
        assert!(matches!(e, FileError::Twice { .. }), "{e}");
        o.stdout().unwrap();
        assert!(o.stdout().is_err());
        let e = o.file("-", &[]).unwrap_err();
        assert!(matches!(e, FileError::NotStdout), "{e}");
        let e = o.file(input.join("x"), &[]).unwrap_err();
        assert!(matches!(e, FileError::Write { .. }), "{e}");
        let e = o.folder(&input).unwrap_err();
        assert!(matches!(e, FileError::NotFolder { .. }), "{e}");
        assert_eq!(
            std::fs::read_dir(dir.path().join("new")).unwrap().count(),
            0
        );
    }
}
