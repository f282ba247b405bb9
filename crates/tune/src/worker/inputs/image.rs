//! What an array holds before a run: bytes of its own, or those of a file, which stay in the system's memory of files.

use greenup_files::FileError;
use greenup_files::read::open_plain;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::AsRawFd as _;
use std::path::Path;

/// Contents of an array.
pub enum Image {
    /// Made here.
    Own(Vec<u8>),
    /// Of a file.
    Mapped(Mapping),
}

/// A file in memory. Changes stay in this process. A file that is shortened while it is mapped ends the worker by SIGBUS, which
/// the tuner reports like any end of a worker.
pub struct Mapping {
    at: *mut u8,
    bytes: usize,
}

impl Image {
    /// The contents of a plain file, and its size.
    ///
    /// # Errors
    /// It cannot be read, or is a folder, pipe or device.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let file = open_plain(path).map_err(|e| match e {
            FileError::Read { cause, .. } => cause,
            other => io::Error::other(other.to_string()),
        })?;
        let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        if bytes == 0 {
            return Ok(Self::Own(Vec::new()));
        }
        // SAFETY: a new mapping at an address of the system's choice touches no other memory; its success is checked below.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = at.cast();
        Ok(Self::Mapped(Mapping { at, bytes }))
    }
}

impl Default for Image {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl Deref for Image {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            // SAFETY: the mapping has this length until it is dropped, and is readable; the problem's files are not
            // written while it is tuned.
            Self::Mapped(m) => unsafe { std::slice::from_raw_parts(m.at, m.bytes) },
        }
    }
}

impl DerefMut for Image {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Own(bytes) => bytes,
            // SAFETY: as above; it is private and writable, and borrowed here alone.
            Self::Mapped(m) => unsafe { std::slice::from_raw_parts_mut(m.at, m.bytes) },
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's own.
        unsafe { libc::munmap(self.at.cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.bin");
        std::fs::write(&path, [1, 2, 3]).unwrap();
        let mut image = Image::of_file(&path).unwrap();
        assert_eq!(&*image, [1, 2, 3]);
        image[1] = 9;
        assert_eq!(&*image, [1, 9, 3]);
        assert_eq!(std::fs::read(&path).unwrap(), [1, 2, 3]);
        std::fs::write(&path, []).unwrap();
        assert!(Image::of_file(&path).unwrap().is_empty());
        for none in [
            &*dir.path().join("none"),
            dir.path(),
            Path::new("/dev/zero"),
        ] {
            assert!(Image::of_file(none).is_err(), "{}", none.display());
        }
    }
}
