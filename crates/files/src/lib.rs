//! Files that are never lost: what every command and library uses to read inputs and write outputs.
//!
//! | module | what it holds |
//! |---|---|
//! | [`atomic`] | a file appears whole or not at all |
//! | [`log`] | files that grow line by line, whole after a crash |
//! | [`journal`] | a long run's measurements, line by line until its results are written |
//! | [`lock`] | one process at a time works in a folder |
//! | [`scratch`] | temporary folders inside a user's folder; only what the tool made is deleted |
//! | [`cache`] | compiled files of this user, checked before they are loaded |
//! | [`date`] | dates of the Gregorian calendar |
//! | [`ours`] | files of chosen names in a user's folder; only what the tool wrote is replaced |
//! | [`outputs`] | output names checked before any work |
//! | [`mod@read`] | inputs read up to a limit |
//! | [`mod@error`] | errors of files, each with a fix |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod atomic;
pub mod cache;
pub mod date;
pub mod error;
pub mod journal;
pub mod lock;
pub mod log;
pub mod ours;
pub mod outputs;
pub mod read;
pub mod scratch;

pub use atomic::{AtomicFile, write, write_by};
pub use cache::Cache;
pub use error::{FileError, Result};
pub use journal::Journal;
pub use lock::FolderLock;
pub use log::Log;
pub use outputs::{Outputs, same_file};
pub use read::{read_bytes, read_text, utf8};
pub use scratch::Scratch;
