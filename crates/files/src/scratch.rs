//! Temporary folders inside a user's folder. Each has a unique name and a marker; only files that the tool makes there
//! are deleted, and a folder in which anything else lies stays.

use crate::error::{FileError, Result};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const PREFIX: &str = ".greenup-scratch-";
const MARKER: &str = ".made-by-greenup";

/// A temporary folder, emptied and removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Its marker, locked while the process lives: the folder is not stale.
    _marker: File,
}

impl Scratch {
    /// Makes a new folder within `parent`, which is created if missing.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(parent: impl AsRef<Path>) -> Result<Self> {
        let parent = parent.as_ref();
        std::fs::create_dir_all(parent).map_err(FileError::write(parent))?;
        let path = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(parent)
            .map_err(FileError::write(parent))?
            .keep();
        let path = std::path::absolute(&path).unwrap_or(path);
        let marker = path.join(MARKER);
        let text = "Greenup made this folder and removes it and its files.\n";
        let made = File::create_new(&marker).and_then(|mut f| {
            f.lock_shared()?;
            f.write_all(text.as_bytes())?;
            Ok(f)
        });
        match made {
            Ok(_marker) => Ok(Self { path, _marker }),
            Err(e) => {
                empty(&path);
                Err(FileError::write(&marker)(e))
            }
        }
    }

    /// Removes it now, for a process that ends without running destructors.
    pub fn remove(&self) {
        empty(&self.path);
    }

    /// Makes a folder within a scratch folder at `parent`, to be removed with all that is in it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn folder(parent: impl AsRef<Path>, name: &str) -> Result<PathBuf> {
        let path = parent.as_ref().join(name);
        std::fs::create_dir_all(&path).map_err(FileError::write(&path))?;
        let marker = path.join(MARKER);
        let text = "Greenup made this folder and removes it and all that is in it.\n";
        std::fs::write(&marker, text).map_err(FileError::write(&marker))?;
        Ok(path)
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folders that killed processes left in `parent`; those of living processes stay.
    pub fn remove_stale(parent: impl AsRef<Path>) {
        let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
        for entry in entries {
            let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
                && entry.file_type().is_ok_and(|t| t.is_dir())
                && entry.path().join(MARKER).is_file();
            if ours && is_stale(&entry.path()) {
                empty(&entry.path());
            }
        }
    }
}

/// Whether no process holds the marker's lock.
fn is_stale(folder: &Path) -> bool {
    File::open(folder.join(MARKER)).is_ok_and(|f| f.try_lock().is_ok())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        empty(&self.path);
    }
}

/// Removes the plain files of a scratch folder and its marked folders, then the folder if nothing else is in it.
fn empty(path: &Path) {
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_file() && entry.file_name() != MARKER {
            let _ = std::fs::remove_file(entry.path());
        }
        if kind.is_dir() && entry.path().join(MARKER).is_file() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let only_marker = std::fs::read_dir(path)
        .is_ok_and(|entries| entries.flatten().all(|e| e.file_name() == MARKER));
    if only_marker {
        let _ = std::fs::remove_file(path.join(MARKER));
        let _ = std::fs::remove_dir(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("build");
        std::fs::create_dir(&kept).unwrap();
        std::fs::write(kept.join("precious"), "x").unwrap();
        let scratch = Scratch::create(dir.path()).unwrap();
        let path = scratch.path().to_owned();
        std::fs::write(path.join("a.so"), "x").unwrap();
        let below = Scratch::folder(scratch.path(), "build").unwrap();
        std::fs::create_dir(below.join("deep")).unwrap();
        std::fs::write(below.join("deep/file"), "x").unwrap();
        std::os::unix::fs::symlink(&kept, below.join("link")).unwrap();
        drop(scratch);
        assert!(!path.exists());
        assert!(kept.join("precious").exists());
        // A killed process leaves its folder; a folder without the marker is a user's.
        let left = Scratch::create(dir.path()).unwrap();
        let left_path = left.path().to_owned();
        // While the process lives, its folder stays.
        Scratch::remove_stale(dir.path());
        assert!(left_path.exists());
        left._marker.unlock().unwrap();
        std::mem::forget(left);
        let user = dir.path().join(format!("{PREFIX}mine"));
        std::fs::create_dir(&user).unwrap();
        Scratch::remove_stale(dir.path());
        assert!(!left_path.exists());
        assert!(user.exists());
    }
}
