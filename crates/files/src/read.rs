//! Inputs read up to a limit, so that no device or wrong file takes all memory.

use crate::error::{FileError, Result};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Largest text input, in bytes.
pub const TEXT_LIMIT: u64 = 256 << 20;

/// Reads a whole file of at most `limit` bytes.
///
/// # Errors
/// It cannot be read, is a folder, or is larger.
pub fn read_bytes(path: impl AsRef<Path>, limit: u64) -> Result<Vec<u8>> {
    let path = path.as_ref();
    let file = File::open(path).map_err(FileError::read(path))?;
    let meta = file.metadata().map_err(FileError::read(path))?;
    if meta.is_dir() {
        return Err(FileError::IsFolder {
            path: path.to_owned(),
        });
    }
    up_to(file, path, limit)
}

fn up_to(file: File, path: &Path, limit: u64) -> Result<Vec<u8>> {
    let meta = file.metadata().map_err(FileError::read(path))?;
    let too_large = || FileError::TooLarge {
        path: path.to_owned(),
        limit,
    };
    if meta.is_file() && meta.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(FileError::read(path))?;
    if bytes.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Opens a plain file, without waiting for what is none.
///
/// # Errors
/// It cannot be opened, or is a folder, pipe, device or socket.
pub fn open_plain(path: impl AsRef<Path>) -> Result<File> {
    let path = path.as_ref();
    let mut options = File::options();
    // The open of a pipe would wait for its writer.
    options.read(true).custom_flags(libc::O_NONBLOCK);
    let file = options.open(path).map_err(FileError::read(path))?;
    let meta = file.metadata().map_err(FileError::read(path))?;
    match (meta.is_dir(), meta.is_file()) {
        (true, _) => Err(FileError::IsFolder {
            path: path.to_owned(),
        }),
        (_, true) => Ok(file),
        _ => Err(FileError::NotPlain {
            path: path.to_owned(),
        }),
    }
}

/// As [`read_bytes`], of plain files alone.
///
/// # Errors
/// As [`open_plain`], or it is larger.
pub fn read_plain(path: impl AsRef<Path>, limit: u64) -> Result<Vec<u8>> {
    let path = path.as_ref();
    up_to(open_plain(path)?, path, limit)
}

/// Reads a text file of at most [`TEXT_LIMIT`] bytes.
///
/// # Errors
/// As [`read_bytes`], or it is not UTF-8; the line is named.
pub fn read_text(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    String::from_utf8(read_bytes(path, TEXT_LIMIT)?).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let bytes = e.as_bytes();
        FileError::NotText {
            path: path.to_owned(),
            line: 1 + bytes[..at].iter().filter(|b| **b == b'\n').count(),
            byte: bytes[at],
        }
    })
}

/// Text in UTF-16 with its mark, as shells of Windows redirect it, in UTF-8; other bytes as they are.
pub fn utf8(bytes: Vec<u8>) -> Vec<u8> {
    let words = |of: fn([u8; 2]) -> u16| -> Vec<u16> {
        let pairs = bytes[2..].chunks_exact(2);
        pairs.map(|b| of([b[0], b[1]])).collect()
    };
    let words = match bytes.get(..2) {
        Some([0xff, 0xfe]) => words(u16::from_le_bytes),
        Some([0xfe, 0xff]) => words(u16::from_be_bytes),
        _ => return bytes,
    };
    String::from_utf16_lossy(&words).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_16_with_its_mark_is_text() {
        let of = |to: fn(u16) -> [u8; 2]| "\u{feff}a,µ\n".encode_utf16().flat_map(to).collect();
        for bytes in [of(u16::to_le_bytes), of(u16::to_be_bytes)] {
            assert_eq!(utf8(bytes), "a,µ\n".as_bytes());
        }
        assert_eq!(utf8(b"a".to_vec()), b"a");
    }

    #[test]
    fn endless_large_and_foreign_files_are_refused() {
        let e = read_bytes("/dev/zero", 1000).unwrap_err();
        assert!(matches!(e, FileError::TooLarge { .. }), "{e}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        std::fs::write(&path, b"a\nb\xe9\n").unwrap();
        assert_eq!(read_bytes(&path, 5).unwrap().len(), 5);
        assert!(read_bytes(&path, 4).is_err());
        let e = read_text(&path).unwrap_err().to_string();
        assert!(e.contains("line 2 holds the byte 0xe9"), "{e}");
        assert!(read_text(dir.path()).is_err());
        // Plain files alone.
        assert_eq!(read_plain(&path, 5).unwrap().len(), 5);
        assert!(read_plain(&path, 4).is_err() && read_plain(dir.path(), 4).is_err());
        let e = read_plain("/dev/zero", 1000).unwrap_err();
        assert!(matches!(e, FileError::NotPlain { .. }), "{e}");
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let e = open_plain(&pipe).unwrap_err();
        assert!(matches!(e, FileError::NotPlain { .. }), "{e}");
    }
}
