//! What is wrong with a file, and the fix.

use std::io;
use std::path::{Path, PathBuf};

pub type Result<T> = std::result::Result<T, FileError>;

/// A file that cannot be read or written, or may not be.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{} cannot be read: {cause}", path.display())]
    Read { path: PathBuf, cause: io::Error },
    #[error("{} cannot be written: {cause}", path.display())]
    Write { path: PathBuf, cause: io::Error },
    #[error("{} is too large: more than {limit} bytes", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("{} is not UTF-8 text: line {line} holds the byte 0x{byte:02x}", path.display())]
    NotText {
        path: PathBuf,
        line: usize,
        byte: u8,
    },
    #[error("{} is in use by {}", path.display(), by.map_or_else(|| "another process".to_owned(), |n| format!("process {n}")))]
    InUse { path: PathBuf, by: Option<u32> },
    #[error("the output {} is also an input", path.display())]
    IsInput { path: PathBuf },
    #[error("two outputs have the same name: {}", path.display())]
    Twice { path: PathBuf },
    #[error("{} is a folder, not a file", path.display())]
    IsFolder { path: PathBuf },
    #[error("{} exists and is not a folder", path.display())]
    NotFolder { path: PathBuf },
    #[error("{}: the ending `{found}` is unknown here; known: {known}", path.display())]
    Ending {
        path: PathBuf,
        found: String,
        known: String,
    },
    #[error("{} was not made by this program", path.display())]
    NotOurs { path: PathBuf },
    #[error("nothing is loaded from {}: {why}", path.display())]
    NotPrivate { path: PathBuf, why: String },
    #[error("this output cannot go to standard output (`-`)")]
    NotStdout,
}

impl FileError {
    /// How to fix it.
    pub fn hint(&self) -> Option<&'static str> {
        use io::ErrorKind as K;
        match self {
            Self::Read { cause, .. } => match cause.kind() {
                K::NotFound => Some("check the path"),
                K::PermissionDenied => Some("you may not read it; check its permissions"),
                _ => None,
            },
            Self::Write { cause, .. } => Some(match cause.kind() {
                K::PermissionDenied | K::ReadOnlyFilesystem => {
                    "choose a folder you may write to, with --out or -o"
                }
                K::StorageFull | K::QuotaExceeded => {
                    "free some space, or choose another disk with --out or -o"
                }
                K::FileTooLarge => {
                    "files of this size are not allowed here; see `ulimit -f`, or choose another disk"
                }
                _ => "check the path given with --out or -o",
            }),
            Self::TooLarge { .. } => Some("is this the file you meant?"),
            Self::NotText { .. } => Some("save it as UTF-8"),
            Self::InUse { .. } => Some("wait until it ends, or choose another folder with --out"),
            Self::IsInput { .. } | Self::Twice { .. } => Some("choose another output name"),
            Self::IsFolder { .. } => Some("name a file in it"),
            Self::NotFolder { .. } => Some("choose another folder with --out"),
            Self::Ending { .. } => Some("the ending of the name chooses the format"),
            Self::NotStdout => Some("name a file"),
            Self::NotOurs { .. } => Some("move it away, or choose another folder with --out"),
            Self::NotPrivate { .. } => {
                Some("set XDG_CACHE_HOME to a folder that only you can write to")
            }
        }
    }

    /// Whether the environment failed (disk, memory, descriptors), not what was asked for.
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Read { cause, .. } | Self::Write { cause, .. } => is_environment(cause),
            _ => false,
        }
    }

    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |cause| Self::Read {
            path: path.to_owned(),
            cause,
        }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |cause| Self::Write {
            path: path.to_owned(),
            cause,
        }
    }
}

/// Whether an error is one of the environment: no space, no memory, no descriptors, no processes.
pub fn is_environment(e: &io::Error) -> bool {
    matches!(
        e.raw_os_error(),
        Some(
            libc::ENOSPC
                | libc::EDQUOT
                | libc::ENOMEM
                | libc::EMFILE
                | libc::ENFILE
                | libc::EAGAIN
                | libc::EIO
                | libc::EROFS
                | libc::EFBIG
        )
    )
}
