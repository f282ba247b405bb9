//! Errors of files, each with a fix.

use std::io;
use std::path::{Path, PathBuf};

/// Result of an operation on a file.
pub type Result<T> = std::result::Result<T, FileError>;

/// A file that cannot be read or written, or may not be.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system cannot read it.
    #[error("{} cannot be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// The operating system cannot write it.
    #[error("{} cannot be written: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// More bytes than the limit for an input.
    #[error("{} is too large: more than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit, bytes.
        limit: u64,
    },
    /// An input that is not UTF-8.
    #[error("{} is not UTF-8 text: line {line} holds the byte 0x{byte:02x}", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Line of the first invalid byte, from 1.
        line: usize,
        /// The first invalid byte.
        byte: u8,
    },
    /// Another process holds the lock.
    #[error("{} is in use by {}", path.display(), by.map_or_else(|| "another process".to_owned(), |n| format!("process {n}")))]
    InUse {
        /// The file.
        path: PathBuf,
        /// Process that holds it, if known.
        by: Option<u32>,
    },
    /// An output would overwrite an input.
    #[error("the output {} is also an input", path.display())]
    IsInput {
        /// The file.
        path: PathBuf,
    },
    /// Two outputs would share a file.
    #[error("two outputs have the same name: {}", path.display())]
    Twice {
        /// The file.
        path: PathBuf,
    },
    /// A folder where a file is expected.
    #[error("{} is a folder, not a file", path.display())]
    IsFolder {
        /// The file.
        path: PathBuf,
    },
    /// A pipe, device or socket where a plain file is expected.
    #[error("{} is not a plain file", path.display())]
    NotPlain {
        /// The file.
        path: PathBuf,
    },
    /// A file where a folder is expected.
    #[error("{} exists and is not a folder", path.display())]
    NotFolder {
        /// The file.
        path: PathBuf,
    },
    /// A file name extension of no known format.
    #[error("{}: the ending `{found}` is unknown here; known: {known}", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
        /// Its extension.
        found: String,
        /// The known extensions, for the message.
        known: String,
    },
    /// An existing file that may not be written.
    #[error("{} is write-protected", path.display())]
    Protected {
        /// The file.
        path: PathBuf,
    },
    /// A file or folder that this program did not make, or that was changed since; it is not deleted or overwritten.
    #[error("{} was not made by this program, or was changed since", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// A cache folder that other users can write.
    #[error("nothing is loaded from {}: {why}", path.display())]
    NotPrivate {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// An output that cannot be streamed to standard output.
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
                K::PermissionDenied | K::ReadOnlyFilesystem => "name a folder you may write to",
                K::StorageFull | K::QuotaExceeded => {
                    "free some space, or name a place on another disk"
                }
                K::FileTooLarge => {
                    "files of this size are not allowed here; see `ulimit -f`, or choose another disk"
                }
                _ => "check the path",
            }),
            Self::TooLarge { .. } => Some("is this the file you meant?"),
            Self::NotText { .. } => Some("save it as UTF-8"),
            Self::InUse { .. } => Some("wait until it ends, or name another folder"),
            Self::IsInput { .. } | Self::Twice { .. } => Some("choose another output name"),
            Self::IsFolder { .. } => Some("name a file in it"),
            Self::NotPlain { .. } => Some("name a file on a disk, not a pipe or a device"),
            Self::NotFolder { .. } => Some("name another folder"),
            Self::Ending { .. } => Some("the ending of the name chooses the format"),
            Self::NotStdout => Some("name a file"),
            Self::Protected { .. } => Some("choose another name, or allow it with `chmod u+w`"),
            Self::NotOurs { .. } => Some("move it away, or name another file or folder"),
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

    /// Maps an I/O error of writing `path`, for `map_err`.
    pub fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |cause| Self::Write {
            path: path.to_owned(),
            cause: systems_own(cause),
        }
    }
}

/// The system's error in one that the library of temporary files has wrapped with a name that no user chose.
fn systems_own(e: io::Error) -> io::Error {
    let cause = e.get_ref().and_then(std::error::Error::source);
    let code = cause
        .and_then(|c| c.downcast_ref::<io::Error>())
        .and_then(io::Error::raw_os_error);
    code.map_or(e, io::Error::from_raw_os_error)
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
