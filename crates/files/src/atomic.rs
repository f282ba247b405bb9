//! A file appears whole or not at all: written beside its target under a unique name, synced, then renamed.

use crate::error::{FileError, Result};
use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::{Builder, NamedTempFile};

/// Ending of files that are being written.
pub const UNFINISHED: &str = ".unfinished";

/// Files that are being written, so that a process that is told to end can remove them.
static WRITING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of writes that are under way; for a process about to end.
pub fn remove_unfinished() {
    // A thread may hold the list while it is interrupted: then its file stays.
    if let Ok(mut writing) = WRITING.try_lock() {
        for path in writing.drain(..) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A file under way. It replaces its target at [`AtomicFile::commit`]; dropped before, it is removed and the target
/// stays as it was.
pub struct AtomicFile {
    target: PathBuf,
    to: To,
}

enum To {
    Beside(BufWriter<NamedTempFile>, Registered),
    /// A device, a pipe: nothing to replace.
    Directly(BufWriter<File>),
}

impl AtomicFile {
    /// Starts a file; creates its folder if missing.
    ///
    /// # Errors
    /// The folder cannot be made or written to; the target is a folder.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        // What a link points to is replaced, not the link.
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = std::fs::metadata(&target).ok();
        if before.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            return Err(FileError::IsFolder {
                path: path.to_owned(),
            });
        }
        if before.as_ref().is_some_and(|m| !m.is_file()) {
            let file = File::options()
                .write(true)
                .open(&target)
                .map_err(FileError::write(path))?;
            return Ok(Self {
                target,
                to: To::Directly(BufWriter::new(file)),
            });
        }
        // A rename needs no permission of the file, but who protected it wants it to stay.
        if before.is_some() && !is_writable(&target) {
            return Err(FileError::Protected {
                path: path.to_owned(),
            });
        }
        let folder = folder_of(&target);
        std::fs::create_dir_all(folder).map_err(FileError::write(folder))?;
        let mut prefix = std::ffi::OsString::from(".");
        // A name may have 255 bytes, and more is added here.
        let name = target.file_name().unwrap_or_default().as_bytes();
        prefix.push(OsStr::from_bytes(&name[..name.len().min(150)]));
        prefix.push(".");
        // An existing file's permissions stay; a new one's follow the umask.
        let mode = before.map_or(0o666, |m| m.permissions().mode() & 0o777);
        let file = Builder::new()
            .prefix(&prefix)
            .suffix(UNFINISHED)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)
            .map_err(FileError::write(path))?;
        let registered = Registered::new(file.path());
        Ok(Self {
            target,
            to: To::Beside(BufWriter::with_capacity(1 << 16, file), registered),
        })
    }

    /// Where it is written until it is complete; for libraries that write to a name.
    pub fn temporary(&self) -> &Path {
        match &self.to {
            To::Beside(w, _) => w.get_ref().path(),
            To::Directly(_) => &self.target,
        }
    }

    /// Makes it the target, safe on the disk.
    ///
    /// # Errors
    /// The disk is full or gone; the target stays as it was.
    pub fn commit(self) -> Result<()> {
        self.end(true)
    }

    /// The same without waiting for the disk, for what is checked when it is read and can be made again.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`].
    pub(crate) fn commit_soon(self) -> Result<()> {
        self.end(false)
    }

    fn end(self, synced: bool) -> Result<()> {
        let Self { target, to } = self;
        match to {
            To::Beside(writer, _registered) => {
                finish(writer, &target, synced).map_err(FileError::write(&target))
            }
            To::Directly(mut writer) => writer.flush().map_err(FileError::write(&target)),
        }
    }
}

fn finish(writer: BufWriter<NamedTempFile>, target: &Path, synced: bool) -> io::Result<()> {
    let file = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    if !synced {
        return file.persist(target).map(drop).map_err(|e| e.error);
    }
    // By its name: a library may have written the file anew.
    File::open(file.path())?.sync_all()?;
    file.persist(target).map_err(|e| e.error)?;
    // The name is only safe with its folder; not every file system can sync one.
    let _ = File::open(folder_of(target)).and_then(|d| d.sync_all());
    Ok(())
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Beside(w, _) => w.write(bytes),
            To::Directly(w) => w.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Beside(w, _) => w.flush(),
            To::Directly(w) => w.flush(),
        }
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.to {
            To::Beside(w, _) => w.seek(to),
            To::Directly(w) => w.seek(to),
        }
    }
}

/// Writes a whole file.
///
/// # Errors
/// As [`AtomicFile::create`] and [`AtomicFile::commit`].
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<()> {
    write_by(path, |file| file.write_all(bytes.as_ref()))
}

/// Writes a whole file piece by piece.
///
/// # Errors
/// As [`AtomicFile::create`] and [`AtomicFile::commit`], and those of `fill`.
pub fn write_by(
    path: impl AsRef<Path>,
    fill: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    let mut file = AtomicFile::create(path)?;
    fill(&mut file).map_err(FileError::write(path))?;
    file.commit()
}

/// Whether the file's permissions allow its owner, or this process, to write it. Root may write everything: then the
/// permissions say what was meant.
fn is_writable(path: &Path) -> bool {
    let protected = std::fs::metadata(path).is_ok_and(|m| m.permissions().readonly());
    let Ok(name) = std::ffi::CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: `name` ends with a zero byte and lives until the call returns.
    !protected && unsafe { libc::access(name.as_ptr(), libc::W_OK) } == 0
}

/// The folder of a file; `.` for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// A file in the list of those being written, as long as it lives.
struct Registered(PathBuf);

impl Registered {
    fn new(path: &Path) -> Self {
        let mut writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        writing.push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        writing.retain(|p| *p != self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_only_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        write(&path, "old").unwrap();
        let mut f = AtomicFile::create(&path).unwrap();
        f.write_all(b"new").unwrap();
        f.flush().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        drop(f);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(names(dir.path()), ["a.csv"]);
        write(&path, "new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(names(dir.path()), ["a.csv"]);
    }

    #[test]
    fn folders_are_made_links_followed_and_permissions_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x/y/a");
        write(&path, "1").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, "2").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"2");
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn a_protected_file_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        for mode in [0o444, 0o400, 0o555] {
            std::fs::write(&path, "old").unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let e = write(&path, "new").unwrap_err();
            assert!(matches!(e, FileError::Protected { .. }), "{e}");
            assert_eq!(std::fs::read(&path).unwrap(), b"old");
            std::fs::remove_file(&path).unwrap();
        }
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn names_may_be_as_long_as_the_system_allows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x".repeat(255));
        write(&path, "1").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"1");
        assert_eq!(names(dir.path()).len(), 1);
    }

    #[test]
    fn a_full_device_is_an_error_and_a_folder_is_named() {
        let e = write("/dev/full", vec![b'x'; 100_000]).unwrap_err();
        assert!(e.is_environment(), "{e}");
        write("/dev/null", "x").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let e = write(dir.path(), "x").unwrap_err();
        assert!(matches!(e, FileError::IsFolder { .. }), "{e}");
    }
}
