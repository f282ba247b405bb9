//! A sweep that another one replaces: it lies aside until the new one has a measured trial, and comes back if that gets none.

use super::names::{FILES, HEAD};
use greenup_files::FileError;
use std::path::{Path, PathBuf};

/// The folder in which it lies, in that of the sweep.
const ASIDE: &str = ".greenup-replaced";

/// The files of a replaced sweep.
pub(super) struct Replaced {
    dir: PathBuf,
}

impl Replaced {
    /// Moves the files of a sweep aside; its head, without which it is none, goes first.
    ///
    /// # Errors
    /// A file cannot be moved.
    pub(super) fn of(dir: &Path) -> Result<Self, FileError> {
        let aside = dir.join(ASIDE);
        std::fs::create_dir_all(&aside).map_err(FileError::write(&aside))?;
        for file in std::iter::once(HEAD).chain(FILES) {
            moved(&dir.join(file), &aside.join(file))?;
        }
        Ok(Self {
            dir: dir.to_owned(),
        })
    }

    /// The one that a killed process left.
    pub(super) fn left(dir: &Path) -> Option<Self> {
        dir.join(ASIDE).join(HEAD).exists().then(|| Self {
            dir: dir.to_owned(),
        })
    }

    /// Deletes it: the new sweep has a measured trial.
    pub(super) fn delete(&self) {
        let aside = self.dir.join(ASIDE);
        for file in FILES.into_iter().chain([HEAD]) {
            let _ = std::fs::remove_file(aside.join(file));
        }
        // Where anything else lies in it, it stays.
        let _ = std::fs::remove_dir(aside);
    }

    /// Puts it back in place of the new one; its head comes last.
    ///
    /// # Errors
    /// A file cannot be moved; what was not is still aside.
    pub(super) fn restore(&self) -> Result<(), FileError> {
        let aside = self.dir.join(ASIDE);
        // Without a head, files that are not aside were not moved yet.
        let is_whole = self.dir.join(HEAD).exists();
        for file in FILES.into_iter().chain([HEAD]) {
            let (back, path) = (aside.join(file), self.dir.join(file));
            if is_whole && !back.exists() {
                let _ = std::fs::remove_file(&path);
            }
            moved(&back, &path)?;
        }
        let _ = std::fs::remove_dir(aside);
        Ok(())
    }
}

fn moved(from: &Path, to: &Path) -> Result<(), FileError> {
    match std::fs::rename(from, to) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(FileError::write(to)(e)),
        _ => Ok(()),
    }
}
