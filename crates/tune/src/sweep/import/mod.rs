//! Sweeps of other tuners, plain or gzipped; and our folders.
//!
//! | module | files |
//! |---|---|
//! | `cache` | caches of Kernel Tuner |
//! | `t4` | T4 results of Kernel Tuner, KTT and others |
//! | `ktt` | results of KTT 2, as JSON and as XML |
//! | `clblast` | results of CLBlast's tuners, and its database |
//! | `section` | files with several sweeps |

mod cache;
mod clblast;
mod collect;
mod error;
mod ktt;
mod number;
mod section;
mod t4;
mod text;
mod unit;
mod values;

pub use error::{FormatError, ImportError};
pub use section::file_and_section;

use super::folder::Folder;
use super::record::Sweep;
use collect::{finish, sweep};
use greenup_files::FileError;
use serde_json::Value as J;
use std::path::Path;

/// Largest file, also unpacked, in bytes.
const LIMIT: u64 = 1 << 30;

/// Reads a sweep folder, or a file of another tuner (`.gz` allowed). `FILE#WORDS` is one sweep of a file with several.
///
/// # Errors
/// The file cannot be read or is none of these.
pub fn read_any(path: &Path) -> Result<Sweep, ImportError> {
    let fail = |cause: FormatError| ImportError {
        path: path.display().to_string(),
        cause,
    };
    if path.is_dir() {
        // One that lost its head is a broken one.
        if !Folder::exists(path) && !path.join("trials.jsonl").exists() {
            return Err(fail(FormatError::NoSweep(sweeps_in(path))));
        }
        return Folder::read(path).map_err(|e| fail(e.into()));
    }
    let (file, asked) = file_and_section(path);
    let asked = asked.as_deref();
    let bytes = greenup_files::read_bytes(&file, LIMIT).map_err(|e| match e {
        FileError::Read { cause, .. } => fail(cause.into()),
        FileError::TooLarge { .. } => fail(FormatError::TooLarge(LIMIT)),
        e => fail(e.into()),
    })?;
    let (text, cut) = text::unpacked(bytes, LIMIT).map_err(fail)?;
    if text.trim().is_empty() {
        return Err(fail(FormatError::EmptyFile));
    }
    let (json, note) = if ktt::xml::is_xml(&text) {
        (ktt::xml::parse(&text).map_err(fail)?, None)
    } else {
        text::parse(&text, cut).map_err(fail)?
    };
    let stem = file
        .file_name()
        .and_then(|n| n.to_str())
        .and_then(|n| n.split('.').next())
        .unwrap_or("sweep");
    let found = if ktt::is_it(&json) {
        ktt::read(&json, stem, asked)
    } else if clblast::is_it(&json) {
        clblast::read(&json, stem, asked)
    } else if let Some(words) = asked {
        Err(FormatError::OneSweep(words.to_owned()))
    } else if json.get("results").is_some_and(J::is_array) {
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

/// Names of the folders in a folder that hold a sweep, in order.
fn sweeps_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<String> = entries
        .filter(|e| Folder::exists(&e.path()))
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    all.sort();
    all
}

#[cfg(test)]
mod tests;
