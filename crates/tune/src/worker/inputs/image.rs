//! What an array holds before a run: bytes of its own, or those of a file, which stay in the system's memory of files.

use std::fs::File;
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

/// A file in memory. Changes stay in this process.
pub struct Mapping {
    at: *mut u8,
    bytes: usize,
}

impl Image {
    /// The contents of a file, and its size.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        if bytes == 0 {
            return Ok(Self::Own(Vec::new()));
        }
        // SAFETY: a new private mapping of a file that is open; it is checked below.
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
            // SAFETY: the mapping is readable for its length until it is dropped.
            Self::Mapped(m) => unsafe { std::slice::from_raw_parts(m.at, m.bytes) },
        }
    }
}

impl DerefMut for Image {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Own(bytes) => bytes,
            // SAFETY: as above, and writable; nobody else has it.
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
        assert!(Image::of_file(&dir.path().join("none")).is_err());
    }
}
