//! Sweeps of other tuners: T4 results and Kernel Tuner's caches, plain or gzipped; and our folders.

mod cache;
mod collect;
mod error;
mod number;
mod t4;
mod text;
mod unit;
mod values;

pub use error::{FormatError, ImportError};

use super::folder::Folder;
use super::record::Sweep;
use collect::{finish, sweep};
use greenup_files::FileError;
use serde_json::Value as J;
use std::path::Path;

/// Largest file, also unpacked, in bytes.
const LIMIT: u64 = 1 << 30;

/// Reads a sweep folder, a T4 file or a cache of Kernel Tuner (`.gz` allowed).
///
/// # Errors
/// The file cannot be read or is none of these.
pub fn read_any(path: &Path) -> Result<Sweep, ImportError> {
    let fail = |cause: FormatError| ImportError {
        path: path.display().to_string(),
        cause,
    };
    if path.is_dir() {
        return Folder::read(path).map_err(|e| fail(e.into()));
    }
    let bytes = greenup_files::read_bytes(path, LIMIT).map_err(|e| match e {
        FileError::Read { cause, .. } => fail(cause.into()),
        FileError::TooLarge { .. } => fail(FormatError::TooLarge(LIMIT)),
        e => fail(e.into()),
    })?;
    let (text, cut) = text::unpacked(bytes, LIMIT).map_err(fail)?;
    let (json, note) = text::parse(&text, cut).map_err(fail)?;
    let stem = path
        .file_name()
        .and_then(|n| n.to_str())
        .and_then(|n| n.split('.').next())
        .unwrap_or("sweep");
    let found = if json.get("results").is_some_and(J::is_array) {
        t4::read(&json, stem)
    } else if json.get("cache").is_some_and(J::is_object) {
        cache::read(&json, stem)
    } else {
        Err(FormatError::Unknown)
    };
    let mut sweep = found.map_err(fail)?;
    let named = |w: String| format!("{}: {w}", path.display());
    sweep.warnings = (note.into_iter().chain(sweep.warnings))
        .map(named)
        .collect();
    Ok(sweep)
}

#[cfg(test)]
mod tests;
