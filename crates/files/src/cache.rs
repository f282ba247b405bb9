//! A cache of compiled files that this user's programs load. Its folder is private, every file has a checksum, and
//! what is damaged or another user's is made again, never loaded.

use crate::atomic::AtomicFile;
use crate::error::{FileError, Result};
use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// What the name of a checksum's file ends in.
const SUM: &str = ".blake3";
/// Owner alone.
const PRIVATE: u32 = 0o700;
/// Write permission of group and others.
const WRITABLE: u32 = 0o022;
/// Others may write into the folder, but only an entry's owner may rename it.
const STICKY: u32 = 0o1000;

/// A folder of compiled files.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Opens a cache, created if missing. Its folder becomes private to this user.
    ///
    /// # Errors
    /// The folder is another user's, lies in one in which other users can replace it, or cannot be written.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        if std::fs::metadata(folder).is_ok_and(|m| !m.is_dir()) {
            return Err(FileError::NotFolder {
                path: folder.to_owned(),
            });
        }
        DirBuilder::new()
            .recursive(true)
            .mode(PRIVATE)
            .create(folder)
            .map_err(FileError::write(folder))?;
        let folder = std::fs::canonicalize(folder).map_err(FileError::read(folder))?;
        let not_private = |path: &Path, why: String| FileError::NotPrivate {
            path: path.to_owned(),
            why,
        };
        let meta = std::fs::metadata(&folder).map_err(FileError::read(&folder))?;
        if meta.uid() != user() {
            let why = format!("user {} owns it", meta.uid());
            return Err(not_private(&folder, why));
        }
        for parent in folder.ancestors().skip(1) {
            let m = std::fs::metadata(parent).map_err(FileError::read(parent))?;
            if m.mode() & 0o002 != 0 && m.mode() & STICKY == 0 {
                let why = format!("all users may write to {}", parent.display());
                return Err(not_private(&folder, why));
            }
        }
        if meta.mode() & 0o777 != PRIVATE {
            std::fs::set_permissions(&folder, Permissions::from_mode(PRIVATE))
                .map_err(FileError::write(&folder))?;
        }
        Ok(Self { folder })
    }

    /// Where its files lie.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of this name, if it is there, whole and this user's own.
    pub fn get(&self, name: &str) -> Option<PathBuf> {
        let path = self.path(name).ok()?;
        let mut written = String::new();
        own(&self.sum(name))
            .ok()?
            .take(256)
            .read_to_string(&mut written)
            .ok()?;
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(own(&path).ok()?).ok()?;
        (written.trim_end() == hasher.finalize().to_hex().as_str()).then_some(path)
    }

    /// The contents of the file of this name, if it is there, whole and this user's own.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.get(name)?).ok()
    }

    /// Keeps a file's contents under a name, which [`Cache::key`] makes.
    ///
    /// # Errors
    /// The name holds a separator, or the disk is full or gone; the cache stays as it was.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.path(name)?;
        let keep = |path: &Path, bytes: &[u8], mode| {
            let mut file = AtomicFile::create(path)?;
            file.write_all(bytes).map_err(FileError::write(path))?;
            std::fs::set_permissions(file.temporary(), Permissions::from_mode(mode))
                .map_err(FileError::write(path))?;
            file.commit_soon()
        };
        keep(&path, bytes, PRIVATE)?;
        // Between the two writes the checksum is the old one's: the file is not taken, but made again.
        let text = format!("{}\n", blake3::hash(bytes).to_hex());
        keep(&self.sum(name), text.as_bytes(), 0o600)?;
        Ok(path)
    }

    /// A name for what is made of these parts (sources, options, the compiler and its version, the processor): 32
    /// hexadecimal digits, other ones where any part differs.
    pub fn key(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            let part = part.as_ref();
            // With lengths, ("ab", "c") is not ("a", "bc").
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().to_hex().as_str()[..32].to_owned()
    }

    /// [`Cache::key`] of the contents of one plain file, which need not fit into memory.
    ///
    /// # Errors
    /// It cannot be read, or is no plain file.
    pub fn key_of_file(path: impl AsRef<Path>) -> Result<String> {
        let path = path.as_ref();
        let failed = FileError::read(path);
        let file = crate::read::open_plain(path)?;
        let length = file.metadata().map_err(FileError::read(path))?.len();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&length.to_le_bytes());
        // What is appended meanwhile changes the next key.
        hasher.update_reader(file.take(length)).map_err(failed)?;
        Ok(hasher.finalize().to_hex().as_str()[..32].to_owned())
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        if path.parent() == Some(&self.folder) && path.file_name() == Some(name.as_ref()) {
            return Ok(path);
        }
        Err(FileError::Write {
            path,
            cause: io::ErrorKind::InvalidFilename.into(),
        })
    }

    fn sum(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{SUM}"))
    }
}

/// Opens a plain file that this user owns and no other user may write.
fn own(path: &Path) -> io::Result<File> {
    let private = |m: &Metadata| m.is_file() && m.uid() == user() && m.mode() & WRITABLE == 0;
    // Before it is opened: opening a pipe would wait.
    if private(&std::fs::symlink_metadata(path)?) {
        return File::open(path);
    }
    Err(io::ErrorKind::PermissionDenied.into())
}

fn user() -> u32 {
    // SAFETY: it has no arguments and cannot fail.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_file_has_the_key_of_its_contents() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        for bytes in [vec![], b"abc".to_vec(), vec![7; 300_000]] {
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(Cache::key_of_file(&path).unwrap(), Cache::key([bytes]));
        }
        for none in [dir.path(), Path::new("/dev/zero"), &dir.path().join("no")] {
            assert!(Cache::key_of_file(none).is_err(), "{}", none.display());
        }
    }

    #[test]
    fn damaged_files_are_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path().join("a/cache")).unwrap();
        assert_eq!(mode(cache.folder()), 0o700);
        assert_eq!(cache.get("k.so"), None);
        let path = cache.put("k.so", b"whole").unwrap();
        assert_eq!(cache.get("k.so").as_deref(), Some(path.as_path()));
        assert_eq!(cache.read("k.so").unwrap(), b"whole");
        for damaged in [&b""[..], b"who", b"whale", b"whole and more"] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(cache.get("k.so"), None, "{damaged:?}");
            cache.put("k.so", b"whole").unwrap();
            assert!(cache.get("k.so").is_some());
        }
        std::fs::write(cache.sum("k.so"), "").unwrap();
        assert_eq!(cache.get("k.so"), None);
        std::fs::remove_file(cache.sum("k.so")).unwrap();
        assert_eq!(cache.get("k.so"), None);
        for name in ["", ".", "..", "../k", "a/b", "/etc/k"] {
            assert!(cache.put(name, b"x").is_err(), "{name}");
            assert_eq!(cache.get(name), None, "{name}");
        }
    }

    #[test]
    fn what_others_may_write_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("cache");
        std::fs::create_dir(&folder).unwrap();
        set_mode(&folder, 0o777);
        let cache = Cache::open(&folder).unwrap();
        assert_eq!(mode(&folder), 0o700);
        let path = cache.put("k", b"x").unwrap();
        set_mode(&path, 0o722);
        assert_eq!(cache.get("k"), None);
        set_mode(&path, 0o700);
        assert!(cache.get("k").is_some());
        // A link may lead to anything.
        let other = dir.path().join("other");
        std::fs::rename(&path, &other).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert_eq!(cache.get("k"), None);
        // Anybody could put another folder in its place.
        set_mode(dir.path(), 0o777);
        let e = Cache::open(&folder).unwrap_err();
        assert!(matches!(e, FileError::NotPrivate { .. }), "{e}");
        set_mode(dir.path(), 0o1777);
        Cache::open(&folder).unwrap();
        set_mode(dir.path(), 0o700);
    }

    #[test]
    fn another_users_folder_and_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path().join("c")).unwrap();
        let path = cache.put("k", b"x").unwrap();
        // Only root can give files away, and in a container without other users not even root.
        if std::os::unix::fs::chown(&path, Some(12_345), None).is_err() {
            return;
        }
        assert_eq!(cache.get("k"), None);
        std::os::unix::fs::chown(&path, Some(0), None).unwrap();
        assert!(cache.get("k").is_some());
        std::os::unix::fs::chown(cache.folder(), Some(12_345), None).unwrap();
        let e = Cache::open(cache.folder()).unwrap_err().to_string();
        assert!(e.contains("user 12345 owns it"), "{e}");
    }

    #[test]
    fn keys_differ_where_any_part_does() {
        let key = Cache::key(["ab", "c"]);
        assert_eq!(key.len(), 32);
        assert_eq!(key, Cache::key(["ab", "c"]));
        for other in [&["a", "bc"][..], &["abc"], &["ab", "c", ""], &["ab", "d"]] {
            assert_ne!(key, Cache::key(other));
        }
    }
}
