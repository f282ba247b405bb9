//! Where an output goes: a file, or standard output by the name `-`. The ending of a file's name chooses its format.

use greenup_files::outputs::ending;
use greenup_files::{FileError, Outputs, Result};
use std::path::{Path, PathBuf};

/// A checked output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// With its ending, in lower case.
    File(PathBuf, String),
    /// In place of what the command prints there.
    Stdout,
}

impl Output {
    /// Checks a name before any work: a file with one of these endings, or `-`.
    ///
    /// # Errors
    /// As [`Outputs::file`].
    pub fn new(outputs: &mut Outputs, path: &Path, endings: &[&str]) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdout);
        }
        outputs.file(path, endings)?;
        Ok(Self::File(path.to_owned(), ending(path, endings)?))
    }

    /// The format, by the ending; the first known one on standard output.
    pub fn has_ending(&self, wanted: &str) -> bool {
        matches!(self, Self::File(_, e) if e == wanted)
    }

    pub fn is_stdout(&self) -> bool {
        *self == Self::Stdout
    }

    /// Writes it whole or not at all.
    ///
    /// # Errors
    /// The disk is full or gone; a file stays as it was. Failures of standard output show in
    /// [`crate::stdout::finish`].
    pub fn write(&self, bytes: &[u8]) -> std::result::Result<(), FileError> {
        match self {
            Self::File(path, _) => greenup_files::write(path, bytes),
            Self::Stdout => {
                crate::stdout::bytes(bytes);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_chooses_the_format() {
        let dir = tempfile::tempdir().unwrap();
        let mut o = Outputs::new();
        let png = Output::new(&mut o, &dir.path().join("a.PNG"), &["svg", "png"]).unwrap();
        assert!(png.has_ending("png") && !png.is_stdout());
        png.write(b"x").unwrap();
        assert_eq!(std::fs::read(dir.path().join("a.PNG")).unwrap(), b"x");
        assert!(Output::new(&mut o, &dir.path().join("a.pdf"), &["svg"]).is_err());
        let stdout = Output::new(&mut o, Path::new("-"), &["svg"]).unwrap();
        assert!(stdout.is_stdout() && !stdout.has_ending("svg"));
    }
}
