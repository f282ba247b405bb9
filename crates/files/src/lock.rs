//! One process at a time works in a folder. The kernel drops the lock when the process ends, however it ends.

use crate::error::{FileError, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Name of the lock's file.
pub const FILE: &str = ".greenup.lock";

/// A folder that this process alone works in, until dropped.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Locks a folder, which is created if missing.
    ///
    /// # Errors
    /// [`FileError::InUse`] with the other process, or the folder cannot be written.
    pub fn acquire(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        if std::fs::metadata(folder).is_ok_and(|m| !m.is_dir()) {
            return Err(FileError::NotFolder {
                path: folder.to_owned(),
            });
        }
        std::fs::create_dir_all(folder).map_err(FileError::write(folder))?;
        let path = folder.join(FILE);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            // Another's link may point to any file.
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .map_err(FileError::write(&path))?;
        // A hard link or a file of the user's is left as it is.
        let meta = file.metadata().map_err(FileError::read(&path))?;
        let ours = meta.is_file() && meta.nlink() == 1 && meta.len() <= 32;
        if !ours {
            return Err(FileError::NotOurs { path });
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = (&mut file).take(32).read_to_string(&mut text);
                return Err(FileError::InUse {
                    path: folder.to_owned(),
                    by: text.trim().parse().ok(),
                });
            }
            Err(TryLockError::Error(e)) => return Err(FileError::write(&path)(e)),
        }
        file.set_len(0)
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(FileError::write(&path))?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_is_refused_with_the_holder_and_given_after_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("sweep");
        let held = FolderLock::acquire(&folder).unwrap();
        let e = FolderLock::acquire(&folder).unwrap_err();
        let id = std::process::id();
        assert!(
            e.to_string().ends_with(&format!("in use by process {id}")),
            "{e}"
        );
        drop(held);
        FolderLock::acquire(&folder).unwrap();
    }

    #[test]
    fn a_link_in_place_of_the_lock_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let precious = dir.path().join("precious");
        std::fs::write(&precious, "a text of the user").unwrap();
        for hard in [false, true] {
            let link = dir.path().join(FILE);
            if hard {
                std::fs::hard_link(&precious, &link).unwrap()
            } else {
                std::os::unix::fs::symlink(&precious, &link).unwrap()
            }
            FolderLock::acquire(dir.path()).unwrap_err();
            std::fs::remove_file(&link).unwrap();
        }
        assert_eq!(std::fs::read(&precious).unwrap(), b"a text of the user");
    }
}
